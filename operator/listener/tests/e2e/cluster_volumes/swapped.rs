//! The replaced release and ours, swapped back and forth under running Pods: clients dial every
//! published address all the while, and no connection fails.

use std::collections::BTreeMap;
use std::process::{Child, Stdio};

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::api::ListParams;
use kube::{Api, ResourceExt};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_tests::harness::eventually;

use super::pods::{
    balance, class, cluster_ip, delete, is_ready, make_claim, node_of, of_claim,
    read_default_address, run,
};
use super::release::Release;
use crate::installed::{Installed, NAMESPACE, PATIENCE};
use crate::replaced::{self, Replaced};

/// Pods by name, each with the class of its claim, which has the name of the Pod.
const PODS: [(&str, &str); 4] = [
    ("inside", "cluster-internal"),
    ("outside", "external-unstable"),
    ("balanced", "external-stable"),
    (RESTARTED, "external-unstable"),
];

/// Name of the Pod that is recreated after each change, and which therefore no client dials.
const RESTARTED: &str = "restarted";

/// Swaps the releases. Ours runs before, and after.
pub(super) async fn there_and_back(release: &Release) -> Result<()> {
    let site = &release.site;
    let node = site.cluster.nodes()[0].address();
    let balancer = balance(site.cluster.client(), node);
    for (name, of_class) in PODS {
        make_claim(site, name, &class(of_class)).await?;
        run(site, name, None, &[of_claim("listener", name)]).await?;
    }
    for (name, _) in PODS {
        is_ready(site, name).await?;
    }
    let replaced = Replaced::new(site.cluster.client(), "default");
    let dialling = Dialling::start(site).await?;
    for _ in 0..2 {
        release.back()?;
        is_away(site).await?;
        is_written_by(site, &replaced).await?;
        let before = services(site).await?;
        release.upgrade(&[])?;
        for (name, _) in PODS {
            site.ready(name)
                .await
                .with_context(|| site.describe_pods())?;
        }
        let after = services(site).await?;
        ensure!(
            before == after,
            "a Service is another one, or was written: {before:?}, {after:?}"
        );
        restarts(site).await?;
    }
    dialling.all_answered()?;
    balancer.abort();
    Ok(())
}

/// Checks that no process of ours is still terminating, so that nothing writes beside the replaced
/// operator.
async fn is_away(site: &Installed) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(site.cluster.client(), NAMESPACE);
    eventually("the Pods of ours are gone", PATIENCE, async || {
        let all = pods.list(&ListParams::default()).await?;
        let mut ends = all
            .items
            .iter()
            .filter(|pod| pod.metadata.deletion_timestamp.is_some());
        Ok(ends.next().is_none().then_some(()))
    })
    .await
}

/// Writes as the replaced operator would, over the objects of ours. Our operator is away, and the
/// containers of the replaced one do nothing. The files of both are equal.
async fn is_written_by(site: &Installed, replaced: &Replaced) -> Result<()> {
    replaced.defines().await?;
    for (name, _) in PODS {
        let status = site.api::<Listener>().get(name).await?.status;
        let addresses = status.and_then(|status| status.ingress_addresses);
        let addresses = addresses.into_iter().flatten();
        let addresses: Vec<replaced::Address> = addresses
            .map(|ingress| (ingress.address, ingress.address_type))
            .collect();
        ensure!(!addresses.is_empty(), "{name} has lost its addresses");
        let release = replaced::Release::Current;
        replaced.mounts(name, name, release).await?;
        replaced.reconciles(name, &addresses).await?;
        replaced.lists(name, "listener", name).await?;
        let status = site.api::<Listener>().get(name).await?.status;
        let is_theirs = status.is_some_and(|status| status.conditions.is_none());
        ensure!(is_theirs, "the status of {name} still has conditions");
    }
    Ok(())
}

/// Services of the Pods by name: uid and version.
async fn services(site: &Installed) -> Result<BTreeMap<String, [Option<String>; 2]>> {
    let services = site
        .api::<Service>()
        .list(&ListParams::default())
        .await?
        .into_iter();
    let all: BTreeMap<_, _> = services
        .map(|one| (one.name_any(), [one.uid(), one.resource_version()]))
        .filter(|(name, _)| PODS.iter().any(|(pod, _)| pod == name))
        .collect();
    ensure!(all.len() == PODS.len(), "a Service is missing: {all:?}");
    Ok(all)
}

/// Deletes a Pod that mounted its volume before the change, and starts another one that mounts that
/// volume.
async fn restarts(site: &Installed) -> Result<()> {
    let port = read_default_address(site, RESTARTED, "listener")?.1;
    delete(site, RESTARTED).await?;
    run(site, RESTARTED, None, &[of_claim("listener", RESTARTED)]).await?;
    let pod = is_ready(site, RESTARTED).await?;
    let now = read_default_address(site, RESTARTED, "listener")?;
    let node = node_of(site, &pod)?.1;
    ensure!(
        now == (node, port),
        "it was at port {port}, and is at {now:?}"
    );
    let (address, port) = now;
    site.answers(&format!("{address}:{port}"), RESTARTED).await
}

/// A client outside the cluster that dials every address without a pause.
struct Dialling {
    client: Child,
    ways: Vec<String>,
}

impl Dialling {
    /// Waits until each address answers, and begins.
    async fn start(site: &Installed) -> Result<Self> {
        let mut ways = Vec::new();
        for (name, of_class) in PODS {
            if name == RESTARTED {
                continue;
            }
            let (address, port) = read_default_address(site, name, "listener")?;
            let way = match of_class {
                // Names do not resolve outside the cluster.
                "cluster-internal" => cluster_ip(site, name, port).await?,
                _ => format!("{address}:{port}"),
            };
            site.answers(&way, name).await?;
            ways.push(way);
        }
        let mut command = site.cluster.outside(site.cluster.workload());
        command.arg("dial").args(&ways);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let client = command.spawn().context("no client can be started")?;
        Ok(Self { client, ways })
    }

    /// Ends, and prints how often each address answered. Its standard input ends where it is waited for.
    fn all_answered(self) -> Result<()> {
        let output = self.client.wait_with_output()?;
        let lines = String::from_utf8(output.stdout)?;
        eprintln!("clients that dialled while the releases were swapped:\n{lines}");
        for way in &self.ways {
            let line = lines.lines().find_map(|line| line.strip_prefix(way));
            let line = line.with_context(|| format!("nobody dialled {way}: {lines}"))?;
            let (answered, failed) = line.split_once(" failed ").context("it says both")?;
            ensure!(
                failed.starts_with("0 ") && !answered.ends_with(" 0"),
                "{way} did not answer each time: {line}"
            );
        }
        Ok(())
    }
}
