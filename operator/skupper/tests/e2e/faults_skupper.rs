//! The generated suites of the lifecycles of a Skupper site: every fault at every write, and none of it matters in the end.

use crate::suites as skupper;
use lifecycle_suite::resources::Suite;
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): no_fault_changes_where_a_listener_ends, no_fault_changes_where_a_connector_ends, no_fault_changes_where_a_site_ends, no_fault_changes_where_an_attached_connector_ends, no_fault_changes_where_an_attached_connector_binding_ends]
}

/// Nothing is found, and all effects and promises are seen but those that are excluded; what else was never reached is named in the report.
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

fn no_fault_changes_where_a_connector_ends() {
    passes(skupper::connector().depth(2).faults(90, 10), 90);
}

fn no_fault_changes_where_a_site_ends() {
    let suite = skupper::site().never(
        "effect delete_unused",
        "Listeners make the Services that it deletes; the suite `skupper` shows both together",
    );
    passes(suite.depth(2).faults(90, 10), 90);
}

fn no_fault_changes_where_an_attached_connector_ends() {
    passes(skupper::attached().depth(3).faults(90, 10), 90);
}

fn no_fault_changes_where_an_attached_connector_binding_ends() {
    passes(skupper::binding().depth(2).faults(90, 10), 90);
}
