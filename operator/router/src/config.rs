//! The configuration document (`skrouterd.json`, an array of `[entity, attributes]`) as what it asks for. Pure.
//! What is wrong with one entry is said of that entry and spoils no other; only a text that is no such array is refused whole.

mod addresses;
mod attributes;
mod host;
mod links;
pub(crate) mod proxies;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};
use thiserror::Error;

pub use addresses::ListenerAddress;
use attributes::Attributes;
pub use attributes::{Wrong, hash};
pub use host::Host;
pub use links::{LinkConnector, LinkListener, SiteIdentity};

use crate::keys::Keys;

/// The longest id of a site, in bytes.
pub const MAX_SITE_ID: usize = 128;

/// What a document asks for.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Desired {
    /// The identity of the router, as it is shown in its state.
    pub router: Option<String>,
    /// Who this site is for others.
    pub site: SiteIdentity,
    /// TLS profiles by name.
    pub profiles: BTreeMap<String, ConfigEntry<Profile>>,
    /// Listeners by name.
    pub listeners: BTreeMap<String, ConfigEntry<Listener>>,
    /// Routing keys of listeners that have several, by name.
    pub addresses: BTreeMap<String, ConfigEntry<ListenerAddress>>,
    /// Connectors by name.
    pub connectors: BTreeMap<String, ConfigEntry<Connector>>,
    /// Links to other sites by name.
    pub link_connectors: BTreeMap<String, ConfigEntry<LinkConnector>>,
    /// Where links of other sites come in, by name.
    pub link_listeners: BTreeMap<String, ConfigEntry<LinkListener>>,
    /// Proxies of the existing router whose passwords are in files.
    pub(crate) proxies: BTreeSet<String>,
    /// What is wrong with elements that cannot be shown as an entry.
    pub faults: Vec<String>,
}

/// A named entry of the document.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigEntry<T> {
    /// Tells whether what is applied is what was written; see [`hash`].
    pub hash: String,
    /// What it asks for, or what is wrong with it.
    pub wanted: Result<T, Wrong>,
}

/// Where clients come in. Only what traffic depends on: an `observer` or a `siteId` may change under open connections.
#[derive(Clone, Debug, PartialEq)]
pub struct Listener {
    /// Where it listens; absent for the router's own bind address.
    pub host: Option<Host>,
    /// Its port.
    pub port: u16,
    /// Its routing keys.
    pub keys: Keys,
    /// The profile of its certificate.
    pub profile: Option<String>,
    /// Whether clients must show a certificate of the profile's CA.
    pub require_client_certificate: bool,
}

/// Where connections go.
#[derive(Clone, Debug, PartialEq)]
pub struct Connector {
    /// The host of the server.
    pub host: Host,
    /// Its port.
    pub port: u16,
    /// The routing key.
    pub key: String,
    /// The profile with the server's CA, and with the certificate to show if it has one.
    pub profile: Option<String>,
    /// Whether the server's certificate must be for `host`.
    pub verify_hostname: bool,
    /// True if the document names the Pod of the server.
    pub has_pod: bool,
}

impl Connector {
    /// Whether connections would come back to a listener of the same key. Names are not resolved, except `localhost`.
    fn leads_to(&self, listener: &Listener) -> bool {
        let is_same = listener.keys.has(&self.key) && self.port == listener.port;
        is_same
            && match (&self.host, &listener.host) {
                (Host::Name(to), Some(Host::Name(at))) => to.eq_ignore_ascii_case(at),
                (Host::Address(to), Some(Host::Address(at))) if !at.is_unspecified() => to == at,
                (Host::Address(to), Some(Host::Address(_))) => to.is_loopback(),
                (Host::Name(name), Some(Host::Address(at))) => {
                    let is_here = at.is_loopback() || at.is_unspecified();
                    is_here && name.eq_ignore_ascii_case("localhost")
                }
                (Host::Address(to), Some(Host::Name(name))) => {
                    to.is_loopback() && name.eq_ignore_ascii_case("localhost")
                }
                // Where it listens, an option of the router says.
                (_, None) => false,
            }
    }
}

