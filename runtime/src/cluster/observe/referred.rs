//! Objects found by a set of references: the namespaces of the lookup, and the objects that they
//! wake.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::cluster::fixture::Caches;
use crate::cluster::fixture::hosted::{guest, host, visiting};
use crate::cluster::index::{Finder, Index, IndexKey};
use crate::cluster::observe::Observed;
use crate::cluster::store::{Keep, Name, Raw, Store};
use crate::lifecycle::{Kind, LookupKey, Machine, ObjectRef};
use k8s_openapi::api::core::v1::Secret;
use kube::runtime::watcher::Event;

fn friend(namespace: &str, name: &str, is: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Secret", "type": is,
        "metadata": { "name": name, "namespace": namespace, "uid": format!("{namespace}-{name}"), "resourceVersion": "4" },
    })
}

/// Returns the observation of the guest of a host with two friends: `away/tim`, and `tom` of its
/// own namespace.
fn observe(friends: &[Value]) -> Observed {
    let mut objects = vec![host(json!({ "friend-tim": "away", "friend-tom": "" }))];
    objects.extend_from_slice(friends);
    Caches::for_machine(Arc::new(visiting()), &objects).observe(guest(json!({})))
}

fn is_loud(observed: &Observed) -> bool {
    let vars = visiting().ir().vars;
    let var = vars.iter().position(|v| v.name == "loud");
    observed
        .observation
        .world
        .get(var.expect("the fact is declared"))
        == 1
}

#[test]
fn references_lead_to_exactly_the_objects_of_their_namespaces() {
    assert!(is_loud(&observe(&[friend("away", "tim", "singer")])));
    assert!(is_loud(&observe(&[friend("ns", "tom", "singer")])));
    let others = [("ns", "tim"), ("away", "tom"), ("other", "tim")];
    let others = others.map(|(namespace, name)| friend(namespace, name, "singer"));
    assert!(!is_loud(&observe(&others)));
    let both = observe(&[friend("ns", "tom", "quiet"), friend("away", "tim", "quiet")]);
    assert!(!is_loud(&both));
    let found: Vec<_> = both.observation.objects(1).iter().collect();
    let found: Vec<_> = found
        .iter()
        .map(|o| Name::from_meta(&o.meta).to_string())
        .collect();
    assert_eq!(found, ["away/tim", "ns/tom"], "in order of their names");
}

#[test]
fn whoever_is_referred_to_wakes_the_object_before_it_is_there_and_when_it_goes() {
    let keys = observe(&[]).dependencies[1].clone();
    let named = ["away/tim", "ns/tom"].map(|name| {
        let (namespace, name) = name.split_once('/').expect("both are named");
        IndexKey::Named(Name {
            namespace: Some(namespace.to_owned()),
            name: name.to_owned(),
        })
    });
    assert_eq!(keys, BTreeSet::from(named));
    let machine = Arc::new(visiting());
    let finder = Finder {
        input: &machine.ir().inputs[1],
        number: 1,
        by_namespace: true,
        namespaced: true,
    };
    let mut index = Index::new(finder, machine);
    let me = Name {
        namespace: Some("ns".to_owned()),
        name: "g".to_owned(),
    };
    index.depends_on(&me, &BTreeSet::new(), &keys);
    let mut store = Store::new(Kind::for_type::<Secret>());
    let mut woken = |event: fn(Raw) -> Event<Raw>, object: Value| {
        let changes = store.take(event(Raw::new(object)));
        let woken = changes.iter().map(|change| index.changed(change));
        woken.flatten().collect::<Vec<_>>()
    };
    let tim = friend("away", "tim", "quiet");
    assert_eq!(woken(Event::Apply, tim.clone()), std::slice::from_ref(&me));
    assert_eq!(woken(Event::Apply, friend("ns", "tim", "quiet")), []);
    assert_eq!(woken(Event::Delete, tim), [me]);
}

