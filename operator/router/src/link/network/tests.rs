//! Networks in memory: any order, loss and repetition of messages against a naive oracle, all orders of a small one, and liars.

mod lies;
mod world;

use std::collections::BTreeSet;
use std::time::Duration;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::*;
use world::{Instance, World, key, site};

/// One thing that happens to a network of a few sites.
#[derive(Clone, Debug)]
enum Event {
    Up(usize, usize, u32),
    Down(usize, usize),
    /// A link is lost and there again.
    Flap(usize),
    Keys(usize, u8),
    Restart(usize, Instance),
    /// Time passes, by this amount.
    Wait(u64),
    /// These messages arrive, are lost or come twice, as selected by these numbers.
    Deliver(Vec<(usize, u8)>),
}

fn event(sites: usize) -> impl Strategy<Value = Event> {
    let pair = || (0..sites, 0..sites);
    prop_oneof![
        3 => (pair(), 1..6_u32).prop_map(|((a, b), cost)| Event::Up(a, b, cost)),
        2 => pair().prop_map(|(a, b)| Event::Down(a, b)),
        2 => any::<usize>().prop_map(Event::Flap),
        2 => (0..sites, any::<u8>()).prop_map(|(at, keys)| Event::Keys(at, keys)),
        1 => (0..sites).prop_map(|at| Event::Restart(at, Instance::Higher)),
        1 => (0..sites).prop_map(|at| Event::Restart(at, Instance::Lower)),
        1 => (1..100_000_u64).prop_map(Event::Wait),
        6 => vec((any::<usize>(), 0..8_u8), 1..20).prop_map(Event::Deliver),
    ]
}

fn happens(world: &mut World, event: Event) {
    match event {
        Event::Up(a, b, cost) => world.up(a, b, cost),
        Event::Down(a, b) => world.down(a, b),
        Event::Flap(which) => world.flap(which),
        Event::Keys(at, keys) => {
            let keys = (0..8).filter(|bit| keys & (1 << bit) != 0);
            world.set_keys(at, keys.map(key).collect());
        }
        Event::Restart(at, instance) => world.restart(at, instance),
        Event::Wait(millis) => world.wait(Duration::from_millis(millis)),
        Event::Deliver(which) => {
            for (which, fate) in which {
                world.step(which, fate);
            }
        }
    }
}

fn cases(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(77),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(cases(1000))]

    #[test]
    fn any_order_loss_and_repetition_ends_in_the_ways_of_the_oracle(
        edges in vec(any::<bool>(), 7),
        clocks in vec(50..200_u32, 7),
        events in vec(event(7), 1..60),
    ) {
        let roles = edges.iter().enumerate();
        let roles = roles.map(|(at, edge)| if *edge && at > 3 { Role::Edge } else { Role::Interior });
        let mut world = World::new(roles);
        for (at, percent) in clocks.into_iter().enumerate() {
            world.set_clock(at, percent);
        }
        for event in events {
            happens(&mut world, event);
        }
        world.settle();
        world.agrees_with_the_oracle();
        let quiet = world.sent;
        world.wait(Duration::from_secs(1000));
        world.settle();
        prop_assert_eq!(world.sent, quiet, "nothing is said when nothing is new");
    }
}

#[test]
fn a_change_is_said_once_over_each_link_and_direction() {
    for shape in [World::mesh(12), World::line(12), World::ring(12)] {
        let mut world = shape;
        world.settle();
        world.agrees_with_the_oracle();
        let before = world.sent;
        world.wait(Duration::from_secs(1));
        world.set_keys(7, BTreeSet::from([key(1)]));
        world.settle();
        world.agrees_with_the_oracle();
        let said = world.sent - before;
        let directions = world.directions();
        assert!(said >= 11 && said <= directions, "{said} of {directions}");
    }
}

#[test]
fn a_start_and_a_heal_of_a_mesh_cause_no_storm() {
    let mut world = World::mesh(12);
    world.settle();
    // Each site announces itself at most once for each of its links, and each announcement crosses
    // a link once per direction.
    let (sites, directions) = (12, world.directions());
    assert!(world.sent <= 3 * sites * directions, "{}", world.sent);
    let before = world.sent;
    for (a, b) in (0..6).flat_map(|a| (6..12).map(move |b| (a, b))) {
        world.down(a, b);
    }
    world.settle();
    world.agrees_with_the_oracle();
    for (a, b) in (0..6).flat_map(|a| (6..12).map(move |b| (a, b))) {
        world.up(a, b, 1);
    }
    world.settle();
    world.agrees_with_the_oracle();
    let said = world.sent - before;
    assert!(said <= 6 * sites * directions, "{said}");
}

