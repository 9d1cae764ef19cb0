//! The records of a network status, each parsed on its own: a broken record is left out and named,
//! and affects no other. It knows the format of the document only, and no consequences.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fmt::{self, Display, Formatter};

use serde_json::{Map, Value};

/// Upper bound on the named faults; further ones are counted.
const NAMED_FAULTS: usize = 3;

/// The longest text that a fault quotes, in characters.
const QUOTED: usize = 80;

/// The readable records of a network status.
#[derive(Debug, Default)]
pub(super) struct Network {
    /// Sites by their ids. Those that the document has twice are one.
    pub(super) sites: BTreeMap<String, SiteRecord>,
    /// The site behind an identity that links name as their peer; none if two sites claim it.
    pub(super) peers: BTreeMap<String, Option<String>>,
    /// The records that are left out.
    pub(super) faults: Faults,
}

impl Network {
    /// The site that a link leads to.
    pub(super) fn peer(&self, link: &LinkRecord) -> Option<&str> {
        self.peers.get(link.peer.as_deref()?)?.as_deref()
    }

    /// The name of a site.
    pub(super) fn name(&self, site: &str) -> Option<String> {
        self.sites.get(site)?.name.clone()
    }
}

/// A site.
#[derive(Debug, Default)]
pub(super) struct SiteRecord {
    pub(super) name: Option<String>,
    pub(super) namespace: Option<String>,
    pub(super) platform: Option<String>,
    pub(super) version: Option<String>,
    pub(super) routers: Vec<RouterRecord>,
}

/// A router of a site.
#[derive(Debug, Default)]
pub(super) struct RouterRecord {
    pub(super) links: Vec<LinkRecord>,
    /// Number of listeners for links; `None` if the document does not contain it.
    pub(super) accesses: Option<usize>,
    pub(super) listeners: Vec<ListenerRecord>,
    pub(super) connectors: Vec<ConnectorRecord>,
}

/// A link with a name.
#[derive(Debug)]
pub(super) struct LinkRecord {
    pub(super) name: String,
    pub(super) is_up: bool,
    pub(super) role: Option<String>,
    pub(super) cost: Option<u64>,
    pub(super) peer: Option<String>,
}

/// A listener with a name and a routing key.
#[derive(Debug)]
pub(super) struct ListenerRecord {
    pub(super) name: String,
    pub(super) key: String,
    pub(super) port: Option<String>,
}

/// A connector with a routing key and a host.
#[derive(Debug)]
pub(super) struct ConnectorRecord {
    pub(super) key: String,
    pub(super) host: String,
    pub(super) port: Option<String>,
}

/// Names the first faults and counts the others.
#[derive(Debug, Default)]
pub(super) struct Faults {
    named: Vec<String>,
    count: usize,
}

impl Faults {
    /// Adds a fault, whose text is built only if it is named.
    pub(super) fn add(&mut self, fault: impl FnOnce() -> String) {
        if self.named.len() < NAMED_FAULTS {
            self.named.push(fault());
        }
        self.count += 1;
    }

    /// The faults in one line; none if there are none.
    pub(super) fn line(&self) -> Option<String> {
        let more = self.count - self.named.len();
        let named = self.named.join(", ");
        match (self.count, more) {
            (0, _) => None,
            (_, 0) => Some(named),
            (_, more) => Some(format!("{named}, and {more} more")),
        }
    }
}

/// A text as a fault quotes it: without control characters, and not longer than a line.
pub(super) fn quoted(text: &str) -> String {
    let mut short: String = text.chars().take(QUOTED).collect();
    if short.len() < text.len() {
        short.push_str("..");
    }
    short.escape_debug().to_string()
}

/// A place in the document, such as `siteStatus[0].site`.
#[derive(Clone, Copy)]
struct DocumentPath<'a> {
    above: Option<&'a DocumentPath<'a>>,
    name: &'static str,
    at: Option<usize>,
}

impl<'a> DocumentPath<'a> {
    fn child(&'a self, name: &'static str) -> Self {
        Self {
            above: Some(self),
            name,
            at: None,
        }
    }

    fn at_index(self, at: usize) -> Self {
        let at = Some(at);
        Self { at, ..self }
    }
}

impl Display for DocumentPath<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(above) = self.above {
            write!(f, "{above}.")?;
        }
        f.write_str(self.name)?;
        self.at.map_or(Ok(()), |at| write!(f, "[{at}]"))
    }
}

