//! The configuration of a site's router, in the format of the existing implementation: an array of `[entity, attributes]`.
//! What is not set is left out. Order and text depend on nothing but what is asked for.

use std::collections::{BTreeMap, BTreeSet};

use lifecycle_specs::skupper::SelectedPod;
use lifecycle_specs::skupper::connector::{Connector, ConnectorSpec};
use lifecycle_specs::skupper::listener::{ListenerSpec, Observer};
use serde_json::{Map, Value, json};

use super::claims::{Before, Claim};

/// Where the router finds the files of a profile.
const CERTIFICATES: &str = "/etc/skupper-router-certs";

/// The site that the router belongs to.
#[derive(Clone, Debug)]
pub struct Identity<'a> {
    /// The name of the Site.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
    /// Whether nobody goes through it.
    pub edge: bool,
    /// Of the operator.
    pub version: &'a str,
}

/// What is offered at the site.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// What it has been given.
    pub claim: &'a Claim,
    /// What it asks for.
    pub spec: &'a ListenerSpec,
}

/// What serves a routing key, with the Pods that its selector means and their uids.
#[derive(Clone, Copy, Debug)]
pub struct Server<'a> {
    /// The Connector.
    pub connector: &'a Connector,
    /// Empty where it names a host.
    pub pods: &'a [(SelectedPod, String)],
}

