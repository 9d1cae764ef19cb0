//! Tests of neighbours that send announcements that no correct router sends.

use super::*;

/// A site with an honest neighbour and a liar.
fn network() -> Network {
    let mut network = Network::new(site(0), 1, Role::Interior);
    network.link_up(&site(1), Role::Interior, 1, Duration::ZERO);
    network.link_up(&site(2), Role::Interior, 1, Duration::ZERO);
    network.tick(PACE);
    network
}

fn said_by(number: usize, sequence: u64) -> Announcement {
    Announcement {
        origin: site(number),
        version: Version {
            instance: 1,
            sequence,
        },
        role: Role::Interior,
        links: BTreeMap::from([(site(0), 1)]),
        keys: BTreeSet::new(),
        about: About::default(),
    }
}

fn receive_announcement(
    network: &mut Network,
    announcement: Announcement,
) -> Result<(), Violation> {
    network.receive(&site(2), Arc::new(announcement), Duration::ZERO)
}

#[test]
fn what_cannot_be_said_is_a_violation_that_names_the_site() {
    type Lie = fn(&mut Announcement);
    let mut network = network();
    let lies: [(&str, Lie); 6] = [
        ("a link of site site-02 costs 0", |said| {
            said.links.insert(site(0), 0);
        }),
        ("a link of site site-02 costs 4000000000", |said| {
            said.links.insert(site(0), 4_000_000_000);
        }),
        ("the links of site site-02 cannot be", |said| {
            said.links.insert(site(2), 1);
        }),
        ("site site-02 has too many keys", |said| {
            said.keys = (0..3000).map(key).collect();
        }),
        ("the announcement of site site-02 is too long", |said| {
            let long = |number| Key::new(&format!("{number:0>250}")).unwrap();
            said.keys = (0..1000).map(long).collect();
        }),
        ("the announcement of site site-02 is of no time", |said| {
            said.version.sequence = u64::MAX;
        }),
    ];
    for (text, lie) in lies {
        let mut said = said_by(2, 1);
        lie(&mut said);
        assert_eq!(
            receive_announcement(&mut network, said)
                .unwrap_err()
                .to_string(),
            text
        );
        assert_eq!(network.known().count(), 0);
    }
    receive_announcement(&mut network, said_by(2, 1)).unwrap();
    network.tick(PACE);
    assert_eq!(network.routes().sites.len(), 1);
}

#[test]
fn an_edge_site_speaks_for_itself_alone() {
    let mut network = network();
    network.link_up(&site(2), Role::Edge, 1, Duration::ZERO);
    receive_announcement(&mut network, said_by(2, 1)).unwrap();
    let foreign = receive_announcement(&mut network, said_by(1, 9));
    assert_eq!(foreign, Err(Violation::Foreign(site(1))));
    assert_eq!(network.known().count(), 1);
}

#[test]
fn who_speaks_for_this_site_is_overruled_and_not_more_than_once_a_second() {
    let mut network = network();
    network.set_keys(BTreeSet::from([key(1)]), PACE).unwrap();
    let mut said = 0;
    let mut now = Duration::from_secs(1);
    for _ in 0..1000 {
        let mut lie = network.own().clone();
        lie.version.sequence += 1;
        lie.keys.clear();
        network.receive(&site(2), Arc::new(lie), now).unwrap();
        now += Duration::from_millis(10);
        network.tick(now);
        for message in network.messages(&site(1), now) {
            if let Message::Announce(own) = message {
                said += usize::from(own.origin == site(0));
                assert!(own.version <= network.own().version);
            }
        }
    }
    assert_eq!(network.contested(), 1000);
    now += Duration::from_secs(2);
    network.tick(now);
    let messages = network.messages(&site(2), now);
    let last = messages.iter().find_map(|message| match message {
        Message::Announce(own) if own.origin == site(0) => Some(own.keys.clone()),
        Message::Announce(..) | Message::Acknowledge(..) => None,
    });
    assert_eq!(last, Some(BTreeSet::from([key(1)])));
    assert!(said <= 15, "{said}");
}

#[test]
fn a_lie_about_another_site_ends_when_that_site_hears_of_it() {
    let mut world = World::line(4);
    world.set_keys(3, BTreeSet::from([key(3)]));
    world.settle();
    let mut lie = world.networks[3].own().clone();
    lie.version.sequence += 5;
    lie.keys.clear();
    let (now, lie) = (world.now, Arc::new(lie));
    // The liar has it from nowhere.
    let liar = &mut world.networks[0];
    liar.receive(&site(1), lie.clone(), now).unwrap();
    for message in liar.messages(&site(1), now) {
        assert!(
            matches!(message, Message::Acknowledge(..)),
            "it has it from there"
        );
    }
    world.networks[1].receive(&site(0), lie, now).unwrap();
    world.settle();
    assert_eq!(world.networks[3].contested(), 1);
    for at in 0..3 {
        assert_eq!(world.routes(at).keys[&key(3)], [site(3)]);
    }
}