/// One record, and the first attribute of it that is wrong.
struct Record<'a> {
    map: &'a Map<String, Value>,
    wrong: Option<(&'static str, &'static str)>,
}

impl<'a> Record<'a> {
    /// An attribute as text. Null and the empty text are absent, as for the program that writes the document.
    fn text(&mut self, name: &'static str) -> Option<String> {
        match self.map.get(name) {
            None | Some(Value::Null) => None,
            Some(Value::String(text)) => Some(text.clone()).filter(|text| !text.is_empty()),
            Some(Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_)) => {
                self.wrong = self.wrong.or(Some((name, "a text")));
                None
            }
        }
    }

    fn needed(&mut self, name: &'static str) -> String {
        let text = self.text(name);
        if text.is_none() {
            self.wrong = self.wrong.or(Some((name, "a text that is not empty")));
        }
        text.unwrap_or_default()
    }

    fn number(&mut self, name: &'static str) -> Option<u64> {
        let value = self.map.get(name).filter(|value| !value.is_null())?;
        let number = value.as_u64();
        if number.is_none() {
            self.wrong = self
                .wrong
                .or(Some((name, "a whole number that is not negative")));
        }
        number
    }

    /// A port as text, which older documents have as a number.
    fn port(&mut self) -> Option<String> {
        match self.map.get("destPort") {
            Some(Value::Number(port)) => Some(port.to_string()),
            None | Some(_) => self.text("destPort"),
        }
    }

    /// True for a record that the document keeps although it has ended.
    fn has_ended(&mut self) -> bool {
        self.number("endTime").is_some_and(|end| end > 0)
    }
}

/// Reads a document.
///
/// # Errors
/// Returns an error if the text is not a JSON object. The message has no subject.
pub(super) fn read(status: &str) -> Result<Network, String> {
    let value: Value =
        serde_json::from_str(status).map_err(|error| format!("is no JSON: {error}"))?;
    let Value::Object(document) = value else {
        return Err("is no JSON object with a list `siteStatus`".to_owned());
    };
    let mut reader = Reader::default();
    reader.network(&document);
    Ok(reader.network)
}

#[derive(Default)]
struct Reader {
    network: Network,
}

impl Reader {
    fn fault(&mut self, place: &DocumentPath<'_>, expected: &str) {
        let fault = || format!("`{place}` must be {expected}");
        self.network.faults.add(fault);
    }

    fn network(&mut self, document: &Map<String, Value>) {
        let place = DocumentPath {
            above: None,
            name: "siteStatus",
            at: None,
        };
        let sites = self.list(document, &place);
        for (at, site) in sites.unwrap_or_default().iter().enumerate() {
            let place = place.at_index(at);
            if let Some(record) = self.object(site, &place) {
                self.site(record.map, &place);
            }
        }
    }

    /// A site. Without its id nothing of it can be used.
    fn site(&mut self, map: &Map<String, Value>, place: &DocumentPath<'_>) {
        let head = place.child("site");
        let Some(value) = map.get(head.name) else {
            return self.fault(&head, "an object");
        };
        let Some(mut record) = self.object(value, &head) else {
            return;
        };
        let id = record.needed("identity");
        if self.is_left_out(&mut record, &head) {
            return;
        }
        // In documents of version 1 the name has another spelling.
        let namespace = record
            .text("namespace")
            .or_else(|| record.text("nameSpace"));
        let site = SiteRecord {
            name: record.text("name"),
            namespace,
            platform: record.text("platform"),
            version: record.text("siteVersion"),
            routers: Vec::new(),
        };
        if let Some((name, expected)) = record.wrong {
            self.fault(&head.child(name), expected);
        }
        let routers = place.child("routerStatus");
        let list = self.list(map, &routers);
        let list = list.unwrap_or_default().iter().enumerate();
        let routers = list.filter_map(|(at, router)| {
            let place = routers.at_index(at);
            let record = self.object(router, &place)?;
            self.router(&id, record.map, &place)
        });
        let mut routers: Vec<RouterRecord> = routers.collect();
        match self.network.sites.entry(id) {
            Entry::Vacant(free) => {
                free.insert(SiteRecord { routers, ..site });
            }
            Entry::Occupied(first) => {
                let id = quoted(first.key());
                first.into_mut().routers.append(&mut routers);
                let fault = || {
                    format!(
                        "`{place}` repeats site `{id}`; the routers of both records are counted together"
                    )
                };
                self.network.faults.add(fault);
            }
        }
    }