/// The document. An entry whose Secret is not among these is left out, and only that.
pub fn document(
    site: &Identity<'_>,
    offers: &[Offer<'_>],
    servers: &[Server<'_>],
    secrets: &BTreeSet<String>,
) -> Value {
    let mut profiles = BTreeMap::new();
    let mut entries = Vec::new();
    for offer in offers {
        let secret = named(offer.spec.tls_credentials.as_ref());
        if secret.is_some_and(|secret| !secrets.contains(secret)) {
            continue;
        }
        profiles.extend(secret.map(|secret| (secret.to_owned(), pair(secret))));
        entries.push(listener(site, *offer));
    }
    for server in servers {
        let spec = &server.connector.spec;
        let secret = named(spec.tls_credentials.as_ref());
        if secret.is_some_and(|secret| !secrets.contains(secret)) {
            continue;
        }
        profiles.extend(secret.map(|secret| match spec.use_client_cert {
            Some(true) => (secret.to_owned(), pair(secret)),
            Some(false) | None => (authority_of(secret), authority(secret)),
        }));
        entries.extend(connectors(site, *server));
    }
    let mut all = vec![router(site)];
    all.extend(profiles.into_values());
    all.push(json!(["listener", {
        "name": "@9090", "role": "normal", "port": 9090, "http": true, "httpRootDir": "disabled",
        "healthz": true, "metrics": true,
    }]));
    all.push(json!(["address", { "prefix": "mc", "distribution": "multicast" }]));
    entries.sort_by_key(|entry| (entry[0].to_string(), entry[1]["name"].to_string()));
    all.extend(entries);
    Value::Array(all)
}

/// The ports of the router that a document gives to Listeners, by their names.
///
/// # Errors
/// The text is no such document.
pub fn recovered(document: &str) -> serde_json::Result<Before> {
    let all: Vec<(String, Map<String, Value>)> = serde_json::from_str(document)?;
    let port = |(entity, attributes): (String, Map<String, Value>)| {
        let name = attributes.get("name")?.as_str()?;
        let name = name.strip_prefix("listener/")?;
        // Those of single Pods are named after both.
        let is_listener = entity == "tcpListener" && !name.contains('@');
        let port = attributes.get("port")?.as_str()?.parse().ok()?;
        is_listener.then(|| (name.to_owned(), port))
    };
    Ok(Before {
        claims: Vec::new(),
        recovered: all.into_iter().filter_map(port).collect(),
    })
}

fn named(secret: Option<&String>) -> Option<&str> {
    secret
        .map(String::as_str)
        .filter(|secret| !secret.is_empty())
}

fn router(site: &Identity<'_>) -> Value {
    let metadata = json!({ "id": site.uid, "version": site.version });
    json!(["router", {
        "id": format!("{}-${{HOSTNAME}}", site.name),
        "mode": if site.edge { "edge" } else { "interior" },
        "helloMaxAgeSeconds": "3",
        "metadata": metadata.to_string(),
    }])
}

fn pair(secret: &str) -> Value {
    let file = |name: &str| format!("{CERTIFICATES}/{secret}/{name}");
    json!(["sslProfile", {
        "name": secret, "caCertFile": file("ca.crt"),
        "certFile": file("tls.crt"), "privateKeyFile": file("tls.key"),
    }])
}

fn authority_of(secret: &str) -> String {
    format!("{secret}-profile")
}

fn authority(secret: &str) -> Value {
    let name = authority_of(secret);
    let file = format!("{CERTIFICATES}/{name}/ca.crt");
    json!(["sslProfile", { "name": name, "caCertFile": file }])
}

fn listener(site: &Identity<'_>, Offer { claim, spec }: Offer<'_>) -> Value {
    let mut attributes = json!({
        "name": format!("listener/{}", claim.name),
        "port": claim.router_port.to_string(),
        "address": spec.routing_key,
        "siteId": site.uid,
    });
    if let Some(secret) = named(spec.tls_credentials.as_ref()) {
        attributes["sslProfile"] = secret.into();
        if spec.require_client_cert == Some(true) {
            attributes["authenticatePeer"] = true.into();
        }
    }
    if let Some(observer) = observer(spec) {
        attributes["observer"] = observer;
    }
    json!(["tcpListener", attributes])
}

/// The field goes before the setting; a setting that says nothing known counts as none.
fn observer(spec: &ListenerSpec) -> Option<Value> {
    let set = || {
        let set = spec.settings.as_ref()?.get("observer")?;
        serde_json::from_value::<Observer>(set.as_str().into()).ok()
    };
    spec.observer.or_else(set).map(|observer| json!(observer))
}

fn connectors(site: &Identity<'_>, server: Server<'_>) -> Vec<Value> {
    let (meta, spec) = (&server.connector.metadata, &server.connector.spec);
    let name = meta.name.as_deref().unwrap_or_default();
    if let Some(host) = spec.host.as_ref().filter(|host| !host.is_empty()) {
        let attributes = connector(site, spec, &format!("connector/{name}@{host}"), host);
        return vec![json!(["tcpConnector", attributes])];
    }
    let mut all = Vec::new();
    for (pod, uid) in server.pods {
        let by_address = format!("connector/{name}@{}", pod.ip);
        let mut attributes = connector(site, spec, &by_address, &pod.ip);
        attributes["processId"] = uid.as_str().into();
        if spec.expose_pods_by_name == Some(true) {
            let mut own = attributes.clone();
            own["name"] = format!("connector/{name}@{}", pod.name).into();
            own["address"] = format!("{}.{}", spec.routing_key, pod.name).into();
            all.push(json!(["tcpConnector", own]));
        }
        all.push(json!(["tcpConnector", attributes]));
    }
    all
}

fn connector(site: &Identity<'_>, spec: &ConnectorSpec, name: &str, host: &str) -> Value {
    let mut attributes = json!({
        "name": name, "host": host, "port": spec.port.to_string(),
        "address": spec.routing_key, "siteId": site.uid,
    });
    if let Some(secret) = named(spec.tls_credentials.as_ref()) {
        attributes["sslProfile"] = match spec.use_client_cert {
            Some(true) => secret.into(),
            Some(false) | None => authority_of(secret).into(),
        };
        // The router's own default is the other one.
        attributes["verifyHostname"] = spec.verify_hostname.unwrap_or(false).into();
    }
    attributes
}

#[cfg(test)]
mod tests;
