//! Requests that the cluster refuses for a while: rights, quotas, admission webhooks, namespaces
//! that go away. Waiting helps, storms do not.

use std::time::Duration;

use crate::listeners::{Cluster, ExpectedCondition, OPERATOR, SOON, message};
use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use k8s_openapi::api::admissionregistration::v1::ValidatingWebhookConfiguration;
use k8s_openapi::api::core::v1::{Namespace, ResourceQuota, Service};
use k8s_openapi::api::rbac::v1::{ClusterRole, ClusterRoleBinding};
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use lifecycle_listener::controller::KINDS;
use lifecycle_runtime::crds;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_tests::api_server::Options;
use lifecycle_tests::harness::{Case, case, eventually};
use serde_json::{Value, json};

use super::{BINARIES, once_each, warnings, writes_to};
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "quota_webhook_and_a_dying_namespace_are_waited_for_without_a_storm",
            BINARIES,
            refused_for_a_while,
        ),
        case(
            "missing_rights_are_one_line_each_and_heal_when_granted",
            BINARIES,
            rights,
        ),
    ]
}

/// In this time an object is tried at 0, 1, 3 and 7 s, give or take a fifth.
const WATCHED: Duration = Duration::from_secs(7);
const TRIES: usize = 5;

/// A namespace with one Listener.
struct TestNamespace<'a> {
    cluster: &'a Cluster,
    namespace: &'a str,
}

impl TestNamespace<'_> {
    fn listeners(&self) -> Api<Listener> {
        Api::namespaced(self.cluster.client.clone(), self.namespace)
    }

    async fn expose(&self, class: &str) -> Result<()> {
        let listener = json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1",
            "kind": "Listener",
            "metadata": { "name": "web" },
            "spec": { "className": class, "ports": [{ "name": "http", "port": 80 }] },
        });
        self.cluster
            .make(self.listeners(), listener)
            .await
            .map(drop)
    }

    /// Waits until the message of Ready has these words, and the condition is as wanted.
    async fn wait_for_message(
        &self,
        wanted: ExpectedCondition<'_>,
        words: &str,
    ) -> Result<Listener> {
        let listeners = self.listeners();
        let found = eventually(&format!("{wanted:?}: {words}"), SOON, async || {
            let listener = listeners.get("web").await?;
            let said = wanted.holds_in(&listener) && message(&listener, "Ready").contains(words);
            Ok(said.then_some(listener))
        })
        .await;
        let now = listeners.get("web").await?.status;
        found.with_context(|| format!("in {}: {now:?}", self.namespace))
    }

    /// How often the operator has tried to write the Service, and how often the status.
    async fn tries(&self, since: Timestamp) -> Result<(usize, usize)> {
        let asked = self.cluster.requests().await?.since(since);
        let here = asked.only(|e| e.namespace == self.namespace);
        let of = |resource| writes_to(&here, resource, "web").len();
        Ok((of("services"), of("listeners")))
    }
}

const WAITING: ExpectedCondition<'_> = ExpectedCondition("Programmed", "Unknown", "Applying");
const READY: ExpectedCondition<'_> = ExpectedCondition("Ready", "True", "Ready");

async fn refused_for_a_while() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    cluster.explain(all_at_once(&cluster).await)
}

