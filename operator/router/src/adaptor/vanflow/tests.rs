//! Tests of the messages of VanFlow.

use fe2o3_amqp::types::primitives::{Symbol, Uuid};
use proptest::prelude::*;

use super::*;

fn a_record() -> impl Strategy<Value = Record> {
    let kind = proptest::sample::select(Kind::ALL.to_vec());
    let texts = proptest::collection::btree_map(
        proptest::sample::select(Text::ALL.to_vec()),
        "[a-zA-Z0-9./é-]{1,20}",
        0..8,
    );
    let number = || proptest::option::of(NO_END + 1..u64::MAX);
    let parts = (
        kind,
        "[a-z0-9:@-]{1,30}",
        number(),
        number(),
        texts,
        number(),
    );
    parts.prop_map(|(kind, id, start, end, texts, cost)| Record {
        kind,
        id,
        start,
        end,
        texts,
        cost,
    })
}

fn a_value() -> impl Strategy<Value = Amqp> {
    let leaf = prop_oneof![
        Just(Amqp::Null),
        any::<bool>().prop_map(Amqp::Bool),
        (0..60_u32).prop_map(Amqp::Uint),
        any::<u64>().prop_map(Amqp::Ulong),
        any::<i64>().prop_map(Amqp::Long),
        ".{0,12}".prop_map(Amqp::String),
        "[a-z]{0,6}".prop_map(|text| Amqp::Symbol(Symbol(text))),
        any::<[u8; 16]>().prop_map(|bytes| Amqp::Uuid(Uuid::from(bytes))),
    ];
    leaf.prop_recursive(4, 64, 8, |inner| {
        let pairs = proptest::collection::vec((inner.clone(), inner.clone()), 0..8);
        prop_oneof![
            proptest::collection::vec(inner, 0..8).prop_map(Amqp::List),
            pairs.prop_map(|pairs| Amqp::Map(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn records_are_read_as_they_were_written(records in proptest::collection::vec(a_record(), 0..20)) {
        let message = encode_records("mc/sfe.x", &records);
        prop_assert_eq!(decode(message), Ok(Incoming::Records(records, 0)));
    }

    #[test]
    fn no_value_is_too_strange(
        subject in prop_oneof![Just("RECORD"), Just("BEACON"), Just("HEARTBEAT"), Just("FLUSH"), Just("OTHER")],
        body in a_value(),
        list in proptest::collection::vec(a_value(), 0..8),
        is_list: bool,
    ) {
        let body = if is_list { Amqp::List(list) } else { body };
        let _any = decode(message("mc/sfe.x", subject, &[("id", SimpleValue::Null)], body));
    }
}

#[test]
fn beacons_are_read_as_they_were_written() {
    let beacon = Beacon::of_site("uid");
    assert_eq!(
        beacon.heartbeats().as_deref(),
        Some("mc/sfe.uid.heartbeats")
    );
    assert_eq!(
        decode(encode_beacon(&beacon)),
        Ok(Incoming::Beacon(beacon.clone()))
    );
    assert_eq!(
        decode(encode_heartbeat(&beacon, 7)),
        Ok(Incoming::Heartbeat)
    );
    assert_eq!(decode(encode_flush("sfe.uid")), Ok(Incoming::Flush));
}

#[test]
fn a_beacon_leads_to_no_other_address() {
    for (address, direct, property) in [
        ("$management", "sfe.x", "address"),
        ("mc/sfe.", "sfe.x", "address"),
        ("mc/sfe.x", "orders", "direct"),
    ] {
        let beacon = Beacon {
            address: address.to_owned(),
            direct: direct.to_owned(),
            ..Beacon::of_site("x")
        };
        let error = decode(encode_beacon(&beacon)).unwrap_err();
        let subject = "BEACON";
        assert_eq!(error, Error::Property { subject, property });
    }
}

#[test]
fn records_without_an_identity_are_counted_and_others_kept() {
    let good = Record::new(Kind::Site, "s");
    let unknown: OrderedMap<Amqp, Amqp> = [
        (Amqp::Uint(RECORD_TYPE), Amqp::Uint(17)),
        (Amqp::Uint(IDENTITY), Amqp::String("flow".to_owned())),
    ]
    .into_iter()
    .collect();
    let foreign: OrderedMap<Amqp, Amqp> = [
        (Amqp::Uint(RECORD_TYPE), Amqp::Uint(0)),
        (Amqp::Uint(IDENTITY), Amqp::Uint(7)),
    ]
    .into_iter()
    .collect();
    let body = vec![
        Amqp::Map(unknown),
        Amqp::Map(foreign),
        Amqp::Null,
        map(&good),
    ];
    let decoded = decode(message("mc/sfe.x", "RECORD", &[], Amqp::List(body)));
    assert_eq!(decoded, Ok(Incoming::Records(vec![good], 2)));
    let huge = Amqp::List(vec![Amqp::Null; MAX_RECORDS + 1]);
    let decoded = decode(message("mc/sfe.x", "RECORD", &[], huge));
    assert_eq!(decoded, Err(Error::TooMany(MAX_RECORDS + 1)));
}

#[test]
fn a_text_that_is_too_long_or_empty_is_none() {
    let record = Record::new(Kind::Site, "s");
    let mut more = record.clone().with_text(Text::Name, "");
    assert_eq!(more, record);
    more.texts.insert(Text::Name, "x".repeat(MAX_TEXT + 1));
    let decoded = decode(encode_records("mc/sfe.x", &[more]));
    assert_eq!(decoded, Ok(Incoming::Records(vec![record], 0)));
}