/// The files of a TLS profile, below the directory of certificates.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Profile {
    /// The certificates of authorities.
    pub ca: Option<String>,
    /// The certificate chain and the private key.
    pub pair: Option<(String, String)>,
}

impl Profile {
    /// All its files.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        let pair = self.pair.iter().flat_map(|(chain, key)| [chain, key]);
        self.ca.iter().chain(pair).map(String::as_str)
    }
}

/// Why a document is refused whole.
#[derive(Debug, Error)]
pub enum Error {
    /// It is no JSON.
    #[error("the configuration document is no JSON")]
    Json(#[source] serde_json::Error),
    /// It is something else than an array.
    #[error("the configuration document is no array of [entity, attributes]")]
    NotAnArray,
}

/// Where the existing implementation expects profiles; the same files are found below the directory of certificates here.
const CERTIFICATES: &str = "/etc/skupper-router-certs/";

/// Entities whose subject has no meaning for one site without management protocol: they may be there, and nothing follows.
const WITHOUT_EFFECT: [&str; 4] = ["address", "connector", "listener", "log"];

/// Reads a document.
///
/// # Errors
/// The text is no JSON array.
pub fn read(document: &[u8]) -> Result<Desired, Error> {
    let value: Value = serde_json::from_slice(document).map_err(Error::Json)?;
    let Value::Array(elements) = value else {
        return Err(Error::NotAnArray);
    };
    let mut desired = Desired::default();
    for (at, element) in elements.iter().enumerate() {
        match element.as_array().map(Vec::as_slice) {
            Some([Value::String(entity), Value::Object(attributes)]) => {
                desired.add(entity, attributes);
            }
            _ => desired
                .faults
                .push(format!("element {at} is no [entity, attributes]")),
        }
    }
    desired.join_addresses();
    desired.check_links();
    desired.check_circles();
    Ok(desired)
}

impl Desired {
    fn add(&mut self, entity: &str, map: &Map<String, Value>) {
        let name = map.get("name").and_then(Value::as_str).unwrap_or_default();
        let fault = match entity {
            "router" => {
                self.router = map.get("id").and_then(Value::as_str).map(str::to_owned);
                links::router(&mut self.site, map)
            }
            "site" => {
                links::site(&mut self.site, map);
                None
            }
            "sslProfile" => put(&mut self.profiles, entity, name, map, profile),
            "tcpListener" => put(&mut self.listeners, entity, name, map, listener),
            "tcpConnector" => put(&mut self.connectors, entity, name, map, connector),
            "connector" if links::is_link(map) => put(
                &mut self.link_connectors,
                entity,
                name,
                map,
                links::connector,
            ),
            "listener" if links::is_link(map) => {
                put(&mut self.link_listeners, entity, name, map, links::listener)
            }
            "listenerAddress" => put(&mut self.addresses, entity, name, map, addresses::address),
            // This router dials without a proxy; the existing one gets its password from the adaptor.
            "proxyProfile" => {
                let file = Some(name).filter(|name| proxies::has_file(name, map));
                self.proxies.extend(file.map(str::to_owned));
                None
            }
            ignored if WITHOUT_EFFECT.contains(&ignored) => None,
            unknown => Some(format!("`{unknown}` is no entity of this router")),
        };
        self.faults.extend(fault);
    }

    /// Finds connectors that lead to a listener of their own routing key, at the address where that listens.
    fn check_circles(&mut self) {
        let listeners = &self.listeners;
        for entry in self.connectors.values_mut() {
            let Ok(connector) = &entry.wanted else {
                continue;
            };
            let circle = listeners.iter().find(|(_, listener)| {
                let listener = listener.wanted.as_ref();
                listener.is_ok_and(|listener| connector.leads_to(listener))
            });
            if let Some((name, _)) = circle {
                entry.wanted = Err(Wrong::Circle(name.clone()));
            }
        }
    }

