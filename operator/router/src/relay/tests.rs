//! The relay between two ends in memory, on paused time.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream, duplex};

use super::*;
use crate::pieces::{random_bytes, receive, send};

/// End that reports an abort after a while, and is never read to its end.
struct Aborted(DuplexStream);

impl AsyncRead for Aborted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(cx, buf)
    }
}

impl AsyncWrite for Aborted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(cx)
    }
}

impl Endpoint for Aborted {
    fn broken(&self) -> bool {
        true
    }
}

#[tokio::test(start_paused = true)]
async fn s44_bytes_arrive_whole_both_ways_in_any_chunks() {
    for seed in 0..10 {
        let (user, mut client) = duplex(1 + 5_000 * seed as usize);
        let (mut server, backend) = duplex(100_000 / (1 + seed as usize));
        let traffic = Traffic::default();
        let (question, answer) = (
            random_bytes(100_000, seed),
            random_bytes(150_000, seed + 100),
        );
        let (user_in, user_out) = tokio::io::split(user);
        let (backend_in, backend_out) = tokio::io::split(backend);
        let (relayed, (), (), heard, told) = tokio::join!(
            relay(
                &mut client,
                &mut server,
                &traffic,
                Patience::default(),
                || {}
            ),
            send(user_out, question.clone(), seed),
            send(backend_out, answer.clone(), seed + 1),
            receive(backend_in, seed + 2),
            receive(user_in, seed + 3),
        );
        relayed.unwrap();
        assert!(heard == question && told == answer, "seed {seed}");
        assert_eq!(traffic.sent.into_inner(), 100_000);
        assert_eq!(traffic.received.into_inner(), 150_000);
    }
}

#[tokio::test(start_paused = true)]
async fn s44_a_half_that_ended_leaves_the_other_open() {
    let (mut user, mut client) = duplex(64);
    let (mut server, mut backend) = duplex(64);
    let traffic = Traffic::default();
    let conversation = async {
        user.write_all(b"question").await.unwrap();
        user.shutdown().await.unwrap();
        let mut heard = Vec::new();
        backend.read_to_end(&mut heard).await.unwrap();
        sleep(Duration::from_secs(3600)).await;
        backend.write_all(b"answer").await.unwrap();
        backend.shutdown().await.unwrap();
        let mut told = Vec::new();
        user.read_to_end(&mut told).await.unwrap();
        (heard, told)
    };
    let (relayed, (heard, told)) = tokio::join!(
        relay(
            &mut client,
            &mut server,
            &traffic,
            Patience::default(),
            || {}
        ),
        conversation
    );
    relayed.unwrap();
    assert_eq!((&heard[..], &told[..]), (&b"question"[..], &b"answer"[..]));
}

#[tokio::test(start_paused = true)]
async fn an_abort_is_seen_while_the_other_end_does_not_read() {
    let (mut user, client) = duplex(64);
    let (mut server, _backend) = duplex(64);
    let traffic = Traffic::default();
    let mut client = Aborted(client);
    let began = Instant::now();
    let (relayed, written) = tokio::join!(
        relay(
            &mut client,
            &mut server,
            &traffic,
            Patience::default(),
            || {}
        ),
        tokio::time::timeout(LOOK / 2, user.write_all(&[7; 100_000])),
    );
    assert!(written.is_err(), "the backend does not read");
    assert_eq!(relayed.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    assert_eq!(began.elapsed(), LOOK);
}

#[tokio::test(start_paused = true)]
async fn a_stream_without_traffic_holds_no_buffer() {
    let two = [pool::take(), pool::take()];
    two.into_iter().for_each(pool::give);
    let (_user, mut client) = duplex(64);
    let (mut server, _backend) = duplex(64);
    let traffic = Traffic::default();
    let idle = relay(
        &mut client,
        &mut server,
        &traffic,
        Patience::default(),
        || {},
    );
    let waited = tokio::time::timeout(Duration::from_secs(1), idle).await;
    assert!(waited.is_err(), "nobody ended it");
    assert_eq!(pool::free_count(), 2, "what it borrowed is back");
}

#[tokio::test(start_paused = true)]
async fn who_never_says_anything_is_cut_off_and_a_quiet_stream_lives() {
    let patience = Patience {
        silent: Some(Duration::from_secs(60)),
        idle: None,
    };
    let traffic = Traffic::default();
    let began = Instant::now();
    let ((_user, mut client), (mut server, _backend)) = (duplex(64), duplex(64));
    let silent = relay(&mut client, &mut server, &traffic, patience, || {
        panic!("it is silent")
    });
    assert_eq!(silent.await.unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert_eq!(began.elapsed(), Duration::from_secs(60));
    // Either end may speak first, and may be quiet for days then.
    for server_speaks in [false, true] {
        let ((mut user, mut client), (mut server, mut backend)) = (duplex(64), duplex(64));
        let mut heard = 0;
        let conversation = async {
            sleep(Duration::from_secs(59)).await;
            let first = if server_speaks {
                &mut backend
            } else {
                &mut user
            };
            first.write_all(b"hello").await.unwrap();
            sleep(Duration::from_secs(200_000)).await;
            drop((user, backend));
        };
        let relayed = relay(&mut client, &mut server, &traffic, patience, || heard += 1);
        let (relayed, ()) = tokio::join!(relayed, conversation);
        relayed.unwrap();
        assert_eq!(heard, 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_limit_for_quiet_streams_counts_from_the_last_byte() {
    let patience = Patience {
        silent: None,
        idle: Some(Duration::from_secs(100)),
    };
    let traffic = Traffic::default();
    let began = Instant::now();
    let ((mut user, mut client), (mut server, _backend)) = (duplex(64), duplex(64));
    let conversation = async {
        for _ in 0..5 {
            sleep(Duration::from_secs(90)).await;
            user.write_all(b"x").await.unwrap();
        }
    };
    let relayed = relay(&mut client, &mut server, &traffic, patience, || {});
    let (relayed, ()) = tokio::join!(relayed, conversation);
    assert_eq!(relayed.unwrap_err().kind(), io::ErrorKind::TimedOut);
    assert_eq!(began.elapsed(), Duration::from_secs(5 * 90 + 100));
}
