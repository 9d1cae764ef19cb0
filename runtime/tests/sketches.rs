//! The lifecycles of the language's documentation compile against real types, and their machines answer from an observation.

#[allow(
    dead_code,
    reason = "that they compile is the point; few of them are run"
)]
mod sketches {
    pub(crate) mod app;
    pub(crate) mod bucket;
    pub(crate) mod skupper;
    pub(crate) mod skupper_listener;
}

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use lifecycle_runtime::Machine;
use lifecycle_runtime::lifecycle::observation::Slot;
use lifecycle_runtime::lifecycle::{Compared, LookupKey, Observation, Stored};
use lifecycle_runtime::machine::ir::Node;

fn stored<K: Resource + Send + Sync + 'static>(object: K) -> Arc<Stored> {
    Arc::new(Stored {
        meta: object.meta().clone(),
        decoded: Ok(Arc::new(object)),
        raw: None,
        compared: Compared::default(),
        before: None,
        unread: None,
    })
}

fn named(name: &str) -> ObjectMeta {
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: Some("ns".to_owned()),
        uid: Some(format!("uid-{name}")),
        ..ObjectMeta::default()
    }
}

/// Each node of the evaluation order comes after what it is looked up through or asked given.
#[test]
fn evaluation_order_names_every_input_value_and_variable_once() {
    let irs = [
        sketches::app::IR,
        sketches::bucket::IR,
        sketches::skupper::IR,
        sketches::skupper_listener::IR,
    ];
    for ir in irs {
        let mut seen: Vec<Node> = ir.order.to_vec();
        let count = seen.len();
        seen.sort_by_key(|n| format!("{n:?}"));
        seen.dedup();
        assert_eq!(seen.len(), count, "{}: a node twice", ir.name);
        assert_eq!(
            count,
            ir.inputs.len() + ir.values.len() + ir.vars.len(),
            "{}: nodes missing",
            ir.name
        );
    }
}

#[test]
fn a_poll_is_keyed_by_the_record_it_asks_about() {
    let machine = sketches::bucket::machine(sketches::bucket::Nowhere);
    let mut observation =
        Observation::new(machine.ir(), stored(sketches::bucket::bucket(named("b"))));
    assert_eq!(
        machine.lookup(&observation, 1),
        Some(LookupKey::Key(String::new())),
        "without a record it is a question about nothing: whether it is asked, its `given` says"
    );
    observation.found(0, Slot::Plain(Some(Arc::new("handle-1".to_owned()))));
    assert_eq!(
        machine.lookup(&observation, 1),
        Some(LookupKey::Key("handle-1".to_owned()))
    );
}

#[test]
fn a_path_of_the_object_looks_up_by_name() {
    let machine = sketches::app::machine(sketches::app::Nothing);
    let observation = Observation::new(
        machine.ir(),
        stored(sketches::app::app(named("shop"), "shop-config")),
    );
    assert_eq!(
        machine.lookup(&observation, 0),
        Some(LookupKey::Name("shop-config".to_owned()))
    );
    assert_eq!(
        machine.lookup(&observation, 2),
        Some(LookupKey::Name("shop".to_owned()))
    );
    assert_eq!(
        machine.ir().inputs[0].lookup,
        lifecycle_runtime::machine::ir::Lookup::Name("spec.config")
    );
}

#[test]
fn peers_are_found_by_a_path_that_equals_ours() {
    let machine = sketches::skupper::machine(sketches::skupper::Nothing);
    let listener = stored(sketches::skupper::listener(named("l"), "backend"));
    let observation = Observation::new(machine.ir(), listener.clone());
    let peers = machine
        .ir()
        .inputs
        .iter()
        .position(|i| i.name == "peers")
        .expect("declared");
    assert_eq!(
        machine.lookup(&observation, peers),
        Some(LookupKey::Equal("backend".to_owned()))
    );
    assert_eq!(machine.theirs(peers, &listener), Some("backend".to_owned()));
}

#[test]
fn labels_are_looked_up_by_the_values_of_paths() {
    let machine = sketches::skupper_listener::machine(sketches::skupper_listener::Nothing);
    let listener = stored(sketches::skupper_listener::listener(named("l"), "backend"));
    let observation = Observation::new(machine.ir(), listener);
    let pods = machine
        .ir()
        .inputs
        .iter()
        .position(|i| i.name == "pods")
        .expect("declared");
    assert_eq!(
        machine.lookup(&observation, pods),
        Some(LookupKey::Labels(vec!["l".to_owned()]))
    );
    assert_eq!(
        machine.ir().inputs[pods].lookup,
        lifecycle_runtime::machine::ir::Lookup::Labels(&["example.org/listener"])
    );
}