async fn all_at_once(cluster: &Cluster) -> Result<()> {
    let place = |namespace| TestNamespace { cluster, namespace };
    let [quota, hooked, dying] = ["quota", "hooked", "dying"].map(place);
    cluster.expose("neighbour", "cluster-internal").await?;
    let neighbour = cluster.ready("neighbour").await?;
    for namespace in ["quota", "hooked"] {
        cluster.namespace(namespace).await?;
    }
    exhaust(cluster, "quota", 0).await?;
    hook(cluster, "hooked").await?;
    let held = json!({ "metadata": { "name": "dying" }, "spec": { "finalizers": ["kubernetes"] } });
    cluster.make(cluster.all::<Namespace>(), held).await?;
    dying.expose("late").await?;
    dying
        .wait_for_message(
            ExpectedCondition("Accepted", "False", "ListenerClassNotFound"),
            "late",
        )
        .await?;
    cluster
        .all::<Namespace>()
        .delete("dying", &DeleteParams::default())
        .await?;

    let (since, before) = (Timestamp::now(), cluster.log().len());
    quota.expose("cluster-internal").await?;
    hooked.expose("cluster-internal").await?;
    let late = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1",
        "kind": "ListenerClass",
        "metadata": { "name": "late" },
        "spec": { "serviceType": "ClusterIP" },
    });
    cluster.make(cluster.all::<ListenerClass>(), late).await?;
    tokio::time::sleep(WATCHED).await;
    quota
        .wait_for_message(WAITING, "a quota is used up: raise it")
        .await?;
    hooked
        .wait_for_message(
            WAITING,
            "an admission webhook does not answer: repair or remove it",
        )
        .await?;
    dying
        .wait_for_message(WAITING, "the namespace is being deleted")
        .await?;
    for place in [&quota, &hooked, &dying] {
        let (services, statuses) = place.tries(since).await?;
        eprintln!(
            "{}: {services} tries and {statuses} statuses in {WATCHED:?}",
            place.namespace
        );
        ensure!(
            (2..=TRIES).contains(&services) && statuses <= 3,
            "{services} tries, {statuses} statuses"
        );
    }
    let log = cluster.log();
    // One for each, and one for the event that the dying namespace does not take.
    once_each(&warnings(&log[before..], 4)?)?;

    exhaust(cluster, "quota", 5).await?;
    let hooks = cluster.all::<ValidatingWebhookConfiguration>();
    hooks.delete("down", &DeleteParams::default()).await?;
    quota.wait_for_message(READY, "").await?;
    hooked.wait_for_message(READY, "").await?;
    let now = cluster.namespaced::<Listener>().get("neighbour").await?;
    ensure!(now == neighbour, "{now:?}");
    Ok(())
}

/// Sets a quota with its use, as the quota controller would. A quota without its use counts as
/// unknown.
async fn exhaust(cluster: &Cluster, namespace: &str, most: u32) -> Result<()> {
    let quotas: Api<ResourceQuota> = Api::namespaced(cluster.client.clone(), namespace);
    let hard = json!({ "count/services": most.to_string() });
    let quota = json!({
        "apiVersion": "v1", "kind": "ResourceQuota",
        "metadata": { "name": "services" }, "spec": { "hard": hard },
    });
    let params = PatchParams::apply("test").force();
    quotas
        .patch("services", &params, &Patch::Apply(quota))
        .await?;
    let status = json!({ "status": { "hard": hard, "used": { "count/services": "0" } } });
    let params = PatchParams::default();
    quotas
        .patch_status("services", &params, &Patch::Merge(status))
        .await?;
    Ok(())
}

/// Creates a webhook for Services of one namespace, at a port without a listener.
async fn hook(cluster: &Cluster, namespace: &str) -> Result<()> {
    let hook = json!({
        "metadata": { "name": "down" },
        "webhooks": [{
            "name": "down.example.org",
            "clientConfig": { "url": "https://127.0.0.1:1/" },
            "rules": [{ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE", "UPDATE"], "resources": ["services"] }],
            "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": namespace } },
            "failurePolicy": "Fail",
            "sideEffects": "None",
            "admissionReviewVersions": ["v1"],
        }],
    });
    cluster
        .make(cluster.all::<ValidatingWebhookConfiguration>(), hook)
        .await?;
    let services: Api<Service> = Api::namespaced(cluster.client.clone(), namespace);
    let probe = json!({ "metadata": { "name": "probe" }, "spec": { "ports": [{ "port": 80 }] } });
    let probe: Service = serde_json::from_value(probe)?;
    let dry = kube::api::PostParams {
        dry_run: true,
        ..Default::default()
    };
    eventually("the webhook to be in force", SOON, async || {
        Ok(services.create(&dry, &probe).await.is_err().then_some(()))
    })
    .await
}

async fn rights() -> Result<()> {
    let mut cluster = Cluster::without_operator(PROGRAM, Options::default()).await?;
    let outcome = granted_late(&mut cluster).await;
    cluster.explain(outcome)
}

