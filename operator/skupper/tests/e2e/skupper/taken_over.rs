//! Namespaces of the existing controller, with its objects as `tests/upstream` has them recorded: this one takes them over, and no router starts anew.
//! The test writes for the adaptor of the existing router.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use k8s_openapi::NamespaceResourceScope;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, Pod, Secret, Service, ServiceAccount};
use k8s_openapi::api::rbac::v1::{Role, RoleBinding};
use kube::ResourceExt;
use lifecycle_specs_skupper::certificate::Certificate;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::Case;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use super::support::{listen, shared};
use crate::place::{TestNamespace, report};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared(
            "a_namespace_is_taken_over_and_no_router_starts_anew",
            taken_over,
        ),
        shared(
            "a_network_status_says_what_the_existing_router_does",
            network_status_follows,
        ),
        shared(
            "without_an_image_nothing_is_run_and_the_site_says_so",
            imageless,
        ),
        shared(
            "a_site_that_asks_for_it_has_the_existing_router",
            recreate_objects,
        ),
        shared("secrets_are_numbered_for_the_existing_adaptor", numbered),
    ]
}

const ROUTER: &str = "skupper-router";
const UID: &str = "<uid of Site west>";

fn recorded(case: &str) -> Result<Value> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/upstream");
    let text = fs::read_to_string(folder.join(format!("{case}.yaml")))?;
    Ok(serde_saphyr::from_str(&text)?)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// Declares that another controller manages the namespace, or that none does.
pub(super) async fn managed_by_other(place: &TestNamespace, is: bool) -> Result<()> {
    match is {
        true => {
            let map = json!({ "data": { "controller": "elsewhere/skupper-controller" } });
            place.make::<ConfigMap>("skupper", map).await.map(drop)
        }
        false => place.delete::<ConfigMap>("skupper").await,
    }
}

/// Fills the namespace with a Site, and with the objects that the existing controller has written
/// for these cases. Returns the entries of the router.
pub(super) async fn left_by_existing(place: &TestNamespace, cases: &[&str]) -> Result<Vec<Value>> {
    managed_by_other(place, true).await?;
    let site = place.make::<Site>("west", json!({ "spec": {} })).await?;
    let uid = site.uid().context("it has a uid")?;
    let mut entries = Vec::new();
    for case in cases {
        let text = recorded(case)?["output"].to_string();
        // In the namespace of the test.
        let own = text.replace(UID, &uid).replace(
            "skupper-router-local.west",
            &format!("skupper-router-local.{}", place.namespace),
        );
        let output: Value = serde_json::from_str(&own)?;
        entries.extend(list(&output["entries"][ROUTER]).iter().cloned());
        for object in list(&output["objects"]) {
            write(place, object).await?;
        }
    }
    let data = json!({ "skrouterd.json": json!(entries).to_string() });
    let config = place
        .patch::<ConfigMap>(ROUTER, json!({ "data": data }))
        .await?;
    ensure!(config.owner_references().len() == 1);
    Ok(entries)
}

/// Writes an object as the existing controller left it, without the parts that other controllers
/// set.
async fn write(place: &TestNamespace, object: &Value) -> Result<()> {
    let written = match object["kind"].as_str().unwrap_or_default() {
        "Certificate" => post::<Certificate>(place, object).await,
        "ConfigMap" => post::<ConfigMap>(place, object).await,
        "Deployment" => post::<Deployment>(place, object).await,
        "Role" => post::<Role>(place, object).await,
        "RoleBinding" => post::<RoleBinding>(place, object).await,
        "Service" => post::<Service>(place, object).await,
        "ServiceAccount" => post::<ServiceAccount>(place, object).await,
        // Of a Certificate.
        "Secret" => return Ok(()),
        other => anyhow::bail!("{other} is not expected here"),
    };
    written.with_context(|| format!("{object} is not accepted"))?;
    Ok(())
}

/// Creates an object as the existing controller wrote it.
///
/// Sites and ConfigMaps are watched apart, so this operator may see the Site before the ConfigMap
/// that gives its namespace to another controller, and write an object first. It gives way here.
async fn post<K>(place: &TestNamespace, object: &Value) -> Result<Value>
where
    K: kube::Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    K: DeserializeOwned + Clone + std::fmt::Debug,
{
    let mut object = object.clone();
    object["apiVersion"] = K::api_version(&()).into();
    match place.post::<K>(&object).await {
        Err(kube::Error::Api(status)) if status.is_already_exists() => {
            let name = object["metadata"]["name"].as_str().context("its name")?;
            place.delete::<K>(name).await?;
            Ok(place.post::<K>(&object).await?)
        }
        answer => Ok(answer?),
    }
}

