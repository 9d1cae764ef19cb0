//! Small lifecycle and hand-made caches, for tests of one reconciliation without a server.

pub(crate) mod heir;
pub(crate) mod hosted;
pub(crate) mod ledger;
pub(crate) mod scoped;

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::index::{Finder, IndexKey};
use super::observe::{Observed, Observer, View, WriteId};
use super::store::{Keep, Name, Raw, Store};
use crate::lifecycle::{Because, Desired, Kind, Machine, Stored, This};
use crate::operator::Naming;
use kube::runtime::watcher::Event;

#[derive(CustomResource, Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[kube(group = "tests", version = "v1", kind = "Thing", namespaced)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ThingSpec {
    #[serde(default)]
    pub(crate) class_name: Option<String>,
    #[serde(default)]
    pub(crate) parts: Vec<String>,
    /// Name that the builder gives the one object, if it differs from the name of the thing.
    #[serde(default)]
    pub(crate) misnamed: Option<String>,
}

const THING: &str = "thing";

crate::lifecycle! {
    /// A thing of a class, and its parts.
    resource Thing;

    allow LC169 NoName "its parts do not depend on the class";

    observe {
        class: ConfigMap      by name spec.class_name?;
        made:  owned ConfigMap by name meta.name;
        parts: owned [Secret] by labels { THING = meta.name };
    }
    facts {
        size: { Small, Big } from class given class else Small;
    }
    states {
        NoName     when class == Unnamed                => Error wakes self;
        NoClass    when class == Absent                 => Error wakes class, self;
        TooBig     when size == Big                     => Error wakes class;
        Conflict   when made == Foreign || made == Current && parts == Foreign => Error wakes made, parts, self;
        Draining   when made == Terminating             => Pending;
        Making     when made in { Absent, Stale } || parts != Current => Pending;
        goal Ready when made == Current                 => Ready;
    }
    effects {
        apply made from class when size == Small;
        apply each parts when size == Small;
        delete each parts;
    }
    transitions {
        Draining -> Making;
        Making -> Conflict | Ready;
    }
    status {
        condition Accepted {
            True when class && size == Small;
            False "NoName" when class == Unnamed;
            False "NoClass" event "GetClass" when class == Absent;
            False "TooBig" otherwise;
        }
        condition Made {
            True when made == Current && parts == Current;
            False "Foreign" when made == Foreign || made == Current && parts == Foreign;
            Unknown "Making" otherwise;
        }
        ready from Accepted, Made;
        field phase = phase;
        field made: String from made last_reported;
        field class_size: String from class;
    }
}

pub(crate) struct Maker;

impl ThingLogic for Maker {
    fn size(&self, _: This<'_, Thing>, class: &ConfigMap) -> Because<Size> {
        let data = class.data.as_ref();
        match data.and_then(|d| d.get("size")).map(String::as_str) {
            Some("big") => Because::new(Size::Big, "it is too big: take a smaller class"),
            Some(_) | None => Because::plain(Size::Small),
        }
    }

    fn apply_made(&self, at: ApplyMade<'_>) -> Desired<ConfigMap> {
        let name = at
            .this
            .spec
            .misnamed
            .as_ref()
            .or(at.this.meta.name.as_ref());
        let size = at.class.data.as_ref().and_then(|d| d.get("size"));
        Desired::from_json(json!({ "metadata": { "name": name }, "data": { "size": size } }))
    }

    fn apply_parts(&self, at: ApplyParts<'_>) -> Vec<Desired<Secret>> {
        let part = |name: &String| {
            let labels = json!({ THING: at.this.meta.name });
            Desired::from_json(json!({ "metadata": { "name": name, "labels": labels } }))
        };
        at.this.spec.parts.iter().map(part).collect()
    }

    fn made(&self, _: This<'_, Thing>, made: &ConfigMap) -> String {
        made.metadata.name.clone().unwrap_or_default()
    }

    fn class_size(&self, _: This<'_, Thing>, class: &ConfigMap) -> String {
        let data = class.data.as_ref();
        data.and_then(|d| d.get("size"))
            .cloned()
            .unwrap_or_default()
    }
}

pub(crate) fn maker() -> impl Machine {
    machine(Maker)
}

/// The name of each declared field in the status.
pub(crate) fn names(machine: &dyn Machine) -> Vec<&'static str> {
    let kind = machine.subject().expect("a lifecycle of objects");
    let names = kind.status_names(machine.ir().fields);
    names.expect("the status has every field")
}

pub(crate) const UID: &str = "thing-uid";

/// The thing `ns/t`, with these changes to it.
pub(crate) fn thing(spec: Value, more: Value) -> Value {
    let mut thing = json!({
        "apiVersion": "tests/v1", "kind": "Thing", "spec": spec,
        "metadata": { "name": "t", "namespace": "ns", "uid": UID, "resourceVersion": "7", "generation": 3 },
    });
    merge(&mut thing, more);
    thing
}

