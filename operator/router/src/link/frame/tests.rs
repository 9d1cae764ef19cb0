//! Frames and records, whole, cut, and of random bytes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::control::{Frame, Hello, MAX_FRAME, length};
use super::record::{MAX_DATA, Record, Refusal, Request};
use super::*;
use crate::link::announcement::about::{About, Service, Side};
use crate::link::announcement::{Announcement, Key, Role, SiteId, Version};

/// Returns a configuration with a fixed seed. `PROPTEST_CASES` sets the number of cases.
pub(crate) fn seeded() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn site() -> impl Strategy<Value = SiteId> {
    "[a-z0-9ä-]{1,40}".prop_map(|name| SiteId::new(&name).unwrap())
}

fn key() -> impl Strategy<Value = Key> {
    "[a-z0-9ü./]{1,60}".prop_map(|key| Key::new(&key).unwrap())
}

fn role() -> impl Strategy<Value = Role> {
    prop_oneof![Just(Role::Interior), Just(Role::Edge)]
}

fn version() -> impl Strategy<Value = Version> {
    any::<(u64, u64)>().prop_map(|(instance, sequence)| Version { instance, sequence })
}

fn side() -> impl Strategy<Value = Side> {
    let names = btree_set("[a-z0-9.]{1,20}", 0..4);
    (names, 0..9_u16).prop_map(|(names, more)| Side {
        count: u16::try_from(names.len()).unwrap() + more,
        names,
    })
}

fn about_strategy() -> impl Strategy<Value = About> {
    let service = (side(), side()).prop_map(|(connectors, listeners)| Service {
        connectors,
        listeners,
    });
    let dials = btree_map(site(), "[a-z]{1,9}", 0..4);
    let all = (
        "[a-z]{0,9}",
        "[a-z]{0,9}",
        dials,
        btree_map(key(), service, 0..4),
    );
    all.prop_map(|(name, platform, dials, services)| About {
        name,
        platform,
        dials,
        services,
        ..About::default()
    })
}

fn announcement() -> impl Strategy<Value = Announcement> {
    let links = btree_map(site(), any::<u32>(), 0..9);
    let keys = btree_set(key(), 0..9);
    let all = (site(), version(), role(), links, keys, about_strategy());
    all.prop_map(|(origin, version, role, links, keys, about)| Announcement {
        origin,
        version,
        role,
        links,
        keys,
        about,
    })
}

/// Any frame that can be written.
pub(crate) fn frame() -> impl Strategy<Value = Frame> {
    let hello = (any::<(u16, u16, u64, u32)>(), site(), role());
    let hello = hello.prop_map(|((low, high, instance, cost), site, role)| {
        Frame::Hello(Hello {
            versions: low..=high,
            site,
            instance,
            role,
            cost,
        })
    });
    let announce = announcement();
    let announce = announce.prop_map(|announcement| Frame::Announce(Arc::new(announcement)));
    let acknowledge = (site(), version());
    prop_oneof![
        hello,
        Just(Frame::Alive),
        announce,
        acknowledge.prop_map(|(site, version)| Frame::Acknowledge(site, version)),
        "[ -~]{0,250}".prop_map(Frame::Goodbye),
        any::<u32>().prop_map(Frame::Cost),
    ]
}

