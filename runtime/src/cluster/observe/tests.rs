//! Evaluation of one reconciliation on a small lifecycle: worlds, sentences, and the writes of
//! effects.

use k8s_openapi::api::core::v1::Secret;
use lifecycle_client::kube::one_line;
use serde_json::{Value, json};

use super::*;
use crate::cluster::act;
use crate::cluster::fixture::{Caches, merge, ours, thing};
use crate::machine::policy::{Class, Decision};

fn class(size: &str) -> Value {
    json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "c", "namespace": "ns" }, "data": { "size": size } })
}

fn owned_map(more: Value) -> Value {
    ours("ConfigMap", "t", json!({ "size": "small" }), more)
}

fn part(name: &str, more: Value) -> Value {
    let mut part = ours(
        "Secret",
        name,
        Value::Null,
        json!({ "metadata": { "managedFields": [] } }),
    );
    part.as_object_mut().map(|part| part.remove("data"));
    merge(&mut part, more);
    part
}

fn observe(objects: &[Value], spec: Value) -> Observed {
    Caches::with_objects(objects).observe(thing(spec, json!({})))
}

/// Returns the value of a variable, and its sentence.
fn fact_value(observed: &Observed, name: &str) -> (&'static str, String) {
    let ir = crate::lifecycle::Machine::ir(&crate::cluster::fixture::maker());
    let var = ir
        .vars
        .iter()
        .position(|v| v.name == name && !matches!(v.origin, Origin::Refused(_)));
    let var = var.expect("the lifecycle has this fact");
    let sentence = observed.observation.sentences[var]
        .clone()
        .unwrap_or_default();
    (ir.value(&observed.observation.world, var), sentence)
}

fn check(objects: &[Value], spec: Value, name: &str, value: &str, sentence: &str) {
    let observed = observe(objects, spec);
    assert_eq!(observed.failure, None);
    assert_eq!(fact_value(&observed, name), (value, sentence.to_owned()));
}

fn of_class() -> Value {
    json!({ "className": "c" })
}

fn not_ours() -> Value {
    controlled_by("other")
}

/// Controlled by a Thing with this name but another uid.
fn controlled_by(name: &str) -> Value {
    json!({ "metadata": { "ownerReferences": [{ "apiVersion": "tests/v1", "kind": "Thing", "name": name, "uid": "another", "controller": true }] } })
}

fn leaving() -> Value {
    json!({ "metadata": { "deletionTimestamp": "2026-01-01T00:00:00Z" } })
}

#[test]
fn what_is_read_is_unnamed_absent_or_present() {
    check(
        &[],
        json!({}),
        "class",
        "Unnamed",
        "`spec.className` is not set",
    );
    check(
        &[],
        of_class(),
        "class",
        "Absent",
        "ConfigMap `ns/c` does not exist",
    );
    check(&[class("small")], of_class(), "class", "Present", "");
    let mut elsewhere = class("small");
    merge(
        &mut elsewhere,
        json!({ "metadata": { "namespace": "other" } }),
    );
    check(
        &[elsewhere],
        of_class(),
        "class",
        "Absent",
        "ConfigMap `ns/c` does not exist",
    );
}

#[test]
fn what_is_owned_is_absent_foreign_terminating_stale_or_current() {
    let with = |made: Value| vec![class("small"), made];
    check(
        &[class("small")],
        of_class(),
        "made",
        "Absent",
        "ConfigMap `ns/t` does not exist",
    );
    let foreign = "ConfigMap `ns/t` exists and is controlled by Thing `other`, not by this Thing: rename the Thing or remove that ConfigMap";
    check(
        &with(owned_map(not_ours())),
        of_class(),
        "made",
        "Foreign",
        foreign,
    );
    let earlier = "ConfigMap `ns/t` still belongs to an earlier Thing `ns/t` and goes with it: wait for the garbage collector, or remove that ConfigMap";
    check(
        &with(owned_map(controlled_by("t"))),
        of_class(),
        "made",
        "Foreign",
        earlier,
    );
    let mut both = not_ours();
    merge(&mut both, leaving());
    check(
        &with(owned_map(both)),
        of_class(),
        "made",
        "Foreign",
        foreign,
    );
    check(
        &with(owned_map(leaving())),
        of_class(),
        "made",
        "Terminating",
        "ConfigMap `ns/t` is being deleted",
    );
    let edited = owned_map(json!({ "data": { "size": "huge" } }));
    check(
        &with(edited),
        of_class(),
        "made",
        "Stale",
        "ConfigMap `ns/t` is not as wanted yet: `data.size` differs",
    );
    check(
        &with(owned_map(json!({}))),
        of_class(),
        "made",
        "Current",
        "",
    );
    check(
        &with(owned_map(json!({ "data": { "theirs": "1" } }))),
        of_class(),
        "made",
        "Current",
        "",
    );
}

