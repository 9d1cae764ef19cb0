//! Tests of the objects that the API server accepts, and of the Services that result. No router
//! runs.

use crate::place::{SOON, TestNamespace, has_report, report};
use anyhow::{Context, Result, ensure};
use k8s_openapi::api::admissionregistration::v1::{
    ValidatingAdmissionPolicy, ValidatingAdmissionPolicyBinding,
};
use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::api::{Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::{Case, eventually};
use serde_json::{Value, json};

use super::support::{listen, shared};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared("s01_a_plain_manifest_is_accepted", accepted),
        shared("s02_what_is_required_is_named", required),
        shared("s03_ports_are_bounded", bounded),
        shared("s04_observers_are_known_ones", observers),
        shared("s05_a_service_is_created", service),
        shared("s07_services_go_with_the_site", ownership),
        shared("s08_s09_ports_of_one_host_come_and_go", ports),
        shared("s10_a_port_of_the_router_is_used_again", again),
        shared("s16_a_deleted_service_is_recreated", recreated),
        shared("s17_edits_are_undone_and_additions_stay", restored),
        shared("s18_hosts_that_are_no_names", hosts),
        shared("s18_a_name_that_an_older_api_server_refuses", refused_name),
        shared("s19_a_name_with_a_dot_works", dotted),
        shared("s20_other_protocols_are_refused", protocols),
        shared("s34_columns", columns),
    ]
}

async fn site(place: &TestNamespace) -> Result<Site> {
    place.make("west", json!({ "spec": {} })).await
}

/// The ports of a Service as `name:port`.
fn ports_of(service: &Service) -> Vec<String> {
    let ports = service
        .spec
        .iter()
        .flat_map(|spec| spec.ports.iter().flatten());
    ports
        .map(|port| format!("{}:{}", port.name.as_deref().unwrap_or_default(), port.port))
        .collect()
}

async fn until_ports(place: &TestNamespace, host: &str, ports: &[&str]) -> Result<Service> {
    let what = format!("Service {host} has the ports {ports:?}");
    place
        .until(host, &what, |service| ports_of(service) == ports)
        .await
}

fn manifest(spec: Value) -> Value {
    let mut whole = json!({ "routingKey": "backend", "host": "backend", "port": 8080 });
    for (key, value) in spec.as_object().into_iter().flatten() {
        whole[key] = value.clone();
    }
    json!({ "apiVersion": "skupper.io/v2alpha1", "kind": "Listener", "metadata": { "name": "backend" }, "spec": whole })
}

async fn accepted(place: TestNamespace) -> Result<()> {
    let created = place.post::<Listener>(&manifest(json!({}))).await?;
    ensure!(created["spec"] == manifest(json!({}))["spec"], "{created}");
    Ok(())
}

/// Returns the API server's message for a manifest that it rejects.
async fn refusal(place: &TestNamespace, manifest: &Value) -> Result<String> {
    match place.post::<Listener>(manifest).await {
        Err(kube::Error::Api(status)) if status.code == 422 => Ok(status.message),
        other => anyhow::bail!("it is not refused: {other:?}"),
    }
}

async fn required(place: TestNamespace) -> Result<()> {
    for field in ["routingKey", "host", "port"] {
        let mut manifest = manifest(json!({}));
        let spec = manifest["spec"].as_object_mut().context("it has a spec")?;
        spec.remove(field);
        let said = refusal(&place, &manifest).await?;
        ensure!(said.contains(&format!("spec.{field}")), "{said}");
    }
    Ok(())
}

async fn bounded(place: TestNamespace) -> Result<()> {
    for port in [0, 70000, -1] {
        let said = refusal(&place, &manifest(json!({ "port": port }))).await?;
        ensure!(said.contains("spec.port"), "{said}");
    }
    Ok(())
}

