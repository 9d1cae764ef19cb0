//! Routers in one process over pipes in memory, on paused time.

mod chaos;
mod circles;
mod dialled;
mod fuzz;
mod liars;
mod silence;
mod traffic;
mod wire;
mod world;

use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, UNIX_EPOCH};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::{Instant, sleep, timeout};

use super::*;
use crate::link::announcement::instance;
use crate::link::frame::record::Refusal;
use crate::link::session::Terms;
use dialled::Dialled;
use wire::Line;
use world::{World, key, node, site};

/// Upper bounds on the time until a link detects that the other end is dead, and until a network of
/// fifty sites learns of it.
const SEEN: Duration = Duration::from_secs(4);
const TOLD: Duration = Duration::from_secs(6);

async fn until(node: &Node, what: impl FnMut(&Arc<Routes>) -> bool) {
    let mut ways = node.routes();
    let found = timeout(Duration::from_secs(60), ways.wait_for(what)).await;
    found
        .expect("it does not come about")
        .expect("the node is there");
}

#[tokio::test(start_paused = true)]
async fn s43_a_silent_site_is_seen_in_four_seconds_and_told_along_fifty_sites_in_six() {
    for phase in [0, 400, 999] {
        let world = World::line(50).await;
        world.set_keys(49, &[1]);
        until(&world.nodes[0], |ways| ways.keys.contains_key(&key(1))).await;
        sleep(Duration::from_millis(10_000 + phase)).await;
        world.silence(48, 49);
        let since = Instant::now();
        let gone = |ways: &Arc<Routes>| !ways.keys.contains_key(&key(1));
        let (seen, told) = tokio::join!(
            async {
                until(&world.nodes[48], gone).await;
                since.elapsed()
            },
            async {
                until(&world.nodes[0], gone).await;
                since.elapsed()
            }
        );
        assert!(seen <= SEEN, "{seen:?}");
        assert!(told <= TOLD, "{told:?}");
        let ended = world.wait_for_end(48, 49).await;
        assert!(matches!(ended, Ended::Silent), "{ended}");
    }
}

#[tokio::test(start_paused = true)]
async fn s43_a_site_whose_connection_closes_is_gone_at_once_and_back_as_soon() {
    let world = World::line(10).await;
    world.set_keys(9, &[1]);
    until(&world.nodes[0], |ways| ways.keys.contains_key(&key(1))).await;
    sleep(Duration::from_secs(5)).await;
    let since = Instant::now();
    world.close(8, 9).await;
    until(&world.nodes[0], |ways| !ways.keys.contains_key(&key(1))).await;
    assert!(
        since.elapsed() <= Duration::from_secs(1),
        "{:?}",
        since.elapsed()
    );
    let since = Instant::now();
    world.join(8, 9, 1);
    until(&world.nodes[0], |ways| ways.keys.contains_key(&key(1))).await;
    assert!(
        since.elapsed() <= Duration::from_secs(1),
        "{:?}",
        since.elapsed()
    );
}