#[test]
fn an_owner_that_is_no_controller_makes_nothing_ours() {
    let shared = json!({ "metadata": { "ownerReferences": [{ "apiVersion": "tests/v1", "kind": "Thing", "name": "t", "uid": "thing-uid" }] } });
    let observed = observe(&[class("small"), owned_map(shared)], of_class());
    assert_eq!(fact_value(&observed, "made").0, "Foreign");
}

#[test]
fn without_what_its_builder_needs_an_object_is_stale() {
    let observed = observe(&[owned_map(json!({}))], of_class());
    assert_eq!(fact_value(&observed, "made").0, "Stale");
    assert!(observed.plans.iter().all(Vec::is_empty));
}

fn jobs(observed: &Observed) -> Vec<(Job, String)> {
    let plans = observed.plans.iter().flatten();
    plans.map(|p| (p.job, p.name.name.clone())).collect()
}

#[test]
fn plans_create_update_or_migrate() {
    let absent = observe(&[class("small")], of_class());
    assert_eq!(jobs(&absent), [(Job::Create, "t".to_owned())]);
    let body = &absent.plans[0][0].body;
    assert_eq!(
        body["metadata"]["ownerReferences"][0]["controller"],
        json!(true)
    );
    assert_eq!(
        (&body["apiVersion"], &body["kind"]),
        (&json!("v1"), &json!("ConfigMap"))
    );
    let stale = observe(
        &[
            class("small"),
            owned_map(json!({ "data": { "size": "x" } })),
        ],
        of_class(),
    );
    assert_eq!(jobs(&stale), [(Job::Update, "t".to_owned())]);
    let left = json!({
        "metadata": { "managedFields": [{ "manager": "old", "operation": "Update", "fieldsV1": { "f:data": { "f:left": {} } } }] },
        "data": { "left": "1" },
    });
    let left = observe(&[class("small"), owned_map(left)], of_class());
    assert_eq!(jobs(&left), [(Job::Migrate, "t".to_owned())]);
    let current = observe(&[class("small"), owned_map(json!({}))], of_class());
    assert_eq!(jobs(&current), []);
}

#[test]
fn what_a_policy_always_changes_counts_as_current() {
    let mut caches = Caches::with_objects(&[
        class("small"),
        owned_map(json!({ "data": { "size": "x" } })),
    ]);
    caches.settled = true;
    assert_eq!(
        fact_value(&caches.observe(thing(of_class(), json!({}))), "made").0,
        "Current"
    );
}

#[test]
fn of_a_set_the_worst_member_counts_and_a_taken_name_last() {
    let wants = |parts: &[&str]| json!({ "className": "c", "parts": parts });
    let world = |objects: &[Value], parts: &[&str]| {
        let objects: Vec<_> = [&[class("small"), owned_map(json!({}))], objects].concat();
        let observed = observe(&objects, wants(parts));
        (fact_value(&observed, "parts").0, jobs(&observed))
    };
    let (a, b) = (|more| part("a", more), |more| part("b", more));
    let job = |job, name: &str| (job, name.to_owned());
    assert_eq!(world(&[a(json!({}))], &["a"]), ("Current", vec![]));
    assert_eq!(world(&[], &[]), ("Current", vec![]));
    assert_eq!(world(&[a(not_ours())], &["a"]), ("Foreign", vec![]));
    assert_eq!(
        world(&[a(not_ours())], &["a", "b"]),
        ("Behind", vec![job(Job::Create, "b")])
    );
    assert_eq!(
        world(&[a(leaving()), b(json!({}))], &["a"]),
        ("Surplus", vec![job(Job::Delete, "b")])
    );
    assert_eq!(
        world(&[a(leaving()), b(not_ours())], &["a", "b"]),
        ("Draining", vec![])
    );
    assert_eq!(world(&[b(leaving())], &[]), ("Draining", vec![]));
    assert_eq!(world(&[b(not_ours())], &[]), ("Current", vec![]));
}

