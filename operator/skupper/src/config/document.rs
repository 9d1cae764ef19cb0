//! The configuration of a site's router, in the format of the existing implementation: an array of
//! `[entity, attributes]`. Unset attributes are left out. Order and text depend only on the
//! requested content.

use std::collections::{BTreeMap, BTreeSet};

use lifecycle_runtime::This;
use lifecycle_specs_skupper::SelectedPod;
use lifecycle_specs_skupper::connector::ConnectorSpec;
use lifecycle_specs_skupper::listener::{ListenerSpec, Observer};
use lifecycle_specs_skupper::multi_key_listener::{MultiKeyListenerSpec, Strategy};
use lifecycle_specs_skupper::router::LOCAL_SERVER;
use lifecycle_specs_skupper::router_access::RouterAccessSpec;
use lifecycle_specs_skupper::site::Site;
use serde_json::{Map, Value, json};

use super::ports::{PortAllocation, PriorDecision};
use crate::data_plane::{Adaptor, DataPlane};
use crate::platform::Platform;
use crate::settings::{CONNECTIONS, LOGGING, PRIOR, named, setting};

/// Directory in which the router finds the files of a profile.
pub const CERTIFICATES: &str = "/etc/skupper-router-certs";

/// Ends the name of a profile of a Secret that is only its authority, or that a link uses.
const OF_CLIENT: &str = "-profile";

/// Roles of router ports, with the default port of each.
pub const ROLES: [(&str, i64); 2] = [("inter-router", 55671), ("edge", 45671)];

/// How a Site is named in the configuration of its router.
#[derive(Clone, Debug)]
pub struct SiteIdentity<'a> {
    /// The name of the Site.
    pub name: &'a str,
    /// Its uid.
    pub uid: &'a str,
    /// Its namespace.
    pub namespace: &'a str,
    /// True if no connection passes through the site.
    pub edge: bool,
    /// Platform of the site.
    pub platform: Platform,
    /// Its data plane.
    pub plane: DataPlane,
    /// The adaptor of the existing router.
    pub adaptor: Adaptor,
    /// Number of earlier versions of a certificate that the existing router accepts, if set.
    pub prior: Option<&'a str>,
    /// Number of data connections of a link of the existing router, if set.
    pub connections: Option<&'a str>,
    /// Log levels of the existing router, if set.
    pub logging: Option<&'a str>,
    /// Of the operator.
    pub version: &'a str,
}

impl<'a> SiteIdentity<'a> {
    /// Of a Site.
    pub fn from_site(site: &'a Site) -> Self {
        Self::of_this(This::new(site))
    }

    /// Of the Site that is reconciled.
    pub fn of_this(site: This<'a, Site>) -> Self {
        Self {
            name: site.meta.name.as_deref().unwrap_or_default(),
            uid: site.meta.uid.as_deref().unwrap_or_default(),
            namespace: site.meta.namespace.as_deref().unwrap_or_default(),
            edge: site.spec.edge == Some(true),
            platform: Platform::default(),
            plane: DataPlane::default(),
            adaptor: Adaptor::default(),
            prior: setting(site.spec, PRIOR),
            connections: setting(site.spec, CONNECTIONS),
            logging: setting(site.spec, LOGGING),
            version: env!("CARGO_PKG_VERSION"),
        }
    }
}

/// A Listener, or one Pod of it, that the Site offers.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredListener<'a> {
    /// Allocation of host and port.
    pub allocation: &'a PortAllocation,
    /// Spec of the Listener.
    pub spec: DeclaredSpec<'a>,
    /// Platform that decides where the router listens for it.
    pub platform: Platform,
}

