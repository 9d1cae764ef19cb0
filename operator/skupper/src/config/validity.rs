//! Validity of the declared objects. An error that the API server would report later is reported
//! here at once.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::Secret;
use kube::ResourceExt;
use lifecycle_router::config::Host;
use lifecycle_runtime::Because;
use lifecycle_runtime::selector::LabelSelector;
use lifecycle_specs_skupper::attached::{self, AttachedConnectorSpec};
use lifecycle_specs_skupper::attached_binding::{self, AttachedConnectorBindingSpec};
use lifecycle_specs_skupper::certificate::{self, CertificateSpec};
use lifecycle_specs_skupper::connector::{self, ConnectorSpec};
use lifecycle_specs_skupper::link::{self, LinkSpec};
use lifecycle_specs_skupper::listener::{self, ListenerSpec};
use lifecycle_specs_skupper::multi_key_listener::{self, MultiKeyListenerSpec, Strategy};
use lifecycle_specs_skupper::router_access::{self, RouterAccessSpec};
use lifecycle_specs_skupper::site::{self, Endpoint, Site, SiteSpec};

use super::document::{self, ALLOWED_KEYS, ROLES, roles};
use super::links;
use super::proxies;
use crate::data_plane::{self, ADAPTOR_SETTING, Adaptor, DataPlane};
use crate::namespace::sizing::SETTING;
use crate::platform::Platform;
use crate::settings::{CONNECTIONS, LOGGING, PRIOR, named, setting};

/// Message for a namespace without a Site, and for one whose Site cannot serve.
const NO_SITE: &str = "No active site in namespace";
/// As long as the name of a Service may be.
const LONGEST: usize = 63;
const ACCESS: [&str; 4] = ["default", "local", "loadbalancer", "nodeport"];
/// Ports on which the router answers probes and serves its state.
const OWN: [i64; 2] = [9090, 9443];

/// Of a Listener.
pub fn listener(spec: &ListenerSpec, platform: Platform) -> Because<listener::Validity> {
    let lacks = [
        ("routingKey", spec.routing_key.is_empty()),
        ("host", spec.host.is_empty()),
    ];
    let wrong = [
        missing(&lacks, Some(spec.port)),
        no_port(spec.port),
        bad_host(&spec.host, platform),
        other_kind(spec.kind.as_deref()),
        bad_observer(spec),
        no_credentials(spec.require_client_cert, spec.tls_credentials.as_ref()),
    ];
    match wrong.into_iter().flatten().next() {
        Some(said) => Because::new(listener::Validity::Unfit, said),
        None => Because::plain(listener::Validity::Fine),
    }
}

/// Of a MultiKeyListener.
pub fn multi_key_listener(
    spec: &MultiKeyListenerSpec,
    platform: Platform,
) -> Because<multi_key_listener::Validity> {
    use multi_key_listener::Validity;
    let lacks = [("host", spec.host.is_empty())];
    let credentials = no_credentials(spec.require_client_cert, spec.tls_credentials.as_ref());
    let wrong = [
        (Validity::Incomplete, missing(&lacks, Some(spec.port))),
        (Validity::BadPort, no_port(spec.port)),
        (Validity::BadHost, bad_host(&spec.host, platform)),
        (Validity::BadStrategy, bad_strategy(&spec.strategy)),
        (Validity::NoCredentials, credentials),
    ];
    let mut wrong = wrong.into_iter();
    let first = wrong.find_map(|(validity, said)| Some(Because::new(validity, said?)));
    first.unwrap_or_else(|| Because::plain(Validity::Fine))
}

/// Repeats checks of the schema, because an object may have been stored under another one.
fn bad_strategy(strategy: &Strategy) -> Option<String> {
    let keys: Vec<&String> = match (&strategy.priority, &strategy.weighted) {
        (Some(priority), None) => priority.routing_keys.iter().collect(),
        (None, Some(weighted)) => weighted.routing_keys.keys().collect(),
        (Some(_), Some(_)) | (None, None) => {
            return Some("spec.strategy must be either priority or weighted".to_owned());
        }
    };
    if keys.is_empty() {
        return Some("spec.strategy has no routingKeys: name at least one".to_owned());
    }
    if keys.iter().any(|key| key.is_empty()) {
        return Some("spec.strategy has an empty routing key: leave it out".to_owned());
    }
    let mut seen = BTreeSet::new();
    if let Some(twice) = keys.into_iter().find(|key| !seen.insert(*key)) {
        return Some(format!(
            "spec.strategy has routing key \"{twice}\" twice: leave one out"
        ));
    }
    let weights = &strategy.weighted.as_ref()?.routing_keys;
    let bad = weights
        .iter()
        .find(|(_, weight)| u32::try_from(**weight).is_err());
    if let Some((key, weight)) = bad {
        return Some(format!(
            "spec.strategy: weight {weight} of \"{key}\" must be between 0 and {}",
            u32::MAX
        ));
    }
    weights
        .values()
        .all(|weight| *weight == 0)
        .then(|| "spec.strategy has no weight above 0, so connections would go nowhere".to_owned())
}