fn entries(config: &ConfigMap) -> Result<BTreeSet<String>> {
    let data = config.data.as_ref().context("it has data")?;
    let all: Vec<Value> = serde_json::from_str(&data["skrouterd.json"])?;
    Ok(all.iter().map(comparable).collect())
}

/// An entry but for the version of the controller.
fn comparable(entry: &Value) -> String {
    let mut entry = entry.clone();
    if entry[0] == "router" {
        entry[1]["metadata"] = Value::Null;
    }
    entry.to_string()
}

/// The Site runs as it is, and is as it was.
async fn taken_over(place: TestNamespace) -> Result<()> {
    let before = left_by_existing(&place, &["site-plain", "listener-plain"]).await?;
    let pod = place.pod().await?;
    place.set_pod_ready(&pod.name_any(), true).await?;
    listen(&place, "shop", json!({ "routingKey": "shop" })).await?;
    let deployment = place.api::<Deployment>().get(ROUTER).await?;
    let service = place.api::<Service>().get("shop").await?;
    managed_by_other(&place, false).await?;
    place
        .until::<Site>("west", "it is Configured and runs", |site| {
            let status = site.status.as_ref();
            status.is_some_and(|status| status.common.status.as_deref() == Some("Ready"))
        })
        .await?;
    place
        .until::<ConfigMap>(ROUTER, "who has which port is kept", |config| {
            config
                .data
                .as_ref()
                .is_some_and(|data| data.contains_key("claims"))
        })
        .await?;
    // Every effect has happened when a newly created Listener has its Service.
    listen(&place, "late", json!({})).await?;
    place.until::<Service>("late", "there", |_| true).await?;
    let config = place.api::<ConfigMap>().get(ROUTER).await?;
    let mut now = entries(&config)?;
    now.retain(|entry| !entry.contains("listener/late"));
    let before: BTreeSet<String> = before.iter().map(comparable).collect();
    ensure!(now == before, "{now:#?} instead of {before:#?}");
    let after = place.api::<Deployment>().get(ROUTER).await?;
    ensure!(
        after.uid() == deployment.uid()
            && after.metadata.generation == deployment.metadata.generation,
        "the Deployment is another one: {:#?}",
        after.spec
    );
    let same = place.pod().await?;
    ensure!(same.uid() == pod.uid(), "another Pod runs");
    let kept = place.api::<Service>().get("shop").await?;
    ensure!(kept.spec == service.spec, "{:#?}", kept.spec);
    // The owners stay as before, so that the other controller can take the object back.
    for owner in [after.owner_references(), kept.owner_references()]
        .into_iter()
        .flatten()
    {
        ensure!(owner.controller != Some(true), "{owner:?}");
    }
    Ok(())
}

/// A network status with this site, one more, a Link between the two, and a Connector there.
fn network(uid: &str, entry: &Value, status: &str) -> String {
    let port = &entry[1]["port"];
    json!({
        "addresses": [],
        "siteStatus": [
            {
                "site": { "identity": uid, "name": "west", "namespace": "west", "platform": "kubernetes", "siteVersion": "2.2.1" },
                "routerStatus": [{
                    "router": { "name": "0/west-router", "namespace": "west", "mode": "interior" },
                    "links": [{ "name": "east", "status": status, "role": "inter-router", "linkCost": 1, "peer": "access-of-east" }],
                    "routerAccess": [], "connectors": [],
                    "listeners": [{ "name": "listener/shop", "address": "shop", "protocol": "tcp", "destPort": port }],
                }],
            },
            {
                "site": { "identity": "uid-of-east", "name": "east", "namespace": "east", "platform": "kubernetes", "siteVersion": "2.2.1" },
                "routerStatus": [{
                    "router": { "name": "0/east-router", "namespace": "east", "mode": "interior" },
                    "links": [], "routerAccess": [{ "identity": "access-of-east" }], "listeners": [],
                    "connectors": [{ "address": "shop", "protocol": "tcp", "destHost": "10.0.0.9", "destPort": "8080" }],
                }],
            },
        ],
    })
    .to_string()
}

fn message(listener: &Listener) -> &str {
    let status = listener.status.as_ref();
    status
        .and_then(|s| s.common.message.as_deref())
        .unwrap_or_default()
}

