//! Streams over links.

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;
use crate::link::frame::record::Refusal;
use crate::link::stream::WINDOW;
use crate::pieces::{random_bytes, receive, send};

async fn echo(world: &World, (from, to): (usize, usize), size: usize, seed: u64) {
    let stream = world.nodes[from].open(&key(1), &site(to)).await.unwrap();
    let bytes = random_bytes(size, seed);
    let (reader, writer) = tokio::io::split(stream);
    let ((), back) = tokio::join!(send(writer, bytes.clone(), seed), receive(reader, seed + 1));
    assert!(back == bytes, "{} of {size} bytes came back", back.len());
}

#[tokio::test(start_paused = true)]
async fn s44_bytes_come_back_whole_over_two_hops_after_the_client_ended_its_half() {
    let world = World::line(3).await;
    world.set_keys(2, &[1]);
    until(&world.nodes[0], |ways| ways.keys.contains_key(&key(1))).await;
    for seed in 0..5 {
        echo(&world, (0, 2), 1_000_000, seed).await;
        echo(&world, (1, 2), 100_000, seed).await;
        echo(&world, (0, 2), 0, seed).await;
    }
}

#[tokio::test(start_paused = true)]
async fn s37_streams_go_over_twenty_hops_and_many_at_once_over_one_link() {
    let world = World::line(21).await;
    world.set_keys(20, &[1]);
    until(&world.nodes[0], |ways| ways.keys.contains_key(&key(1))).await;
    let streams = (0..20).map(|seed| echo(&world, (0, 20), 20_000, seed));
    futures::future::join_all(streams).await;
    assert_eq!(world.nodes[0].links().len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_stream_is_open_only_once_its_server_is() {
    let world = World::line(3).await;
    world.set_keys(2, &[1, 900, 901]);
    until(&world.nodes[0], |ways| ways.keys.len() == 3).await;
    let open = |number, to| {
        let node = world.nodes[0].clone();
        async move { node.open(&key(number), &site(to)).await.map(drop) }
    };
    assert_eq!(open(900, 2).await, Err(Refusal::Backend));
    assert_eq!(open(7, 2).await, Err(Refusal::NoRoute));
    assert_eq!(open(1, 7).await, Err(Refusal::NoRoute));
    let since = Instant::now();
    assert_eq!(open(901, 2).await, Err(Refusal::Backend));
    assert_eq!(since.elapsed(), Duration::from_secs(30));
    assert_eq!(open(1, 2).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_stream_that_is_cut_short_is_an_error_and_not_an_end() {
    let world = World::line(3).await;
    world.set_keys(2, &[1, 903]);
    until(&world.nodes[0], |ways| ways.keys.len() == 2).await;
    let mut stream = world.nodes[0].open(&key(1), &site(2)).await.unwrap();
    stream.write_all(b"hello").await.unwrap();
    stream.read_exact(&mut [0; 5]).await.unwrap();
    world.close(1, 2).await;
    let mut rest = Vec::new();
    let read = timeout(SEEN, stream.read_to_end(&mut rest)).await.unwrap();
    assert_eq!(read.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    // The server ends while the client may still send. The end arrives first, and later writes of
    // the client have no reader.
    until(&world.nodes[0], |ways| ways.keys.is_empty()).await;
    world.join(1, 2, 1);
    until(&world.nodes[0], |ways| ways.keys.len() == 2).await;
    let mut stream = world.nodes[0].open(&key(903), &site(2)).await.unwrap();
    let mut all = Vec::new();
    stream.read_to_end(&mut all).await.unwrap();
    assert_eq!(all, b"x");
    let mut written = Ok(());
    for _ in 0..100 {
        written = stream.write_all(&[1; 1000]).await;
        sleep(Duration::from_millis(1)).await;
    }
    assert!(written.is_err());
}

#[tokio::test(start_paused = true)]
async fn who_goes_away_while_a_server_is_asked_leaves_nothing_behind() {
    let world = World::line(2).await;
    world.set_keys(1, &[1, 901]);
    until(&world.nodes[0], |ways| ways.keys.len() == 2).await;
    let (hangs, there) = (key(901), site(1));
    for _ in 0..2000 {
        let open = world.nodes[0].open(&hangs, &there);
        assert!(timeout(Duration::from_millis(5), open).await.is_err());
    }
    echo(&world, (0, 1), 1000, 0).await;
}

#[tokio::test(start_paused = true)]
async fn s46_readers_that_stand_still_cost_their_windows_and_slow_nobody() {
    let world = World::line(3).await;
    world.set_keys(2, &[1, 902]);
    until(&world.nodes[0], |ways| ways.keys.len() == 2).await;
    let mut stalled = Vec::new();
    for _ in 0..200 {
        let mut stream = world.nodes[0].open(&key(902), &site(2)).await.unwrap();
        let write = async {
            loop {
                stream.write_all(&[7; 16 * 1024]).await.unwrap();
            }
        };
        let stands_still = timeout(Duration::from_millis(100), write).await;
        assert!(stands_still.is_err());
        stalled.push(stream);
    }
    // The amount taken from each stream is a window at each hop, and the content of a few buffers
    // on the way.
    let most = 200 * (2 * WINDOW as u64 + 64 * 1024);
    assert!(world.carried(0, 1) <= most, "{}", world.carried(0, 1));
    let since = Instant::now();
    echo(&world, (0, 2), 300_000, 1).await;
    assert!(since.elapsed() < Duration::from_secs(5));
    drop(stalled);
    sleep(Duration::from_secs(1)).await;
    for _ in 0..200 {
        drop(world.nodes[0].open(&key(902), &site(2)).await.unwrap());
    }
}

#[tokio::test(start_paused = true)]
async fn a_link_has_room_for_so_many_streams_and_says_so() {
    let world = World::line(2).await;
    world.set_keys(1, &[1]);
    until(&world.nodes[0], |ways| ways.keys.len() == 1).await;
    let mut open = Vec::new();
    loop {
        match world.nodes[0].open(&key(1), &site(1)).await {
            Ok(stream) => open.push(stream),
            Err(refusal) => {
                assert_eq!(refusal, Refusal::Limit);
                break;
            }
        }
    }
    assert_eq!(open.len(), crate::link::mux::MAX_STREAMS);
    open.clear();
    sleep(Duration::from_secs(1)).await;
    echo(&world, (0, 1), 1000, 0).await;
}

#[tokio::test(start_paused = true)]
async fn an_edge_site_reaches_all_and_carries_nothing_through() {
    let mut world = World::new(3);
    world.nodes[1] = node(1, 1, Role::Edge);
    for at in 0..3 {
        world.set_keys(at, &[1]);
    }
    world.join(1, 0, 1);
    sleep(Duration::from_secs(1)).await;
    world.join(1, 2, 1);
    sleep(Duration::from_secs(3)).await;
    echo(&world, (1, 0), 1000, 0).await;
    echo(&world, (0, 1), 1000, 0).await;
    let through = world.nodes[0].open(&key(1), &site(2)).await;
    assert_eq!(through.map(drop), Err(Refusal::NoRoute));
    // It goes over to the other when the first is lost.
    let since = Instant::now();
    world.silence(0, 1);
    until(&world.nodes[2], |ways| ways.sites.contains_key(&site(1))).await;
    assert!(since.elapsed() <= SEEN);
    echo(&world, (2, 1), 1000, 0).await;
}
