//! An API server that enforces owner references, as OpenShift has it: who blocks the deletion of an owner needs a right to its finalizers.
//! The rights of `deploy/install` are enough there, and without that one right the Listener reports it.

use std::path::Path;

use crate::listener_volume::site::{Site, parsed};
use crate::listeners::{Cluster, SOON, message};
use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::rbac::v1::ClusterRole;
use kube::ResourceExt;
use kube::api::PostParams;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::pod_listeners::PodListeners;
use lifecycle_tests::api_server::{ApiServer, Options};
use lifecycle_tests::harness::{Case, case, eventually};
use lifecycle_tests::process::output;
use serde_json::json;

use super::BINARIES;
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "m32_the_rights_are_enough_where_owner_references_are_enforced",
            BINARIES,
            enforced,
        ),
        case(
            "m32_a_node_mounts_where_owner_references_are_enforced",
            BINARIES,
            mounted,
        ),
    ]
}

const PLUGIN: &str = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement";

/// Namespace of the manifests, and the names of the accounts there. The role of the controller has the name of its account.
const NAMESPACE: &str = "listener-operator";
const CONTROLLER: &str = "listener-operator-controller";
const NODE: &str = "listener-operator-node";

/// Resource of the right that only this admission plugin requires.
const FINALIZERS: &str = "listeners/finalizers";

async fn enforced() -> Result<()> {
    let options = Options::default().flag(PLUGIN);
    let mut cluster = Cluster::without_operator(PROGRAM, options).await?;
    let outcome = permitted(&mut cluster).await;
    cluster.explain(outcome)
}

fn user(account: &str) -> String {
    format!("system:serviceaccount:{NAMESPACE}:{account}")
}

fn apply(server: &ApiServer, file: &str) -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy/install");
    let mut kubectl = server.kubectl();
    output(kubectl.args(["apply", "--filename"]).arg(folder.join(file)))?;
    Ok(())
}

/// Takes the right to the finalizers from the role of the controller.
async fn take_the_right(cluster: &Cluster) -> Result<()> {
    let roles = cluster.all::<ClusterRole>();
    let mut role = roles.get(CONTROLLER).await?;
    let mut rules = role.rules.take().unwrap_or_default();
    let before = rules.len();
    rules.retain(|rule| !rule.resources.iter().flatten().any(|one| one == FINALIZERS));
    ensure!(rules.len() + 1 == before, "no one rule for {FINALIZERS}");
    role.rules = Some(rules);
    let params = PostParams::default();
    let replaced = roles.replace(CONTROLLER, &params, &role);
    replaced.await.map(drop).context("a role without a right")
}

async fn permitted(cluster: &mut Cluster) -> Result<()> {
    apply(&cluster.server, "controller.yaml")?;
    take_the_right(cluster).await?;
    let account = cluster
        .server
        .kubeconfig(&user(CONTROLLER), &["system:serviceaccounts"])?;
    let options = ["--operator-namespace", NAMESPACE];
    cluster.run_operator_with(&options, account, &[])?;
    cluster.prepared().await?;
    cluster.expose("web", "cluster-internal").await?;
    let listeners = cluster.namespaced::<Listener>();
    eventually("the missing right is reported", SOON, async || {
        let told = message(&listeners.get("web").await?, "Ready");
        Ok(told.contains("blockOwnerDeletion").then_some(()))
    })
    .await?;
    ensure!(
        cluster
            .namespaced::<Service>()
            .get_opt("web")
            .await?
            .is_none()
    );

    apply(&cluster.server, "controller.yaml")?;
    cluster.ready("web").await?;
    let service = cluster.namespaced::<Service>().get("web").await?;
    let mut owners = service.owner_references().iter();
    ensure!(owners.any(|owner| owner.block_owner_deletion == Some(true)));
    Ok(())
}

/// Tests a mount. No Pod has a token here, so the policies of the nodes are left out: only rights
/// are tested.
async fn mounted() -> Result<()> {
    let server = ApiServer::start_with(Options::default().flag(PLUGIN)).await?;
    apply(&server, "controller.yaml")?;
    apply(&server, "node.yaml")?;
    let name = user(NODE);
    let node = server
        .client_for(&name, &["system:serviceaccounts"])
        .await?;
    let site = Site::start_as(server.client(), node).await?;
    site.claim(json!({ "listeners.stackable.tech/listener-class": "cluster-internal" }))
        .await?;
    let pod = site.pod().await?;
    site.provisioned().await?;
    // As the replaced operator left it: the owner is present, and is no controller.
    let uid = pod.uid().unwrap_or_default();
    let owner = json!({ "apiVersion": "v1", "kind": "Pod", "name": "web-0", "uid": uid });
    let listed: PodListeners = parsed(json!({
        "metadata": { "name": format!("pod-{uid}"), "ownerReferences": [owner] },
        "spec": { "listeners": {} },
    }))?;
    let lists = site.objects::<PodListeners>();
    lists.create(&PostParams::default(), &listed).await?;
    site.stage().await?;
    site.publish().await?;
    ensure!(site.read("default-address/ports/http")? == "80");
    let asked = server.audit().await?.of_user(&name);
    let refused = asked.refused();
    ensure!(
        !asked.is_empty() && refused.is_empty(),
        "{}",
        refused.lines()
    );
    Ok(())
}