/// Tests that statuses follow the adaptor's reports, in success and in failure.
async fn network_status_follows(place: TestNamespace) -> Result<()> {
    let left = left_by_existing(&place, &["site-plain", "listener-plain"]).await?;
    let entry = left
        .iter()
        .find(|entry| entry[0] == "tcpListener")
        .context("the Listener's")?;
    let pod = place.pod().await?;
    place.set_pod_ready(&pod.name_any(), true).await?;
    listen(&place, "shop", json!({ "routingKey": "shop" })).await?;
    let certificate = json!({ "spec": { "ca": "skupper-site-ca", "subject": "east", "hosts": ["east"], "client": true } });
    place.make::<Certificate>("east", certificate).await?;
    let link = json!({ "spec": {
        "endpoints": [{ "name": "inter-router", "host": "127.0.0.1", "port": "55671" }], "tlsCredentials": "east", "cost": 1,
    } });
    place.make::<Link>("east", link).await?;
    managed_by_other(&place, false).await?;
    let waits = "the network status is waited for";
    let is_waiting = |listener: &Listener| message(listener).contains("does not exist yet");
    place.until::<Listener>("shop", waits, is_waiting).await?;
    let site = place.api::<Site>().get("west").await?;
    let uid = site.uid().context("it has a uid")?;
    let status = |text: String| json!({ "data": { "NetworkStatus": text } });
    let up = network(&uid, entry, "up");
    place
        .make::<ConfigMap>("skupper-network-status", status(up.clone()))
        .await?;
    let is_ready = |listener: &Listener| message(listener) == "OK";
    let listener = place
        .until::<Listener>("shop", "it is Ready", is_ready)
        .await?;
    // The adaptor does not report if its socket is open, so the status does not state it either.
    let (_, _, conditions) = report(&listener);
    let unknown = |row: &String| row.starts_with("SocketOpen=Unknown Pending the existing router");
    ensure!(conditions.iter().any(unknown), "{conditions:?}");
    let operational = "it is Operational";
    let is_up = |link: &Link| {
        link.status.as_ref().is_some_and(|status| {
            status.remote_site_name.as_deref() == Some("east")
                && status.common.message.as_deref() == Some("OK")
        })
    };
    place.until::<Link>("east", operational, is_up).await?;
    let two = |site: &Site| {
        site.status.as_ref().is_some_and(|status| {
            status.sites_in_network == Some(2)
                && status.network.as_ref().is_some_and(|all| all.len() == 2)
        })
    };
    place
        .until::<Site>("west", "it knows of two sites", two)
        .await?;
    // The link goes, and the records of the other site with it.
    let mut alone: Value = serde_json::from_str(&network(&uid, entry, "down"))?;
    alone["siteStatus"]
        .as_array_mut()
        .context("sites")?
        .truncate(1);
    place
        .patch::<ConfigMap>("skupper-network-status", status(alone.to_string()))
        .await?;
    let unmatched = |listener: &Listener| message(listener) == "No matching connectors";
    place
        .until::<Listener>("shop", "nothing serves its key", unmatched)
        .await?;
    place
        .until::<Link>("east", "it is down", |link| !is_up(link))
        .await?;
    nonsense(&place, status(up)).await
}

/// A network status that is nonsense is named, and nothing is Ready by it.
async fn nonsense(place: &TestNamespace, good: Value) -> Result<()> {
    let is_ready = |listener: &Listener| message(listener) == "OK";
    place
        .patch::<ConfigMap>(
            "skupper-network-status",
            json!({ "data": { "NetworkStatus": "{ nonsense" } }),
        )
        .await?;
    let named = |listener: &Listener| message(listener).contains("skupper-network-status");
    place
        .until::<Listener>("shop", "the network status is named", named)
        .await?;
    place
        .patch::<ConfigMap>("skupper-network-status", good)
        .await?;
    place
        .until::<Listener>("shop", "it is Ready again", is_ready)
        .await?;
    // A configuration that is edited by hand is written anew, and the data plane stays.
    let edited = json!({ "data": { "skrouterd.json": "[]" } });
    place.patch::<ConfigMap>(ROUTER, edited).await?;
    let healed = |config: &ConfigMap| {
        entries(config).is_ok_and(|all| all.iter().any(|entry| entry.contains("amqps")))
    };
    place
        .until::<ConfigMap>(ROUTER, "it is written anew", healed)
        .await?;
    place
        .until::<Listener>("shop", "it is Ready again", is_ready)
        .await?;
    Ok(())
}

/// The message of a Site.
pub(super) fn site_message(site: &Site) -> &str {
    let status = site.status.as_ref();
    status
        .and_then(|s| s.common.message.as_deref())
        .unwrap_or_default()
}

/// The controller of these tests has no configured image.
async fn imageless(place: TestNamespace) -> Result<()> {
    let settings = json!({ "settings": { "data-plane": "skupper-router" } });
    place
        .make::<Site>("west", json!({ "spec": settings }))
        .await?;
    let options = "--skupper-router-image and --kube-adaptor-image";
    let names = |site: &Site| site_message(site).contains(options);
    place
        .until::<Site>("west", "it names the options", names)
        .await?;
    ensure!(place.api::<Deployment>().get_opt(ROUTER).await?.is_none());
    let settings = json!({ "settings": { "data-plane": "other" } });
    place
        .patch::<Site>("west", json!({ "spec": settings }))
        .await?;
    let unknown = |site: &Site| site_message(site).contains("\"other\" is not a known data plane");
    place
        .until::<Site>("west", "it says what is known", unknown)
        .await?;
    Ok(())
}