/// The field is one of them by its schema, and goes before the setting.
fn bad_observer(spec: &ListenerSpec) -> Option<String> {
    let set = spec.settings.as_ref()?.get("observer")?;
    let read = spec.observer.is_some() || document::known_observer(set).is_some();
    (!read).then(|| {
        format!("spec.settings.observer \"{set}\" is not supported: use auto, none, http1 or http2, or leave it out")
    })
}

/// A Listener that requires client certificates must not get a socket that accepts every client.
fn no_credentials(required: Option<bool>, secret: Option<&String>) -> Option<String> {
    (required == Some(true) && named(secret).is_none()).then(|| {
        "spec.requireClientCert needs spec.tlsCredentials: name the Secret whose ca.crt verifies clients, or leave requireClientCert out".to_owned()
    })
}

fn bad_host(host: &str, platform: Platform) -> Option<String> {
    match platform {
        Platform::Kubernetes => (!is_label(host)).then(|| {
            format!(
                "spec.host \"{host}\" cannot be the name of a Service: it must consist of at most {LONGEST} lower case letters, digits or '-', and start and end with a letter or digit"
            )
        }),
        Platform::Linux => Host::parse(host.to_owned()).is_err().then(|| {
            format!(
                "spec.host \"{host}\" is neither an IP address nor a host name of letters, digits, '-' and '.': set the address to listen on, such as 127.0.0.1, or 0.0.0.0 for all"
            )
        }),
    }
}

/// Of a Connector.
pub fn connector(spec: &ConnectorSpec) -> Because<connector::Validity> {
    let lacks = [("routingKey", spec.routing_key.is_empty())];
    match missing(&lacks, Some(spec.port)) {
        Some(sentence) => Because::new(connector::Validity::Incomplete, sentence),
        None => target(spec),
    }
}

/// Validates an AttachedConnector, which serves the same as this Connector would with a routing
/// key.
pub fn attached(
    spec: &AttachedConnectorSpec,
    connector: &ConnectorSpec,
) -> Because<attached::Validity> {
    let lacks = [
        ("siteNamespace", spec.site_namespace.is_empty()),
        ("selector", spec.selector.is_empty()),
    ];
    if let Some(sentence) = missing(&lacks, Some(spec.port)) {
        return Because::new(attached::Validity::Incomplete, sentence);
    }
    target(connector).map(|validity| match validity {
        connector::Validity::Fine => attached::Validity::Fine,
        connector::Validity::Incomplete
        | connector::Validity::NoTarget
        | connector::Validity::BadSelector => attached::Validity::BadSelector,
        connector::Validity::BadPort => attached::Validity::BadPort,
        connector::Validity::BadType => attached::Validity::BadType,
    })
}

/// Of an AttachedConnectorBinding.
pub fn binding(spec: &AttachedConnectorBindingSpec) -> Because<attached_binding::Validity> {
    let lacks = [
        ("connectorNamespace", spec.connector_namespace.is_empty()),
        ("routingKey", spec.routing_key.is_empty()),
    ];
    match missing(&lacks, None) {
        Some(sentence) => Because::new(attached_binding::Validity::Incomplete, sentence),
        None => Because::plain(attached_binding::Validity::Fine),
    }
}

/// Validates a Certificate. The code that parses the hosts reports errors in them.
pub fn certificate(
    spec: &CertificateSpec,
    bad_host: Option<&str>,
) -> Because<certificate::Validity> {
    let signs_itself = spec.signing == Some(true);
    let lacks = [
        ("ca", spec.ca.is_empty() && !signs_itself),
        ("subject", spec.subject.is_empty()),
    ];
    if let Some(sentence) = missing(&lacks, None) {
        return Because::new(certificate::Validity::Incomplete, sentence);
    }
    match bad_host {
        Some(host) => Because::new(
            certificate::Validity::BadHost,
            format!(
                "spec.hosts has \"{host}\", which is neither a name nor an address: a certificate cannot be for it"
            ),
        ),
        None => Because::plain(certificate::Validity::Fine),
    }
}

