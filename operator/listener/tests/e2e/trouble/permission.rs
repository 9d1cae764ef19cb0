//! Requests that a class does not allow: reported on the Listener, never written, and no reason to
//! remove objects that were made before.

use std::path::Path;
use std::time::Duration;

use crate::listeners::{Cluster, ExpectedCondition, SOON, message};
use anyhow::{Context, Result, ensure};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::Service;
use kube::Api;
use kube::api::{DeleteParams, Patch};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_tests::harness::{Case, case, eventually};
use lifecycle_tests::process::output;
use serde_json::{Value, json};

use super::{BINARIES, writes_to};
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "what_a_class_does_not_allow_is_told_and_not_written",
            BINARIES,
            refused,
        ),
        case(
            "b18_the_class_of_the_documentation_allows_what_it_says",
            BINARIES,
            documented,
        ),
        case(
            "what_was_made_before_a_class_was_tightened_stays",
            BINARIES,
            tightened_class,
        ),
    ]
}

/// Longer than the first pauses of a back-off.
const QUIET: Duration = Duration::from_secs(6);

const OVERRIDE: ExpectedCondition<'_> =
    ExpectedCondition("Accepted", "False", "OverrideNotAllowed");
const NAMESPACE: ExpectedCondition<'_> =
    ExpectedCondition("Accepted", "False", "NamespaceNotAllowed");

/// Name of a Listener, its overrides, and the field that is not allowed.
fn far() -> Vec<(&'static str, Value, &'static str)> {
    let port = json!([{ "port": 8080, "nodePort": 30080 }]);
    vec![
        (
            "outside",
            json!({ "spec": { "externalIPs": ["192.0.2.1"] } }),
            "`spec.externalIPs`",
        ),
        (
            "stays",
            json!({ "metadata": { "finalizers": ["example.org/stays"] } }),
            "`metadata.finalizers`",
        ),
        (
            "typed",
            json!({ "spec": { "type": "LoadBalancer" } }),
            "`spec.type`",
        ),
        (
            "chosen",
            json!({ "spec": { "type": "NodePort", "ports": port } }),
            "`spec.ports[*].nodePort`, `spec.type`",
        ),
    ]
}

async fn class(cluster: &Cluster, name: &str, more: Value) -> Result<()> {
    let mut class = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1",
        "kind": "ListenerClass",
        "metadata": { "name": name },
        "spec": { "serviceType": "ClusterIP" },
    });
    for (field, value) in more.as_object().into_iter().flatten() {
        class["spec"][field] = value.clone();
    }
    let made = cluster.make(cluster.all::<ListenerClass>(), class).await;
    made.map(drop)
        .with_context(|| format!("cannot make class {name}"))
}

async fn edit(cluster: &Cluster, class: &str, spec: Value) -> Result<()> {
    let patch = Patch::Merge(json!({ "spec": spec }));
    let classes = cluster.all::<ListenerClass>();
    classes.patch(class, &Default::default(), &patch).await?;
    Ok(())
}

fn overriding(name: &str, class: &str, patch: &Value) -> Value {
    let mut patch = patch.clone();
    patch["apiVersion"] = json!("v1");
    patch["kind"] = json!("Service");
    patch["metadata"]["name"] = json!(name);
    if patch["metadata"]["namespace"].is_null() {
        patch["metadata"]["namespace"] = json!("default");
    }
    json!({
        "className": class, "ports": [{ "name": "http", "port": 8080 }],
        "objectOverrides": [patch],
    })
}

async fn refused() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    cluster.explain(refuse_all(&cluster).await)
}

/// Checks that the API server refuses a value that is no namespace name, and one that is no path,
/// in the first place.
async fn refuse_mistyped(cluster: &Cluster) -> Result<()> {
    for (field, value) in [
        ("allowedNamespaces", "No name"),
        ("allowedNamespaces", "*-apps"),
        ("allowedOverrides", "spec..type"),
        ("allowedOverrides", ""),
    ] {
        let made = class(cluster, "mistyped", json!({ field: [value] })).await;
        let said = made.err().map(|error| format!("{error:#}"));
        let said = said.with_context(|| format!("{field} takes `{value}`"))?;
        ensure!(said.contains(field), "{said}");
    }
    Ok(())
}

async fn refuse_all(cluster: &Cluster) -> Result<()> {
    refuse_mistyped(cluster).await?;
    let since = Timestamp::now();
    let allowed = json!([
        "metadata.annotations['example.org/a']",
        "spec.sessionAffinity"
    ]);
    class(cluster, "strict", json!({ "allowedOverrides": allowed })).await?;
    class(
        cluster,
        "elsewhere",
        json!({ "allowedNamespaces": ["apps", "team-*"] }),
    )
    .await?;
    for (name, patch, _) in far() {
        cluster
            .create(name, overriding(name, "strict", &patch))
            .await?;
    }
    cluster.expose("stranger", "elsewhere").await?;
    for (name, _, fields) in far() {
        let said = message(&cluster.condition(name, OVERRIDE).await?, "Accepted");
        let expected =
            format!("ListenerClass `strict` does not allow {fields} in `spec.objectOverrides[0]`");
        ensure!(said.contains(&expected), "{name}: {said}");
    }
    let stranger = cluster.condition("stranger", NAMESPACE).await?;
    let expected = "ListenerClass `elsewhere` does not allow namespace `default`";
    // A Pod that mounts it gets the message of `Ready`.
    for condition in ["Accepted", "Ready"] {
        let said = message(&stranger, condition);
        ensure!(said.contains(expected), "{condition}: {said}");
    }
    let near = json!({
        "metadata": { "annotations": { "example.org/a": "b" } }, "spec": { "sessionAffinity": "ClientIP", "type": "ClusterIP" },
    });
    cluster
        .create("near", overriding("near", "strict", &near))
        .await?;
    cluster.ready("near").await?;
    let service = json!(cluster.namespaced::<Service>().get("near").await?);
    ensure!(
        service["metadata"]["annotations"]["example.org/a"] == "b",
        "{service}"
    );
    ensure!(
        service["spec"]["sessionAffinity"] == "ClientIP",
        "{service}"
    );
    tokio::time::sleep(QUIET).await;
    let asked = cluster.requests().await?.since(since);
    for name in far().iter().map(|(name, ..)| *name).chain(["stranger"]) {
        let tries = writes_to(&asked, "services", name);
        ensure!(tries.is_empty(), "{name}: {}", tries.lines());
        let statuses = writes_to(&asked, "listeners", name).len();
        ensure!((1..=2).contains(&statuses), "{name}: {statuses} statuses");
    }
    edit(
        cluster,
        "elsewhere",
        json!({ "allowedNamespaces": ["apps", "def*"] }),
    )
    .await?;
    cluster.ready("stranger").await?;
    edit(
        cluster,
        "strict",
        json!({ "allowedOverrides": ["spec.externalIPs"] }),
    )
    .await?;
    cluster.ready("outside").await?;
    Ok(())
}

