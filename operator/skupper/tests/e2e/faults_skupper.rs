//! The generated suites of the lifecycles of a Skupper site: every fault at every write, and none of it matters in the end.

use std::sync::Arc;

use crate::suites as skupper;
use lifecycle_runtime::lifecycle::Observation;
use lifecycle_skupper::config::router_config::DOCUMENT;
use lifecycle_skupper::data_plane::DataPlane;
use lifecycle_suite::resources::{Invariant, Suite};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use lifecycle_tests::suites::wrapped::Wrapped;
use serde_json::{Value, json};

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): no_fault_changes_where_a_listener_ends, no_fault_changes_where_a_multi_key_listener_ends, no_fault_changes_where_a_connector_ends, no_fault_changes_where_a_link_ends, no_fault_changes_where_a_grant_ends, no_fault_changes_where_a_token_ends, no_fault_changes_where_a_certificate_ends, no_fault_changes_where_a_site_ends, no_fault_changes_where_a_site_on_the_existing_router_ends, no_fault_changes_where_an_attached_connector_ends, no_fault_changes_where_an_attached_connector_binding_ends, all_kinds_of_a_site_keep_what_they_promise_each_other, all_kinds_of_a_site_on_the_existing_router_do_so, a_site_that_does_not_write_down_its_listener_is_found, a_promise_that_nobody_keeps_is_an_error_of_the_description, no_fault_changes_where_a_secured_access_ends, no_fault_changes_where_a_router_access_ends]
}

/// Checks that no failure is found, and that all effects and promises are seen except the excluded
/// ones. The report names everything else that was never reached.
#[track_caller]
fn passes(suite: Suite, single: usize) {
    let report = suite.run().expect("the suite is complete");
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.single >= single, "{report}");
    let unseen = report.unseen();
    let is_operation = |name: &&String| name.starts_with("effect") || name.starts_with("promise");
    let operations: Vec<_> = unseen.iter().filter(is_operation).collect();
    assert!(operations.is_empty(), "{report}");
}

fn no_fault_changes_where_a_listener_ends() {
    let suite = skupper::listener().never(
        "effect delete_pods",
        "what a Pod's Service is called follows from the table, so none of them is ever found that is not wanted",
    );
    passes(suite.depth(2).faults(90, 10), 90);
}

fn no_fault_changes_where_a_multi_key_listener_ends() {
    passes(skupper::multi_key_listener().depth(2).faults(90, 10), 90);
}

fn no_fault_changes_where_a_connector_ends() {
    passes(skupper::connector().depth(2).faults(90, 10), 90);
}

fn no_fault_changes_where_a_link_ends() {
    passes(skupper::link().depth(2).faults(90, 10), 90);
}

fn no_fault_changes_where_a_grant_ends() {
    passes(skupper::access_grant().depth(2).faults(60, 8), 40);
}

fn no_fault_changes_where_a_token_ends() {
    passes(skupper::access_token().depth(3).faults(90, 10), 90);
}

/// Returns the suite of a Site, without the effects and promises that it never reaches.
fn site(data_plane: DataPlane) -> Suite {
    skupper::site(data_plane)
        .never(
            "effect delete_unused",
            "Listeners make the Services that it deletes; the suite `skupper` shows both together",
        )
        .never(
            "effect delete_rights",
            "none of the account and its rights is optional, so none is ever there and not wanted",
        )
}

fn no_fault_changes_where_a_site_ends() {
    passes(site(DataPlane::Embedded).depth(2).faults(90, 10), 90);
}

fn no_fault_changes_where_a_site_on_the_existing_router_ends() {
    passes(site(DataPlane::SkupperRouter).depth(2).faults(60, 8), 60);
}

fn no_fault_changes_where_an_attached_connector_ends() {
    passes(skupper::attached().depth(3).faults(90, 10), 90);
}

fn no_fault_changes_where_an_attached_connector_binding_ends() {
    passes(skupper::binding().depth(2).faults(90, 10), 90);
}

fn no_fault_changes_where_a_certificate_ends() {
    passes(skupper::certificate().depth(2).faults(90, 10), 90);
}

fn no_fault_changes_where_a_secured_access_ends() {
    passes(skupper::secured_access().depth(2).faults(90, 10), 90);
}

fn no_fault_changes_where_a_router_access_ends() {
    passes(skupper::router_access().depth(2).faults(90, 10), 90);
}

/// With `LONG=1` all kinds are run deeper together, and with many more faults.
fn long() -> bool {
    std::env::var("LONG").is_ok_and(|long| long == "1")
}

fn all_kinds_of_a_site_keep_what_they_promise_each_other() {
    all_kinds(DataPlane::Embedded);
}

fn all_kinds_of_a_site_on_the_existing_router_do_so() {
    all_kinds(DataPlane::SkupperRouter);
}

#[track_caller]
fn all_kinds(data_plane: DataPlane) {
    // Each kind has a suite of its own that goes two moves deep.
    let (depth, single, several) = if long() { (3, 300, 30) } else { (1, 40, 4) };
    let report = skupper::together(data_plane)
        .depth(depth)
        .faults(single, several)
        .run();
    let report = report.expect("the suite is complete");
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.at_rest >= 10, "{report}");
    assert!(report.beside >= 10, "{report}");
}

/// The Site treats every Listener as one without requests: it writes neither its entry nor its
/// claim, and settles.
fn a_site_that_does_not_write_down_its_listener_is_found() {
    let forgets = |_: &Observation, _: usize, mut object: Value| {
        if object["data"].get("claims").is_some() {
            object["data"]["claims"] = json!("[]");
            let text = object["data"][DOCUMENT].as_str().unwrap_or("[]");
            let mut entries: Vec<Value> = serde_json::from_str(text).unwrap();
            entries.retain(|entry| entry[0] != "tcpListener");
            object["data"][DOCUMENT] = json!(serde_json::to_string(&entries).unwrap());
        }
        object
    };
    let suite = skupper::together(DataPlane::Embedded)
        .running(move |machine| Arc::new(Wrapped::around(machine).build(forgets)));
    let report = suite
        .depth(1)
        .faults(0, 0)
        .run()
        .expect("the suite is complete");
    let mut failures = report.failures.iter();
    let found = failures.find(|failure| failure.invariant == Invariant::ClaimsKept);
    let found = found.unwrap_or_else(|| panic!("{report}"));
    assert!(
        found.text.contains("`Listener.allocated` is open"),
        "{report}"
    );
    assert!(
        found.text.contains("Site `default/west` settles in"),
        "{report}"
    );
    // The Site exists from the start: creating the Listener is the only necessary move.
    assert_eq!(found.schedule.moves.len(), 1, "{report}");
    let (again, _) = skupper::together(DataPlane::Embedded)
        .running(move |machine| Arc::new(Wrapped::around(machine).build(forgets)))
        .replay(&found.line())
        .expect("it is a schedule");
    let mut again = again.iter();
    assert!(again.any(|failure| failure.invariant == Invariant::ClaimsKept));
}

fn a_promise_that_nobody_keeps_is_an_error_of_the_description() {
    let error = skupper::alone_with_a_listener()
        .run()
        .expect_err("nobody reads the table");
    assert!(
        error.contains("nothing keeps the promise `Listener.follows`"),
        "{error}"
    );
    assert!(!error.contains("allocated"), "{error}");
}
