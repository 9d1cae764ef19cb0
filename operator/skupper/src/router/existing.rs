//! The objects of a Site on the existing skupper-router, as the existing controller writes them: so a namespace is taken over without a router that starts
//! anew, and can be given back.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::rbac::v1::Role;
use lifecycle_router::state::client::SERVER_NAME;
use lifecycle_runtime::Desired;
use lifecycle_specs_skupper::certificate::Certificate;
use lifecycle_specs_skupper::router::{APPLICATION, LOCAL_CA, LOCAL_SERVER, ROUTER, SITE};
use lifecycle_specs_skupper::site::SiteSpec;
use ring::digest::{SHA256, digest};
use serde_json::{Value, json};

use super::adaptor::{self, OfSite, probe};
use super::plane::{ADAPTOR, CONTAINER, Existing};
use crate::config::document::CERTIFICATES;
use crate::config::service::CONTROLLED;
use crate::data_plane::Adaptor;
use crate::settings::{CONNECTIONS, LOGGING, setting};

/// The Service at which tools ask the router by AMQP.
pub const SERVICE: &str = "skupper-router-local";
/// Port of the router for AMQP clients.
pub const AMQPS: u16 = 5671;
const COMPONENT: (&str, &str) = ("skupper.io/component", "router");
/// Folder of the files of proxies, beside that of certificates.
pub const PROXIES: &str = "/etc/skupper-router-proxies";

/// On Deployment, Pods and Service of the router alike.
const LABELS: [(&str, &str); 4] = [
    ("app.kubernetes.io/name", ROUTER),
    ("app.kubernetes.io/part-of", "skupper"),
    (APPLICATION, ROUTER),
    COMPONENT,
];

fn labels(beside: &[(&str, &str)]) -> Value {
    let all = LABELS.iter().chain(beside);
    let all = all.map(|(key, value)| ((*key).to_owned(), json!(value)));
    Value::Object(all.collect())
}

/// The certificate that the router shows to tools inside of its cluster. With the adaptor of this project, it and the controller show it each other as well.
pub fn local_certificate(namespace: &str, adaptor: Adaptor) -> Desired<Certificate> {
    let mut hosts = vec![
        SERVICE.to_owned(),
        format!("{SERVICE}.{namespace}"),
        format!("{SERVICE}.{namespace}.svc.cluster.local"),
    ];
    let mut spec = json!({ "ca": LOCAL_CA, "subject": SERVICE, "server": true });
    if adaptor == Adaptor::LifecycleRouter {
        hosts.push(SERVER_NAME.to_owned());
        spec["client"] = json!(true);
    }
    spec["hosts"] = json!(hosts);
    Desired::from_json(json!({
        "metadata": { "name": LOCAL_SERVER, "annotations": { CONTROLLED: "true" } }, "spec": spec,
    }))
}

/// The Service at which tools ask the router by AMQP.
pub fn local_service() -> Desired<Service> {
    Desired::from_json(json!({
        "metadata": { "name": SERVICE },
        "spec": {
            "type": "ClusterIP", "selector": labels(&[]),
            "ports": [{ "name": "amqps", "protocol": "TCP", "port": AMQPS, "targetPort": AMQPS }],
        },
    }))
}

/// Rights by group and resources, in the words of a Role.
pub type Right = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
);

const READ: [&str; 3] = ["get", "list", "watch"];
const ALL: [&str; 6] = ["get", "list", "watch", "create", "update", "delete"];

/// Rights that the existing adaptor requires. An account that grants them must have them.
pub const RIGHTS: [Right; 6] = [
    ("", &["secrets", "pods"], &READ),
    ("", &["configmaps"], &ALL),
    ("apps", &["deployments"], &["get"]),
    ("", &["secrets"], &["update", "delete"]),
    ("", &["services"], &READ),
    ("coordination.k8s.io", &["leases"], &ALL),
];

/// The Role of the existing adaptor.
pub fn role() -> Desired<Role> {
    let rules = RIGHTS.map(|(group, resources, verbs)| {
        json!({ "apiGroups": [group], "resources": resources, "verbs": verbs })
    });
    Desired::from_json(json!({ "metadata": { "name": ROUTER }, "rules": rules }))
}

/// How the Pods of the existing router are run.
#[derive(Clone, Debug)]
pub struct ExistingPods<'a> {
    /// The namespace.
    pub namespace: &'a str,
    /// The name of the Site.
    pub name: &'a str,
    /// Its uid.
    pub site: &'a str,
    /// Its spec.
    pub spec: &'a SiteSpec,
    /// The images.
    pub images: Existing<'a>,
    /// The ServiceAccount.
    pub account: &'a str,
    /// Resources of the router, in the form of a container's `resources`.
    pub router: Value,
    /// Resources of the adaptor.
    pub adaptor: Value,
}

