//! Links to other sites in a document: who this site is, where its links lead, and where those of others come in.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::attributes::{Attributes, Wrong};
use super::host::Host;

/// The highest cost of a link.
const MAX_COST: u32 = 1_000_000;

/// Attributes of links that mean nothing here.
const WITHOUT_EFFECT: [&str; 6] = [
    "name",
    "role",
    "linkCapacity",
    "maxFrameSize",
    "maxSessionFrames",
    "idleTimeoutSeconds",
];

/// Identity of a site as other sites see it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SiteIdentity {
    /// Its id; absent if the document has none that could be one.
    pub id: Option<String>,
    /// True if no traffic passes through the site.
    pub edge: bool,
    /// Name of the site.
    pub name: Option<String>,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Platform of the site.
    pub platform: Option<String>,
    /// Version of its controller.
    pub version: Option<String>,
}

/// A link that is dialled.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkConnector {
    /// The host of the router of the other site.
    pub host: Host,
    /// Its port.
    pub port: u16,
    /// Cost of the link.
    pub cost: u32,
    /// The profile with the certificate of this site, and with the authority of the network.
    pub profile: String,
    /// True if the certificate of the other router must be valid for `host`.
    pub verify_hostname: bool,
    /// The routing keys that streams over it may have; absent for all.
    pub allowed_keys: Option<BTreeSet<String>>,
}

/// Listener for links of other sites.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkListener {
    /// Host on which it listens; absent for the router's own bind address.
    pub host: Option<Host>,
    /// Its port.
    pub port: u16,
    /// Minimum cost of incoming links.
    pub cost: u32,
    /// The profile with the certificate of this site, and with the authority of the network.
    pub profile: String,
    /// The routing keys that streams over these links may have; absent for all.
    pub allowed_keys: Option<BTreeSet<String>>,
}

/// Returns true if a `connector` or `listener` belongs to links.
pub(super) fn is_link(map: &Map<String, Value>) -> bool {
    let role = map.get("role").and_then(Value::as_str);
    role.is_some_and(|role| role == "inter-router" || role == "edge")
}

/// Parses `router` and returns its errors.
pub(super) fn router(identity: &mut SiteIdentity, map: &Map<String, Value>) -> Option<String> {
    let text = |name: &str| map.get(name).and_then(Value::as_str);
    let metadata = text("metadata").filter(|metadata| !metadata.is_empty());
    let read = metadata.map(serde_json::from_str::<Map<String, Value>>);
    let (metadata, mut fault) = match read {
        None => (Map::new(), None),
        Some(Ok(metadata)) => (metadata, None),
        Some(Err(_)) => {
            let fault = "router: `metadata` is no JSON object such as {\"id\": \"..\"}".to_owned();
            (Map::new(), Some(fault))
        }
    };
    let told = |name: &str| {
        let told = metadata.get(name).and_then(Value::as_str);
        told.filter(|told| !told.is_empty()).map(str::to_owned)
    };
    identity.id = told("id").or_else(|| text("id").filter(|id| !id.is_empty()).map(str::to_owned));
    fill(identity, told);
    identity.edge = match text("mode") {
        Some("edge") => true,
        None | Some("" | "interior") => false,
        Some(other) => {
            fault = Some(format!(
                "router: `mode` is `{other}`; it can be interior, edge"
            ));
            false
        }
    };
    let is_id = |id: &String| id.len() <= super::MAX_SITE_ID && !id.chars().any(char::is_control);
    if let Some(id) = identity.id.take_if(|id| !is_id(id)) {
        fault = Some(format!(
            "router: `{}` is no id of a site: it is longer than {} bytes, or has control characters",
            id.escape_debug(),
            super::MAX_SITE_ID
        ));
    }
    fault
}

/// Fills in attributes from `site` that `router` does not set.
pub(super) fn site(identity: &mut SiteIdentity, map: &Map<String, Value>) {
    fill(identity, |name| {
        let told = map.get(name).and_then(Value::as_str);
        told.filter(|told| !told.is_empty()).map(str::to_owned)
    });
}

fn fill(identity: &mut SiteIdentity, told: impl Fn(&str) -> Option<String>) {
    let all = [
        ("name", &mut identity.name),
        ("namespace", &mut identity.namespace),
        ("platform", &mut identity.platform),
        ("version", &mut identity.version),
    ];
    for (name, place) in all {
        if place.is_none() {
            *place = told(name);
        }
    }
}

pub(super) fn connector(attributes: &mut Attributes<'_>) -> Result<LinkConnector, Wrong> {
    attributes.skip(&WITHOUT_EFFECT);
    attributes.one_of("saslMechanisms", &["EXTERNAL"])?;
    if attributes.text("proxyProfile")?.is_some() {
        return Err(Wrong::Proxy);
    }
    Ok(LinkConnector {
        host: Host::parse(attributes.needed("host")?)?,
        port: attributes.port()?,
        cost: cost(attributes)?,
        profile: attributes.needed("sslProfile")?,
        verify_hostname: attributes.flag("verifyHostname")?.unwrap_or(true),
        allowed_keys: attributes.texts("allowedKeys")?,
    })
}

pub(super) fn listener(attributes: &mut Attributes<'_>) -> Result<LinkListener, Wrong> {
    attributes.skip(&WITHOUT_EFFECT);
    attributes.one_of("saslMechanisms", &["EXTERNAL"])?;
    if attributes.flag("authenticatePeer")? == Some(false) {
        return Err(Wrong::Unauthenticated);
    }
    Ok(LinkListener {
        host: attributes.text("host")?.map(Host::parse).transpose()?,
        port: attributes.port()?,
        cost: cost(attributes)?,
        profile: attributes.needed("sslProfile")?,
        allowed_keys: attributes.texts("allowedKeys")?,
    })
}

fn cost(attributes: &mut Attributes<'_>) -> Result<u32, Wrong> {
    let Some(text) = attributes.text("cost")? else {
        return Ok(1);
    };
    let cost = text.parse::<i64>().ok();
    let cost = cost.and_then(|cost| u32::try_from(cost.max(1)).ok());
    cost.filter(|cost| *cost <= MAX_COST)
        .ok_or(Wrong::Cost(text))
}
