//! Bytes through a router: whole, both ways, however a stream begins, goes on and ends.

use std::time::Duration;

use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::time::sleep;

use crate::support::{
    LIMIT, Recorded, Server, TestSite, connector, is_reset, listener, ping, port, random_bytes,
    read_until_close, with_timeout,
};

async fn write_in_chunks(mut to: OwnedWriteHalf, bytes: Vec<u8>, seed: u64) {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut rest = &bytes[..];
    while !rest.is_empty() {
        let (chunk, after) = rest.split_at(random.random_range(1..=rest.len().min(200_000)));
        to.write_all(chunk).await.unwrap();
        rest = after;
    }
    to.shutdown().await.unwrap();
}

async fn read_slowly(mut from: OwnedReadHalf, seed: u64) -> Vec<u8> {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut all = Vec::new();
    loop {
        let mut chunk = vec![0; random.random_range(1..150_000)];
        match from.read(&mut chunk).await.unwrap() {
            0 => return all,
            n => all.extend_from_slice(&chunk[..n]),
        }
        if random.random_ratio(1, 20) {
            sleep(Duration::from_millis(2)).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s44_eight_megabytes_come_back_after_the_client_ended_its_half() {
    let site = TestSite::new();
    // Answers only after the client's half has ended.
    let server = Server::new(|mut stream: TcpStream| async move {
        let mut all = Vec::new();
        stream.read_to_end(&mut all).await.unwrap();
        stream.write_all(&all).await.unwrap();
    })
    .await;
    let echo = Server::echo().await;
    let document = json!([
        listener("after", port(0), "after"),
        listener("echo", port(1), "echo"),
        connector("after", server.address, "after"),
        connector("echo", echo.address, "echo"),
    ]);
    site.apply(&document).await;
    for (port, seed) in [(port(0), 1), (port(1), 2), (port(1), 3)] {
        let (from, to) = site.connect(port).await.into_split();
        let bytes = random_bytes(8 << 20, seed);
        let sent = write_in_chunks(to, bytes.clone(), seed);
        let (heard, ()) = with_timeout(async { tokio::join!(read_slowly(from, seed), sent) }).await;
        assert!(heard == bytes, "seed {seed}: {} bytes", heard.len());
    }
    site.open(0).await;
}

#[tokio::test]
async fn s44_the_server_can_end_its_half_first() {
    let site = TestSite::new();
    let heard = Recorded::<Vec<u8>>::default();
    let hears = heard.clone();
    let server = Server::new(move |mut stream: TcpStream| {
        let heard = hears.clone();
        async move {
            stream.write_all(b"that is all").await.unwrap();
            stream.shutdown().await.unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).await.unwrap();
            heard.lock().unwrap().push(all);
        }
    })
    .await;
    let document = json!([
        listener("l", port(0), "k"),
        connector("c", server.address, "k")
    ]);
    site.apply(&document).await;
    let mut stream = site.connect(port(0)).await;
    let mut told = String::new();
    with_timeout(stream.read_to_string(&mut told))
        .await
        .unwrap();
    assert_eq!(told, "that is all");
    let bytes = random_bytes(1 << 20, 9);
    with_timeout(stream.write_all(&bytes)).await.unwrap();
    with_timeout(stream.shutdown()).await.unwrap();
    site.open(0).await;
    crate::support::eventually("the server heard", || heard.lock().unwrap().len() == 1).await;
    assert!(heard.lock().unwrap()[0] == bytes);
}

#[tokio::test]
async fn s45_a_server_that_speaks_first_is_heard_before_the_client_says_anything() {
    let site = TestSite::new();
    let server = Server::new(async |mut stream: TcpStream| {
        stream.write_all(b"220 ready\r\n").await.unwrap();
        crate::support::echo(stream).await;
    })
    .await;
    let document = json!([
        listener("l", port(0), "k"),
        connector("c", server.address, "k")
    ]);
    site.apply(&document).await;
    let mut stream = site.connect(port(0)).await;
    let mut greeting = [0; 11];
    with_timeout(stream.read_exact(&mut greeting))
        .await
        .unwrap();
    assert_eq!(&greeting, b"220 ready\r\n");
    ping(&mut stream, 77).await;
}

#[tokio::test]
async fn s38_connections_are_spread_over_equal_connectors() {
    let site = TestSite::new();
    let (a, b) = (Server::named("a").await, Server::named("b").await);
    let document = json!([
        listener("l", port(0), "k"),
        connector("a", a.address, "k"),
        connector("b", b.address, "k"),
    ]);
    site.apply(&document).await;
    let mut heard = String::new();
    for _ in 0..40 {
        heard += &read_until_close(site.connect(port(0)).await).await;
    }
    let counts = ["a", "b"].map(|name| heard.matches(name).count());
    assert!(counts.iter().all(|count| *count >= 10), "{counts:?}");
    assert_eq!(counts.iter().sum::<usize>(), 40);
}

#[tokio::test]
async fn s38_held_connections_are_spread_by_how_many_are_open() {
    let site = TestSite::new();
    let (a, b) = (Server::echo().await, Server::echo().await);
    let one = json!([listener("l", port(0), "k"), connector("a", a.address, "k")]);
    let both = json!([
        listener("l", port(0), "k"),
        connector("a", a.address, "k"),
        connector("b", b.address, "k"),
    ]);
    let mut held = Vec::new();
    for (document, number) in [(one, 10), (both, 30)] {
        site.apply(&document).await;
        for seed in 0..number {
            let mut stream = site.connect(port(0)).await;
            ping(&mut stream, seed).await;
            held.push(stream);
        }
    }
    assert_eq!((a.accepted(), b.accepted()), (20, 20));
}

#[tokio::test]
async fn an_abort_of_either_side_is_an_abort_for_the_other() {
    let site = TestSite::new();
    let resets = Recorded::<bool>::default();
    let sees = resets.clone();
    let patient = Server::new(move |mut stream: TcpStream| {
        let resets = sees.clone();
        async move {
            let reset = is_reset(&mut stream).await;
            resets.lock().unwrap().push(reset);
        }
    })
    .await;
    let rude = Server::new(async |mut stream: TcpStream| {
        let mut byte = [0];
        stream.read_exact(&mut byte).await.unwrap();
        stream.set_zero_linger().unwrap();
    })
    .await;
    let document = json!([
        listener("patient", port(0), "patient"),
        listener("rude", port(1), "rude"),
        connector("patient", patient.address, "patient"),
        connector("rude", rude.address, "rude"),
    ]);
    site.apply(&document).await;
    let mut stream = site.connect(port(0)).await;
    stream.write_all(b"part of a").await.unwrap();
    crate::support::eventually("the server accepted", || patient.accepted() == 1).await;
    stream.set_zero_linger().unwrap();
    drop(stream);
    crate::support::eventually("the server saw it", || !resets.lock().unwrap().is_empty()).await;
    assert_eq!(*resets.lock().unwrap(), [true]);
    let mut stream = site.connect(port(1)).await;
    stream.write_all(b"!").await.unwrap();
    assert!(is_reset(&mut stream).await);
    site.open(0).await;
}

#[tokio::test]
async fn a_client_that_went_is_found_although_its_server_reads_nothing() {
    let site = TestSite::new();
    let silent = Server::new(async |stream: TcpStream| {
        sleep(LIMIT).await;
        drop(stream);
    })
    .await;
    let document = json!([
        listener("l", port(0), "k"),
        connector("c", silent.address, "k")
    ]);
    site.apply(&document).await;
    let mut stream = site.connect(port(0)).await;
    let bytes = random_bytes(1 << 20, 3);
    let full = tokio::time::timeout(Duration::from_secs(2), async {
        loop {
            stream.write_all(&bytes).await.unwrap();
        }
    });
    assert!(full.await.is_err(), "somebody takes all of it");
    site.open(1).await;
    stream.set_zero_linger().unwrap();
    drop(stream);
    site.open(0).await;
}

#[tokio::test]
async fn a_server_that_accepts_and_closes_or_sends_for_ever_hurts_nobody_else() {
    let site = TestSite::new();
    let closes = Server::new(async |stream: TcpStream| drop(stream)).await;
    let floods = Server::new(async |mut stream: TcpStream| {
        let bytes = random_bytes(1 << 16, 1);
        while stream.write_all(&bytes).await.is_ok() {}
    })
    .await;
    let echo = Server::echo().await;
    let document = json!([
        listener("closes", port(0), "closes"),
        listener("floods", port(1), "floods"),
        listener("echo", port(2), "echo"),
        connector("closes", closes.address, "closes"),
        connector("floods", floods.address, "floods"),
        connector("echo", echo.address, "echo"),
    ]);
    site.apply(&document).await;
    let mut flooded = Vec::new();
    for _ in 0..8 {
        flooded.push(site.connect(port(1)).await);
        assert_eq!(read_until_close(site.connect(port(0)).await).await, "");
    }
    let mut well = site.connect(port(2)).await;
    for seed in 0..50 {
        ping(&mut well, seed).await;
    }
    drop((flooded, well));
    site.open(0).await;
}