/// Returns the Deployment of the existing router. Fields that the API server sets by itself are
/// left out.
pub fn deployment(pods: &ExistingPods<'_>) -> Desired<Deployment> {
    let site = ("skupper.io/type", "site");
    let mut of_pod = vec![site, ("skupper.io/group", ROUTER)];
    let (init, beside, volumes) = match pods.images.kind {
        Adaptor::KubeAdaptor => {
            let init = json!({
                "command": ["/app/kube-adaptor", "-init"],
                "env": [{ "name": "SKUPPER_ROUTER_CONFIG", "value": ROUTER }],
            });
            (init, kube_adaptor(pods), volumes(&json!({})))
        }
        Adaptor::LifecycleRouter => {
            // The controller queries the Pods with this label.
            of_pod.push((SITE, pods.site));
            let of_site = OfSite {
                namespace: pods.namespace,
                name: pods.name,
                uid: pods.site,
            };
            let (mount, cache) = adaptor::cache();
            let mut beside = adaptor::container(of_site);
            beside["volumeMounts"] = mounts([mount]);
            let mut volumes = volumes(&json!({ "medium": "Memory" }));
            volumes.push(cache);
            (adaptor::init(of_site), beside, volumes)
        }
    };
    let init = container(("config-init", pods.images.adaptor, &pods.adaptor), init);
    let beside = container((ADAPTOR, pods.images.adaptor, &pods.adaptor), beside);
    Desired::from_json(json!({
        "metadata": { "name": ROUTER, "labels": labels(&[site]) },
        "spec": {
            "replicas": 1,
            "selector": { "matchLabels": { (COMPONENT.0): COMPONENT.1 } },
            "template": {
                "metadata": {
                    "labels": labels(&of_pod),
                    "annotations": {
                        "prometheus.io/port": "9090", "prometheus.io/scrape": "true",
                        "skupper.io/config-digest": config_digest(pods.spec),
                    },
                },
                "spec": {
                    "serviceAccountName": pods.account,
                    "securityContext": { "runAsNonRoot": true },
                    "initContainers": [init],
                    "containers": [router(pods), beside],
                    "volumes": volumes,
                },
            },
        },
    }))
}

/// Returns a digest of the settings that the router reads only at its start. A change restarts the
/// router.
fn config_digest(spec: &SiteSpec) -> String {
    let mode = if spec.edge == Some(true) {
        "edge"
    } else {
        "interior"
    };
    let settings = [CONNECTIONS, LOGGING].map(|name| setting(spec, name).unwrap_or_default());
    let hash = digest(&SHA256, [mode, &settings.concat()].concat().as_bytes());
    let bytes = hash.as_ref().iter();
    bytes.map(|byte| format!("{byte:02x}")).collect()
}

fn router(pods: &ExistingPods<'_>) -> Value {
    let port =
        |name: &str, port: u16| json!({ "name": name, "containerPort": port, "protocol": "TCP" });
    let mut liveness = probe(9090);
    liveness["initialDelaySeconds"] = json!(60);
    container(
        (CONTAINER, pods.images.router, &pods.router),
        json!({
            "ports": [port("amqps", AMQPS), port("http", 9090), port("inter-router", 55671), port("edge", 45671)],
            "env": [
                { "name": "QDROUTERD_CONF", "value": format!("{CERTIFICATES}/skrouterd.json") },
                { "name": "QDROUTERD_CONF_TYPE", "value": "json" },
                { "name": "SKUPPER_SITE_ID", "value": pods.site },
            ],
            "livenessProbe": liveness,
            "readinessProbe": probe(9090),
        }),
    )
}

/// Of the container of the existing adaptor.
fn kube_adaptor(pods: &ExistingPods<'_>) -> Value {
    let field = json!({ "fieldRef": { "apiVersion": "v1", "fieldPath": "metadata.namespace" } });
    json!({
        "ports": [{ "name": "metrics", "containerPort": 9000, "protocol": "TCP" }],
        "env": [
            { "name": "SKUPPER_NAMESPACE", "valueFrom": field },
            { "name": "SKUPPER_SITE_ID", "value": pods.site },
            { "name": "SKUPPER_SITE_NAME", "value": pods.name },
            { "name": "SKUPPER_ROUTER_CONFIG", "value": ROUTER },
            { "name": "SKUPPER_ROUTER_DEPLOYMENT", "value": ROUTER },
        ],
        "readinessProbe": probe(9191),
    })
}

/// The folders that router and adaptor share.
fn volumes(certificates: &Value) -> Vec<Value> {
    vec![
        json!({ "name": "skupper-router-certs", "emptyDir": certificates }),
        json!({ "name": "skupper-router-proxies", "emptyDir": {} }),
    ]
}

/// Those that all containers have, and others.
fn mounts(others: impl IntoIterator<Item = Value>) -> Value {
    let mut all = vec![
        json!({ "name": "skupper-router-certs", "mountPath": CERTIFICATES }),
        json!({ "name": "skupper-router-proxies", "mountPath": PROXIES }),
    ];
    all.extend(others);
    Value::Array(all)
}

/// Returns a container, with the fields that all containers have.
fn container((name, image, resources): (&str, &str, &Value), own: Value) -> Value {
    let mut whole = json!({
        "name": name, "image": image, "resources": resources,
        "securityContext": {
            "capabilities": { "drop": ["ALL"] }, "runAsNonRoot": true, "allowPrivilegeEscalation": false,
        },
        "volumeMounts": mounts([]),
    });
    if let (Value::Object(whole), Value::Object(own)) = (&mut whole, own) {
        whole.extend(own);
    }
    whole
}