/// Of a Link of a site, which may be an edge site, with the Secret of the proxy that it names.
pub fn link(
    spec: &LinkSpec,
    edge: bool,
    plane: DataPlane,
    proxy: Option<&Secret>,
) -> Because<link::Validity> {
    let role = links::role(edge);
    let Some(endpoint) = links::endpoint(spec, edge) else {
        let names = spec.endpoints.iter().filter_map(|e| e.name.as_deref());
        let names: Vec<String> = names.map(|name| format!("\"{name}\"")).collect();
        let there = match names.is_empty() {
            true => "no endpoint has a name".to_owned(),
            false => format!("it has {}", names.join(", ")),
        };
        let sort = match edge {
            true => "an edge site",
            false => "a site that is no edge site",
        };
        let sentence = format!(
            "spec.endpoints has none with the name \"{role}\", which {sort} dials: {there}"
        );
        return Because::new(link::Validity::NoEndpoint, sentence);
    };
    let wrong = [
        (link::Validity::BadHost, bad_endpoint(role, endpoint)),
        (link::Validity::BadPort, no_text_port(role, endpoint)),
        (link::Validity::NoCredentials, bare_link(spec)),
        (link::Validity::Proxy, proxied(spec, plane, proxy)),
        (link::Validity::Keys, limited(spec.settings.as_ref(), plane)),
    ];
    let mut wrong = wrong.into_iter();
    let first = wrong.find_map(|(validity, said)| Some(Because::new(validity, said?)));
    first.unwrap_or_else(|| Because::plain(link::Validity::Fine))
}

fn bad_endpoint(role: &str, endpoint: &Endpoint) -> Option<String> {
    let host = endpoint.host.as_deref().unwrap_or_default();
    Host::parse(host.to_owned()).is_err().then(|| {
        format!("spec.endpoints: host \"{host}\" of \"{role}\" is neither an IP address nor a host name: set the address of the other site")
    })
}

fn no_text_port(role: &str, endpoint: &Endpoint) -> Option<String> {
    let port = endpoint.port.as_deref().unwrap_or_default();
    let fits = port.bytes().all(|byte| byte.is_ascii_digit())
        && port.parse::<u16>().is_ok_and(|port| port > 0);
    (!fits).then(|| {
        format!("spec.endpoints: port \"{port}\" of \"{role}\" is no port: it must be between 1 and 65535")
    })
}

/// Two sites that cannot know each other are not linked.
fn bare_link(spec: &LinkSpec) -> Option<String> {
    named(spec.tls_credentials.as_ref()).is_none().then(|| {
        "spec.tlsCredentials is required: name the Secret with ca.crt, tls.crt and tls.key by which the two sites authenticate each other".to_owned()
    })
}

/// The router of this project dials without a proxy.
fn proxied(spec: &LinkSpec, plane: DataPlane, secret: Option<&Secret>) -> Option<String> {
    let proxy = proxies::named_by(spec)?;
    match plane {
        DataPlane::SkupperRouter => proxies::wrong(proxy, secret),
        DataPlane::Embedded => Some(format!(
            "spec.settings.proxy-configuration \"{proxy}\" is not supported, for a link is dialled without a proxy: leave it out"
        )),
    }
}

/// A setting that keeps others out is not silently without effect.
fn limited(settings: Option<&BTreeMap<String, String>>, plane: DataPlane) -> Option<String> {
    let is_limited = document::allowed_keys(settings).is_some();
    (is_limited && plane == DataPlane::SkupperRouter).then(|| {
        format!(
            "spec.settings.{ALLOWED_KEYS} is not supported by data plane \"skupper-router\", whose links carry all keys: leave it out"
        )
    })
}

/// Validates a RouterAccess at the Site of its router.
pub fn router_access(
    spec: &RouterAccessSpec,
    site: &Site,
    plane: DataPlane,
) -> Because<router_access::Validity> {
    use router_access::Validity;
    let lacks = [
        ("roles", spec.roles.is_empty()),
        ("tlsCredentials", spec.tls_credentials.is_empty()),
    ];
    let edge = site.spec.edge == Some(true);
    let edge = edge.then(|| "Edge sites cannot accept incoming links from remote sites".to_owned());
    let wrong = [
        (Validity::Incomplete, missing(&lacks, None)),
        (Validity::Edge, edge),
        (Validity::BadRole, bad_role(spec)),
        (Validity::BadPort, bad_access_port(spec)),
        (Validity::Keys, limited(spec.settings.as_ref(), plane)),
    ];
    let mut wrong = wrong.into_iter();
    let first = wrong.find_map(|(validity, said)| Some(Because::new(validity, said?)));
    first.unwrap_or_else(|| Because::plain(Validity::Fine))
}

