//! The generated suites of volumes: however its life is disturbed, a volume comes to the same, and mistakes that are planted are found.

#[path = "volume_suites/planted.rs"]
mod planted;
#[path = "volume_suites/socket.rs"]
mod socket;

use lifecycle_runtime::testing::volumes::Suite;
use lifecycle_tests::volumes::suites;

#[track_caller]
fn passes(suite: &Suite, schedules: usize) {
    let report = suite.run().expect("nothing disturbs the first");
    eprintln!("{report}");
    assert!(report.findings.is_empty(), "{report}");
    assert!(report.schedules >= schedules, "{report}");
    assert!(!report.coverage.contains("never asked"), "{report}");
}

#[test]
fn nothing_changes_where_a_directory_volume_ends() {
    passes(&suites::directory(), 180);
}

/// An even choice; all of them, which take minutes, with `LIFECYCLE_VOLUME_SCHEDULES=all`.
#[test]
fn nothing_changes_where_a_listener_volume_ends() {
    match std::env::var("LIFECYCLE_VOLUME_SCHEDULES").as_deref() {
        Ok("all") => passes(&suites::listener(), 240),
        Ok(other) => panic!("LIFECYCLE_VOLUME_SCHEDULES is `{other}`; say `all` or leave it out"),
        Err(_) => passes(&suites::listener().budget(100), 130),
    }
}
