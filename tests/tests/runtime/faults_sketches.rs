//! The generated suites of the small lifecycles of the language's documentation: promises of others, records, calls, polls, shared and repeated objects.

use lifecycle_suite::resources::Suite;
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use lifecycle_tests::suites::sketches;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): no_fault_changes_where_a_canary_ends, no_fault_changes_where_a_preview_ends, no_fault_changes_where_a_rollout_ends, no_fault_changes_where_a_schedule_ends, no_fault_changes_where_a_bucket_ends, no_fault_changes_where_a_topic_ends, no_fault_changes_where_a_git_repository_ends, no_fault_changes_where_a_listener_of_a_network_ends, no_fault_changes_where_a_listener_of_a_site_ends]
}

/// Nothing is found, and all effects and promises are seen but these; what else was never reached is named in the report.
#[track_caller]
pub(crate) fn passes(suite: Suite, single: usize, never: &[&str]) {
    let report = suite.run().expect("the suite is complete");
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.single >= single, "{report}");
    let unseen = report.unseen();
    let is_operation = |name: &&String| name.starts_with("effect") || name.starts_with("promise");
    let operations: Vec<_> = unseen.iter().filter(is_operation).collect();
    assert_eq!(operations, never, "{report}");
}

fn no_fault_changes_where_a_preview_ends() {
    passes(sketches::preview().depth(4).faults(90, 10), 90, &[]);
}

fn no_fault_changes_where_a_canary_ends() {
    // A Stuck or a measured version is some moves and ticks away, and half of the traffic some more.
    let never = ["effect half"];
    passes(sketches::canary().depth(3).faults(90, 10), 90, &never);
}

fn no_fault_changes_where_a_rollout_ends() {
    passes(sketches::rollout().depth(3).faults(90, 10), 90, &[]);
}

fn no_fault_changes_where_a_schedule_ends() {
    passes(sketches::schedule().depth(4).faults(90, 10), 90, &[]);
}

fn no_fault_changes_where_a_bucket_ends() {
    passes(sketches::bucket().depth(2).faults(90, 10), 90, &[]);
}

fn no_fault_changes_where_a_topic_ends() {
    passes(sketches::topic().depth(3).faults(90, 10), 90, &[]);
}

fn no_fault_changes_where_a_git_repository_ends() {
    passes(sketches::git().depth(2).faults(90, 10), 90, &[]);
}

fn no_fault_changes_where_a_listener_of_a_network_ends() {
    passes(sketches::skupper().depth(2).faults(90, 10), 90, &[]);
}

fn no_fault_changes_where_a_listener_of_a_site_ends() {
    // Both are three moves away.
    let never = ["effect delete_pods", "promise follows"];
    passes(
        sketches::skupper_listener().depth(2).faults(90, 10),
        90,
        &never,
    );
}
