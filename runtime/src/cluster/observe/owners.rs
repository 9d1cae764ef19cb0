//! Objects whose owner is not the object of the lifecycle: the ones that count as ours, the
//! conditions of their writes, and their refusals.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::cluster::fixture::hosted::{guest, host, room, visiting};
use crate::cluster::fixture::{Caches, merge};
use crate::cluster::observe::{Job, Observed};
use crate::lifecycle::Machine;
use crate::machine::policy::Decision;

fn observe(objects: &[Value], guest: Value) -> Observed {
    Caches::for_machine(Arc::new(visiting()), objects).observe(guest)
}

fn value(observed: &Observed, name: &str) -> (&'static str, String) {
    let ir = visiting().ir();
    let vars = ir.vars.iter();
    let var = vars.into_iter().position(|v| v.name == name);
    let var = var.expect("the fact is declared");
    let said = observed.observation.sentences[var].clone();
    (
        ir.value(&observed.observation.world, var),
        said.unwrap_or_default(),
    )
}

#[test]
fn what_is_made_carries_the_reference_of_the_other_owner() {
    let observed = observe(&[host(json!({ "bed-a": "80" }))], guest(json!({})));
    assert_eq!(observed.failure, None);
    assert_eq!(value(&observed, "room").0, "Absent");
    let next = visiting().ir().next(&observed.observation.world, false);
    assert_eq!(next, Decision::Effect(0));
    let plan = &observed.plans[0][0];
    assert_eq!(plan.job, Job::Create);
    let expected = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": "h", "uid": "host-uid",
        "controller": true, "blockOwnerDeletion": true,
    }]);
    assert_eq!(plan.body["metadata"]["ownerReferences"], expected);
}

#[test]
fn nothing_is_made_while_the_owner_is_not_there() {
    let observed = observe(&[], guest(json!({})));
    assert_eq!(
        (value(&observed, "host").0, value(&observed, "room").0),
        ("Absent", "Absent")
    );
    assert!(observed.plans[0].is_empty());
    assert_eq!(
        visiting().ir().next(&observed.observation.world, false),
        Decision::Rest
    );
}

#[test]
fn only_what_the_other_owner_controls_is_ours() {
    let check = |room: Value, expected: &str, sentence: &str| {
        let observed = observe(&[host(json!({})), room], guest(json!({})));
        let (is, said) = value(&observed, "room");
        assert_eq!((is, said.as_str()), (expected, sentence));
    };
    check(room("host-uid"), "Current", "");
    let foreign = "Service `ns/g` exists and is not controlled by ConfigMap `ns/h`: rename the Guest or remove that Service";
    let other = "Service `ns/g` exists and is controlled by ConfigMap `g`, not by ConfigMap `ns/h`: rename the Guest or remove that Service";
    let mut of_guest = room("guest-uid");
    of_guest["metadata"]["ownerReferences"][0]["name"] = json!("g");
    check(of_guest, "Foreign", other);
    let earlier = "Service `ns/g` still belongs to an earlier ConfigMap `ns/h` and goes with it: wait for the garbage collector, or remove that Service";
    check(room("a host that is gone"), "Foreign", earlier);
    let mut shared = room("host-uid");
    shared["metadata"]["ownerReferences"][0]["controller"] = json!(false);
    check(shared, "Foreign", foreign);
}

#[test]
fn an_owner_in_another_namespace_is_refused_before_anything_is_written() {
    let mut far = host(json!({}));
    merge(&mut far, json!({ "metadata": { "namespace": "away" } }));
    let observed = observe(&[far], guest(json!({ "spec": { "city": "away" } })));
    let why = observed.failure.map(|failure| failure.to_string());
    let expected = "Service `ns/g` would be owned by ConfigMap `away/h` of another namespace, and the garbage collector would delete it: put it into namespace `away`, or declare `room` as `part`";
    assert_eq!(why.as_deref(), Some(expected));
}

#[test]
fn a_pass_looks_for_owner_and_owned() {
    let observed = observe(&[host(json!({})), room("host-uid")], guest(json!({})));
    let names: Vec<_> = observed
        .touched
        .iter()
        .map(|(input, name)| (*input, name.to_string()))
        .collect();
    assert_eq!(names, [(0, "ns/h".to_owned()), (2, "ns/g".to_owned())]);
    let keys: Vec<_> = observed.dependencies.iter().map(BTreeSet::len).collect();
    assert_eq!(keys, [1, 0, 1], "both wake it");
}