/// Returns true if a RouterAccess can be served at any Site of a data plane.
pub fn is_served(spec: &RouterAccessSpec, plane: DataPlane) -> bool {
    let said = !spec.roles.is_empty() && !spec.tls_credentials.is_empty();
    let limited = limited(spec.settings.as_ref(), plane).is_some();
    said && !limited && bad_role(spec).is_none() && bad_access_port(spec).is_none()
}

fn bad_role(spec: &RouterAccessSpec) -> Option<String> {
    let mut seen = BTreeSet::new();
    spec.roles.iter().find_map(|role| {
        let name = role.name.as_str();
        if ROLES.iter().all(|(known, _)| *known != name) {
            return Some(format!(
                "spec.roles has \"{name}\", which is no role: use inter-router or edge"
            ));
        }
        (!seen.insert(name)).then(|| format!("spec.roles has \"{name}\" twice: leave one out"))
    })
}

fn bad_access_port(spec: &RouterAccessSpec) -> Option<String> {
    let mut seen = BTreeSet::new();
    roles(spec).find_map(|(name, port)| {
        let fits = u16::try_from(port).is_ok_and(|port| port > 0);
        if !fits {
            return Some(format!(
                "spec.roles: port {port} of \"{name}\" is no port: it must be between 1 and 65535"
            ));
        }
        if OWN.contains(&port) {
            return Some(format!(
                "spec.roles: port {port} of \"{name}\" is used by the router itself: choose another one"
            ));
        }
        (!seen.insert(port)).then(|| {
            format!("spec.roles: port {port} is that of two roles: give \"{name}\" another one")
        })
    })
}