/// Runs these events one after the other at all possible moments. The next message to arrive is any
/// of those that are first in their direction, and up to `losses` messages are lost. Returns the
/// number of moments, and the paths in the end.
fn orders(mut world: World, events: &[fn(&mut World)], losses: usize) -> (usize, BTreeSet<String>) {
    world.settle();
    let (mut seen, mut ends) = (BTreeSet::new(), BTreeSet::new());
    let mut ahead = vec![(world, 0, 0)];
    while let Some((mut world, happened, lost)) = ahead.pop() {
        world.acknowledge();
        if !seen.insert(world.print((happened, lost))) {
            continue;
        }
        let waiting = world.waiting();
        for which in 0..waiting {
            let mut next = world.clone();
            next.deliver(which);
            ahead.push((next, happened, lost));
            if lost < losses {
                let mut next = world.clone();
                next.lose(which);
                ahead.push((next, happened, lost + 1));
            }
        }
        if let Some(event) = events.get(happened) {
            let mut next = world.clone();
            next.wait(PACE);
            event(&mut next);
            ahead.push((next, happened + 1, lost));
        } else if waiting == 0 {
            world.settle();
            world.agrees_with_the_oracle();
            ends.insert(world.describe_routes());
        }
    }
    (seen.len(), ends)
}

/// Checks that there are more than `least` moments, and that the paths in the end are always the
/// same.
fn end_the_same(mut world: World, events: &[fn(&mut World)], losses: usize, least: usize) {
    world.set_keys(2, BTreeSet::from([key(0)]));
    let (moments, ends) = orders(world, events, losses);
    assert!(moments > least, "{moments}");
    assert_eq!(ends.len(), 1);
}

/// Three sites in a ring lose a link, and one of them changes its keys, and the link returns.
const LOSS: [fn(&mut World); 3] = [
    |world| world.down(0, 2),
    |world| world.set_keys(2, BTreeSet::from([key(1)])),
    |world| world.up(0, 2, 1),
];

#[test]
fn all_orders_of_a_small_network_end_the_same() {
    end_the_same(World::ring(3), &LOSS, 0, 500);
}

#[test]
fn all_orders_end_the_same_when_any_message_is_lost() {
    end_the_same(World::ring(3), &LOSS[..2], 1, 100);
    end_the_same(
        World::line(3),
        &[|world| world.restart(1, Instance::Higher)],
        1,
        30,
    );
    let returns: [fn(&mut World); 2] = [|world| world.down(0, 1), |world| world.up(0, 1, 1)];
    end_the_same(World::line(3), &returns, 1, 300);
}

#[test]
fn all_orders_end_the_same_when_a_router_starts_again() {
    let keys: fn(&mut World) = |world| world.set_keys(1, BTreeSet::from([key(1)]));
    let restarts: [fn(&mut World); 2] = [
        |world| world.restart(1, Instance::Higher),
        |world| world.restart(1, Instance::Lower),
    ];
    for restart in restarts {
        end_the_same(World::line(3), &[restart, keys], 0, 1000);
        end_the_same(World::ring(3), &[|world| world.down(0, 2), restart], 0, 50);
    }
    end_the_same(World::ring(3), &restarts[..1], 0, 2000);
}

#[test]
fn a_link_that_is_lost_and_found_within_a_moment_counts_again() {
    let mut world = World::line(2);
    world.drain();
    world.down(0, 1);
    assert!(world.routes(0).sites.is_empty());
    world.up(0, 1, 1);
    world.drain();
    world.agrees_with_the_oracle();
}

#[test]
fn keys_of_a_site_out_of_reach_vanish_at_once_and_its_announcement_later() {
    let mut world = World::line(3);
    world.set_keys(2, BTreeSet::from([key(5)]));
    world.settle();
    assert_eq!(world.routes(0).keys[&key(5)], [site(2)]);
    world.down(0, 1);
    assert!(world.routes(0).keys.is_empty() && world.routes(0).sites.is_empty());
    assert_eq!(world.networks[0].known().count(), 2);
    world.wait(EXPIRY - Duration::from_secs(1));
    assert_eq!(world.networks[0].known().count(), 2);
    world.wait(Duration::from_secs(1));
    assert_eq!(world.networks[0].known().count(), 0);
    world.up(0, 1, 1);
    world.settle();
    assert_eq!(world.routes(0).keys[&key(5)], [site(2)]);
}