/// Fifty sites, all linked with all, with ten keys each.
#[tokio::test(start_paused = true)]
async fn a_mesh_of_fifty_sites_with_five_hundred_keys_says_nothing_at_rest_and_little_at_a_change()
{
    let world = World::new(50);
    for at in 0..50 {
        let keys: Vec<usize> = (0..10).map(|number| 10 * at + number).collect();
        world.set_keys(at, &keys);
    }
    let pairs = || (0..50).flat_map(|a| (a + 1..50).map(move |b| (a, b)));
    for (a, b) in pairs() {
        world.join(a, b, 1);
    }
    for node in &world.nodes {
        until(node, |ways| {
            ways.keys.len() == 490 && ways.sites.values().all(|way| way.cost == 1)
        })
        .await;
    }
    sleep(Duration::from_secs(10)).await;
    let (directions, rest) = (50 * 49, world.message_counts());
    sleep(Duration::from_secs(10)).await;
    assert_eq!(world.message_counts(), rest, "nothing is said at rest");
    let alive: u64 = world
        .nodes
        .iter()
        .map(|node| node.frame_counts().alive.load(Relaxed))
        .sum();
    sleep(Duration::from_secs(10)).await;
    let more: u64 = world
        .nodes
        .iter()
        .map(|node| node.frame_counts().alive.load(Relaxed))
        .sum();
    assert_eq!(more - alive, 10 * directions);
    // A change goes over each link at most once in each direction.
    world.set_keys(7, &[1000]);
    until(&world.nodes[31], |ways| ways.keys.contains_key(&key(1000))).await;
    sleep(Duration::from_secs(10)).await;
    let (announcements, acknowledgements) = world.message_counts();
    let changes = announcements - rest.0;
    assert!((49..=directions).contains(&changes), "{changes}");
    assert!(acknowledgements - rest.1 <= directions);
    // Both ends announce the loss of a link and its return.
    let before = world.message_counts();
    world.close(3, 4).await;
    until(&world.nodes[3], |ways| ways.sites[&site(4)].cost == 2).await;
    world.join(3, 4, 1);
    until(&world.nodes[3], |ways| ways.sites[&site(4)].cost == 1).await;
    sleep(Duration::from_secs(10)).await;
    let said = world.message_counts().0 - before.0;
    assert!(said <= 5 * directions, "{said}");
}