/// The spec of a Listener of either kind.
#[derive(Clone, Copy, Debug)]
pub enum DeclaredSpec<'a> {
    /// One routing key.
    One(&'a ListenerSpec),
    /// Several.
    Several(&'a MultiKeyListenerSpec),
}

impl<'a> DeclaredSpec<'a> {
    fn tls_credentials(self) -> Option<&'a str> {
        named(match self {
            Self::One(spec) => spec.tls_credentials.as_ref(),
            Self::Several(spec) => spec.tls_credentials.as_ref(),
        })
    }

    fn requires_client_cert(self) -> bool {
        let required = match self {
            Self::One(spec) => spec.require_client_cert,
            Self::Several(spec) => spec.require_client_cert,
        };
        required == Some(true)
    }

    /// Returns the observer. The field takes precedence over the setting; an unknown value of the
    /// setting is ignored.
    fn observer(self) -> Option<Value> {
        let observer = match self {
            Self::One(spec) => {
                let set = || known_observer(spec.settings.as_ref()?.get("observer")?);
                spec.observer.or_else(set)
            }
            Self::Several(spec) => spec.observer,
        };
        observer.map(|observer| json!(observer))
    }
}

/// A Connector that serves a routing key, with the Pods that its selector means and their uids.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredConnector<'a> {
    /// The name of the Connector.
    pub name: &'a str,
    /// Spec of the Connector.
    pub spec: &'a ConnectorSpec,
    /// Empty where it names a host.
    pub pods: &'a [(SelectedPod, String)],
}

/// RouterAccess through which routers of other sites link to the Site's router.
#[derive(Clone, Copy, Debug)]
pub struct DeclaredAccess<'a> {
    /// The name of the RouterAccess.
    pub name: &'a str,
    /// Spec of the RouterAccess.
    pub spec: &'a RouterAccessSpec,
}