/// Tests that for a Site with known images everything is created again that the existing controller
/// creates.
async fn recreate_objects(place: TestNamespace) -> Result<()> {
    let before = left_by_existing(&place, &["site-plain"]).await?;
    let site = place.api::<Site>().get("west").await?;
    managed_by_other(&place, false).await?;
    // Everything is created again except the Deployment, whose images are kept.
    place.delete::<Service>("skupper-router-local").await?;
    place.delete::<Role>(ROUTER).await?;
    place.delete::<RoleBinding>(ROUTER).await?;
    place.delete::<ServiceAccount>(ROUTER).await?;
    place.delete::<ConfigMap>(ROUTER).await?;
    place
        .until::<Service>("skupper-router-local", "there", |_| true)
        .await?;
    place
        .until::<RoleBinding>(ROUTER, "there", |_| true)
        .await?;
    place
        .until::<ServiceAccount>(ROUTER, "there", |_| true)
        .await?;
    let verbs = |role: &Role| {
        let rules = role.rules.iter().flatten();
        rules.map(|rule| rule.verbs.len()).sum::<usize>()
    };
    place
        .until::<Role>(ROUTER, "with the rights of the adaptor", |role| {
            verbs(role) == 21
        })
        .await?;
    let wanted: BTreeSet<String> = before.iter().map(comparable).collect();
    let same = |config: &ConfigMap| entries(config).is_ok_and(|all| all == wanted);
    place.until::<ConfigMap>(ROUTER, "as it was", same).await?;
    let pods = place
        .api::<Pod>()
        .list(&kube::api::ListParams::default())
        .await?;
    ensure!(pods.items.len() == 1, "one Pod: {:?}", pods.items.len());
    ensure!(place.api::<Site>().get("west").await?.uid() == site.uid());
    Ok(())
}

/// Returns the ordinal of a profile in the configuration; 0 if none is set, `None` without the
/// profile.
fn ordinal(config: &ConfigMap, profile: &str) -> Option<u64> {
    let data = config.data.as_ref()?;
    let all: Vec<Value> = serde_json::from_str(&data["skrouterd.json"]).ok()?;
    let mut profiles = all.iter().filter(|entry| entry[0] == "sslProfile");
    let found = profiles.find(|entry| entry[1]["name"] == profile)?;
    Some(found[1]["ordinal"].as_u64().unwrap_or_default())
}

fn secret(kind: &str, content: &str) -> Value {
    json!({ "type": kind, "stringData": { "ca.crt": content, "tls.crt": "x", "tls.key": "x" } })
}

/// The configuration names a profile once its Secret is numbered, and each change of the Secret gives it the next number.
async fn numbered(place: TestNamespace) -> Result<()> {
    left_by_existing(&place, &["site-plain"]).await?;
    managed_by_other(&place, false).await?;
    let tls = "kubernetes.io/tls";
    place.make::<Secret>("web", secret(tls, "0")).await?;
    place.make::<Secret>("odd", secret("Opaque", "0")).await?;
    for name in ["odd", "web"] {
        let of = json!({ "routingKey": name, "tlsCredentials": name });
        listen(&place, name, of).await?;
    }
    listen(&place, "plain", json!({ "routingKey": "plain" })).await?;
    let has = |config: &ConfigMap, name: &str| {
        let of = format!("\"listener/{name}\"");
        entries(config).is_ok_and(|all| all.iter().any(|entry| entry.contains(&of)))
    };
    let both = |config: &ConfigMap| {
        has(config, "plain") && has(config, "web") && ordinal(config, "web") == Some(0)
    };
    let config = place
        .until::<ConfigMap>(ROUTER, "both are there", both)
        .await?;
    ensure!(!has(&config, "odd"), "{config:?}");
    let odd = place.api::<Secret>().get("odd").await?;
    ensure!(odd.annotations().is_empty(), "{odd:?}");
    place.patch::<Secret>("web", secret(tls, "1")).await?;
    let next = |config: &ConfigMap| ordinal(config, "web") == Some(1);
    place
        .until::<ConfigMap>(ROUTER, "the next number", next)
        .await?;
    // It goes and comes back: a number that was given once is given no other contents.
    place.delete::<Secret>("web").await?;
    let gone = |config: &ConfigMap| ordinal(config, "web").is_none() && has(config, "plain");
    place.until::<ConfigMap>(ROUTER, "it waits", gone).await?;
    place.make::<Secret>("web", secret(tls, "2")).await?;
    let again = |config: &ConfigMap| ordinal(config, "web") == Some(2) && has(config, "web");
    place
        .until::<ConfigMap>(ROUTER, "it is back", again)
        .await
        .map(drop)
}
