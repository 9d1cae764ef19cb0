//! The generated suites of lifecycles that operators of others have: a certificate, a name, replicas by load, a count.

use lifecycle_suite::resources::Suite;
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use lifecycle_tests::suites::gallery;

use crate::faults_sketches::passes;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): no_fault_changes_where_a_quota_ends, no_fault_changes_where_a_name_ends, no_fault_changes_where_an_autoscaler_ends, no_fault_changes_where_a_certificate_ends]
}

fn few(suite: Suite, depth: usize, never: &[&str]) {
    passes(suite.depth(depth).faults(60, 10), 60, never);
}

fn no_fault_changes_where_a_quota_ends() {
    few(gallery::quota(), 3, &[]);
}

fn no_fault_changes_where_a_name_ends() {
    few(gallery::dns(), 2, &[]);
}

fn no_fault_changes_where_an_autoscaler_ends() {
    few(gallery::autoscaler(), 3, &[]);
}

fn no_fault_changes_where_a_certificate_ends() {
    // What an answer that is not taken deletes is three moves away.
    few(gallery::certificate(), 2, &["effect delete_signing"]);
}
