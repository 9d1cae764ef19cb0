//! Streams that come back to a router that they have passed. The causes are neighbours that forward
//! them in a circle, and routers that disagree for a moment about the paths.

use std::collections::BTreeSet;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy_bidirectional};

use super::liars::{Liar, Stream, StreamRequests, is_well};
use super::wire::Line;
use super::*;
use crate::link::frame::record::{Record, Request};

fn asking(site: SiteId, ttl: u8) -> Vec<u8> {
    let mut bytes = Vec::new();
    let key = key(1);
    Record::Open(Request { key, site, ttl }).encode_into(&mut bytes);
    bytes
}

/// The first record of a stream, and the bytes after it.
async fn first<T>(
    stream: &mut Stream,
    what: impl Fn(Record<'_>) -> Option<T>,
) -> Option<(T, Vec<u8>)> {
    let mut bytes = Vec::new();
    loop {
        if let Some((record, size)) = Record::first(&bytes).unwrap() {
            return Some((what(record)?, bytes.split_off(size)));
        }
        if stream.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
}

/// How often the nodes refused a stream because it went in a circle.
fn refused(world: &World) -> u64 {
    let of = |node: &Node| {
        let all = node.refusals().all();
        all.into_iter()
            .filter(|(why, _)| *why == "loop")
            .map(|(_, count)| count)
            .sum::<u64>()
    };
    world.nodes.iter().map(of).sum()
}

#[tokio::test(start_paused = true)]
async fn a_neighbour_that_sends_a_stream_back_or_too_far_is_told_that_it_goes_in_a_circle() {
    let mut liar = Liar::new().await;
    liar.greet(Role::Interior).await;
    liar.announce(Liar::announcement(9, 1)).await;
    until(&liar.world.nodes[0], |ways| {
        ways.sites.contains_key(&site(9))
    })
    .await;
    for (number, ttl) in [(9, 64), (1, 0)] {
        let mut stream = Liar::request_stream(&liar.asks).await;
        let asking = asking(site(number), ttl);
        stream.write_all(&asking).await.unwrap();
        let refusal = first(&mut stream, |record| {
            if let Record::Refused(refusal) = record {
                return Some(refusal);
            }
            None
        });
        let refusal = timeout(SEEN, refusal).await.expect("it is refused");
        assert_eq!(refusal.map(|(refusal, _)| refusal), Some(Refusal::Loop));
    }
    assert_eq!(refused(&liar.world), 2);
    // It is a neighbour as any other.
    sleep(Duration::from_secs(1)).await;
    assert!(!liar.ended.is_finished());
    drop(liar.control.shutdown().await);
    let world = liar.world.clone();
    drop(liar);
    ends(&world).await;
}

/// Checks that no node is harmed once the liars are gone, and that nothing is left of their
/// streams.
async fn ends(world: &World) {
    sleep(Duration::from_secs(5)).await;
    for node in &world.nodes {
        let open: u64 = node.peers().iter().map(|peer| peer.traffic.open).sum();
        assert_eq!(open, 0, "streams of {}", node.site());
    }
    is_well(world).await;
}

/// Forwards each incoming stream, with the remaining number of links computed by `ttl`.
async fn pass_on(
    mut incoming: mpsc::UnboundedReceiver<Stream>,
    asks: StreamRequests,
    ttl: impl Fn(u8) -> u8 + Clone + Send + 'static,
) {
    while let Some(mut stream) = incoming.recv().await {
        let (asks, ttl) = (asks.clone(), ttl.clone());
        tokio::spawn(async move {
            let request = first(&mut stream, |record| {
                if let Record::Open(request) = record {
                    return Some(request);
                }
                None
            });
            let (request, rest) = request.await.expect("a node asks first");
            let mut bytes = asking(request.site, ttl(request.ttl));
            bytes.extend(rest);
            let mut next = Liar::request_stream(&asks).await;
            if next.write_all(&bytes).await.is_ok() {
                drop(copy_bidirectional(&mut stream, &mut next).await);
            }
        });
    }
}

/// Runs two liars: one claims to lead to a site, and the other returns streams that should go
/// there. Returns the outcome of a stream to that site, and the number of times that the nodes
/// refused it as a loop.
async fn circle(ttl: impl Fn(u8) -> u8 + Clone + Send + 'static) -> (Option<Refusal>, u64) {
    let mut leads = Liar::new().await;
    let world = leads.world.clone();
    let mut returns = Liar::connect_as(world.clone(), 1, 8).await;
    let nowhere = site(77);
    leads.greet(Role::Interior).await;
    returns.greet(Role::Interior).await;
    let mut at_end = Liar::announcement(77, 1);
    at_end.links = BTreeMap::from([(site(9), 1)]);
    at_end.keys = BTreeSet::from([key(1)]);
    let mut before = Liar::announcement(9, 1);
    before.links.insert(nowhere.clone(), 1);
    leads.announce(at_end).await;
    leads.announce(before).await;
    until(&world.nodes[1], |ways| ways.sites.contains_key(&nowhere)).await;
    let passing = tokio::spawn(pass_on(leads.incoming, returns.asks.clone(), ttl));
    let alive = async {
        loop {
            for liar in [&mut leads.control, &mut returns.control] {
                liar.write_all(&Frame::Alive.encode()).await.unwrap();
            }
            sleep(Duration::from_secs(1)).await;
        }
    };
    let open = async { world.nodes[1].open(&key(1), &nowhere).await };
    let refusal = tokio::select! {
        opened = open => opened.err(),
        () = alive => unreachable!("it goes on"),
    };
    let refused = refused(&world);
    // Others are served while the liars are there, and afterwards.
    sleep(Duration::from_secs(1)).await;
    let stream = world.nodes[1].open(&key(1), &site(0)).await;
    drop(stream.expect("it gets there"));
    passing.abort();
    drop((leads.control, leads.asks, returns));
    ends(&world).await;
    (refusal, refused)
}

#[tokio::test(start_paused = true)]
async fn a_stream_in_a_circle_of_four_ends_when_it_went_over_64_links() {
    // Each node counts a link, and each reports on the way back why the stream ended.
    assert_eq!(circle(|ttl| ttl).await, (Some(Refusal::Loop), 65));
}

#[tokio::test(start_paused = true)]
async fn a_stream_in_a_circle_whose_links_nobody_counts_ends_when_a_link_is_full() {
    assert_eq!(circle(|_| 64).await, (Some(Refusal::Limit), 0));
}

#[tokio::test(start_paused = true)]
async fn routers_that_disagree_for_a_moment_send_no_stream_in_circles() {
    let world = World::new(4);
    let slow = || Line::new([Duration::from_millis(200); 2]);
    world.set_keys(3, &[1]);
    world.join(0, 2, 1);
    let _costs =
        [(0, 1, 1), (1, 3, 9), (0, 3, 1)].map(|(a, b, cost)| world.join_over(slow(), a, b, cost));
    until(&world.nodes[1], |ways| {
        let way = ways.sites.get(&site(3));
        way.is_some_and(|way| way.cost == 2)
    })
    .await;
    sleep(Duration::from_secs(5)).await;
    // The announcement of site 0 waits for its turn, but site 0 acts on its own knowledge at once.
    world.set_keys(0, &[2]);
    world.close(0, 3).await;
    let open = async || world.nodes[0].open(&key(1), &site(3)).await;
    assert_eq!(open().await.err(), Some(Refusal::Loop));
    assert_eq!(refused(&world), 1);
    drop(world.nodes[2].open(&key(2), &site(0)).await.unwrap());
    sleep(Duration::from_secs(1)).await;
    drop(open().await.unwrap());
    drop(world.nodes[1].open(&key(1), &site(3)).await.unwrap());
    assert_eq!(refused(&world), 1);
}