async fn tightened_class() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    cluster.explain(keep(&cluster).await)
}

async fn keep(cluster: &Cluster) -> Result<()> {
    class(cluster, "loose", json!({})).await?;
    let external = json!({ "spec": { "externalIPs": ["192.0.2.1"] } });
    cluster
        .create("web", overriding("web", "loose", &external))
        .await?;
    let addresses = |listener: &Listener| {
        let status = listener.status.clone().unwrap_or_default();
        (status.service_name, status.ingress_addresses)
    };
    let before = addresses(&cluster.ready("web").await?);
    let services = cluster.namespaced::<Service>();
    let service = services.get("web").await?;

    for (tightened, told) in [
        (json!({ "allowedOverrides": [] }), OVERRIDE),
        (json!({ "allowedNamespaces": [] }), NAMESPACE),
    ] {
        edit(cluster, "loose", tightened).await?;
        let listener = cluster.condition("web", told).await?;
        ensure!(addresses(&listener) == before, "{:?}", listener.status);
        ensure!(services.get("web").await? == service, "it was written");
    }
    edit(cluster, "loose", json!({ "allowedNamespaces": null })).await?;
    cluster.condition("web", OVERRIDE).await?;
    ensure!(services.get("web").await? == service, "it was written");

    cluster
        .patch::<Listener>("web", json!({ "spec": { "objectOverrides": [] } }))
        .await?;
    cluster.ready("web").await?;
    let without = services.get("web").await?;
    ensure!(
        without.metadata.uid == service.metadata.uid,
        "it is another"
    );
    let external = without.spec.and_then(|spec| spec.external_ips);
    ensure!(external.is_none(), "{external:?}");

    edit(cluster, "loose", json!({ "allowedNamespaces": [] })).await?;
    cluster.condition("web", NAMESPACE).await?;
    services.delete("web", &DeleteParams::default()).await?;
    let gone = ExpectedCondition("Programmed", "Unknown", "NotAccepted");
    cluster.condition("web", gone).await?;
    tokio::time::sleep(QUIET).await;
    ensure!(
        services.get_opt("web").await?.is_none(),
        "it was made again"
    );
    Ok(())
}

async fn documented() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    cluster.explain(apply_documented(&cluster).await)
}

async fn apply_documented(cluster: &Cluster) -> Result<()> {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/listener.md");
    let text = std::fs::read_to_string(document)?;
    let section = text.split_once("\n## What a ListenerClass allows\n");
    let example =
        section.and_then(|(_, section)| section.split_once("```yaml\n")?.1.split_once("```"));
    let (example, _) = example.context("the document has no example")?;
    let file = cluster.server.folder().join("class.yaml");
    std::fs::write(&file, example)?;
    let mut apply = cluster.server.kubectl();
    output(apply.args(["apply", "--filename"]).arg(file))?;
    let class = cluster.all::<ListenerClass>().get("teams").await?;
    ensure!(
        class
            .spec
            .allowed_overrides
            .is_some_and(|all| all.len() == 3)
    );

    cluster.namespace("team-a").await?;
    let fine = json!({
        "metadata": { "namespace": "team-a", "annotations": { "external-dns.alpha.kubernetes.io/hostname": "a.example.org" } },
        "spec": { "sessionAffinity": "ClientIP", "ports": [{ "port": 8080, "nodePort": 30080 }] },
    });
    let listener = json!({
        "apiVersion": "listeners.stackable.tech/v1alpha1", "kind": "Listener",
        "metadata": { "name": "web" }, "spec": overriding("web", "teams", &fine),
    });
    let listeners: Api<Listener> = Api::namespaced(cluster.client.clone(), "team-a");
    cluster.make(listeners, listener).await?;
    let services: Api<Service> = Api::namespaced(cluster.client.clone(), "team-a");
    let service = eventually("the Service of Listener team-a/web", SOON, async || {
        Ok(services.get_opt("web").await?)
    });
    let service = json!(service.await?);
    ensure!(
        service["spec"]["ports"][0]["nodePort"] == 30080,
        "{service}"
    );
    ensure!(
        service["spec"]["sessionAffinity"] == "ClientIP",
        "{service}"
    );

    cluster.expose("web", "teams").await?;
    cluster.condition("web", NAMESPACE).await.map(drop)
}