async fn granted_late(cluster: &mut Cluster) -> Result<()> {
    crds::prepare(&cluster.client, &KINDS, true).await;
    let class = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1",
        "kind": "ListenerClass",
        "metadata": { "name": "inside" },
        "spec": { "serviceType": "ClusterIP" },
    });
    cluster.make(cluster.all::<ListenerClass>(), class).await?;
    cluster.expose("first", "inside").await?;
    let kubeconfig = cluster.server.kubeconfig(OPERATOR, &[])?;
    let since = Timestamp::now();
    cluster.run_operator_with(&[], kubeconfig, &[])?;
    tokio::time::sleep(WATCHED).await;
    cluster.check_operator()?;
    let asked = cluster.requests().await?.since(since);
    let counts = asked.counts();
    eprintln!("no rights: {counts:?} in {WATCHED:?}");
    // The class of the preset, the definitions, the Lease, and five tries for each of six kinds.
    ensure!(asked.len() <= 50, "a storm: {}", asked.lines());
    ensure!(counts.writes == 0, "{}", asked.lines());
    let log = cluster.log();
    let told = warnings(&log, 10)?;
    once_each(&told)?;
    ensure!(told.iter().any(|line| line.contains("grant")), "{told:#?}");

    let all = ["get", "list", "watch", "create", "patch", "update"];
    grant(cluster, &all).await?;
    cluster.ready("first").await?;

    grant(cluster, &["get", "list", "watch"]).await?;
    let since = Timestamp::now();
    cluster.expose("second", "inside").await?;
    tokio::time::sleep(WATCHED).await;
    let asked = cluster.requests().await?.since(since);
    let tries = writes_to(&asked, "services", "second");
    eprintln!(
        "no right to write Services: {} tries in {WATCHED:?}",
        tries.len()
    );
    ensure!((2..=TRIES).contains(&tries.len()), "{}", tries.lines());
    let place = TestNamespace {
        cluster,
        namespace: "default",
    };
    let second = place.listeners().get("second").await?;
    let said = message(&second, "Ready");
    ensure!(
        said.contains("rights are missing: grant them"),
        "{said}; {:?}",
        second.status
    );
    grant(cluster, &all).await?;
    cluster.ready("second").await.map(drop)
}

/// The rights that the operator needs, with these verbs for Services.
async fn grant(cluster: &Cluster, services: &[&str]) -> Result<()> {
    let rule = |groups: &[&str], resources: &[&str], verbs: &[&str]| json!({ "apiGroups": groups, "resources": resources, "verbs": verbs });
    let read = ["get", "list", "watch"];
    let role = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
        "metadata": { "name": "listeners" },
        "rules": [
            rule(&[""], &["services"], services),
            rule(&[""], &["nodes", "persistentvolumes"], &read),
            rule(&["discovery.k8s.io"], &["endpointslices"], &read),
            rule(&["listeners.stackable.tech"], &["listeners"], &read),
            rule(&["listeners.stackable.tech"], &["listeners/status"], &["patch"]),
            rule(&["listeners.stackable.tech"], &["listenerclasses"], &["get", "list", "watch", "create"]),
            rule(&["apiextensions.k8s.io"], &["customresourcedefinitions"], &["list", "create", "patch"]),
            rule(&["events.k8s.io"], &["events"], &["create", "patch"]),
            rule(&["coordination.k8s.io"], &["leases"], &["get", "create", "update"]),
        ],
    });
    let binding: Value = json!({
        "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding",
        "metadata": { "name": "listeners" },
        "roleRef": { "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "listeners" },
        "subjects": [{ "apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": OPERATOR }],
    });
    let params = PatchParams::apply("test").force();
    cluster
        .all::<ClusterRole>()
        .patch("listeners", &params, &Patch::Apply(role))
        .await?;
    let bindings = cluster.all::<ClusterRoleBinding>();
    bindings
        .patch("listeners", &params, &Patch::Apply(binding))
        .await?;
    Ok(())
}
