//! Listener volumes on a real cluster: kubelet, external-provisioner and the operator as its
//! manifests install it. Pods mount Listeners in every way, traffic from outside the cluster
//! reaches them, and deleted objects leave nothing behind.

mod chart;
mod loss;
mod pods;
mod release;
mod soak;
mod swapped;
mod trouble;
mod ways;

use std::path::Path;
use std::time::Duration;

use lifecycle_tests::amount::amount;
use lifecycle_tests::harness::{Case, Need, case_within};

const NODES: &[Need] = &[Need::Nodes];

/// A cluster starts, perhaps on a machine that compiles as well.
const LIMIT: Duration = Duration::from_secs(900);

fn operator() -> &'static Path {
    Path::new(crate::PROGRAM)
}

pub(crate) fn cases() -> Vec<Case> {
    let helm = &[Need::Nodes, Need::Helm];
    let mut cases = vec![
        case_within(
            "the_chart_takes_over_and_goes_without_a_trace",
            helm,
            LIMIT,
            chart::all,
        ),
        case_within(
            "m7_m18_m21_m22_m23_m25_m26_m27_b8_b43_b50_b60_f7_pods_mount_listeners_in_every_way",
            NODES,
            LIMIT,
            ways::all,
        ),
        case_within(
            "m28_m29_mounts_outlive_every_trouble",
            NODES,
            LIMIT,
            trouble::all,
        ),
    ];
    cases.extend(soak::cases());
    if amount("NODE_LOSS", 0, 1) == 1 {
        let name = "the_loss_of_the_controllers_node_costs_seconds";
        cases.push(case_within(name, NODES, LIMIT, loss::node));
    }
    cases
}
