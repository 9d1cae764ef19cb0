//! The install manifests, as they are, on a real cluster: what they install works with the rights that they give.
//! Knows the operator by its image alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, ExitCode};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::api::PostParams;
use kube::{Api, ResourceExt};
use lifecycle_specs::listener::Listener;
use lifecycle_tests::audit::Entry;
use lifecycle_tests::cluster::{Cluster, WORKLOAD, csi_provisioner_image, operator_image_of};
use lifecycle_tests::harness::{Need, case_within, eventually, run};
use serde_json::json;

const NODES: &[Need] = &[Need::Nodes];

/// A cluster starts, perhaps on a machine that compiles as well.
const LIMIT: Duration = Duration::from_secs(600);

const PATIENCE: Duration = Duration::from_secs(120);

const NAMESPACE: &str = "listener-operator";

const DEPLOYMENT: &str = "listener-operator-csi-provisioner";

fn main() -> ExitCode {
    run(vec![case_within(
        "clients_outside_reach_what_the_installed_operator_exposes",
        NODES,
        LIMIT,
        installed_operator,
    )])
}

async fn installed_operator() -> Result<()> {
    let operator = Path::new(env!("CARGO_BIN_EXE_operator-under-test"));
    let (operator, provisioner) = (operator_image_of(operator)?, csi_provisioner_image()?);
    let cluster = Cluster::start(2).await?;
    cluster.import(&operator)?;
    cluster.import(&provisioner)?;
    let manifests = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/install");
    for file in ["driver.yaml", "controller.yaml"] {
        output(
            cluster
                .kubectl()
                .arg("apply")
                .arg("-f")
                .arg(manifests.join(file)),
        )?;
    }
    let mut node = cluster.kubectl();
    node.args(["apply", "--dry-run=server", "-f"]);
    output(node.arg(manifests.join("node.yaml")))?;
    deployment_is_available(&cluster).await?;

    // One Pod has the label that a mounted volume would give it, the other one has not and gets no traffic.
    let inside = listener(&cluster, "inside", "cluster-internal").await?;
    let outside = listener(&cluster, "outside", "external-unstable").await?;
    let mounted = [&inside, &outside].map(|listener| {
        let uid = listener.uid().unwrap_or_default().replace('-', "");
        (
            format!("listener.stackable.tech/mnt.{uid}"),
            listener.name_any(),
        )
    });
    serve(&cluster, "mounts", "node2", mounted.into()).await?;
    serve(&cluster, "does-not", "node1", BTreeMap::new()).await?;

    let outside = ready(&cluster, "outside").await?;
    ensure!(outside.len() == 1, "{outside:?}");
    ensure!(outside[0].0 == cluster.nodes()[1].address(), "{outside:?}");
    let inside = ready(&cluster, "inside").await?;
    ensure!(
        inside[0].0 == "inside.default.svc.cluster.local",
        "{inside:?}"
    );
    let services: Api<Service> = Api::namespaced(cluster.client(), "default");
    let service = services.get("inside").await?;
    let ip = service.spec.and_then(|spec| spec.cluster_ip);
    let ways = [
        format!("{}:{}", outside[0].0, outside[0].1),
        format!("{}:{}", ip.context("no cluster IP")?, inside[0].1),
    ];
    for way in &ways {
        for _ in 0..10 {
            answers(&cluster, way, "mounts").await?;
        }
    }
    nothing_was_refused(&cluster).await?;
    cluster.stop()
}

async fn deployment_is_available(cluster: &Cluster) -> Result<()> {
    let deployments: Api<Deployment> = Api::namespaced(cluster.client(), NAMESPACE);
    let what = format!("{DEPLOYMENT} is available");
    let available = eventually(&what, PATIENCE, async || {
        let status = deployments.get(DEPLOYMENT).await?.status;
        Ok(status.and_then(|status| status.available_replicas))
    });
    let Err(error) = available.await else {
        return Ok(());
    };
    let mut kubectl = cluster.kubectl();
    kubectl.args(["describe", "pods", "--namespace", NAMESPACE]);
    Err(error.context(output(&mut kubectl)?))
}