/// An object of the thing, as an apply by us leaves it.
pub(crate) fn ours(kind: &str, name: &str, data: Value, more: Value) -> Value {
    let mut object = json!({
        "apiVersion": "v1", "kind": kind,
        "metadata": {
            "name": name, "namespace": "ns", "uid": format!("uid-of-{name}"), "resourceVersion": "5",
            "labels": { THING: "t" },
            "ownerReferences": [{
                "apiVersion": "tests/v1", "kind": "Thing", "name": "t", "uid": UID,
                "controller": true, "blockOwnerDeletion": true,
            }],
            "managedFields": [{
                "manager": "op/thing", "operation": "Apply", "apiVersion": "v1",
                "fieldsV1": { "f:data": { "f:size": {} } },
            }],
        },
        "data": data,
    });
    merge(&mut object, more);
    object
}

pub(crate) fn merge(into: &mut Value, from: Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key).or_insert(Value::Null), value);
            }
        }
        (into, from) => *into = from,
    }
}

/// Caches made by hand.
pub(crate) struct Caches {
    machine: Arc<dyn Machine>,
    stores: BTreeMap<usize, Store>,
    finders: Vec<Option<Finder>>,
    kinds: Vec<Option<Kind>>,
    naming: Naming,
    pub(crate) refused: BTreeMap<usize, String>,
    pub(crate) settled: bool,
}

impl Caches {
    /// With these objects of core kinds.
    pub(crate) fn with_objects(objects: &[Value]) -> Self {
        Self::for_machine(Arc::new(maker()), objects)
    }

    /// Of another lifecycle.
    pub(crate) fn for_machine(machine: Arc<dyn Machine>, objects: &[Value]) -> Self {
        let ir = machine.ir();
        let kinds: Vec<_> = (0..ir.inputs.len()).map(|n| machine.kind(n)).collect();
        let lies_in_one = machine.subject().is_some_and(|kind| kind.namespaced);
        let mut caches = Self {
            stores: BTreeMap::new(),
            finders: Vec::new(),
            naming: Naming {
                replaced: vec!["old".to_owned()],
                ..Naming::new("op", "Thing")
            },
            refused: BTreeMap::new(),
            settled: false,
            kinds,
            machine,
        };
        for (number, input) in ir.inputs.iter().enumerate() {
            let kind = caches.kinds[number].clone();
            caches.finders.push(kind.as_ref().map(|kind| Finder {
                input,
                number,
                by_namespace: kind.namespaced && lies_in_one,
                namespaced: kind.namespaced,
            }));
            if let Some(kind) = kind {
                caches.stores.insert(number, filled(kind, objects));
            }
        }
        caches
    }

    /// Runs one reconciliation over a thing.
    pub(crate) fn observe(&self, thing: Value) -> Observed {
        let kind = self.machine.subject().expect("a resource has an object");
        let mut store = filled(kind.clone(), &[thing]);
        store.keep(Keep::Whole);
        let name = store.names().next().cloned();
        let subject = name.and_then(|name| store.get(&name).cloned());
        let observer = Observer {
            machine: &*self.machine,
            subject_kind: Some(&kind),
            call: None,
            kinds: &self.kinds,
            finders: &self.finders,
            naming: &self.naming,
            view: self,
        };
        observer.observe(subject.expect("a thing was given"))
    }
}

fn filled(kind: Kind, objects: &[Value]) -> Store {
    let mut store = Store::new(kind.clone());
    store.keep(Keep::Whole);
    for object in objects.iter().filter(|o| o["kind"] == kind.kind.as_str()) {
        store.take(Event::Apply(Raw::new(object.clone())));
    }
    store
}

impl View for Caches {
    fn find(&self, input: usize, keys: &BTreeSet<IndexKey>) -> Vec<Arc<Stored>> {
        let (store, finder) = (&self.stores[&input], &self.finders[input]);
        let finder = finder.as_ref().expect("it has a kind");
        let objects = store.names().filter_map(|name| store.get(name));
        let fits = |object: &&Arc<Stored>| {
            let mut found = finder.keys_of(&*self.machine, object).into_iter();
            found.any(|key| keys.contains(&key))
        };
        objects.filter(fits).cloned().collect()
    }

    fn get(&self, input: usize, name: &Name) -> Option<Arc<Stored>> {
        self.stores[&input].get(name).cloned()
    }

    fn answer(&self, _: usize, _: &str) -> Result<Arc<dyn Any + Send + Sync>, String> {
        Err("it has not been queried yet".to_owned())
    }

    fn answer_version(&self, _: usize, _: &str) -> u64 {
        0
    }

    fn refusal(&self, effect: usize, _: &WriteId) -> Option<String> {
        self.refused.get(&effect).cloned()
    }

    fn is_settled(&self, _: &Name, _: &str, _: u64, _: u64) -> bool {
        self.settled
    }
}
