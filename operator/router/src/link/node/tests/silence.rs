//! Links over which nothing arrives for a while, and links that flap.

use std::collections::BTreeSet;

use super::dialled::Dialled;
use super::wire::Line;
use super::*;
use crate::link::network::PACE;
use crate::link::session::{ALIVE, DEAD};
use crate::link::socket::PAUSES;

/// The directions of a line that can stand still together.
const DIRECTIONS: [&[usize]; 3] = [&[0], &[1], &[0, 1]];

fn all_routes(world: &World) -> Vec<Arc<Routes>> {
    let all = world.nodes.iter();
    all.map(|node| node.routes().borrow().clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn s43_a_link_that_is_silent_for_less_than_it_takes_to_give_it_up_changes_nothing() {
    for (directions, phase) in DIRECTIONS.into_iter().zip([0, 400, 990]) {
        let world = World::new(3);
        let line = Line::new([Duration::from_millis(150), Duration::from_millis(50)]);
        let _cost = world.join_over(line.clone(), 0, 1, 1);
        world.join(1, 2, 1);
        world.set_keys(2, &[1]);
        until(&world.nodes[0], |ways| ways.keys.contains_key(&key(1))).await;
        let mut stream = world.nodes[0].open(&key(1), &site(2)).await.unwrap();
        sleep(Duration::from_millis(10_000 + phase)).await;
        let (said, known) = (world.message_counts(), all_routes(&world));
        line.freeze(directions);
        stream.write_all(b"hello").await.unwrap();
        let mut heard = [0; 5];
        let silent = DEAD - ALIVE - Duration::from_millis(1);
        let read = timeout(silent, stream.read_exact(&mut heard)).await;
        assert!(read.is_err(), "it is silent");
        line.thaw();
        stream.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, b"hello");
        sleep(Duration::from_secs(10)).await;
        assert_eq!(world.message_counts(), said);
        let stays = known
            .iter()
            .zip(&all_routes(&world))
            .all(|(a, b)| Arc::ptr_eq(a, b));
        assert!(stays, "the ways changed");
    }
}

#[tokio::test(start_paused = true)]
async fn s43_a_link_that_thaws_after_it_was_given_up_is_made_anew_once() {
    for directions in DIRECTIONS {
        for silent in (0..20).map(|step| DEAD + ALIVE / 10 * step) {
            let world = World::line(2).await;
            let other = node(9, 1, Role::Interior);
            let dialled = Dialled::new(&other, &world.nodes[0], 1, Line::default());
            let knows = |ways: &Arc<Routes>| ways.sites.len() == 2;
            until(&other, knows).await;
            sleep(Duration::from_secs(20)).await;
            dialled.line.freeze(directions);
            let gone = |ways: &Arc<Routes>| ways.sites.is_empty();
            until(&other, gone).await;
            sleep(silent - DEAD).await;
            let thawed = Instant::now();
            dialled.line.thaw();
            until(&other, knows).await;
            until(&world.nodes[1], knows).await;
            let bound = PAUSES.1 + Duration::from_secs(1);
            let took = thawed.elapsed();
            assert!(took <= bound, "{took:?} after {silent:?} {directions:?}");
            let known = other.routes().borrow().clone();
            sleep(Duration::from_secs(10)).await;
            assert!(Arc::ptr_eq(&known, &other.routes().borrow()), "it flaps");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_link_that_flaps_is_told_ten_times_a_second_at_most() {
    const TIMES: u64 = 200;
    let world = World::line(3).await;
    let other = node(9, 1, Role::Interior);
    let others = |ways: &Arc<Routes>| ways.sites.len() == 3;
    sleep(Duration::from_secs(1)).await;
    let said = |node: &Node| node.frame_counts().announcements.load(Relaxed);
    let (before, began, mut up) = (said(&world.nodes[1]), Instant::now(), 0);
    for time in 0..TIMES {
        let dialled = Dialled::new(&other, &world.nodes[0], 1, Line::default());
        sleep(Duration::from_millis(20 + time % 30)).await;
        up += u64::from(other.is_linked(&site(0)));
        drop(dialled);
        sleep(Duration::from_millis(1 + time % 7)).await;
    }
    let _stays = Dialled::new(&other, &world.nodes[0], 1, Line::default());
    until(&other, others).await;
    until(&world.nodes[2], others).await;
    assert!(up > TIMES / 2, "it was there {up} times");
    // The announcement of either end of the link goes over each of the two other links.
    let paces = began.elapsed().as_millis() / PACE.as_millis() + 1;
    let more = said(&world.nodes[1]) - before;
    assert!(
        more >= 1 && u128::from(more) <= 2 * paces,
        "{more} in {paces} paces"
    );
}

#[tokio::test(start_paused = true)]
async fn s43_a_link_over_which_one_end_hears_nothing_is_none_however_often_it_is_dialled() {
    for directions in DIRECTIONS {
        let world = World::line(2).await;
        let other = node(9, 1, Role::Interior);
        other.set_keys(BTreeSet::from([key(5)])).unwrap();
        let dialled = Dialled::new(&other, &world.nodes[0], 1, Line::default());
        let there = |ways: &Arc<Routes>| ways.keys.contains_key(&key(5));
        until(&world.nodes[1], there).await;
        dialled.line.freeze(directions);
        let since = Instant::now();
        until(&world.nodes[1], |ways| !there(ways)).await;
        assert!(since.elapsed() <= SEEN);
        let mut ways = world.nodes[1].routes();
        let back = timeout(Duration::from_secs(60), ways.wait_for(there)).await;
        assert!(back.is_err(), "it is there while {directions:?} are silent");
        dialled.line.thaw();
        until(&world.nodes[1], there).await;
    }
}