    /// Finds links that cannot be because of what the site is, wherever in the document that is said.
    fn check_links(&mut self) {
        let is_nameless = self.site.id.is_none();
        for entry in self.link_connectors.values_mut() {
            if entry.wanted.is_ok() && is_nameless {
                entry.wanted = Err(Wrong::NoSite);
            }
        }
        for entry in self.link_listeners.values_mut() {
            if entry.wanted.is_ok() && is_nameless {
                entry.wanted = Err(Wrong::NoSite);
            } else if entry.wanted.is_ok() && self.site.edge {
                entry.wanted = Err(Wrong::Edge);
            }
        }
    }
}

/// Adds an entry, or says why it cannot have one. Of two with a name the first stays, as with the existing implementation.
fn put<T>(
    entries: &mut BTreeMap<String, ConfigEntry<T>>,
    entity: &str,
    name: &str,
    map: &Map<String, Value>,
    read: fn(&mut Attributes<'_>) -> Result<T, Wrong>,
) -> Option<String> {
    if name.is_empty() {
        return Some(format!("a {entity} has no `name`"));
    }
    if entries.contains_key(name) {
        return Some(format!(
            "{entity} `{name}` is there twice; the first is used"
        ));
    }
    let mut attributes = Attributes::of(map);
    let wanted = read(&mut attributes).and_then(|wanted| attributes.none_left().map(|()| wanted));
    let hash = hash(map);
    entries.insert(name.to_owned(), ConfigEntry { hash, wanted });
    None
}

fn listener(attributes: &mut Attributes<'_>) -> Result<Listener, Wrong> {
    attributes.skip(&["name", "siteId", "processId"]);
    attributes.tcp_only()?;
    attributes.one_of("observer", &["auto", "none", "http1", "http2"])?;
    let profile = attributes.text("sslProfile")?;
    let require_client_certificate = attributes.flag("authenticatePeer")?.unwrap_or(false);
    if require_client_certificate && profile.is_none() {
        return Err(Wrong::AuthenticateWithoutProfile);
    }
    Ok(Listener {
        host: attributes.text("host")?.map(Host::parse).transpose()?,
        port: attributes.port()?,
        keys: addresses::keys(attributes)?,
        profile,
        require_client_certificate,
    })
}

fn connector(attributes: &mut Attributes<'_>) -> Result<Connector, Wrong> {
    attributes.skip(&["name", "siteId"]);
    attributes.tcp_only()?;
    attributes.one_of("observer", &["auto", "none", "http1", "http2"])?;
    Ok(Connector {
        host: Host::parse(attributes.needed("host")?)?,
        port: attributes.port()?,
        key: attributes.needed("address")?,
        profile: attributes.text("sslProfile")?,
        verify_hostname: attributes.flag("verifyHostname")?.unwrap_or(true),
        has_pod: attributes.text("processId")?.is_some(),
    })
}

fn profile(attributes: &mut Attributes<'_>) -> Result<Profile, Wrong> {
    attributes.skip(&["name", "ordinal", "oldestValidOrdinal"]);
    let ca = attributes.text("caCertFile")?.map(below).transpose()?;
    let chain = attributes.text("certFile")?.map(below).transpose()?;
    let key = attributes.text("privateKeyFile")?.map(below).transpose()?;
    let pair = match (chain, key) {
        (Some(chain), Some(key)) => Some((chain, key)),
        (None, None) => None,
        (Some(_), None) => return Err(Wrong::Missing("privateKeyFile")),
        (None, Some(_)) => return Err(Wrong::Missing("certFile")),
    };
    if ca.is_none() && pair.is_none() {
        return Err(Wrong::EmptyProfile);
    }
    Ok(Profile { ca, pair })
}

/// The path of a file below the directory of certificates: nothing of a document leads out of it.
fn below(path: String) -> Result<String, Wrong> {
    let inside = path.strip_prefix(CERTIFICATES).unwrap_or(&path);
    let well = !inside.is_empty()
        && inside
            .split('/')
            .all(|part| !part.is_empty() && part != "." && part != ".." && !part.contains('\0'));
    if well {
        Ok(inside.to_owned())
    } else {
        Err(Wrong::Outside(path))
    }
}

#[cfg(test)]
mod tests;
