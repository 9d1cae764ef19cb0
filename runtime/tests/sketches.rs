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
    pub(crate) mod upgrade;
}

use std::sync::Arc;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::Resource;
use lifecycle_runtime::lifecycle::observation::Slot;
use lifecycle_runtime::lifecycle::{Compared, LookupKey, Observation, Stored};
use lifecycle_runtime::machine::ir::Node;
use lifecycle_runtime::{Machine, This};
use sketches::upgrade::{UpgradeLogic, Window};

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

/// Checks that each node of the evaluation order follows the inputs that it is looked up through or
/// that its condition needs.
#[test]
fn evaluation_order_names_every_input_value_and_variable_once() {
    let irs = [
        sketches::app::IR,
        sketches::bucket::IR,
        sketches::skupper::IR,
        sketches::skupper_listener::IR,
        sketches::upgrade::IR,
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
    let machine = sketches::bucket::machine(sketches::bucket::UnreachableStore);
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
    let machine = sketches::app::machine(sketches::app::PlainLogic);
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
    let machine = sketches::skupper::machine(sketches::skupper::NoRouters);
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
    let machine = sketches::skupper_listener::machine(sketches::skupper_listener::SilentRouter);
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

/// The window of `docs/time.md`: open if it opened later than it closed, until the next of the two.
#[test]
fn a_window_is_open_on_working_days_until_it_closes() {
    let logic = sketches::upgrade::WorkingDays;
    let meta = named("weekly");
    let asked = |zone: &str, now: &str| {
        let spec = sketches::upgrade::UpgradeSpec {
            time_zone: Some(zone.to_owned()),
        };
        let this = This {
            meta: &meta,
            spec: &spec,
        };
        logic.window(this, &now.parse().expect(now))
    };
    let table = [
        // In winter the zone is an hour ahead; the first of January 2026 is a Thursday.
        (
            "2026-01-01T06:59:59Z",
            Window::Closed,
            "2026-01-01T07:00:00Z",
        ),
        ("2026-01-01T07:00:00Z", Window::Open, "2026-01-01T17:00:00Z"),
        ("2026-01-01T16:59:59Z", Window::Open, "2026-01-01T17:00:00Z"),
        (
            "2026-01-01T17:00:00Z",
            Window::Closed,
            "2026-01-02T07:00:00Z",
        ),
        (
            "2026-01-03T12:00:00Z",
            Window::Closed,
            "2026-01-05T07:00:00Z",
        ),
        ("2026-07-01T06:30:00Z", Window::Open, "2026-07-01T16:00:00Z"),
    ];
    for (now, window, until) in table {
        let said = asked("Europe/Berlin", now);
        assert_eq!(said.because.value, window, "{now}");
        assert_eq!(said.until, Some(until.parse().expect(until)), "{now}");
    }
    let nowhere = asked("Europe/Nowhere", "2026-01-01T12:00:00Z");
    assert_eq!(nowhere.because.value, Window::Closed);
    assert!(nowhere.because.sentence.contains("Europe/Nowhere"));
}

#[test]
fn the_window_of_the_document_is_the_one_that_is_tested() {
    let lines = |text: &str| -> Vec<String> { text.lines().map(|l| l.trim().to_owned()).collect() };
    let document = lines(include_str!("../../docs/time.md"));
    let tested = lines(include_str!("sketches/upgrade.rs"));
    let from = document
        .iter()
        .position(|line| line.starts_with("/// Returns the window from eight"));
    let shown = document[from.expect("it is shown")..].iter();
    let shown: Vec<_> = shown.take_while(|line| *line != "```").cloned().collect();
    assert!(tested.windows(shown.len()).any(|some| some == shown));
}