proptest! {
    #![proptest_config(seeded())]

    #[test]
    fn a_frame_is_read_as_it_was_written_and_not_if_it_is_cut(frame in frame()) {
        let bytes = frame.encode();
        let body = &bytes[4..];
        prop_assert_eq!(length(bytes[..4].try_into().unwrap()), Ok(body.len()));
        prop_assert_eq!(Frame::decode(body), Ok(frame));
        for end in 0..body.len() {
            prop_assert!(Frame::decode(&body[..end]).is_err());
        }
        let longer = [body, &[0]].concat();
        prop_assert!(Frame::decode(&longer).is_err());
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in vec(any::<u8>(), 0..200), kind in 0..9_u8) {
        let _any = Frame::decode(&bytes);
        let body = [&[kind], &bytes[..]].concat();
        let _of_kind = Frame::decode(&body);
        let _any = Record::first(&bytes);
        let _of_kind = Record::first(&body);
    }

    #[test]
    fn a_record_is_read_when_it_is_whole(
        (key, site, ttl) in (key(), site(), any::<u8>()),
        data in vec(any::<u8>(), 0..100),
        credit: u32,
    ) {
        let records = [
            Record::Open(Request { key, site, ttl }),
            Record::Opened,
            Record::Refused(Refusal::Loop),
            Record::Data(&data),
            Record::Credit(credit),
            Record::End,
        ];
        let mut bytes = Vec::new();
        records.iter().for_each(|record| record.encode_into(&mut bytes));
        let mut rest = &bytes[..];
        for record in records {
            let (first, length) = Record::first(rest).unwrap().unwrap();
            prop_assert_eq!(first, record);
            for end in 0..length {
                prop_assert_eq!(Record::first(&rest[..end]), Ok(None));
            }
            rest = &rest[length..];
        }
        prop_assert!(rest.is_empty());
    }
}

#[test]
fn what_is_too_long_is_refused_by_its_length_alone() {
    let most = u32::try_from(MAX_FRAME).unwrap();
    assert_eq!(length(most.to_be_bytes()), Ok(MAX_FRAME));
    let more = length((most + 1).to_be_bytes());
    assert_eq!(more, Err(Error::Oversize(MAX_FRAME + 1)));
    for kind in 1..=6 {
        let head = [kind, 0xff, 0xff];
        assert_eq!(Record::first(&head), Err(Error::Oversize(0xffff)));
    }
    let mut bytes = Vec::new();
    Record::Data(&[7; MAX_DATA + 5]).encode_into(&mut bytes);
    let (record, _) = Record::first(&bytes).unwrap().unwrap();
    assert_eq!(record, Record::Data(&[7; MAX_DATA]));
}

#[test]
fn the_longest_announcement_fits_into_a_frame() {
    let number = |number: usize| format!("{number:0>44}");
    let mut longest = Announcement {
        origin: SiteId::new(&"o".repeat(128)).unwrap(),
        version: Version::default(),
        role: Role::Interior,
        links: BTreeMap::new(),
        keys: BTreeSet::new(),
        about: About::default(),
    };
    for n in 0.. {
        longest.keys.insert(Key::new(&number(n)).unwrap());
        if n % 4 == 0 {
            longest.links.insert(SiteId::new(&number(n)).unwrap(), 1);
        }
        if longest.check().is_err() {
            break;
        }
        let frame = Frame::Announce(Arc::new(longest.clone()));
        let bytes = frame.encode();
        assert!(bytes.len() - 4 <= MAX_FRAME);
        assert_eq!(Frame::decode(&bytes[4..]), Ok(frame));
    }
    longest.keys.pop_last();
    longest.links.pop_last();
    let full = |n: usize| {
        let side = Side::from_names((0..n % 7).map(|name| format!("{n}-{name}")));
        let service = Service {
            connectors: side.clone(),
            listeners: side,
        };
        (Key::new(&number(n)).unwrap(), service)
    };
    longest.about.services = (0..5000).map(full).collect();
    longest.about = longest.about.fitted().0;
    assert_eq!(longest.check(), Ok(()));
    let frame = Frame::Announce(Arc::new(longest));
    let bytes = frame.encode();
    assert!(bytes.len() - 4 <= MAX_FRAME);
    assert_eq!(Frame::decode(&bytes[4..]), Ok(frame));
}

#[test]
fn a_reason_is_one_short_line() {
    let reason = format!("first\nsecond\u{1b}[31m{}", "é".repeat(1000));
    let bytes = Frame::Goodbye(reason).encode();
    let Ok(Frame::Goodbye(read)) = Frame::decode(&bytes[4..]) else {
        panic!("it is a goodbye");
    };
    assert!(read.starts_with("first second [31m") && read.len() <= 256);
}
