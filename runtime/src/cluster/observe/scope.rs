//! Allowed namespaces of owned objects: never another namespace than that of their owner, and any
//! if the owner has none.

use std::sync::Arc;

use serde_json::{Value, json};

use crate::cluster::fixture::Caches;
use crate::cluster::fixture::scoped::{envoy, envoys, realm, realms};
use crate::cluster::observe::{Job, Observed};

fn observe(spec: Value) -> Observed {
    Caches::for_machine(Arc::new(envoys()), &[]).observe(envoy(spec))
}

fn rule(spec: Value, objects: &[Value]) -> Observed {
    Caches::for_machine(Arc::new(realms()), objects).observe(realm(spec))
}

/// Returns the reason why the reconciliation ended, in words.
fn failure_text(observed: &Observed) -> Option<String> {
    observed.failure.as_ref().map(ToString::to_string)
}

fn elsewhere(object: &str, input: &str) -> String {
    format!(
        "{object} would be owned by Envoy `ns/e` of another namespace, and the garbage collector would delete it: put it into namespace `ns`, or declare `{input}` as `part`"
    )
}

#[test]
fn what_would_be_owned_from_another_namespace_is_refused_before_anything_is_written() {
    let check = |spec: Value, expected: Option<String>| {
        let observed = observe(spec.clone());
        assert_eq!(failure_text(&observed), expected, "{spec}");
    };
    check(json!({}), None);
    check(
        json!({ "letter": "away/letter" }),
        Some(elsewhere("ConfigMap `away/letter`", "letter")),
    );
    check(
        json!({ "seal": "away/seal" }),
        Some(elsewhere("Secret `away/seal`", "seal")),
    );
    // A name that the builder gives.
    check(
        json!({ "notes": ["near", "away/note"] }),
        Some(elsewhere("Service `away/note`", "notes")),
    );
    check(json!({ "notes": ["near", "ns/note"] }), None);
    // An object that is not owned may be in any namespace.
    check(json!({ "hint": "away/hint" }), None);
}

#[test]
fn an_object_without_a_namespace_owns_a_set_of_any_namespace() {
    let spec = json!({ "laws": ["east/law", "west/law"], "crown": "west/crown" });
    let observed = rule(spec.clone(), &[]);
    assert_eq!(failure_text(&observed), None);
    let all = observed.plans.iter().flatten();
    let all: Vec<_> = all
        .map(|plan| (plan.job, plan.body["kind"].clone(), plan.name.to_string()))
        .collect();
    let map = json!("ConfigMap");
    let expected = [
        (Job::Create, map.clone(), "east/law".to_owned()),
        (Job::Create, map, "west/law".to_owned()),
        (Job::Create, json!("Secret"), "west/crown".to_owned()),
    ];
    assert_eq!(all, expected);
    let plan = &observed.plans[0][0];
    assert_eq!(plan.body["metadata"]["namespace"], "east");
    assert_eq!(plan.body["metadata"]["ownerReferences"][0]["kind"], "Realm");

    // An existing object is found in any namespace, even if it is no longer desired.
    let there = |namespace: &str| {
        json!({
            "apiVersion": "v1", "kind": "ConfigMap",
            "metadata": {
                "name": "law", "namespace": namespace, "uid": namespace, "resourceVersion": "5", "labels": { "of": "r" },
                "ownerReferences": [{
                    "apiVersion": "tests/v1", "kind": "Realm", "name": "r", "uid": "realm-uid",
                    "controller": true, "blockOwnerDeletion": true,
                }],
                "managedFields": [{
                    "manager": "op/thing", "operation": "Apply", "apiVersion": "v1",
                    "fieldsV1": { "f:metadata": { "f:labels": { "f:of": {} } } },
                }],
            },
        })
    };
    let observed = rule(spec, &[there("east"), there("north")]);
    let names = |effect: usize| {
        let plans = observed.plans[effect].iter();
        plans.map(|plan| plan.name.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(names(0), ["west/law"]);
    assert_eq!(names(1), ["north/law"]);
}

#[test]
fn what_has_a_namespace_is_told_to_say_it_where_the_object_has_none() {
    let check = |spec: Value, expected: &str| {
        assert_eq!(failure_text(&rule(spec, &[])).as_deref(), Some(expected));
    };
    check(
        json!({ "laws": ["law"], "crown": "east/crown" }),
        "`apply_laws` must set the namespace of ConfigMap `law`, because Realm `r` has none: set `metadata.namespace`",
    );
    check(
        json!({ "crown": "crown" }),
        "`apply_crown` must set the namespace of Secret `crown`, because Realm `r` has none: name it in the reference of `crown`",
    );
}