async fn observers(place: TestNamespace) -> Result<()> {
    let said = refusal(&place, &manifest(json!({ "observer": "non" }))).await?;
    ensure!(said.contains("spec.observer"), "{said}");
    site(&place).await?;
    listen(
        &place,
        "both",
        json!({ "observer": "http2", "settings": { "observer": "none" } }),
    )
    .await?;
    listen(
        &place,
        "setting",
        json!({ "settings": { "observer": "none" } }),
    )
    .await?;
    let what = "both observers are in the configuration";
    let wanted = [r#""observer":"http2""#, r#""observer":"none""#];
    let has = |map: &ConfigMap| {
        let text = map.data.iter().flatten().map(|(_, text)| text.as_str());
        let text: String = text.collect();
        wanted.iter().all(|part| text.contains(part))
    };
    place.until("skupper-router", what, has).await.map(drop)
}

async fn service(place: TestNamespace) -> Result<()> {
    site(&place).await?;
    listen(&place, "backend", json!({})).await?;
    let service = until_ports(&place, "backend", &["backend:8080"]).await?;
    let spec = service.spec.unwrap_or_default();
    ensure!(spec.type_.as_deref() == Some("ClusterIP"));
    let selector = json!({ "application": "skupper-router", "skupper.io/component": "router" });
    ensure!(json!(spec.selector) == selector, "{:?}", spec.selector);
    Ok(())
}

async fn ownership(place: TestNamespace) -> Result<()> {
    let site = site(&place).await?;
    listen(&place, "backend", json!({})).await?;
    let service = until_ports(&place, "backend", &["backend:8080"]).await?;
    ensure!(service.annotations()["internal.skupper.io/controlled"] == "true");
    ensure!(service.labels()["internal.skupper.io/listener"] == "backend");
    let owner = &service.owner_references()[0];
    ensure!((owner.kind.as_str(), Some(&owner.uid)) == ("Site", site.metadata.uid.as_ref()));
    place.delete::<Site>("west").await?;
    place.gone::<Service>("backend").await?;
    place.gone::<ConfigMap>("skupper-router").await
}

/// Rows 8, 9 and 10: ports come and go with their Listeners, and the last takes the Service along.
async fn ports(place: TestNamespace) -> Result<()> {
    site(&place).await?;
    listen(&place, "sql", json!({ "host": "db", "port": 5432 })).await?;
    listen(&place, "metrics", json!({ "host": "db", "port": 9187 })).await?;
    let both = until_ports(&place, "db", &["sql:5432", "metrics:9187"]).await;
    // The order in which they were created is undefined.
    if both.is_err() {
        until_ports(&place, "db", &["metrics:9187", "sql:5432"]).await?;
    }
    place.delete::<Listener>("sql").await?;
    until_ports(&place, "db", &["metrics:9187"]).await?;
    place.delete::<Listener>("metrics").await?;
    place.gone::<Service>("db").await
}

async fn again(place: TestNamespace) -> Result<()> {
    site(&place).await?;
    listen(&place, "one", json!({})).await?;
    until_ports(&place, "one", &["one:8080"]).await?;
    let first = place.router_port("one", 8080).await?;
    place.delete::<Listener>("one").await?;
    place.gone::<Service>("one").await?;
    listen(&place, "two", json!({})).await?;
    until_ports(&place, "two", &["two:8080"]).await?;
    let second = place.router_port("two", 8080).await?;
    ensure!(first == second, "{first} was free, and {second} was given");
    Ok(())
}

async fn recreated(place: TestNamespace) -> Result<()> {
    site(&place).await?;
    listen(&place, "backend", json!({})).await?;
    let first = until_ports(&place, "backend", &["backend:8080"]).await?;
    let port = place.router_port("backend", 8080).await?;
    place.delete::<Service>("backend").await?;
    let is_other = |service: &Service| service.metadata.uid != first.metadata.uid;
    place
        .until("backend", "another Service backend", is_other)
        .await?;
    ensure!(
        place.router_port("backend", 8080).await? == port,
        "the port of the router stays"
    );
    Ok(())
}

async fn restored(place: TestNamespace) -> Result<()> {
    site(&place).await?;
    listen(&place, "backend", json!({})).await?;
    until_ports(&place, "backend", &["backend:8080"]).await?;
    let edit = json!({
        "metadata": { "labels": { "mine": "yes" }, "annotations": { "mine": "yes" } },
        "spec": { "ports": [{ "name": "backend", "port": 8081, "protocol": "TCP" }, { "name": "added", "port": 1, "protocol": "TCP" }],
                  "selector": { "application": "somebody-else" } },
    });
    let params = PatchParams {
        field_manager: Some("somebody".to_owned()),
        ..PatchParams::default()
    };
    let api = place.api::<Service>();
    let edited = api.patch("backend", &params, &Patch::Merge(edit)).await?;
    ensure!(ports_of(&edited) == ["backend:8081", "added:1"]);
    let service = until_ports(&place, "backend", &["backend:8080"]).await?;
    let what = "the selector is restored";
    let is_restored = |service: &Service| {
        let selector = service
            .spec
            .as_ref()
            .and_then(|spec| spec.selector.as_ref());
        selector
            .and_then(|all| all.get("application"))
            .is_some_and(|app| app == "skupper-router")
    };
    place.until("backend", what, is_restored).await?;
    ensure!(service.labels()["mine"] == "yes" && service.annotations()["mine"] == "yes");
    Ok(())
}

async fn until_error(place: &TestNamespace, name: &str, part: &str) -> Result<()> {
    let what = format!("Listener {name} is in Error and says {part}");
    let is = |listener: &Listener| {
        let (status, message, _) = report(listener);
        status == "Error" && message.contains(part)
    };
    place.until(name, &what, is).await.map(drop)
}

async fn hosts(place: TestNamespace) -> Result<()> {
    site(&place).await?;
    listen(&place, "braces", json!({ "host": "{bad}" })).await?;
    listen(&place, "long", json!({ "host": "a".repeat(64) })).await?;
    until_error(&place, "braces", "{bad}").await?;
    until_error(&place, "long", "63 lower case letters").await?;
    let services = place.api::<Service>().list(&Default::default()).await?;
    ensure!(services.items.is_empty(), "no Service is made");
    // Since Kubernetes 1.36 a name may begin with a digit.
    listen(&place, "core", json!({ "host": "5gc-amf" })).await?;
    until_ports(&place, "5gc-amf", &["core:8080"])
        .await
        .map(drop)
}

/// An API server before 1.36 refuses a Service whose name begins with a digit; here a policy does,
/// in the same words.
async fn refused_name(place: TestNamespace) -> Result<()> {
    let said = "a DNS-1035 label must start with an alphabetic character";
    let policy = json!({
        "metadata": { "name": "names-of-before" },
        "spec": {
            "failurePolicy": "Fail",
            "matchConstraints": { "resourceRules": [{ "apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["services"] }] },
            "validations": [{ "expression": "!object.metadata.name.startsWith('5')", "message": said, "reason": "Invalid" }],
        },
    });
    let binding = json!({
        "metadata": { "name": "names-of-before" },
        "spec": {
            "policyName": "names-of-before", "validationActions": ["Deny"],
            "matchResources": { "namespaceSelector": { "matchLabels": { "kubernetes.io/metadata.name": place.namespace } } },
        },
    });
    let params = PostParams::default();
    let policies: Api<ValidatingAdmissionPolicy> = Api::all(place.client.clone());
    policies
        .create(&params, &serde_json::from_value(policy)?)
        .await?;
    let bindings: Api<ValidatingAdmissionPolicyBinding> = Api::all(place.client.clone());
    bindings
        .create(&params, &serde_json::from_value(binding)?)
        .await?;
    let service =
        json!({ "metadata": { "name": "5-probe" }, "spec": { "ports": [{ "port": 80 }] } });
    let service: Service = serde_json::from_value(service)?;
    let probe = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    eventually("the policy counts", SOON, async || {
        Ok(place
            .api::<Service>()
            .create(&probe, &service)
            .await
            .err()
            .map(drop))
    })
    .await?;
    site(&place).await?;
    listen(&place, "core", json!({ "host": "5gc-amf" })).await?;
    until_error(&place, "core", said).await?;
    until_error(&place, "core", "5gc-amf").await
}

async fn dotted(place: TestNamespace) -> Result<()> {
    site(&place).await?;
    listen(&place, "a.b", json!({ "host": "ab" })).await?;
    let service = place
        .until("ab", "Service ab is there", |_: &Service| true)
        .await?;
    let ports = ports_of(&service);
    ensure!(
        ports.len() == 1 && ports[0].starts_with("a-b-"),
        "{ports:?}"
    );
    Ok(())
}

async fn protocols(place: TestNamespace) -> Result<()> {
    site(&place).await?;
    for kind in ["udp", "sctp"] {
        listen(&place, kind, json!({ "type": kind })).await?;
        until_error(&place, kind, "is not supported").await?;
    }
    let services = place.api::<Service>().list(&Default::default()).await?;
    ensure!(services.items.is_empty(), "no Service is made");
    Ok(())
}

async fn columns(place: TestNamespace) -> Result<()> {
    listen(&place, "backend", json!({})).await?;
    place
        .until("backend", "it is reported", |l: &Listener| {
            has_report(l, "Error", "No active site in namespace")
        })
        .await?;
    let path = format!(
        "/apis/skupper.io/v2alpha1/namespaces/{}/listeners",
        place.namespace
    );
    let table = eventually("a table", SOON, async || {
        let request = http::Request::get(&path)
            .header("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
            .body(Vec::new())?;
        let table: Value = serde_json::from_str(&place.client.request_text(request).await?)?;
        Ok(Some(table))
    })
    .await?;
    let names = table["columnDefinitions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    let names: Vec<&str> = names
        .iter()
        .filter_map(|column| column["name"].as_str())
        .collect();
    let wanted = [
        "Name",
        "Routing Key",
        "Port",
        "Host",
        "Status",
        "Has Matching Connector",
        "Message",
    ];
    ensure!(names == wanted, "{names:?}");
    let cells = &table["rows"][0]["cells"];
    let wanted = json!([
        "backend",
        "backend",
        8080,
        "backend",
        "Error",
        null,
        "No active site in namespace"
    ]);
    ensure!(*cells == wanted, "{cells}");
    Ok(())
}
