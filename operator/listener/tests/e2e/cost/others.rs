//! Changes that concern none, and changes of a class that concern some: who looks, and who writes.

use std::time::Duration;

use crate::listeners::{Cluster, ExpectedCondition, OPERATOR, SOON, addresses};
use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, Node, PersistentVolume, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use kube::api::Patch;
use kube::{Api, Client};
use lifecycle_listener::controller::KINDS;
use lifecycle_listener::listener::Exposure;
use lifecycle_runtime::Operator;
use lifecycle_runtime::controller::{Counters, Counts};
use lifecycle_runtime::crds;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_specs_listener::listener::{self, Listener};
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_tests::api_server::Options;
use lifecycle_tests::audit::{Cost, Log};
use lifecycle_tests::harness::{Case, case, eventually};
use serde_json::{Value, json};

use super::{BINARIES, print_counts};
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "b19_b22_b23_f5_what_concerns_no_listener_makes_no_request_and_no_pass",
            BINARIES,
            unrelated,
        ),
        case(
            "f8_a_class_edit_costs_one_write_for_each_service_that_changes",
            BINARIES,
            class_edit,
        ),
        case(
            "b23_an_address_that_changes_on_a_node_reaches_the_listeners_on_it_and_no_other",
            BINARIES,
            node_edit,
        ),
    ]
}

const MANY: usize = 20;
const AFTERMATH: Duration = Duration::from_secs(3);

/// An operator in this process, for its counters.
struct Counted {
    cluster: Cluster,
    counters: Counters,
    _trigger: Trigger,
}

/// Events since a moment.
struct Since {
    at: Timestamp,
    counts: Counts,
}

impl Counted {
    async fn start() -> Result<Self> {
        let cluster = Cluster::without_operator(PROGRAM, Options::default()).await?;
        crds::prepare(&cluster.client, &KINDS, true).await;
        let client: Client = cluster
            .server
            .client_for(OPERATOR, &["system:masters"])
            .await?;
        let logic = Exposure {
            cluster_domain: "cluster.test".to_owned(),
        };
        let operator = Operator::new("listeners.stackable.tech").run(listener::machine(logic));
        let (trigger, shutdown) = Shutdown::pair();
        let counters = operator.counters();
        tokio::spawn(operator.start(client, shutdown));
        for class in ["one", "two"] {
            let class = json!({
                "apiVersion": "listeners.stackable.tech/v1alpha1",
                "kind": "ListenerClass",
                "metadata": { "name": class },
                "spec": { "serviceType": "ClusterIP" },
            });
            cluster.make(cluster.all::<ListenerClass>(), class).await?;
        }
        let counted = Self {
            cluster,
            counters,
            _trigger: trigger,
        };
        let make = (0..MANY).flat_map(|n| ["one", "two"].map(|class| (class, n)));
        let make: Vec<(String, &str)> = make.map(|(c, n)| (format!("{c}-{n:02}"), c)).collect();
        let all = make.iter();
        try_join_all(
            all.clone()
                .map(|(name, class)| counted.cluster.expose(name, class)),
        )
        .await?;
        try_join_all(all.map(|(name, _)| counted.cluster.ready(name))).await?;
        tokio::time::sleep(AFTERMATH).await;
        Ok(counted)
    }

    fn now(&self) -> Since {
        Since {
            at: Timestamp::now(),
            counts: self.counters.read(),
        }
    }

    /// Returns the requests since then, except watches and Leases, and the reconciles by class.
    async fn since(&self, then: &Since) -> Result<(Log, [u64; 2])> {
        tokio::time::sleep(AFTERMATH).await;
        let asked = self.cluster.requests().await?.since(then.at);
        let asked = asked.only(|e| !matches!(e.cost(), Cost::Watch | Cost::Lease));
        let now = self.counters.read();
        let of_class = |counts: &Counts, class: &str| -> u64 {
            let of = |object: &str| object.contains(&format!("/{class}-"));
            let passes = counts.passes.iter();
            passes
                .filter(|(o, _)| of(&o.to_string()))
                .map(|(_, n)| n)
                .sum()
        };
        let passes =
            ["one", "two"].map(|class| of_class(&now, class) - of_class(&then.counts, class));
        Ok((asked, passes))
    }