/// Creates a Listener, asking for as long as its kind is not served.
async fn listener(cluster: &Cluster, name: &str, class: &str) -> Result<Listener> {
    let listeners: Api<Listener> = Api::namespaced(cluster.client(), "default");
    let listener: Listener = serde_json::from_value(json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1",
        "kind": "Listener",
        "metadata": { "name": name },
        "spec": { "className": class, "ports": [{ "name": "http", "port": 8080 }] },
    }))?;
    eventually(
        "the Listener is created",
        PATIENCE,
        async || match listeners.create(&PostParams::default(), &listener).await {
            Ok(created) => Ok(Some(created)),
            Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
            Err(error) => Err(error.into()),
        },
    )
    .await
}

async fn serve(
    cluster: &Cluster,
    name: &str,
    node: &str,
    labels: BTreeMap<String, String>,
) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(cluster.client(), "default");
    let pod = serde_json::from_value(json!({
        "metadata": { "name": name, "labels": labels },
        "spec": {
            "nodeSelector": { "kubernetes.io/hostname": node },
            "terminationGracePeriodSeconds": 1,
            "containers": [{
                "name": "serve",
                "image": WORKLOAD,
                "imagePullPolicy": "Never",
                "args": ["serve", "8080"],
                "readinessProbe": { "httpGet": { "port": 8080 }, "periodSeconds": 1 },
            }],
        },
    }))?;
    pods.create(&PostParams::default(), &pod).await?;
    Ok(())
}

/// Addresses and the port `http` of a Listener that is Ready.
async fn ready(cluster: &Cluster, name: &str) -> Result<Vec<(String, i32)>> {
    let listeners: Api<Listener> = Api::namespaced(cluster.client(), "default");
    eventually(
        &format!("the Listener {name} is Ready"),
        PATIENCE,
        async || {
            let status = listeners.get(name).await?.status.unwrap_or_default();
            let status = serde_json::to_value(status)?;
            let conditions = status["conditions"].as_array().into_iter().flatten();
            let ready = conditions
                .into_iter()
                .any(|found| found["type"] == "Ready" && found["status"] == "True");
            let addresses = status["ingressAddresses"].as_array().into_iter().flatten();
            let addresses: Option<Vec<(String, i32)>> = addresses
                .map(|found| {
                    let port = i32::try_from(found["ports"]["http"].as_i64()?).ok()?;
                    Some((found["address"].as_str()?.to_owned(), port))
                })
                .collect();
            Ok(addresses.filter(|addresses| ready && !addresses.is_empty()))
        },
    )
    .await
}

/// Asks from outside until the Pod of that name answers; another one must not.
async fn answers(cluster: &Cluster, way: &str, name: &str) -> Result<()> {
    let what = format!("{way} is answered by {name}");
    eventually(&what, PATIENCE, async || {
        let mut command = cluster.outside(cluster.workload());
        let output = command.args(["get", way]).output()?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let right = said.starts_with(&format!("{name} answers "));
        ensure!(right || said.is_empty(), "{way} is answered by: {said}");
        Ok(right.then_some(()))
    })
    .await
}

/// The rights are enough: no request of the account was answered by 403.
async fn nothing_was_refused(cluster: &Cluster) -> Result<()> {
    let account = format!("system:serviceaccount:{NAMESPACE}:listener-operator-controller");
    // Only a Lease that is renewed, 5 s after it was taken, shows that all rights to it are there.
    let ours = eventually("the operator renews its Lease", PATIENCE, async || {
        let ours = cluster.audit().await?.of_user(&account);
        let renewed = |entry: &Entry| entry.verb == "update" && entry.resource == "leases";
        Ok(ours.iter().any(renewed).then_some(ours))
    })
    .await?;
    let refused: Vec<String> = ours
        .iter()
        .filter(|entry| entry.code == 403)
        .map(|entry| entry.line())
        .collect();
    ensure!(refused.is_empty(), "{refused:#?}");
    Ok(())
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {error}");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
