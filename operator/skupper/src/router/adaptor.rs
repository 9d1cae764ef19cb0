//! The adaptor of this project in the Pods of the existing router: its containers, and the rights it needs. It takes the place of the existing adaptor in the
//! same containers, so that the one can be exchanged for the other.

use std::collections::BTreeSet;

use k8s_openapi::api::rbac::v1::Role;
use lifecycle_runtime::Desired;
use lifecycle_specs_skupper::router::{LOCAL_SERVER, ROUTER};
use serde_json::{Value, json};

use super::objects::{STATE_PORT, reading};
use crate::config::document::CERTIFICATES;

/// The port of probes and metrics: the one that Pods of the existing adaptor declare for metrics, and a Pod has each name of a port once.
const METRICS_PORT: u16 = 9000;
/// The folder of its last good copy of the configuration.
const CACHE: &str = "/cache";
/// The program in its image.
const PROGRAM: &str = "/lifecycle-router";

/// It reads as a router of this project does, and writes the network status as the holder of a Lease. A name cannot restrict who may create.
pub fn role(secrets: &BTreeSet<String>) -> Desired<Role> {
    let rule = |group: &str, resource: &str, name: &str, verbs: &[&str]| json!({ "apiGroups": [group], "resources": [resource], "resourceNames": [name], "verbs": verbs });
    let create = |group: &str, resource: &str| json!({ "apiGroups": [group], "resources": [resource], "verbs": ["create"] });
    let leases = "coordination.k8s.io";
    let mut rules = reading(secrets);
    rules.extend([
        rule(
            "",
            "configmaps",
            "skupper-network-status",
            &["get", "patch"],
        ),
        create("", "configmaps"),
        rule(leases, "leases", "skupper-site-leader", &["get", "update"]),
        create(leases, "leases"),
    ]);
    Desired::from_json(json!({ "metadata": { "name": ROUTER }, "rules": rules }))
}

/// The Site that it is for.
#[derive(Clone, Copy, Debug)]
pub(super) struct OfSite<'a> {
    /// Its namespace.
    pub(super) namespace: &'a str,
    /// Its name.
    pub(super) name: &'a str,
    /// Its uid.
    pub(super) uid: &'a str,
}

/// The words of its command line that are the same at each start.
fn command(site: OfSite<'_>) -> Vec<String> {
    vec![
        format!("--kubernetes={}/{ROUTER}", site.namespace),
        format!("--certificates={CERTIFICATES}"),
        // Images run as users of their own, and the folder is the Pod's alone.
        "--shared-keys".to_owned(),
    ]
}

/// Of the container that writes the start of the router.
pub(super) fn init(site: OfSite<'_>) -> Value {
    let mut arguments = command(site);
    arguments.push("--init".to_owned());
    json!({ "command": [PROGRAM, "adaptor"], "args": arguments })
}

/// Of the container beside the router.
pub(super) fn container(site: OfSite<'_>) -> Value {
    let mut arguments = command(site);
    arguments.extend([
        format!("--cache={CACHE}"),
        format!("--state=$(POD_IP):{STATE_PORT}"),
        format!("--state-profile={LOCAL_SERVER}"),
        format!("--metrics=$(POD_IP):{METRICS_PORT}"),
    ]);
    let field = |path: &str| json!({ "fieldRef": { "apiVersion": "v1", "fieldPath": path } });
    json!({
        "command": [PROGRAM, "adaptor"],
        "args": arguments,
        "ports": [
            { "name": "state", "containerPort": STATE_PORT, "protocol": "TCP" },
            { "name": "metrics", "containerPort": METRICS_PORT, "protocol": "TCP" },
        ],
        "env": [
            { "name": "POD_IP", "valueFrom": field("status.podIP") },
            { "name": "SKUPPER_NAMESPACE", "valueFrom": field("metadata.namespace") },
            { "name": "SKUPPER_SITE_ID", "value": site.uid },
            { "name": "SKUPPER_SITE_NAME", "value": site.name },
        ],
        "readinessProbe": probe(METRICS_PORT),
        "securityContext": {
            "capabilities": { "drop": ["ALL"] }, "runAsNonRoot": true, "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
        },
    })
}

/// Returns the adaptor's own folder: its mount and its volume.
pub(super) fn cache() -> (Value, Value) {
    (
        json!({ "name": "cache", "mountPath": CACHE }),
        json!({ "name": "cache", "emptyDir": { "medium": "Memory" } }),
    )
}

/// A container answers probes at a port.
pub(super) fn probe(port: u16) -> Value {
    json!({ "httpGet": { "path": "/healthz", "port": port, "scheme": "HTTP" }, "initialDelaySeconds": 1 })
}