#[tokio::test(start_paused = true)]
async fn of_links_that_are_dialled_from_both_ends_one_stays() {
    for _ in 0..10 {
        let world = World::new(2);
        world.join(0, 1, 1);
        world.join(1, 0, 1);
        sleep(Duration::from_secs(10)).await;
        assert_eq!(world.nodes[0].links(), [site(1)]);
        assert_eq!(world.nodes[1].links(), [site(0)]);
        assert!(
            world.nodes[0]
                .routes()
                .borrow()
                .sites
                .contains_key(&site(1))
        );
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_link_to_a_site_is_refused_and_the_first_stays() {
    let world = World::line(2).await;
    let first = world.take_handle(0, 1);
    for _ in 0..5 {
        world.join(0, 1, 1);
        let refused = world.wait_for_end(0, 1).await.to_string();
        assert!(refused.contains("a link to site"), "{refused}");
        sleep(Duration::from_secs(3)).await;
    }
    assert!(!first.is_finished());
    assert_eq!(world.nodes[0].links(), [site(1)]);
}

#[tokio::test(start_paused = true)]
async fn a_router_that_started_again_takes_its_place_before_the_old_link_is_dead() {
    let mut world = World::line(2).await;
    world.silence(0, 1);
    world.nodes[1] = node(1, 2, Role::Interior);
    world.set_keys(1, &[5]);
    let since = Instant::now();
    let ended = world.take_handle(0, 1);
    world.join(0, 1, 1);
    until(&world.nodes[0], |ways| ways.keys.contains_key(&key(5))).await;
    assert!(since.elapsed() < Duration::from_secs(1));
    assert!(matches!(ended.await.unwrap(), Ended::Replaced));
}

#[tokio::test(start_paused = true)]
async fn a_link_that_is_stopped_says_so_at_both_ends() {
    let world = World::line(2).await;
    let (here, there) = (world.take_handle(0, 1), world.take_handle(1, 0));
    world.nodes[0].stop(&site(1));
    assert!(matches!(here.await.unwrap(), Ended::Stopped));
    let said = there.await.unwrap().to_string();
    assert_eq!(said, "it ended the link: the link was withdrawn");
    assert!(world.nodes[0].links().is_empty() && world.nodes[1].links().is_empty());
}

#[tokio::test(start_paused = true)]
async fn what_a_link_costs_changes_while_it_lasts_and_the_higher_of_both_ends_counts() {
    let world = World::new(2);
    let cost = world.join(0, 1, 4);
    let costs = async |expected: u64| {
        for (at, other) in [(0, 1), (1, 0)] {
            until(&world.nodes[at], |ways| {
                let way = ways.sites.get(&site(other));
                way.is_some_and(|way| way.cost == expected)
            })
            .await;
        }
    };
    costs(4).await;
    let refused = world.nodes[0].open(&key(1), &site(1)).await.err();
    assert_eq!(refused, Some(Refusal::NoRoute));
    for (wanted, counts) in [(9, 9), (2, 4), (0, 4), (4_000_000, 1_000_000), (4, 4)] {
        cost.send_replace(wanted);
        costs(counts).await;
    }
    world.set_keys(1, &[1]);
    until(&world.nodes[0], |ways| ways.keys.contains_key(&key(1))).await;
    let mut stream = world.nodes[0].open(&key(1), &site(1)).await.unwrap();
    cost.send_replace(7);
    costs(7).await;
    stream.write_all(b"x").await.unwrap();
    let mut heard = [0];
    stream.read_exact(&mut heard).await.unwrap();
    assert_eq!(&heard, b"x");
}

#[tokio::test(start_paused = true)]
async fn of_two_routers_of_one_site_the_one_that_started_later_stays() {
    let mut world = World::line(2).await;
    let first = world.nodes[0].clone();
    world.nodes[0] = node(0, 2, Role::Interior);
    let replaced = world.take_handle(0, 1);
    world.join(0, 1, 1);
    let why = replaced.await.unwrap().to_string();
    assert!(why.contains("took its place"), "{why}");
    let stays = world.take_handle(0, 1);
    world.nodes[0] = first;
    world.join(0, 1, 1);
    let why = world.wait_for_end(0, 1).await.to_string();
    assert!(why.contains("started later"), "{why}");
    sleep(Duration::from_secs(10)).await;
    assert!(!stays.is_finished());
}

#[tokio::test(start_paused = true)]
async fn what_sites_are_called_is_told_to_all_and_again_when_it_changes() {
    let world = World::line(3).await;
    let mut news = world.nodes[0].news();
    for name in ["north", "south"] {
        let about = About {
            name: name.to_owned(),
            ..About::default()
        };
        world.nodes[2].set_about(about).unwrap();
        loop {
            let view = world.nodes[0].view();
            let last = view.sites.iter().find(|known| known.origin == site(2));
            if last.is_some_and(|last| last.about.name == name) {
                break;
            }
            let told = timeout(Duration::from_secs(5), news.changed()).await;
            told.expect("it is told").unwrap();
        }
    }
    let long = About {
        name: "x".repeat(300),
        ..About::default()
    };
    assert!(world.nodes[2].set_about(long).is_err());
}

#[tokio::test(start_paused = true)]
async fn a_router_that_starts_again_is_believed_whatever_its_clock_says() {
    let now = UNIX_EPOCH + Duration::from_secs(1_800_000_000);
    let hour = Duration::from_secs(3600);
    let mut world = World::new(3);
    world.join(1, 2, 1);
    let mut dialled: Option<Dialled> = None;
    let starts = [
        (now, false),
        (now - hour, false),
        (now - 2 * hour, true),
        (UNIX_EPOCH - hour, false),
        (now + hour, true),
        (now, true),
    ];
    for (number, (time, falls_silent)) in starts.into_iter().enumerate() {
        if let Some(before) = dialled.take().filter(|_| falls_silent) {
            before.line.freeze(&[0, 1]);
        }
        world.nodes[0] = node(0, instance(time, 0), Role::Interior);
        world.set_keys(0, &[number]);
        let since = Instant::now();
        let [from, to] = [0, 1].map(|at| &world.nodes[at]);
        dialled = Some(Dialled::new(from, to, 1, Line::default()));
        until(&world.nodes[2], |ways| {
            ways.keys.len() == 1 && ways.keys.contains_key(&key(number))
        })
        .await;
        let took = since.elapsed();
        assert!(took <= SEEN, "{took:?} of start {number}");
        sleep(Duration::from_secs(20)).await;
        assert!(world.nodes[0].contested() <= 1);
        let keys = world.nodes[2].routes().borrow().keys.clone();
        assert!(keys.contains_key(&key(number)));
    }
}
