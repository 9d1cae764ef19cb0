//! Listener volumes on a real cluster: kubelet, external-provisioner and the operator as its manifests install it.
//! Pods mount Listeners in every way, traffic from outside reaches them, and what goes leaves nothing behind.

#[path = "cluster_volumes/pods.rs"]
mod pods;
#[path = "cluster_volumes/trouble.rs"]
mod trouble;
#[path = "cluster_volumes/ways.rs"]
mod ways;

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use lifecycle_tests::harness::{Need, case_within, run};

const NODES: &[Need] = &[Need::Nodes];

/// A cluster starts, perhaps on a machine that compiles as well.
const LIMIT: Duration = Duration::from_secs(900);

fn operator() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_operator-under-test"))
}

fn main() -> ExitCode {
    run(vec![
        case_within("pods_mount_listeners_in_every_way", NODES, LIMIT, ways::all),
        case_within("mounts_outlive_every_trouble", NODES, LIMIT, trouble::all),
    ])
}