/// An object is found while it has the label. It wakes the subject when it appears, changes, or is
/// deleted.
#[test]
fn all_that_carry_a_label_are_found_in_a_namespace() {
    let look = LookupKey::Refs([ObjectRef::labelled::<Secret>(Some("away"), "chosen")].into());
    let machine = Arc::new(visiting());
    let finder = Finder {
        input: &machine.ir().inputs[1],
        number: 1,
        by_namespace: true,
        namespaced: true,
    };
    let me = Name {
        namespace: Some("ns".to_owned()),
        name: "g".to_owned(),
    };
    let subject = Raw::new(guest(json!({}))).stored(&Kind::for_type::<Secret>(), Keep::Nothing);
    let keys: BTreeSet<IndexKey> = finder.keys_for(&subject, &look).into_iter().collect();
    let mut index = Index::new(finder, machine);
    index.depends_on(&me, &BTreeSet::new(), &keys);
    let mut store = Store::new(Kind::for_type::<Secret>());
    let mut check = |namespace: &str, labels: Value, wakes: bool, found: &[&str]| {
        let mut secret = friend(namespace, "tim", "quiet");
        secret["metadata"]["labels"] = labels;
        let changes = store.take(Event::Apply(Raw::new(secret)));
        let woken: BTreeSet<Name> = changes.iter().flat_map(|c| index.changed(c)).collect();
        assert_eq!(woken.contains(&me), wakes);
        let names = keys.iter().flat_map(|key| index.found_by(key));
        assert_eq!(names.map(Name::to_string).collect::<Vec<_>>(), found);
    };
    check("away", json!({ "other": "" }), false, &[]);
    check("near", json!({ "chosen": "" }), false, &[]);
    check("away", json!({ "chosen": "yes" }), true, &["away/tim"]);
    check(
        "away",
        json!({ "chosen": "no", "other": "" }),
        true,
        &["away/tim"],
    );
    check("away", json!({ "other": "" }), true, &[]);
    check("away", json!({}), false, &[]);
}

/// All objects of the namespace are found, with or without labels, and none of another namespace.
#[test]
fn all_of_a_namespace_are_found() {
    let look = LookupKey::Refs([ObjectRef::all_in::<Secret>(Some("away"))].into());
    let machine = Arc::new(visiting());
    let finder = Finder {
        input: &machine.ir().inputs[1],
        number: 1,
        by_namespace: true,
        namespaced: true,
    };
    let me = Name {
        namespace: Some("ns".to_owned()),
        name: "g".to_owned(),
    };
    let subject = Raw::new(guest(json!({}))).stored(&Kind::for_type::<Secret>(), Keep::Nothing);
    let keys: BTreeSet<IndexKey> = finder.keys_for(&subject, &look).into_iter().collect();
    let mut index = Index::new(finder, machine);
    index.depends_on(&me, &BTreeSet::new(), &keys);
    let mut store = Store::new(Kind::for_type::<Secret>());
    let mut check = |event: fn(Raw) -> Event<Raw>, namespace: &str, wakes: bool, found: &[&str]| {
        let mut secret = friend(namespace, "tim", "quiet");
        secret["metadata"]["labels"] = json!({ "other": "" });
        let changes = store.take(event(Raw::new(secret)));
        let woken: BTreeSet<Name> = changes.iter().flat_map(|c| index.changed(c)).collect();
        assert_eq!(woken.contains(&me), wakes);
        let names = keys.iter().flat_map(|key| index.found_by(key));
        assert_eq!(names.map(Name::to_string).collect::<Vec<_>>(), found);
    };
    check(Event::Apply, "near", false, &[]);
    check(Event::Apply, "away", true, &["away/tim"]);
    check(Event::Delete, "near", false, &["away/tim"]);
    check(Event::Delete, "away", true, &[]);
}

/// An object that was never readable cannot be guessed.
#[test]
fn while_one_of_many_cannot_be_read_it_is_what_it_was() {
    let broken = |is: &str| {
        let mut broken = friend("away", "tim", is);
        broken["data"] = json!(["no", "map"]);
        broken
    };
    let singer = friend("away", "tim", "singer");
    let never = observe(&[broken("singer"), friend("ns", "tom", "quiet")]);
    let failure = never.failure.map(|failure| failure.to_string());
    let expected = "Secret `away/tim` cannot be read: ";
    assert!(failure.is_some_and(|failure| failure.starts_with(expected)));
    for versions in [
        vec![singer.clone(), broken("quiet")],
        vec![singer.clone(), broken("quiet"), broken("quiet")],
    ] {
        let once = observe(&versions);
        assert_eq!(once.failure, None);
        assert!(is_loud(&once), "as it was read last");
    }
    let mended = observe(&[
        singer.clone(),
        broken("quiet"),
        friend("away", "tim", "quiet"),
    ]);
    assert!(!is_loud(&mended));
    let mut other = broken("quiet");
    other["metadata"]["uid"] = json!("of another");
    assert!(
        observe(&[singer, other]).failure.is_some(),
        "it was never read"
    );
}