/// One entry, by its entity.
pub type ConfigEntry = (&'static str, Map<String, Value>);

/// An entry with the profile that it names.
pub type Profiled = (ConfigEntry, Option<(String, Value)>);

/// Returns the document. Links and kept entries each come with the profile that they name. The
/// router itself sees if the Secret of an entry exists. If not, it degrades that entry alone.
pub fn document(
    site: &SiteIdentity<'_>,
    listeners: &[DeclaredListener<'_>],
    connectors: &[DeclaredConnector<'_>],
    accesses: &[DeclaredAccess<'_>],
    beside: Vec<Profiled>,
) -> Value {
    let local = (LOCAL_SERVER.to_owned(), pair(LOCAL_SERVER));
    let mut profiles: BTreeMap<String, Value> = [local].into();
    let mut entries: Vec<ConfigEntry> = Vec::new();
    for declared in listeners {
        let secret = declared.spec.tls_credentials();
        profiles.extend(secret.map(|secret| (secret.to_owned(), pair(secret))));
        entries.extend(listener_entries(site, *declared));
    }
    for declared in connectors {
        let secret = named(declared.spec.tls_credentials.as_ref());
        profiles.extend(secret.map(|secret| match declared.spec.use_client_cert {
            Some(true) => (secret.to_owned(), pair(secret)),
            Some(false) | None => (of_client(secret), authority(secret)),
        }));
        entries.extend(connector_entries(site, *declared));
    }
    for declared in accesses {
        let secret = declared.spec.tls_credentials.as_str();
        profiles.insert(secret.to_owned(), pair(secret));
        entries.extend(access_entries(*declared));
    }
    for (entry, profile) in beside {
        if let Some((name, profile)) = profile {
            let there = profiles.entry(name).or_insert(Value::Null);
            // A link needs the whole Secret; other entries need only its authority.
            if there.is_null() || is_authority(there) {
                *there = profile;
            }
        }
        entries.push(entry);
    }
    let mut all = vec![router(site)];
    all.extend(profiles.into_values());
    all.push(json!(["listener", {
        "name": "@9090", "role": "normal", "port": 9090, "http": true, "httpRootDir": "disabled",
        "healthz": true, "metrics": true,
    }]));
    all.push(json!(["address", { "prefix": "mc", "distribution": "multicast" }]));
    entries.sort_by_cached_key(key);
    all.extend(
        entries
            .into_iter()
            .map(|(entity, attributes)| json!([entity, attributes])),
    );
    Value::Array(all)
}

/// Returns the key of an entry, which also identifies it in the router's state.
pub fn key((entity, attributes): &ConfigEntry) -> String {
    let name = attributes.get("name").and_then(Value::as_str);
    format!("{entity}/{}", name.unwrap_or_default())
}

/// The ports of the router that a document gives to Listeners, by the names of their entries.
///
/// # Errors
/// The text is no such document.
pub fn recovered(document: &str) -> serde_json::Result<PriorDecision> {
    let all: Vec<(String, Map<String, Value>)> = serde_json::from_str(document)?;
    let port = |(entity, attributes): (String, Map<String, Value>)| {
        let name = attributes.get("name")?.as_str()?;
        // Those of single Pods are named after both.
        let is_listener = entity == "tcpListener" && !name.contains('@');
        let port = attributes.get("port")?.as_str()?.parse().ok()?;
        is_listener.then(|| (name.to_owned(), port))
    };
    Ok(PriorDecision {
        recovered: all.into_iter().filter_map(port).collect(),
        ..PriorDecision::default()
    })
}

fn router(site: &SiteIdentity<'_>) -> Value {
    let mut metadata =
        json!({ "id": site.uid, "version": site.version, "platform": site.platform.name() });
    let mut router = json!({
        "id": format!("{}-${{HOSTNAME}}", site.name),
        "mode": if site.edge { "edge" } else { "interior" },
        "helloMaxAgeSeconds": "3",
    });
    match site.plane {
        DataPlane::Embedded => {
            metadata["name"] = site.name.into();
            metadata["namespace"] = site.namespace.into();
        }
        DataPlane::SkupperRouter => {
            if let Some(count) = site.connections {
                router["dataConnectionCount"] = count.into();
            }
        }
    }
    router["metadata"] = metadata.to_string().into();
    json!(["router", router])
}

/// The profile of the Secret that a link uses, by its name.
pub fn link_profile(secret: &str) -> (String, Value) {
    let name = of_client(secret);
    let profile = pair(&name);
    (name, profile)
}

fn pair(name: &str) -> Value {
    let file = |file: &str| format!("{CERTIFICATES}/{name}/{file}");
    json!(["sslProfile", {
        "name": name, "caCertFile": file("ca.crt"),
        "certFile": file("tls.crt"), "privateKeyFile": file("tls.key"),
    }])
}

/// The Secrets of the profiles of a document, by profile, as its router finds them, too.
pub fn secrets_of(entries: &[(String, Map<String, Value>)]) -> BTreeMap<String, String> {
    let text = |attributes: &Map<String, Value>, name: &str| {
        let text = attributes.get(name).and_then(Value::as_str);
        text.map(str::to_owned)
    };
    let links = entries.iter().filter(|(entity, _)| entity == "connector");
    let links: BTreeSet<String> = links.filter_map(|(_, a)| text(a, "sslProfile")).collect();
    let profiles = entries.iter().filter(|(entity, _)| entity == "sslProfile");
    let secret = |(_, attributes): &(String, Map<String, Value>)| {
        let name = text(attributes, "name")?;
        let short = !attributes.contains_key("certFile") || links.contains(&name);
        let secret = name.strip_suffix(OF_CLIENT).filter(|_| short);
        let secret = secret.unwrap_or(&name).to_owned();
        Some((name, secret))
    };
    profiles.filter_map(secret).collect()
}

fn of_client(secret: &str) -> String {
    format!("{secret}{OF_CLIENT}")
}

fn is_authority(profile: &Value) -> bool {
    let attributes = profile.get(1).and_then(Value::as_object);
    attributes.is_some_and(|attributes| !attributes.contains_key("certFile"))
}

fn authority(secret: &str) -> Value {
    let name = of_client(secret);
    let file = format!("{CERTIFICATES}/{name}/ca.crt");
    json!(["sslProfile", { "name": name, "caCertFile": file }])
}

/// The entries of a Listener, or of one Pod of it: one, and one for each key if it has several.
pub fn listener_entries(
    site: &SiteIdentity<'_>,
    declared: DeclaredListener<'_>,
) -> Vec<ConfigEntry> {
    let mut entries = vec![listener_entry(site, declared)];
    if let DeclaredSpec::Several(spec) = declared.spec {
        entries.extend(address_entries(declared.allocation, &spec.strategy));
    }
    entries
}

/// The entries of the keys of a MultiKeyListener. The first of an order has the highest value.
fn address_entries(allocation: &PortAllocation, strategy: &Strategy) -> Vec<ConfigEntry> {
    let listener = listener_name(allocation);
    let entry = |key: &str, value: i64| {
        let attributes = json!({
            "name": format!("{}/{key}", allocation.name), "listener": listener, "address": key, "value": value,
        });
        let Value::Object(attributes) = attributes else {
            unreachable!("it is written as an object")
        };
        ("listenerAddress", attributes)
    };
    let ordered = strategy
        .priority
        .iter()
        .flat_map(|p| p.routing_keys.iter().rev());
    let ordered = (0..).zip(ordered).map(|(value, key)| entry(key, value));
    let weighted = strategy.weighted.iter().flat_map(|w| &w.routing_keys);
    let weighted = weighted.map(|(key, weight)| entry(key, *weight));
    ordered.chain(weighted).collect()
}

/// The entry of a Listener, or of one Pod of it.
fn listener_entry(site: &SiteIdentity<'_>, declared: DeclaredListener<'_>) -> ConfigEntry {
    let DeclaredListener {
        allocation,
        spec,
        platform,
    } = declared;
    let (attribute, value) = match (spec, &allocation.pod) {
        (DeclaredSpec::One(spec), None) => ("address", spec.routing_key.clone()),
        (DeclaredSpec::One(spec), Some(pod)) => ("address", of_pod(&spec.routing_key, pod)),
        (DeclaredSpec::Several(spec), _) => {
            let strategy = match &spec.strategy.priority {
                Some(_) => "priority",
                None => "weighted",
            };
            ("multiAddressStrategy", strategy.to_owned())
        }
    };
    let mut attributes = Map::new();
    attributes.insert("name".to_owned(), listener_name(allocation).into());
    let port = if platform.binds_host() {
        attributes.insert("host".to_owned(), allocation.host.as_str().into());
        allocation.port
    } else {
        allocation.router_port
    };
    attributes.insert("port".to_owned(), port.to_string().into());
    attributes.insert(attribute.to_owned(), value.into());
    attributes.insert("siteId".to_owned(), site.uid.into());
    if let Some(secret) = spec.tls_credentials() {
        attributes.insert("sslProfile".to_owned(), secret.into());
    }
    // Also without a profile: the router opens no socket for that.
    if spec.requires_client_cert() {
        attributes.insert("authenticatePeer".to_owned(), true.into());
    }
    if let Some(observer) = spec.observer().filter(|_| allocation.pod.is_none()) {
        attributes.insert("observer".to_owned(), observer);
    }
    ("tcpListener", attributes)
}

/// The name of the entry of a Listener, or of one Pod of it.
pub fn listener_name(allocation: &PortAllocation) -> String {
    let name = allocation.holder.entry(&allocation.name);
    match &allocation.pod {
        None => name,
        Some(pod) => format!("{name}@{pod}"),
    }
}

/// The routing key of a single Pod.
pub fn of_pod(key: &str, pod: &str) -> String {
    format!("{key}.{pod}")
}

/// Setting that names the routing keys whose streams may pass, separated by commas.
pub const ALLOWED_KEYS: &str = "allowed-keys";

/// An observer by its name, if it is one.
pub fn known_observer(name: &str) -> Option<Observer> {
    serde_json::from_value(name.into()).ok()
}

/// The roles of a RouterAccess that are known, with their ports.
pub fn roles(spec: &RouterAccessSpec) -> impl Iterator<Item = (&str, i64)> {
    spec.roles.iter().filter_map(|role| {
        let mut known = ROLES.iter().filter(|(name, _)| *name == role.name);
        let (name, usual) = known.next()?;
        Some((*name, role.port.filter(|port| *port != 0).unwrap_or(*usual)))
    })
}

/// Returns the routing keys that the settings of a Link or a RouterAccess let pass, in the form
/// that the router expects: `("allowedKeys", ["web", "api"])`. Without the setting all keys pass.
/// With an empty setting none pass, which a list can express and a text cannot.
pub fn allowed_keys(settings: Option<&BTreeMap<String, String>>) -> Option<(String, Value)> {
    let keys = settings?.get(ALLOWED_KEYS)?;
    let keys = keys.split(',').map(str::trim).filter(|key| !key.is_empty());
    let keys: Vec<&str> = keys.collect();
    Some(("allowedKeys".to_owned(), Value::from(keys)))
}

/// The entries of a RouterAccess: a listener for each of its roles.
pub fn access_entries(declared: DeclaredAccess<'_>) -> Vec<ConfigEntry> {
    let DeclaredAccess { name, spec } = declared;
    let entry = |(role, port): (&str, i64)| {
        let mut attributes = Map::new();
        attributes.insert("name".to_owned(), access_name(name, role).into());
        attributes.insert("role".to_owned(), role.into());
        if let Some(host) = named(spec.bind_host.as_ref()) {
            attributes.insert("host".to_owned(), host.into());
        }
        attributes.insert("port".to_owned(), port.into());
        attributes.insert(
            "sslProfile".to_owned(),
            spec.tls_credentials.as_str().into(),
        );
        attributes.insert("saslMechanisms".to_owned(), "EXTERNAL".into());
        attributes.insert("authenticatePeer".to_owned(), true.into());
        attributes.extend(allowed_keys(spec.settings.as_ref()));
        ("listener", attributes)
    };
    roles(spec).map(entry).collect()
}

/// The name of the entry of a role of a RouterAccess.
pub fn access_name(name: &str, role: &str) -> String {
    format!("{name}-{role}")
}

/// The entries of a Connector.
pub fn connector_entries(
    site: &SiteIdentity<'_>,
    declared: DeclaredConnector<'_>,
) -> Vec<ConfigEntry> {
    let DeclaredConnector { name, spec, pods } = declared;
    if let Some(host) = spec.host.as_ref().filter(|host| !host.is_empty()) {
        let name = format!("connector/{name}@{host}");
        return vec![connector_entry(
            site,
            spec,
            (&name, &spec.routing_key),
            host,
        )];
    }
    let mut all = Vec::new();
    for (pod, uid) in pods {
        let by_address = format!("connector/{name}@{}", pod.ip);
        let mut entries = vec![connector_entry(
            site,
            spec,
            (&by_address, &spec.routing_key),
            &pod.ip,
        )];
        if spec.expose_pods_by_name == Some(true) {
            let by_name = format!("connector/{name}@{}", pod.name);
            let key = of_pod(&spec.routing_key, &pod.name);
            entries.push(connector_entry(site, spec, (&by_name, &key), &pod.ip));
        }
        // Of Pods of another namespace the uid is not known; that it is a Pod, the router is to know all the same.
        let id = match uid.is_empty() {
            true => &pod.name,
            false => uid,
        };
        for (_, attributes) in &mut entries {
            attributes.insert("processId".to_owned(), id.as_str().into());
        }
        all.extend(entries);
    }
    all
}

fn connector_entry(
    site: &SiteIdentity<'_>,
    spec: &ConnectorSpec,
    (name, key): (&str, &str),
    host: &str,
) -> ConfigEntry {
    let mut attributes = Map::new();
    attributes.insert("name".to_owned(), name.into());
    attributes.insert("host".to_owned(), host.into());
    attributes.insert("port".to_owned(), spec.port.to_string().into());
    attributes.insert("address".to_owned(), key.into());
    attributes.insert("siteId".to_owned(), site.uid.into());
    if let Some(secret) = named(spec.tls_credentials.as_ref()) {
        let profile = match spec.use_client_cert {
            Some(true) => secret.into(),
            Some(false) | None => of_client(secret),
        };
        attributes.insert("sslProfile".to_owned(), profile.into());
        // The router's own default is the other one.
        let verify = spec.verify_hostname.unwrap_or(false);
        attributes.insert("verifyHostname".to_owned(), verify.into());
    }
    ("tcpConnector", attributes)
}

#[cfg(test)]
mod tests;
