//! Properties that hold for every object. A fresh apply is Current, every change of our fields is
//! detected, and no change of fields of other managers is.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::*;

const MANAGER: &str = "us";

/// Values as an API server keeps them: nothing empty.
fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        "[a-z]{1,4}".prop_map(Value::from),
        prop::collection::vec("[a-z]{1,3}", 1..3).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop::collection::btree_map("[a-d]{1,2}", inner, 1..4)
            .prop_map(|map| Value::Object(map.into_iter().collect()))
    })
}

fn object() -> impl Strategy<Value = Value> {
    prop::collection::btree_map("[a-d]{1,2}", value(), 1..4)
        .prop_map(|map| json!({ "spec": Value::Object(map.into_iter().collect()) }))
}

/// Returns the managed fields of an object that is entirely ours.
fn fields(value: &Value) -> Value {
    let Some(map) = value.as_object() else {
        return json!({});
    };
    let inner = map
        .iter()
        .map(|(key, value)| (format!("f:{key}"), fields(value)));
    Value::Object(inner.collect())
}

/// Paths of all leaves.
fn leaves(value: &Value, at: &str, found: &mut Vec<String>) {
    match value.as_object() {
        None => found.push(at.to_owned()),
        Some(map) => map
            .iter()
            .for_each(|(key, value)| leaves(value, &format!("{at}/{key}"), found)),
    }
}

/// Returns the object after an apply by this operation, with a field of others beside each of ours.
fn live(desired: &Value, operation: &str) -> Value {
    let mut live = with_others(desired);
    live["metadata"] = json!({ "managedFields": [
        { "manager": MANAGER, "operation": operation, "fieldsV1": fields(desired) },
        { "manager": "others", "operation": "Update", "fieldsV1": { "f:spec": { "f:theirs": {} } } },
    ] });
    live
}

fn with_others(value: &Value) -> Value {
    let Some(map) = value.as_object() else {
        return value.clone();
    };
    let inner = map.iter().map(|(k, v)| (k.clone(), with_others(v)));
    let mut map: Map<_, _> = inner.collect();
    map.insert("theirs".to_owned(), json!("x"));
    Value::Object(map)
}

fn comparison(desired: &Value, live: &Value) -> Comparison {
    compare(
        &pruned(desired.clone()),
        live,
        &Ours::for_manager(live, MANAGER, &[], ""),
    )
}

/// Takes one leaf out, and the maps that are empty then.
fn without(value: &Value, pointer: &str) -> Value {
    let mut value = value.clone();
    let (parent, key) = pointer.rsplit_once('/').unwrap_or_default();
    if let Some(parent) = value.pointer_mut(parent).and_then(Value::as_object_mut) {
        parent.remove(key);
    }
    pruned(value)
}

proptest! {
    #[test]
    fn what_was_just_applied_is_current(desired in object()) {
        prop_assert_eq!(comparison(&desired, &live(&desired, "Apply")), Comparison::Current);
        prop_assert_eq!(comparison(&desired, &live(&desired, "Update")), Comparison::Current);
    }

    #[test]
    fn a_change_of_any_leaf_is_behind(desired in object(), pick in any::<prop::sample::Index>()) {
        let mut found = Vec::new();
        leaves(&desired, "", &mut found);
        let changed = pick.get(&found);
        let mut live = live(&desired, "Apply");
        *live.pointer_mut(changed).expect("it is a leaf of both") = json!("changed by hand");
        let at = changed.trim_start_matches('/').replace('/', ".");
        prop_assert_eq!(comparison(&desired, &live), Comparison::Behind { at });
    }

    #[test]
    fn a_leaf_that_is_no_longer_wanted_is_surplus(desired in object(), pick in any::<prop::sample::Index>()) {
        let mut found = Vec::new();
        leaves(&desired, "", &mut found);
        let fewer = without(&desired, pick.get::<String>(&found));
        for (operation, stuck) in [("Apply", false), ("Update", true)] {
            let comparison = comparison(&fewer, &live(&desired, operation));
            let is_surplus = matches!(comparison, Comparison::Surplus { migrate, .. } if migrate == stuck);
            prop_assert!(is_surplus, "{comparison:?}");
        }
    }

    #[test]
    fn after_a_migration_an_apply_replaces_everything_of_ours(desired in object(), pick in any::<prop::sample::Index>()) {
        let mut found = Vec::new();
        leaves(&desired, "", &mut found);
        let fewer = without(&desired, pick.get::<String>(&found));
        let mut live = live(&desired, "Update");
        live["metadata"]["managedFields"] = migrated(&live, MANAGER, &[], &[]);
        let is_surplus = matches!(comparison(&fewer, &live), Comparison::Surplus { migrate: false, .. });
        prop_assert!(is_surplus);
        let managers = live["metadata"]["managedFields"].as_array().map(Vec::len);
        prop_assert_eq!(managers, Some(2));
    }

    #[test]
    fn pruning_twice_is_pruning_once_and_never_changes_a_verdict(desired in object(), empty in prop_oneof![Just(json!({})), Just(json!([])), Just(json!(null)), Just(json!(""))]) {
        let mut padded = desired.clone();
        padded["spec"]["zz"] = empty.clone();
        padded["yy"] = json!({ "inner": empty });
        prop_assert_eq!(pruned(padded.clone()), desired.clone());
        prop_assert_eq!(comparison(&padded, &live(&desired, "Apply")), Comparison::Current);
    }

    #[test]
    fn a_fingerprint_of_ours_ignores_what_is_not_ours(desired in object(), other in "[a-z]{1,5}") {
        let mut live = live(&desired, "Apply");
        let print = |live: &Value| {
            let ours = Ours::for_manager(live, MANAGER, &[], "");
            fingerprint(&under_our_paths(&desired, live, &ours))
        };
        let before = print(&live);
        live["spec"]["theirs"] = json!(other);
        live["metadata"]["resourceVersion"] = json!(other);
        prop_assert_eq!(print(&live), before);
    }
}