#[test]
fn a_builder_that_names_another_object_is_an_error() {
    let observed = observe(
        &[class("small")],
        json!({ "className": "c", "misnamed": "x" }),
    );
    let failure = observed.failure.expect("the name is wrong").to_string();
    assert_eq!(
        failure,
        "`apply_made` must build ConfigMap `ns/t` and built `x`"
    );
}

#[test]
fn an_input_that_cannot_be_read_ends_the_pass_and_is_still_looked_for() {
    let mut broken = class("small");
    broken["data"] = json!({ "size": 3 });
    let observed = observe(&[broken], of_class());
    let failure = observed
        .failure
        .as_ref()
        .expect("it cannot be read")
        .to_string();
    assert!(
        failure.starts_with("ConfigMap `ns/c` cannot be read: "),
        "{failure}"
    );
    assert!(failure.ends_with("; correct it, or delete it"), "{failure}");
    let name = Name {
        namespace: Some("ns".to_owned()),
        name: "c".to_owned(),
    };
    assert!(observed.dependencies[0].contains(&IndexKey::Named(name)));
}

#[test]
fn a_refused_effect_is_not_repeated_and_its_sentence_is_kept() {
    let mut caches = Caches::with_objects(&[class("small")]);
    caches.refused.insert(0, "it may not change".to_owned());
    let observed = caches.observe(thing(of_class(), json!({})));
    let ir = crate::lifecycle::Machine::ir(&crate::cluster::fixture::maker());
    assert_eq!(
        ir.classify(&observed.observation.world, false),
        Class::Refused { effect: 0 }
    );
    assert_eq!(ir.next(&observed.observation.world, false), Decision::Rest);
    let refused = observed.observation.sentences[ir.effects[0].refused].as_deref();
    assert_eq!(
        refused,
        Some("it may not change; correct what it is built from")
    );
}

/// Neither a corrected source nor a deletion of the object would free the resource of another
/// object.
#[test]
fn a_write_that_something_is_in_the_way_of_says_what_frees_it() {
    let taken = "spec.ports[0].nodePort: Invalid value: 30080: provided port is already allocated";
    let full = "spec.clusterIPs: Invalid value: failed to allocate a serviceIP: range is full";
    let stale = owned_map(json!({ "data": { "size": "large" } }));
    let refused = |live: &[Value], said: &str| {
        let mut caches = Caches::with_objects(&[&[class("small")], live].concat());
        caches.refused.insert(0, said.to_owned());
        let observed = caches.observe(thing(of_class(), json!({})));
        let ir = crate::lifecycle::Machine::ir(&crate::cluster::fixture::maker());
        observed.observation.sentences[ir.effects[0].refused].clone()
    };
    for live in [&[][..], std::slice::from_ref(&stale)] {
        for (said, remedy) in [
            (
                taken,
                "another object has it: free it there, or ask for another one; the operator tries again each minute",
            ),
            (
                full,
                "none is left: free one; the operator tries again each minute",
            ),
        ] {
            assert_eq!(refused(live, said), Some(format!("{said}; {remedy}")));
        }
    }
    let deletes = refused(&[stale], "it may not change");
    assert!(deletes.is_some_and(|said| said.contains("or delete ConfigMap `ns/t`")));
}

#[test]
fn fences_are_asked_for_everything_that_is_read_or_written() {
    let observed = observe(
        &[class("small")],
        json!({ "className": "c", "parts": ["p"] }),
    );
    let touched: Vec<_> = observed
        .touched
        .iter()
        .map(|(n, name)| (*n, name.name.as_str()))
        .collect();
    assert_eq!(touched, [(0, "c"), (1, "t"), (2, "p")]);
}

#[test]
fn what_no_object_can_be_named_is_refused_before_it_is_sent() {
    for name in ["web?watch=true", "web/status", "../..", "web#x"] {
        let spec = json!({ "className": "c", "parts": [name] });
        let observed = observe(&[class("small")], spec);
        let mut plans = observed.plans.iter().flatten();
        let plan = plans.find(|plan| plan.name.name == name);
        let sent = act::write(plan.expect("it is planned"), &Kind::for_type::<Secret>());
        let error = sent.expect("it is a request").expect_err("it has no path");
        let said = one_line(&kube::Error::BuildRequest(error));
        let expected = format!("no Secret can be named `{name}`: a name has ");
        assert!(said.starts_with(&expected), "{said}");
    }
}
