//! The configuration document (`skrouterd.json`, an array of `[entity, attributes]`), parsed into
//! the desired configuration. Pure. An error in one entry is reported for that entry and affects no
//! other. Only a text that is not such an array is refused as a whole.

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

/// Configuration that a document requests.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Desired {
    /// The identity of the router, as it is shown in its state.
    pub router: Option<String>,
    /// Identity of this site as other sites see it.
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
    /// Listeners for links of other sites, by name.
    pub link_listeners: BTreeMap<String, ConfigEntry<LinkListener>>,
    /// Proxies of the existing router whose passwords are in files.
    pub(crate) proxies: BTreeSet<String>,
    /// Errors in elements that cannot be shown as an entry.
    pub faults: Vec<String>,
}

/// A named entry of the document.
#[derive(Clone, Debug, PartialEq)]
pub struct ConfigEntry<T> {
    /// Hash that shows if the applied entry is the written one; see [`hash`].
    pub hash: String,
    /// Configuration that the entry requests, or its error.
    pub wanted: Result<T, Wrong>,
}

/// Listener for clients. It holds only the attributes that traffic depends on: an `observer` or a
/// `siteId` may change under open connections.
#[derive(Clone, Debug, PartialEq)]
pub struct Listener {
    /// Host on which it listens; absent for the router's own bind address.
    pub host: Option<Host>,
    /// Its port.
    pub port: u16,
    /// Its routing keys.
    pub keys: Keys,
    /// The profile of its certificate.
    pub profile: Option<String>,
    /// True if clients must present a certificate of the profile's CA.
    pub require_client_certificate: bool,
}

/// Destination of connections.
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
    /// True if the server's certificate must be valid for `host`.
    pub verify_hostname: bool,
    /// True if the document names the Pod of the server.
    pub has_pod: bool,
}

impl Connector {
    /// Returns true if connections would come back to a listener of the same key. It does not
    /// resolve names, except `localhost`.
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
                // An option of the router determines the address on which it listens.
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

/// Directory in which the existing implementation expects profiles. In this router the files are in
/// the directory of certificates.
const CERTIFICATES: &str = "/etc/skupper-router-certs/";

/// Entities whose subject has no meaning for one site without management protocol: they are
/// accepted and have no effect.
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
            "sslProfile" => insert_entry(&mut self.profiles, entity, name, map, profile),
            "tcpListener" => insert_entry(&mut self.listeners, entity, name, map, listener),
            "tcpConnector" => insert_entry(&mut self.connectors, entity, name, map, connector),
            "connector" if links::is_link(map) => insert_entry(
                &mut self.link_connectors,
                entity,
                name,
                map,
                links::connector,
            ),
            "listener" if links::is_link(map) => {
                insert_entry(&mut self.link_listeners, entity, name, map, links::listener)
            }
            "listenerAddress" => {
                insert_entry(&mut self.addresses, entity, name, map, addresses::address)
            }
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

    /// Finds links that cannot exist because of the kind of the site, wherever in the document the
    /// kind is stated.
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

/// Adds an entry, or reports the reason if it cannot have one. If two entries share a name, the
/// first one stays, as with the existing implementation.
fn insert_entry<T>(
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
    let mut attributes = Attributes::new(map);
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
    let ca = attributes
        .text("caCertFile")?
        .map(certificate_path)
        .transpose()?;
    let chain = attributes
        .text("certFile")?
        .map(certificate_path)
        .transpose()?;
    let key = attributes
        .text("privateKeyFile")?
        .map(certificate_path)
        .transpose()?;
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
fn certificate_path(path: String) -> Result<String, Wrong> {
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