#[test]
fn a_link_counts_when_both_ends_announce_it() {
    let mut world = World::line(3);
    world.settle();
    let mut network = world.networks.remove(0);
    let mut other = world.networks[0].own().clone();
    other.version.sequence += 1;
    other.links.remove(&site(0));
    let now = world.now;
    network.receive(&site(1), Arc::new(other), now).unwrap();
    network.tick(now);
    assert!(network.routes().sites.is_empty());
}

#[test]
fn the_dearer_end_says_what_a_link_costs_and_the_nearest_site_comes_first() {
    let mut world = World::new([Role::Interior; 4]);
    for at in 1..4 {
        world.set_keys(at, BTreeSet::from([key(0)]));
    }
    for (a, b, cost) in [(0, 1, 5), (0, 2, 2), (2, 3, 2)] {
        world.up(a, b, cost);
    }
    world.settle();
    let near = [site(2), site(3), site(1)];
    assert_eq!(world.routes(0).keys[&key(0)], near);
    let now = world.now;
    world.networks[2].link_up(&site(0), Role::Interior, 50, now);
    world.settle();
    assert_eq!(world.routes(0).sites[&site(2)].cost, 50);
    assert_eq!(world.routes(0).keys[&key(0)][0], site(1));
}

#[test]
fn nothing_goes_through_an_edge_site_and_it_keeps_to_one_link() {
    let roles = [Role::Interior, Role::Edge, Role::Interior];
    let mut world = World::new(roles);
    world.up(0, 1, 3);
    world.up(1, 2, 3);
    world.settle();
    world.agrees_with_the_oracle();
    assert_eq!(world.networks[1].own().links.len(), 1);
    assert!(!world.routes(0).sites.contains_key(&site(2)));
    // A cheaper one changes nothing; it is used when the first is lost.
    world.down(1, 2);
    world.up(1, 2, 1);
    world.settle();
    assert!(world.routes(0).sites.contains_key(&site(1)));
    assert!(!world.routes(2).sites.contains_key(&site(1)));
    world.down(0, 1);
    world.wait(PACE);
    world.settle();
    assert!(world.routes(2).sites.contains_key(&site(1)));
}

#[test]
fn a_site_is_told_again_to_who_forgot_it_a_moment_before_it_returned() {
    let mut world = World::line(3);
    world.set_keys(2, BTreeSet::from([key(5)]));
    world.settle();
    world.down(1, 2);
    world.drain();
    world.wait(EXPIRY - Duration::from_millis(10));
    let now = world.now + Duration::from_millis(10);
    world.networks[0].tick(now);
    let known = |world: &World, at: usize| world.networks[at].known().count();
    assert_eq!((known(&world, 0), known(&world, 1)), (1, 2));
    world.up(1, 2, 1);
    world.settle();
    assert_eq!(world.routes(0).keys[&key(5)], [site(2)]);
}

#[test]
fn more_sites_than_may_be_under_way_are_told_as_answers_come() {
    let mut network = Network::new(site(0), 1, Role::Interior);
    let now = PACE;
    network.link_up(&site(1), Role::Interior, 1, Duration::ZERO);
    network.link_up(&site(2), Role::Interior, 1, now);
    let announced = |number: usize, to: Vec<usize>| {
        let links = to.into_iter().map(|to| (site(to), 1));
        Arc::new(Announcement {
            origin: site(number),
            version: Version {
                instance: 1,
                sequence: 1,
            },
            role: Role::Interior,
            links: links.collect(),
            keys: BTreeSet::new(),
            about: About::default(),
        })
    };
    let mut star: Vec<usize> = (3..303).collect();
    for leaf in star.clone() {
        let leaf = announced(leaf, vec![1]);
        network.receive(&site(1), leaf, now).unwrap();
    }
    star.push(0);
    let middle = announced(1, star);
    network.receive(&site(1), middle, now).unwrap();
    network.tick(now);
    let mut told = BTreeSet::new();
    while let messages = network.messages(&site(2), now)
        && !messages.is_empty()
    {
        assert!(messages.len() <= 128);
        for message in messages {
            let Message::Announce(announcement) = message else {
                panic!("nothing is acknowledged");
            };
            network.acknowledged(&site(2), &announcement.origin, announcement.version);
            told.insert(announcement.origin.clone());
        }
    }
    assert_eq!(told.len(), 302);
}