    async fn edit_class(&self, name: &str, spec: Value) -> Result<()> {
        let classes = self.cluster.all::<ListenerClass>();
        let patch = Patch::Merge(json!({ "spec": spec }));
        let edited = classes.patch(name, &Default::default(), &patch).await;
        edited.map(drop).context("cannot edit the class")
    }
}

async fn unrelated() -> Result<()> {
    let counted = Counted::start().await?;
    let cluster = &counted.cluster;
    let then = counted.now();
    cluster.namespace("elsewhere").await?;
    let there = || cluster.client.clone();
    let meta = json!({ "name": "one-00", "namespace": "elsewhere" });
    let spec = json!({ "ports": [{ "port": 80 }] });
    let services: Api<Service> = Api::namespaced(there(), "elsewhere");
    cluster
        .make(services, json!({ "metadata": meta, "spec": spec }))
        .await?;
    let slice = json!({
        "metadata": { "name": "one-00-1", "namespace": "elsewhere", "labels": { "kubernetes.io/service-name": "one-00" } },
        "addressType": "IPv4",
        "endpoints": [{ "addresses": ["10.85.0.9"], "nodeName": "idle" }],
        "ports": [],
    });
    let slices: Api<EndpointSlice> = Api::namespaced(there(), "elsewhere");
    cluster.make(slices, slice).await?;
    cluster.node("idle", &[("InternalIP", "10.0.0.9")]).await?;
    let touch = Patch::Merge(json!({ "metadata": { "labels": { "touched": "yes" } } }));
    let nodes = cluster.all::<Node>();
    nodes.patch("idle", &Default::default(), &touch).await?;
    let maps: Api<ConfigMap> = cluster.namespaced();
    cluster
        .make(maps, json!({ "metadata": { "name": "one-00" } }))
        .await?;
    let volume = json!({
        "metadata": { "name": "other" },
        "spec": { "accessModes": ["ReadWriteOnce"], "capacity": { "storage": "1" }, "csi": { "driver": "example.org", "volumeHandle": "other" } },
    });
    cluster
        .make(cluster.all::<PersistentVolume>(), volume)
        .await?;
    let mine: Api<Service> = cluster.namespaced();
    cluster
        .make(
            mine,
            json!({ "metadata": { "name": "nobodys" }, "spec": spec }),
        )
        .await?;
    let (asked, passes) = counted.since(&then).await?;
    print_counts("seven unrelated changes", &asked);
    ensure!(
        asked.is_empty() && passes == [0, 0],
        "{passes:?} passes\n{}",
        asked.lines()
    );

    // Checks the counting itself: a change that concerns one Listener reconciles this one, and no
    // others.
    let then = counted.now();
    cluster
        .patch::<Service>(
            "one-00",
            json!({ "metadata": { "annotations": { "touched": "yes" } } }),
        )
        .await?;
    let (asked, passes) = counted.since(&then).await?;
    print_counts("a change of one Service that is not ours", &asked);
    ensure!(
        asked.is_empty() && passes == [1, 0],
        "{passes:?} passes\n{}",
        asked.lines()
    );
    let then = counted.now();
    cluster
        .patch::<Service>(
            "one-00",
            json!({ "metadata": { "labels": { "app.kubernetes.io/name": "mine" } } }),
        )
        .await?;
    let (asked, passes) = counted.since(&then).await?;
    print_counts("a hand edit of one Service that is ours", &asked);
    ensure!(
        asked.counts().writes == 1 && asked.len() == 1 && passes[0] >= 1 && passes[1] == 0,
        "{passes:?} passes\n{}",
        asked.lines()
    );
    Ok(())
}

