//! The generated suites of the small lifecycles of the language's documentation: promises of others, records, calls, polls, shared and repeated objects.

use lifecycle_suite::resources::Suite;
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use lifecycle_tests::suites::sketches;

use crate::gallery_page::check_row;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): no_fault_changes_where_a_canary_ends, no_fault_changes_where_a_preview_ends, no_fault_changes_where_a_rollout_ends, no_fault_changes_where_a_schedule_ends, no_fault_changes_where_a_bucket_ends, no_fault_changes_where_a_topic_ends, no_fault_changes_where_a_git_repository_ends, no_fault_changes_where_a_listener_of_a_network_ends, no_fault_changes_where_a_listener_of_a_site_ends]
}

/// Checks a suite with this number of consecutive moves. Nothing is found, and all effects and
/// promises are seen except these. The report names everything else that was never reached.
#[track_caller]
pub(crate) fn passes(name: &str, suite: Suite, depth: usize, single: usize, never: &[&str]) {
    let report = suite.depth(depth).run().expect("the suite is complete");
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.single >= single, "{report}");
    let unseen = report.unseen();
    let is_operation = |name: &&String| name.starts_with("effect") || name.starts_with("promise");
    let operations: Vec<_> = unseen.iter().filter(is_operation).collect();
    assert_eq!(operations, never, "{report}");
    check_row(name, depth, &report.to_string());
}

fn no_fault_changes_where_a_preview_ends() {
    passes("preview", sketches::preview().faults(90, 10), 4, 90, &[]);
}

fn no_fault_changes_where_a_canary_ends() {
    // A Stuck or a measured version is some moves and ticks away, and half of the traffic some more.
    let never = ["effect half"];
    passes("canary", sketches::canary().faults(90, 10), 3, 90, &never);
}

fn no_fault_changes_where_a_rollout_ends() {
    passes("rollout", sketches::rollout().faults(90, 10), 3, 90, &[]);
}

fn no_fault_changes_where_a_schedule_ends() {
    passes("schedule", sketches::schedule().faults(90, 10), 4, 90, &[]);
}

fn no_fault_changes_where_a_bucket_ends() {
    passes("bucket", sketches::bucket().faults(90, 10), 2, 90, &[]);
}

fn no_fault_changes_where_a_topic_ends() {
    passes("topic", sketches::topic().faults(90, 10), 3, 90, &[]);
}

fn no_fault_changes_where_a_git_repository_ends() {
    passes("git", sketches::git().faults(90, 10), 2, 90, &[]);
}

fn no_fault_changes_where_a_listener_of_a_network_ends() {
    passes("skupper", sketches::skupper().faults(90, 10), 2, 90, &[]);
}

fn no_fault_changes_where_a_listener_of_a_site_ends() {
    // Both are three moves away.
    let never = ["effect delete_pods", "promise follows"];
    passes(
        "skupper-listener",
        sketches::skupper_listener().faults(90, 10),
        2,
        90,
        &never,
    );
}
