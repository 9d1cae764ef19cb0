//! Objects of a Site's router: its Pods, their rights to read, and the credentials that identify
//! them.

use std::collections::BTreeSet;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::ServiceAccount;
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use lifecycle_runtime::Desired;
use lifecycle_specs_skupper::certificate::Certificate;
use lifecycle_specs_skupper::router::{LOCAL_CA, LOCAL_SERVER, ROUTER, SITE};
use serde_json::{Map, Value, json};

use crate::config::service::{CONTROLLED, LINKED, SELECTOR};

/// Port on which routers serve their state.
pub const STATE_PORT: u16 = 9443;
/// Port on which routers serve probes and metrics.
const METRICS_PORT: u16 = 9090;

/// The authority for the inside of the cluster, on either data plane. It signs for no other site, so none can ask a router for its state.
pub fn local_authority(site: &str) -> Desired<Certificate> {
    Desired::from_json(json!({
        "metadata": { "name": LOCAL_CA, "annotations": { CONTROLLED: "true" } },
        "spec": { "ca": LOCAL_CA, "subject": format!("{site} local CA"), "signing": true },
    }))
}

/// The certificate that router and controller show each other, the one as server and the other as client.
pub fn local_certificate() -> Desired<Certificate> {
    Desired::from_json(json!({
        "metadata": { "name": LOCAL_SERVER, "annotations": { CONTROLLED: "true" } },
        "spec": {
            "ca": LOCAL_CA, "subject": ROUTER, "hosts": [ROUTER], "client": true, "server": true,
        },
    }))
}

/// The ServiceAccount of the router.
pub fn account() -> Desired<ServiceAccount> {
    Desired::from_json(json!({ "metadata": { "name": ROUTER } }))
}

/// It reads its configuration and the Secrets that this names, and nothing else.
pub fn role(secrets: &BTreeSet<String>) -> Desired<Role> {
    Desired::from_json(json!({ "metadata": { "name": ROUTER }, "rules": reading(secrets) }))
}

/// The rights to read the configuration and these Secrets.
pub(super) fn reading(secrets: &BTreeSet<String>) -> Vec<Value> {
    let reads = |resource: &str, names: Vec<&String>| {
        json!({
            "apiGroups": [""], "resources": [resource], "resourceNames": names,
            "verbs": ["get", "list", "watch"],
        })
    };
    let config = ROUTER.to_owned();
    vec![
        reads("configmaps", vec![&config]),
        reads("secrets", secrets.iter().collect()),
    ]
}

/// The Role is the router's.
pub fn role_binding() -> Desired<RoleBinding> {
    Desired::from_json(json!({
        "metadata": { "name": ROUTER },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": ROUTER },
        "subjects": [{ "kind": "ServiceAccount", "name": ROUTER }],
    }))
}

/// How the Pods of a router are run.
#[derive(Clone, Debug)]
pub struct RouterPods<'a> {
    /// The namespace.
    pub namespace: &'a str,
    /// The uid of the Site.
    pub site: &'a str,
    /// The image.
    pub image: &'a str,
    /// The ServiceAccount.
    pub account: &'a str,
    /// Compute resources of the containers, in the format of a container's `resources` field.
    pub resources: Value,
    /// Log configuration, in the format of the setting `router-logging`.
    pub logging: Option<&'a str>,
}

/// The Pods of the router.
pub fn deployment(pods: &RouterPods<'_>) -> Desired<Deployment> {
    let selector: Map<String, Value> = SELECTOR
        .iter()
        .map(|(key, value)| ((*key).to_owned(), json!(value)))
        .collect();
    let mut labels = selector.clone();
    labels.insert(SITE.to_owned(), json!(pods.site));
    labels.extend(LINKED.map(|(key, value)| (key.to_owned(), json!(value))));
    Desired::from_json(json!({
        "metadata": { "name": ROUTER, "labels": selector },
        "spec": {
            "replicas": 1,
            "selector": { "matchLabels": selector },
            "strategy": { "type": "RollingUpdate", "rollingUpdate": { "maxSurge": 1, "maxUnavailable": 0 } },
            "template": {
                "metadata": { "labels": labels },
                "spec": {
                    "serviceAccountName": pods.account,
                    "securityContext": {
                        // The namespace or the image determines the user: OpenShift gives each
                        // namespace ids of its own, and refuses others.
                        "runAsNonRoot": true, "seccompProfile": { "type": "RuntimeDefault" },
                    },
                    "terminationGracePeriodSeconds": 30,
                    "containers": [container(pods)],
                    "volumes": [{ "name": "cache", "emptyDir": {} }],
                },
            },
        },
    }))
}

fn container(pods: &RouterPods<'_>) -> Value {
    let mut env = vec![
        json!({ "name": "POD_IP", "valueFrom": { "fieldRef": { "apiVersion": "v1", "fieldPath": "status.podIP" } } }),
    ];
    if let Some(levels) = pods.logging {
        env.push(json!({ "name": "CONSOLE_LOG_LEVEL", "value": levels }));
    }
    let probe =
        |path: &str| json!({ "httpGet": { "path": path, "port": METRICS_PORT, "scheme": "HTTP" } });
    json!({
        "name": "router",
        "image": pods.image,
        "args": [
            format!("--kubernetes={}/{ROUTER}", pods.namespace),
            "--cache=/cache",
            "--bind-address=$(POD_IP)",
            format!("--state=$(POD_IP):{STATE_PORT}"),
            format!("--state-profile={LOCAL_SERVER}"),
            format!("--metrics=$(POD_IP):{METRICS_PORT}"),
        ],
        "env": env,
        "ports": [
            { "name": "state", "containerPort": STATE_PORT, "protocol": "TCP" },
            { "name": "metrics", "containerPort": METRICS_PORT, "protocol": "TCP" },
        ],
        "readinessProbe": probe("/healthz"),
        "resources": pods.resources,
        "securityContext": {
            "allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true,
            "capabilities": { "drop": ["ALL"] },
        },
        "volumeMounts": [{ "name": "cache", "mountPath": "/cache" }],
    })
}
