//! DaemonSets that would serve the same sockets as this operator, or remove them.

use k8s_openapi::api::apps::v1::DaemonSet;
use k8s_openapi::api::core::v1::{Container, PodSpec};
use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;
use lifecycle_listener::controller::NAME;
use lifecycle_runtime::yaml;
use serde_json::Value;

use super::finding::{Chosen, DAEMON_SET, Finding};
use super::workload::{Part, Workload, command_words};

const NODE: Part = Part {
    container: "csi-node-service",
    mode: "node",
    role: "node-driver",
};
const REGISTRAR: &str = "node-driver-registrar";
/// The manifest of our DaemonSet, for its selector.
const INSTALLED: &str = include_str!("../sandbox/installed/node.yaml");

/// The findings of a DaemonSet; none of one that does not serve this driver.
///
/// A driver is known by its folder, for the Secret operator has the same containers and roles. Not the program decides but the side-car: a
/// `node-driver-registrar` removes the socket of registration when it exits, whichever driver it stands beside, and our manifests have none.
pub(crate) fn nodes(daemon_set: &DaemonSet, chosen: &Chosen) -> Vec<Finding> {
    let template = daemon_set.spec.as_ref().map(|spec| &spec.template);
    let workload = Workload::new(&daemon_set.metadata, template);
    let Some(pods) = workload.pods() else {
        return Vec::new();
    };
    let folder = folder(pods);
    let registrar = registrar(pods);
    if folder.is_none() || (workload.container_of(NODE).is_none() && registrar.is_none()) {
        return Vec::new();
    }
    let place @ (namespace, name) = workload.namespaced_name();
    let object = format!("DaemonSet {namespace}/{name}");
    let delete = format!("`kubectl --namespace {namespace} delete daemonset {name}`");
    let in_place = place == (chosen.namespace.as_str(), DAEMON_SET);
    // A chart names it after its release.
    let is_ours = registrar.is_none() && namespace == chosen.namespace;
    let mut findings = Vec::new();
    match (registrar.is_some(), in_place || is_ours) {
        (true, false) => findings.push(Finding::blocks(
            &object,
            format!("its side-car {REGISTRAR} would run beside our driver: when it exits, it removes the registration socket of our driver"),
            if namespace == chosen.namespace {
                format!("delete it before our driver starts, {delete}: as in releases before 25.11, it has another name, so an in-place upgrade would end it too late. Until our driver runs, Pods that mount Listeners neither start nor end")
            } else {
                format!("upgrade its Helm release in place, and check with --namespace {namespace}; or delete it before our driver starts, {delete}. Until our driver runs, Pods that mount Listeners neither start nor end")
            },
        )),
        (true, true) => findings.extend(replaced_in_place(daemon_set, (&object, &delete))),
        (false, false) => findings.push(Finding::blocks(
            &object,
            "a node driver of this operator elsewhere: both would listen at the same socket",
            format!("delete it, {delete}, or install into its namespace: --namespace {namespace}"),
        )),
        (false, true) => {}
    }
    let other = folder.filter(|folder| *folder != chosen.kubelet.trim_end_matches('/'));
    if let (Some(folder), true) = (other, registrar.is_some()) {
        findings.push(Finding::blocks(
            &object,
            format!("kubelet has its folder at {folder} there, and not at {}", chosen.kubelet),
            format!("set it in the chart (kubeletDir={folder}) or in deploy/install/node.yaml (three `hostPath`, the `mountPath` of `pods`, KUBELET_REGISTRATION_PATH), and check with --kubelet-dir {folder}"),
        ));
    }
    findings
}

/// Returns the findings of a DaemonSet with the name and namespace of this operator's DaemonSet.
fn replaced_in_place(daemon_set: &DaemonSet, (object, delete): (&str, &str)) -> Vec<Finding> {
    let mut findings = Vec::new();
    if let Some(surge) = surge(daemon_set) {
        findings.push(Finding::blocks(
            object,
            format!("it updates with maxSurge {surge}: on each node, its side-car {REGISTRAR} would exit after our driver has started, and remove the registration socket of our driver"),
            format!("set `spec.updateStrategy.rollingUpdate` to maxSurge 0 and maxUnavailable 1, or delete it before our driver starts: {delete}"),
        ));
    }
    match has_our_selector(daemon_set) {
        false => findings.push(Finding::blocks(
            object,
            "its selector differs from the one in deploy/install/node.yaml, and a selector is immutable",
            format!("delete it before our driver starts: {delete}"),
        )),
        true => findings.push(Finding::note(
            object,
            format!("it has the namespace and name of our DaemonSet; `kubectl apply` would leave its side-car {REGISTRAR} in it"),
            format!("upgrade its Helm release in place, or delete it before our driver starts: {delete}"),
        )),
    }
    findings
}

/// How many Pods an update may add on a node, if any.
fn surge(daemon_set: &DaemonSet) -> Option<String> {
    let strategy = daemon_set.spec.as_ref()?.update_strategy.as_ref()?;
    match strategy.rolling_update.as_ref()?.max_surge.as_ref()? {
        IntOrString::Int(number) => (*number > 0).then(|| number.to_string()),
        IntOrString::String(share) => (share != "0" && share != "0%").then(|| share.clone()),
    }
}

fn has_our_selector(daemon_set: &DaemonSet) -> bool {
    let ours: Vec<Value> = yaml::all(INSTALLED).expect("a test reads the manifest");
    let mut ours = ours.iter().filter(|one| one["kind"] == "DaemonSet");
    let selector = daemon_set.spec.as_ref().map(|spec| &spec.selector);
    let selector = serde_json::to_value(selector).unwrap_or_default();
    ours.any(|ours| ours["spec"]["selector"] == selector)
}

fn registrar(pods: &PodSpec) -> Option<&Container> {
    let before = pods.init_containers.iter().flatten();
    let mut all = pods.containers.iter().chain(before);
    all.find(|container| container.name == REGISTRAR)
}

/// The folder of kubelet, as the volume of this driver or its registration has it.
fn folder(pods: &PodSpec) -> Option<&str> {
    let within = format!("/plugins/{NAME}");
    let volumes = pods.volumes.iter().flatten();
    let paths = volumes.filter_map(|volume| Some(volume.host_path.as_ref()?.path.as_str()));
    let registered = registrar(pods).into_iter().flat_map(command_words);
    let registered = registered.filter_map(|word| {
        let path = word.strip_prefix("--kubelet-registration-path=")?;
        path.strip_suffix("/csi.sock")
    });
    let mut all = paths.chain(registered);
    all.find_map(|path| path.trim_end_matches('/').strip_suffix(&within))
}
