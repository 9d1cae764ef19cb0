//! The counts of the reference lifecycles: worlds, edges and their causes.

use lifecycle_macros_core::space::summary::Summary;

use super::shipped::model;

/// Worlds and edges; the edges are also those that the lifecycle declares, for it has no finding.
#[track_caller]
fn has(name: &str, worlds: usize, edges: usize) {
    let model = model(name);
    let summary = Summary::explore(&model).expect("it is small enough");
    assert_eq!((summary.worlds, summary.edges.len()), (worlds, edges));
    assert!(summary.samples.iter().all(Option::is_some));
}

#[test]
fn the_listener_has_81_worlds() {
    has("listener", 81, 7);
}

#[test]
fn the_bucket_has_222_worlds() {
    has("bucket", 222, 21);
}

#[test]
fn the_rollout_has_216_worlds() {
    has("rollout", 216, 23);
}

#[test]
fn the_listener_of_the_network_has_4968_worlds() {
    has("skupper-listener", 4968, 23);
}

#[test]
fn the_sketch_of_the_network_has_10805_worlds() {
    has("skupper", 10805, 16);
}

/// Tests the counts of volumes. A volume has no edges of its own, because calls make every change.
#[test]
fn volumes_have_as_many_worlds_as_the_oracle_says() {
    has("volume", 4587, 0);
    has("provision", 28, 0);
    has("scratch", 54, 0);
}
