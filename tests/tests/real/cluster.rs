//! Tests of the test cluster itself: the properties that the other suites rely on. This module
//! knows no operator.

mod trace;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::api::PostParams;
use kube::{Api, ResourceExt};
use lifecycle_tests::cluster::{Cluster, WORKLOAD};
use lifecycle_tests::harness::{Case, Need, case_within, eventually};
use serde_json::json;
use tempfile::TempDir;

use trace::{Machine, ProcessSet};

const NODES: &[Need] = &[Need::Nodes];

/// Two clusters start beside each other, perhaps on a machine that compiles as well.
const LIMIT: Duration = Duration::from_secs(600);

const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case_within(
            "pods_of_two_nodes_run_and_services_lead_to_them",
            NODES,
            LIMIT,
            pods_and_services,
        ),
        case_within("up_and_down_leave_no_trace", NODES, LIMIT, up_and_down),
        case_within(
            "a_start_that_is_killed_leaves_no_trace",
            NODES,
            LIMIT,
            killed_start,
        ),
    ]
}

async fn pods_and_services() -> Result<()> {
    let machine = Machine::inspect()?;
    let cluster = Cluster::start(2).await?;
    let pods = [("one", 0), ("two", 1)];
    for (name, node) in pods {
        let node = cluster.nodes()[node].name();
        serve(&cluster, name, node).await?;
    }
    let mut addresses = Vec::new();
    for (name, _) in pods {
        addresses.push(pod_address(&cluster, name).await?);
    }
    ensure!(addresses[0].starts_with("10.85.1."), "{addresses:?}");
    ensure!(addresses[1].starts_with("10.85.2."), "{addresses:?}");

    // Each Pod is reached by its own address: from its node, from the other node, and from the
    // other Pod, whose source address is preserved.
    for (index, (name, _)) in pods.iter().enumerate() {
        let other = 1 - index;
        let ask = format!("{}:8080", addresses[index]);
        for node in cluster.nodes() {
            let mut command = node.command(cluster.workload());
            answers(command.args(["get", &ask]), name).await?;
        }
        let said = answers(exec(&cluster, pods[other].0).args(["get", &ask]), name).await?;
        ensure!(said.ends_with(&addresses[other]), "{said}");
    }
    let mut direct = cluster.outside(cluster.workload());
    let refused = direct
        .args(["get", &format!("{}:8080", addresses[0])])
        .output()?;
    ensure!(
        !refused.status.success(),
        "Pods can be reached from outside"
    );

    services(&cluster, pods.map(|(name, _)| name)).await?;
    output(cluster.kubectl().args(["logs", "one"]))?;
    let printed = output(exec(&cluster, "two").args(["cat", "/etc/hostname"]))?;
    ensure!(printed == "two", "{printed}");

    let beings = ProcessSet::in_namespace(cluster.init())?;
    let (folder, group) = (cluster.folder().to_owned(), group(cluster.folder())?);
    cluster.stop()?;
    beings.are_gone()?;
    machine.is_unchanged(&folder, &group)
}