async fn class_edit() -> Result<()> {
    let counted = Counted::start().await?;
    let cluster = &counted.cluster;
    let then = counted.now();
    counted
        .edit_class("one", json!({ "serviceAnnotations": { "a": "b" } }))
        .await?;
    let services = cluster.namespaced::<Service>();
    eventually("the annotation everywhere", SOON, async || {
        let all = services.list(&Default::default()).await?.items;
        let annotated = all.iter().filter(|s| s.metadata.annotations.is_some());
        Ok((annotated.count() == MANY).then_some(()))
    })
    .await?;
    let (asked, passes) = counted.since(&then).await?;
    print_counts(
        &format!("a class edit that changes {MANY} of {} Services", 2 * MANY),
        &asked,
    );
    check(&asked, &[("services", MANY), ("listeners", 0)], &passes)?;

    let then = counted.now();
    counted
        .edit_class("one", json!({ "preferredAddressType": "Hostname" }))
        .await?;
    let (asked, passes) = counted.since(&then).await?;
    print_counts("a class edit that changes nothing", &asked);
    check(&asked, &[("services", 0), ("listeners", 0)], &passes)?;
    ensure!(passes[0] == MANY as u64, "each looks once: {passes:?}");

    let then = counted.now();
    counted
        .edit_class("one", json!({ "serviceType": "LoadBalancer" }))
        .await?;
    let waiting = ExpectedCondition("Addressed", "Unknown", "WaitingForLoadBalancer");
    let names: Vec<String> = (0..MANY).map(|n| format!("one-{n:02}")).collect();
    try_join_all(names.iter().map(|n| cluster.condition(n, waiting))).await?;
    let (asked, passes) = counted.since(&then).await?;
    print_counts(
        &format!("a class edit that changes {MANY} Services and addresses"),
        &asked,
    );
    check(&asked, &[("services", MANY), ("listeners", MANY)], &passes)
}

/// Checks the exact number of writes of each resource, each object once, and no reconcile of
/// another class.
fn check(asked: &Log, wanted: &[(&str, usize)], passes: &[u64; 2]) -> Result<()> {
    let mut all = 0;
    for (resource, count) in wanted {
        let of = asked.of_resource(resource);
        let names: std::collections::BTreeSet<_> = of.iter().map(|e| &e.name).collect();
        ensure!(
            of.len() == *count && names.len() == *count,
            "{resource}: {}",
            of.lines()
        );
        all += count;
    }
    ensure!(
        asked.counts().reads == 0 && asked.counts().writes == all,
        "{}",
        asked.lines()
    );
    ensure!(passes[1] == 0, "{passes:?}");
    Ok(())
}

/// Two nodes with a Listener each, and an address of one of them changes.
async fn node_edit() -> Result<()> {
    let counted = Counted::start().await?;
    let cluster = &counted.cluster;
    let class = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1",
        "kind": "ListenerClass",
        "metadata": { "name": "nodes" },
        "spec": { "serviceType": "NodePort" },
    });
    cluster.make(cluster.all::<ListenerClass>(), class).await?;
    for (name, node, ip) in [("here", "a", "10.0.0.1"), ("there", "b", "10.0.0.2")] {
        cluster.node(node, &[("InternalIP", ip)]).await?;
        cluster.expose(name, "nodes").await?;
        cluster.endpoints(name, &[node]).await?;
        cluster.ready(name).await?;
    }
    tokio::time::sleep(AFTERMATH).await;

    let then = counted.now();
    let moved =
        json!({ "status": { "addresses": [{ "type": "InternalIP", "address": "10.0.0.9" }] } });
    let nodes = cluster.all::<Node>();
    let moved = Patch::Merge(moved);
    nodes.patch_status("a", &Default::default(), &moved).await?;
    let listeners = cluster.namespaced::<Listener>();
    eventually("the new address", SOON, async || {
        let told = addresses(&listeners.get("here").await?);
        let is_new = told.len() == 1 && told[0].starts_with("10.0.0.9:");
        Ok(is_new.then_some(()))
    })
    .await?;
    let (asked, passes) = counted.since(&then).await?;
    print_counts("an edit of an address of a node", &asked);
    check(&asked, &[("services", 0), ("listeners", 1)], &passes)?;
    let of_there = |counts: &Counts| -> u64 {
        let passes = counts.passes.iter();
        let passes = passes.filter(|(object, _)| object.name == "there");
        passes.map(|(_, number)| number).sum()
    };
    let (before, after) = (of_there(&then.counts), of_there(&counted.counters.read()));
    ensure!(
        before > 0 && after == before && passes == [0, 0],
        "{before} passes of the other one, then {after}; {passes:?}"
    );
    Ok(())
}
