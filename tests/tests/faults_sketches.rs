//! The generated suite of a small lifecycle with promises of others: nothing is found in about a hundred schedules.

use lifecycle_tests::suites::sketches;

#[test]
fn no_fault_changes_where_a_rollout_ends() {
    let report = sketches::rollout().depth(2).faults(90, 10).run();
    let report = report.expect("the suite is complete");
    // What two moves do not reach is named here.
    eprintln!("{report}");
    assert!(report.failures.is_empty(), "{report}");
    assert!(report.single >= 90, "{report}");
    let unseen = report.unseen();
    let is_deed = |name: &&String| name.starts_with("effect") || name.starts_with("promise");
    assert_eq!(unseen.iter().find(is_deed), None, "{report}");
}