    fn router(
        &mut self,
        site: &str,
        map: &Map<String, Value>,
        place: &DocumentPath<'_>,
    ) -> Option<RouterRecord> {
        let head = place.child("router");
        if let Some(value) = map.get(head.name) {
            let mut record = self.object(value, &head)?;
            let identity = record.text("identity");
            if self.is_left_out(&mut record, &head) {
                return None;
            }
            identity
                .into_iter()
                .for_each(|identity| self.peer(identity, site));
        }
        let accesses = self.records(map, place.child("routerAccess"), |record| {
            Some(record.needed("identity"))
        });
        let router = RouterRecord {
            links: self
                .records(map, place.child("links"), link)
                .unwrap_or_default(),
            accesses: accesses.as_ref().map(Vec::len),
            listeners: self
                .records(map, place.child("listeners"), listener)
                .unwrap_or_default(),
            connectors: self
                .records(map, place.child("connectors"), connector)
                .unwrap_or_default(),
        };
        for access in accesses.into_iter().flatten() {
            self.peer(access, site);
        }
        Some(router)
    }

    /// An identity that two sites claim leads to neither.
    fn peer(&mut self, identity: String, site: &str) {
        match self.network.peers.entry(identity) {
            Entry::Vacant(free) => {
                free.insert(Some(site.to_owned()));
            }
            Entry::Occupied(mut other) => {
                if other.get().as_deref() != Some(site) {
                    other.insert(None);
                    let identity = quoted(other.key());
                    let fault =
                        || format!("identity `{identity}` must be of one site, and two have it");
                    self.network.faults.add(fault);
                }
            }
        }
    }

    /// The records of a list; none if the document has no such list.
    fn records<T>(
        &mut self,
        map: &Map<String, Value>,
        place: DocumentPath<'_>,
        read: fn(&mut Record<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        let list = self.list(map, &place)?;
        let records = list.iter().enumerate().filter_map(|(at, value)| {
            let place = place.at_index(at);
            let mut record = self.object(value, &place)?;
            let read = read(&mut record);
            read.filter(|_| !self.is_left_out(&mut record, &place))
        });
        Some(records.collect())
    }

    fn list<'a>(
        &mut self,
        map: &'a Map<String, Value>,
        place: &DocumentPath<'_>,
    ) -> Option<&'a [Value]> {
        match map.get(place.name) {
            None | Some(Value::Null) => None,
            Some(Value::Array(list)) => Some(list),
            Some(Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_)) => {
                self.fault(place, "a list");
                None
            }
        }
    }

    fn object<'a>(&mut self, value: &'a Value, place: &DocumentPath<'_>) -> Option<Record<'a>> {
        let map = value.as_object();
        if map.is_none() {
            self.fault(place, "an object");
        }
        map.map(|map| Record { map, wrong: None })
    }

    fn is_left_out(&mut self, record: &mut Record<'_>, place: &DocumentPath<'_>) -> bool {
        let has_ended = record.has_ended();
        if let Some((name, expected)) = record.wrong {
            self.fault(&place.child(name), expected);
        }
        has_ended || record.wrong.is_some()
    }
}

fn link(record: &mut Record<'_>) -> Option<LinkRecord> {
    let (name, status) = (record.text("name"), record.text("status"));
    let link = LinkRecord {
        name: name.clone().unwrap_or_default(),
        is_up: status.is_some_and(|status| status.eq_ignore_ascii_case("up")),
        role: record.text("role"),
        cost: record.number("linkCost"),
        peer: record.text("peer"),
    };
    (name.is_some() || record.wrong.is_some()).then_some(link)
}

fn listener(record: &mut Record<'_>) -> Option<ListenerRecord> {
    let (name, key) = (record.text("name"), record.text("address"));
    let port = record.port();
    let counts = name.is_some() && key.is_some();
    let listener = ListenerRecord {
        name: name.unwrap_or_default(),
        key: key.unwrap_or_default(),
        port,
    };
    (counts || record.wrong.is_some()).then_some(listener)
}

fn connector(record: &mut Record<'_>) -> Option<ConnectorRecord> {
    let (key, host) = (record.text("address"), record.text("destHost"));
    let port = record.port();
    let counts = key.is_some() && host.is_some();
    let connector = ConnectorRecord {
        key: key.unwrap_or_default(),
        host: host.unwrap_or_default(),
        port,
    };
    (counts || record.wrong.is_some()).then_some(connector)
}
