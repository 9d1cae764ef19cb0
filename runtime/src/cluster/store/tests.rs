//! Caches of some namespaces: each part is listed and watched separately, and none touches the
//! objects of another.

use k8s_openapi::api::core::v1::{ConfigMap, Node};
use serde_json::json;

use super::*;

fn raw(namespace: &str, name: &str, version: &str) -> Raw {
    let meta =
        json!({ "name": name, "namespace": namespace, "uid": name, "resourceVersion": version });
    Raw::new(json!({ "metadata": meta }))
}

fn named(namespace: &str, name: &str) -> Name {
    Name {
        namespace: Some(namespace.to_owned()),
        name: name.to_owned(),
    }
}

fn east_and_west(kind: Kind) -> Store {
    Store::for_namespaces(kind, &["west", "east"].map(str::to_owned).into())
}

fn list(store: &mut Store, part: usize, objects: Vec<Raw>) -> Vec<Change> {
    store.take_in(part, Event::Init);
    for object in objects {
        store.take_in(part, Event::InitApply(object));
    }
    store.take_in(part, Event::InitDone)
}

#[test]
fn a_list_of_one_namespace_takes_nothing_away_in_another_one() {
    let mut store = east_and_west(Kind::for_type::<ConfigMap>());
    let parts: Vec<_> = store.namespaces().collect();
    assert_eq!(parts, [Some("east"), Some("west")]);
    list(
        &mut store,
        0,
        vec![raw("east", "a", "5"), raw("east", "b", "6")],
    );
    assert!(!store.is_synced() && store.is_part_synced(0));
    list(&mut store, 1, vec![raw("west", "a", "3")]);
    assert!(store.is_synced());
    let changes = list(&mut store, 0, vec![raw("east", "a", "5")]);
    let gone = changes.iter().filter(|change| change.new.is_none());
    let gone: Vec<_> = gone.map(|change| change.name.clone()).collect();
    assert_eq!(gone, [named("east", "b")]);
    let known: Vec<_> = store.names().cloned().collect();
    assert_eq!(known, [named("east", "a"), named("west", "a")]);
    assert_eq!(store.lists_of(&named("east", "x")), 2);
    assert_eq!(store.lists_of(&named("west", "x")), 1);
}

#[test]
fn events_of_one_namespace_say_nothing_of_how_far_another_one_is() {
    let mut store = east_and_west(Kind::for_type::<ConfigMap>());
    store.take_in(0, Event::Apply(raw("east", "a", "9")));
    assert!(store.is_past(&named("east", "b"), "9"));
    assert!(!store.is_past(&named("west", "b"), "4"));
    // An object of an unwatched namespace is not waited for.
    assert!(store.is_past(&named("north", "b"), "4"));
}

#[test]
fn what_has_no_namespace_is_in_one_part() {
    let store = east_and_west(Kind::for_type::<Node>());
    assert_eq!(store.namespaces().collect::<Vec<_>>(), [None]);
    assert_eq!(store.part_name(0), "cache of nodes");
    let store = east_and_west(Kind::for_type::<ConfigMap>());
    assert_eq!(store.part_name(1), "cache of configmaps in west");
}