/// Returns the required fields that are missing, one line each. An object may come without `spec`.
/// If only the port is 0, its author has set it.
fn missing(lacks: &[(&str, bool)], port: Option<i64>) -> Option<String> {
    let named = lacks.iter().filter(|(_, lacks)| *lacks);
    let mut names: Vec<&str> = named.map(|(name, _)| *name).collect();
    if !names.is_empty() && port == Some(0) {
        names.push("port");
    }
    let lines = names.iter().map(|name| format!("spec.{name} is required"));
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn target(spec: &ConnectorSpec) -> Because<connector::Validity> {
    let selector = named(spec.selector.as_ref());
    if named(spec.host.as_ref()).is_none() && selector.is_none() {
        let sentence = "Connector must define a non-empty spec.host or spec.selector";
        return Because::new(connector::Validity::NoTarget, sentence);
    }
    if let Some(Err(why)) = selector.map(LabelSelector::parse) {
        let sentence = format!("spec.selector cannot be read: {why}");
        return Because::new(connector::Validity::BadSelector, sentence);
    }
    if let Some(sentence) = no_port(spec.port) {
        return Because::new(connector::Validity::BadPort, sentence);
    }
    match other_kind(spec.kind.as_deref()) {
        Some(sentence) => Because::new(connector::Validity::BadType, sentence),
        None => Because::plain(connector::Validity::Fine),
    }
}

/// Validates a Site for its platform.
pub fn site_on(platform: Platform, spec: &SiteSpec) -> Because<site::Validity> {
    let answer = site(spec);
    let fine = answer.value == site::Validity::Fine && platform.binds_host();
    match typed_access(spec).filter(|_| fine) {
        Some(sentence) => Because::new(site::Validity::Unfit, sentence),
        None => answer,
    }
}

/// Returns the message for a site without Kubernetes whose `linkAccess` is an access type of a
/// cluster.
fn typed_access(spec: &SiteSpec) -> Option<String> {
    let access = access(spec).filter(|access| *access != "default")?;
    Some(format!(
        "spec.linkAccess \"{access}\" has no meaning without Kubernetes: set it to \"default\" to let other sites reach this machine"
    ))
}

/// Of a Site.
pub fn site(spec: &SiteSpec) -> Because<site::Validity> {
    let (edge, pair) = (spec.edge == Some(true), spec.ha == Some(true));
    if edge && pair {
        return Because::new(site::Validity::Unfit, "Edge sites cannot have HA enabled");
    }
    if pair {
        let sentence = "spec.ha is not supported, so the site has one router: leave it out";
        return Because::new(site::Validity::Unfit, sentence);
    }
    let planes = DataPlane::NAMES.map(|(known, _)| known);
    let adaptors = Adaptor::NAMES.map(|(known, _)| known);
    let unknown = unknown(spec, data_plane::SETTING, "data plane", planes)
        .or_else(|| unknown(spec, ADAPTOR_SETTING, "adaptor", adaptors));
    if let Some(sentence) = unknown {
        return Because::new(site::Validity::Unfit, sentence);
    }
    match access(spec) {
        Some(access) if !ACCESS.contains(&access) => Because::new(
            site::Validity::Unfit,
            format!("Unsupported value for LinkAccess: {access}"),
        ),
        Some(_) | None => Because::plain(site::Validity::Fine),
    }
}

/// Returns a message with the known names of a setting, if it has another one.
fn unknown(spec: &SiteSpec, key: &str, what: &str, known: [&str; 2]) -> Option<String> {
    let name = setting(spec, key).filter(|name| !known.contains(name))?;
    let [one, other] = known;
    Some(format!(
        "spec.settings.{key} \"{name}\" is not a known {what}, so it has no effect: set it to \"{one}\" or \"{other}\""
    ))
}

/// Setting of the existing implementation without a counterpart here. It keeps a pair of routers
/// apart, so nothing is missing without it.
const NEEDLESS: &str = "disable-anti-affinity";

/// The settings of a Site that have no effect, a line each.
pub fn unapplied(platform: Platform, plane: DataPlane, spec: &SiteSpec) -> Vec<String> {
    let settings = spec.settings.iter().flatten();
    let idle = settings.filter_map(|(name, _)| match name.as_str() {
        NEEDLESS => None,
        LOGGING | SETTING | data_plane::SETTING if !platform.binds_host() => None,
        CONNECTIONS | ADAPTOR_SETTING | PRIOR if plane == DataPlane::SkupperRouter => None,
        LOGGING | SETTING | data_plane::SETTING => Some(format!(
            "spec.settings.{name} has no effect outside Kubernetes: leave it out"
        )),
        _ => Some(format!(
            "spec.settings.{name} has no effect: {}, {LOGGING} and {SETTING} are known",
            data_plane::SETTING
        )),
    });
    idle.collect()
}

/// Returns true if a Site reports an error that blocks it. A requested feature that is not
/// implemented keeps no object from being served.
pub fn blocked(site: &Site) -> Because<bool> {
    let own = [
        Some(self::site(&site.spec).sentence),
        typed_access(&site.spec),
    ];
    let is_own = |line: &str| own.iter().flatten().any(|own| own == line);
    let conditions = site.status.iter().flat_map(|s| &s.common.conditions);
    let told = conditions.flatten().find(|c| {
        let is_error = c.status == "False" && c.reason == "Error";
        let is_new = c.observed_generation == site.metadata.generation;
        c.type_ == "Configured" && is_error && is_new
    });
    let lines = told.iter().flat_map(|c| c.message.lines());
    let lines: Vec<&str> = lines.filter(|l| !l.is_empty() && !is_own(l)).collect();
    if lines.is_empty() {
        return Because::plain(false);
    }
    let said = lines.join("; ");
    let sentence = format!("{NO_SITE}: Site {}: {said}", site.name_any());
    Because::new(true, sentence)
}

/// How other sites are to reach a Site, if at all.
pub fn access(spec: &SiteSpec) -> Option<&str> {
    named(spec.link_access.as_ref()).filter(|access| *access != "none")
}

/// Returns true if the Site accepts links from other sites, by an access type that its platform
/// supports.
pub fn is_linked(platform: Platform, spec: &SiteSpec) -> bool {
    let is_foreign = platform.binds_host() && typed_access(spec).is_some();
    access(spec).is_some_and(|access| ACCESS.contains(&access)) && !is_foreign
}

fn no_port(port: i64) -> Option<String> {
    let fits = u16::try_from(port).is_ok_and(|port| port > 0);
    (!fits).then(|| format!("spec.port {port} is no port: it must be between 1 and 65535"))
}

fn other_kind(kind: Option<&str>) -> Option<String> {
    let kind = kind.filter(|kind| !kind.is_empty() && *kind != "tcp")?;
    Some(format!(
        "spec.type \"{kind}\" is not supported: leave it out, or set it to \"tcp\""
    ))
}

/// A label of RFC 1123, the name of a Service since Kubernetes 1.36. An older API server refuses a digit at its start, and the status repeats that.
fn is_label(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    (1..=LONGEST).contains(&text.len())
        && text.chars().all(fits)
        && !text.starts_with('-')
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests;