/// Checks that the cluster IP and node ports lead to every Pod of a Service, from outside the
/// cluster, from nodes and from Pods.
async fn services(cluster: &Cluster, pods: [&'static str; 2]) -> Result<()> {
    let services: Api<Service> = Api::namespaced(cluster.client(), "default");
    for name in pods {
        let service = serde_json::from_value(json!({
            "metadata": { "name": name },
            "spec": {
                "type": "NodePort",
                "selector": { "app": name },
                "ports": [{ "port": 80, "targetPort": 8080 }],
            },
        }))?;
        let created = services.create(&PostParams::default(), &service).await?;
        let spec = created.spec.context("no spec")?;
        let port = spec.ports.iter().flatten().find_map(|port| port.node_port);
        let port = port.context("no node port")?;
        let ip = spec.cluster_ip.context("no cluster IP")?;
        let ways = [
            format!("{ip}:80"),
            format!("{}:{port}", cluster.nodes()[0].address()),
            format!("{}:{port}", cluster.nodes()[1].address()),
        ];
        for way in &ways {
            let mut command = cluster.outside(cluster.workload());
            answers(command.args(["get", way]), name).await?;
            for node in cluster.nodes() {
                let mut command = node.command(cluster.workload());
                answers(command.args(["get", way]), name).await?;
            }
            for from in pods {
                answers(exec(cluster, from).args(["get", way]), name).await?;
            }
        }
    }
    Ok(())
}

/// A folder for the cluster of `up`, which is taken down with it however the test ends.
struct Own(TempDir);

impl Own {
    fn test_cluster(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_test-cluster"));
        command.args(arguments).env("TMPDIR", self.0.path());
        command
    }

    fn cluster(&self) -> PathBuf {
        self.0.path().join("lifecycle-cluster")
    }

    fn beings(&self) -> Result<ProcessSet> {
        let init = fs::read_to_string(self.cluster().join("init"))?;
        ProcessSet::in_namespace(init.split(' ').next().context("no pid")?.parse()?)
    }
}

impl Drop for Own {
    fn drop(&mut self) {
        if self.cluster().exists() {
            let down = self.test_cluster(&["down"]).status();
            eprintln!("the cluster of a failed test was taken down: {down:?}");
        }
    }
}

async fn up_and_down() -> Result<()> {
    let own = Own(tempfile::tempdir()?);
    let machine = Machine::inspect()?;
    let said = output(&mut own.test_cluster(&["up"]))?;
    let mut lines = said.lines().map(str::trim);
    let kubeconfig = lines.find_map(|line| line.strip_prefix("export KUBECONFIG="));
    let kubectl = lines.find_map(|line| line.strip_suffix(" get nodes"));
    let mut kubectl = Command::new(kubectl.context("no kubectl")?);
    kubectl
        .env("KUBECONFIG", kubeconfig.context("no kubeconfig")?)
        .env("KUBECACHEDIR", own.0.path().join("kubectl"))
        .args(["wait", "--for=condition=Ready", "--timeout=120s"])
        .arg("node/node1");
    output(&mut kubectl)?;
    let again = own.test_cluster(&["up"]).output()?;
    ensure!(!again.status.success(), "it came up twice");

    let beings = own.beings()?;
    let group = group(&own.cluster())?;
    output(&mut own.test_cluster(&["down"]))?;
    beings.are_gone()?;
    machine.is_unchanged(&own.cluster(), &group)?;
    // Nothing is left, which is the desired result.
    output(&mut own.test_cluster(&["down"])).map(drop)
}

async fn killed_start() -> Result<()> {
    let own = Own(tempfile::tempdir()?);
    let machine = Machine::inspect()?;
    let mut start = own
        .test_cluster(&["up", "--nodes=2"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let begun = own.cluster().join("control/kube-apiserver.pid");
    let exists = async || Ok(begun.exists().then_some(()));
    eventually("the API server is started", PATIENCE, exists).await?;
    let beings = own.beings()?;
    let group = group(&own.cluster())?;
    start.kill()?;
    start.wait()?;
    let gone = async || Ok((!own.cluster().exists()).then_some(()));
    eventually("the folder is gone", PATIENCE, gone).await?;
    beings.are_gone()?;
    machine.is_unchanged(&own.cluster(), &group)
}

/// The name of the control group of a cluster.
fn group(cluster: &Path) -> Result<String> {
    fs::read_to_string(cluster.join("group")).context("the cluster has no control group")
}

async fn serve(cluster: &Cluster, name: &str, node: &str) -> Result<()> {
    let pods: Api<Pod> = Api::namespaced(cluster.client(), "default");
    let pod = serde_json::from_value(json!({
        "metadata": { "name": name, "labels": { "app": name } },
        "spec": {
            "nodeSelector": { "kubernetes.io/hostname": node },
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

/// Of a Pod that is Ready.
async fn pod_address(cluster: &Cluster, name: &str) -> Result<String> {
    let pods: Api<Pod> = Api::namespaced(cluster.client(), "default");
    eventually("a Pod that is Ready", PATIENCE, async || {
        let pod = pods.get(name).await?;
        ensure!(pod.name_any() == name, "another Pod");
        let status = pod.status.unwrap_or_default();
        let conditions = status.conditions.unwrap_or_default();
        let ready = conditions
            .iter()
            .any(|condition| condition.type_ == "Ready" && condition.status == "True");
        Ok(status.pod_ip.filter(|_| ready))
    })
    .await
}

fn exec(cluster: &Cluster, pod: &str) -> Command {
    let mut command = cluster.kubectl();
    command.args(["exec", pod, "--", "/workload"]);
    command
}

/// Sends requests until the Pod of that name answers, because the rules of Services follow with a
/// delay.
async fn answers(command: &mut Command, name: &str) -> Result<String> {
    let what = format!("{command:?} is answered by {name}");
    let command = std::cell::RefCell::new(command);
    eventually(&what, PATIENCE, async || {
        let output = command.borrow_mut().output()?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        Ok(said
            .starts_with(&format!("{name} answers "))
            .then_some(said))
    })
    .await
}

fn output(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {error}");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}
