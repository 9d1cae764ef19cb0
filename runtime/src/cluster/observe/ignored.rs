//! Tests of objects that another controller manages: nothing is written, and unreadable inputs are
//! ignored.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::cluster::fixture::Caches;
use crate::cluster::fixture::hosted::{guest, host, room, visiting};
use crate::cluster::observe::Observed;
use crate::lifecycle::Machine;
use crate::machine::ir::StateId;
use crate::machine::policy::{Class, Decision};

/// The first state.
const ELSEWHERE: StateId = StateId(0);

fn observe(objects: &[Value], more: Value) -> Observed {
    Caches::for_machine(Arc::new(visiting()), objects).observe(guest(more))
}

fn kept_host() -> Value {
    host(json!({ "keeper": "somebody", "bed-a": "80" }))
}

fn leaving() -> Value {
    json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" } })
}

/// A room that its Rust type cannot hold.
fn broken() -> Value {
    let mut room = room("host-uid");
    room["spec"] = json!({ "ports": "none" });
    room
}

#[test]
fn nothing_is_done_although_something_is_missing() {
    let ir = visiting().ir();
    let check = |objects: &[Value]| {
        let observed = observe(objects, json!({}));
        let class = ir.classify(&observed.observation.world, false);
        assert_eq!(class, Class::State(ELSEWHERE));
        assert!(ir.is_silent(class));
        assert_eq!(ir.next(&observed.observation.world, false), Decision::Rest);
        assert_eq!(observed.set_aside, Some(ELSEWHERE));
    };
    check(&[kept_host()]);
    check(&[kept_host(), room("guest-uid")]);
    let ours = observe(&[host(json!({ "bed-a": "80" }))], json!({}));
    assert_eq!(ours.set_aside, None);
    assert_eq!(ir.next(&ours.observation.world, false), Decision::Effect(0));
}

#[test]
fn what_cannot_be_read_of_it_is_nobodys_business() {
    let theirs = observe(&[kept_host(), broken()], json!({}));
    assert!(theirs.failure.is_some());
    assert_eq!(theirs.set_aside, Some(ELSEWHERE));
    let ours = observe(&[host(json!({})), broken()], json!({}));
    assert!(ours.failure.is_some());
    assert_eq!(ours.set_aside, None);
}

#[test]
fn while_nobody_can_tell_whose_it_is_it_counts_as_ours() {
    let mut torn = kept_host();
    torn["data"] = json!({ "keeper": 3 });
    let observed = observe(&[torn, broken()], json!({}));
    assert!(observed.failure.is_some());
    assert_eq!(observed.set_aside, None);
}

#[test]
fn a_deletion_comes_first() {
    let ir = visiting().ir();
    let observed = observe(&[kept_host(), broken()], leaving());
    assert_eq!(observed.set_aside, None);
    let observed = observe(&[kept_host()], leaving());
    let class = ir.classify(&observed.observation.world, observed.is_deleting());
    assert_eq!((class, observed.set_aside), (Class::Deleting, None));
}