#[test]
fn floods_replays_and_invented_sites_are_cut_off() {
    let mut network = network();
    let mut flood = (1..100_000).map(|n| receive_announcement(&mut network, said_by(2, n)));
    assert_eq!(flood.find_map(Result::err), Some(Violation::Flood));
    let mut network = super::lies::network();
    let mut replay = (1..100_000).map(|_| receive_announcement(&mut network, said_by(2, 1)));
    assert_eq!(replay.find_map(Result::err), Some(Violation::Replay));
    let mut network = super::lies::network();
    let mut invented = (3..100_000).map(|n| receive_announcement(&mut network, said_by(n, 1)));
    assert_eq!(
        invented.find_map(Result::err),
        Some(Violation::TooManySites)
    );
    assert_eq!(network.known().count(), MAX_SITES_OF_NEIGHBOUR);
    // The announcement of an honest neighbour has room.
    let honest = network.receive(&site(1), Arc::new(said_by(1, 1)), Duration::ZERO);
    honest.unwrap();
    network.tick(PACE);
    assert!(network.routes().sites.contains_key(&site(1)));
}

#[test]
fn who_acknowledges_what_nobody_said_is_told_all_the_same() {
    let mut network = network();
    let announced = |network: &mut Network, now| {
        let messages = network.messages(&site(1), now);
        messages.len()
    };
    assert_eq!(announced(&mut network, PACE), 1);
    let mut version = network.own().version;
    version.sequence += 1;
    network.acknowledged(&site(1), &site(0), version);
    network.acknowledged(&site(1), &site(77), version);
    network
        .set_keys(BTreeSet::from([key(1)]), 2 * PACE)
        .unwrap();
    network.tick(2 * PACE);
    assert_eq!(announced(&mut network, 2 * PACE), 1);
}

#[test]
fn a_restart_with_a_clock_that_went_back_is_believed_soon() {
    let mut world = World::line(3);
    world.settle();
    world.down(0, 1);
    world.networks[0] = Network::new(site(0), 0, Role::Interior);
    world.set_keys(0, BTreeSet::from([key(0)]));
    world.up(0, 1, 1);
    world.settle();
    assert_eq!(world.networks[0].contested(), 1);
    assert_eq!(world.routes(2).keys[&key(0)], [site(0)]);
}

#[test]
fn who_is_announced_falsely_for_all_time_is_overruled_or_at_least_not_cut_off() {
    const LAST: u64 = 1 << 56;
    let last = |instance, sequence| Version { instance, sequence };
    for (version, overrules) in [
        (last(1_000_000, LAST), true),
        (last(LAST, 7), true),
        (last(LAST, LAST), false),
    ] {
        let mut world = World::line(3);
        world.set_keys(0, BTreeSet::from([key(0)]));
        world.settle();
        let mut lie = world.networks[0].own().clone();
        lie.version = version;
        lie.keys.clear();
        let now = world.now;
        world.networks[1]
            .receive(&site(2), Arc::new(lie), now)
            .unwrap();
        world.settle();
        // Each may receive a further announcement of it.
        world.set_keys(0, BTreeSet::from([key(1)]));
        world.settle();
        let keys = &world.routes(2).keys;
        assert_eq!(keys.contains_key(&key(1)), overrules, "{version:?}");
        assert!(world.routes(2).sites.contains_key(&site(0)));
    }
}

#[test]
fn two_starts_that_overrule_the_same_memory_are_never_taken_for_each_other() {
    // Site 1 remembers the announcement of the first start, and site 2 only the earlier one.
    let mut world = World::line(3);
    world.settle();
    world.down(1, 2);
    world.restart(0, Instance::Lower);
    world.set_keys(0, BTreeSet::from([key(1)]));
    world.settle();
    world.down(0, 1);
    world.restart(0, Instance::Lower);
    world.up(0, 2, 1);
    world.set_keys(0, BTreeSet::from([key(2)]));
    world.settle();
    world.up(1, 2, 1);
    world.settle();
    world.agrees_with_the_oracle();
    assert!(world.routes(1).keys.contains_key(&key(2)));
}

#[test]
fn a_router_whose_clock_went_back_is_told_so_by_an_edge_site_and_by_whom_it_did_not_use() {
    let mut world = World::new([Role::Interior, Role::Edge]);
    world.up(0, 1, 1);
    world.settle();
    world.restart(0, Instance::Lower);
    world.settle();
    world.agrees_with_the_oracle();
    let mut world = World::new([Role::Interior, Role::Edge, Role::Interior]);
    world.up(1, 2, 1);
    world.up(0, 1, 1);
    world.settle();
    // Site 0 hears no more of the first start than that it used the other link.
    world.down(1, 2);
    world.restart(1, Instance::Lower);
    world.settle();
    world.agrees_with_the_oracle();
    assert!(world.routes(0).sites.contains_key(&site(1)));
}
