//! A cluster without errors: the log has no warning, because a user could not act on it.

use std::time::Duration;

use anyhow::{Result, ensure};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::harness::{Case, eventually};
use lifecycle_tests::named;

use super::{BINARIES, warnings};
use crate::PROGRAM;
use crate::listeners::{Cluster, ExpectedCondition, SOON, addresses};

pub(crate) fn cases() -> Vec<Case> {
    named![case(BINARIES): b26_a_listener_on_node_ports_without_a_pin_warns_of_nothing]
}

/// Longer than everything that follows from a change by itself.
const AFTERMATH: Duration = Duration::from_secs(2);
const NODES: [(&str, &str); 2] = [("first", "10.0.0.1"), ("second", "10.0.0.2")];

/// Its nodes come and go with its Pods, which is as its class wants it.
async fn b26_a_listener_on_node_ports_without_a_pin_warns_of_nothing() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    let before = cluster.log().len();
    let outcome = async {
        for (node, address) in NODES {
            cluster.node(node, &[("InternalIP", address)]).await?;
        }
        cluster.expose("web", "external-unstable").await?;
        let idle = ExpectedCondition("Addressed", "Unknown", "NoPod");
        cluster.condition("web", idle).await?;
        let listeners = cluster.namespaced::<Listener>();
        for (node, address) in NODES {
            cluster.endpoints("web", &[node]).await?;
            eventually("the address of its node", SOON, async || {
                let told = addresses(&listeners.get("web").await?);
                let is_there = told.len() == 1 && told[0].starts_with(address);
                Ok(is_there.then_some(()))
            })
            .await?;
            cluster.ready("web").await?;
        }
        tokio::time::sleep(AFTERMATH).await;
        let log = cluster.log();
        let log = &log[before..];
        ensure!(log.contains("/web"), "the log says nothing of it");
        warnings(log, 0).map(drop)
    };
    cluster.explain(outcome.await)
}
