//! The network status: the JSON document that controllers and tools of the existing implementation read.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value, json};

use super::{Network, Records};
use crate::adaptor::vanflow::{Kind, Record, Text};

/// Records that are left out of a document that would be too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::adaptor) enum Detail {
    /// Nothing.
    Full,
    /// Of other sites, all but one listener and one connector of each routing key.
    OneOfKey,
    /// Of other sites, also those of routing keys that the own site does not have on the opposite side.
    OwnKeys,
    /// All listeners and connectors of other sites, and the addresses.
    OwnSite,
}

impl Detail {
    const ALL: [Self; 4] = [Self::Full, Self::OneOfKey, Self::OwnKeys, Self::OwnSite];

    /// The detail in a message.
    pub(in crate::adaptor) fn text(self) -> &'static str {
        match self {
            Self::Full => "all entries",
            Self::OneOfKey => "one listener and one connector of other sites of each routing key",
            Self::OwnKeys => "those entries of other sites alone that match the own ones",
            Self::OwnSite => "no entries of other sites",
        }
    }
}

impl Network {
    /// The document, sorted.
    pub(in crate::adaptor) fn status(&self, detail: Detail) -> Value {
        let records = self.records();
        let mut writer = Writer {
            own: self.own(),
            needed: needed(&records, self.own()),
            records: &records,
            detail,
            written: BTreeSet::new(),
        };
        let sites: Vec<Value> = records.sites().map(|site| writer.site(site)).collect();
        let addresses = match detail {
            Detail::Full | Detail::OneOfKey | Detail::OwnKeys => addresses(&records),
            Detail::OwnSite => Vec::new(),
        };
        json!({"addresses": addresses, "siteStatus": sites})
    }

    /// The document as text, with as much detail as it has room for; none if even the least is too large.
    pub(in crate::adaptor) fn text(&self, most: usize) -> Option<(String, Detail)> {
        Detail::ALL.into_iter().find_map(|detail| {
            let text = self.status(detail).to_string();
            (text.len() <= most).then_some((text, detail))
        })
    }
}

/// The routing keys of the own site, each with the kind that it needs of other sites.
fn needed(records: &Records<'_>, own: Option<&str>) -> BTreeSet<(Kind, String)> {
    let mut needed = BTreeSet::new();
    let routers = own.map_or(&[][..], |own| records.children(Kind::Router, own));
    for router in routers {
        let sides = [
            (Kind::Listener, Kind::Connector),
            (Kind::Connector, Kind::Listener),
        ];
        for (kind, opposite) in sides {
            let entries = records.children(kind, &router.id).iter();
            let keys = entries.filter_map(|entry| entry.text(Text::Address));
            needed.extend(keys.map(|key| (opposite, key.to_owned())));
        }
    }
    needed
}

struct Writer<'a> {
    own: Option<&'a str>,
    needed: BTreeSet<(Kind, String)>,
    records: &'a Records<'a>,
    detail: Detail,
    /// Kinds and keys of other sites that the document has already.
    written: BTreeSet<(Kind, String)>,
}

impl<'a> Writer<'a> {
    fn site(&mut self, site: &Record) -> Value {
        let routers = self.records.children(Kind::Router, &site.id);
        let routers: Vec<Value> = routers.iter().map(|it| self.router(site, it)).collect();
        let names = [
            ("name", Text::Name),
            ("namespace", Text::Namespace),
            ("platform", Text::Platform),
            ("siteVersion", Text::Version),
        ];
        let mut head = texts(site, &names);
        head.insert("identity".to_owned(), site.id.clone().into());
        json!({"site": head, "routerStatus": routers})
    }

    fn router(&mut self, site: &Record, router: &Record) -> Value {
        let names = [
            ("name", Text::Name),
            ("namespace", Text::Namespace),
            ("mode", Text::Mode),
            ("imageName", Text::ImageName),
            ("imageVersion", Text::ImageVersion),
            ("hostname", Text::Hostname),
        ];
        let below = |kind| self.records.children(kind, &router.id).iter();
        let links: Vec<Value> = below(Kind::Link).map(|record| link(record)).collect();
        let accesses = below(Kind::Access).map(|record| json!({"identity": record.id}));
        let accesses: Vec<Value> = accesses.collect();
        let listeners = self
            .fitting_records(Kind::Listener, site, router)
            .into_iter();
        let listeners: Vec<Value> = listeners.map(listener).collect();
        let connectors = self
            .fitting_records(Kind::Connector, site, router)
            .into_iter();
        let connectors: Vec<Value> = connectors.map(|it| self.connector(site, it)).collect();
        json!({
            "router": texts(router, &names),
            "links": links,
            "routerAccess": accesses,
            "listeners": listeners,
            "connectors": connectors,
        })
    }

    /// The listeners or connectors of a router that the document has room for.
    fn fitting_records(&mut self, kind: Kind, site: &Record, router: &Record) -> Vec<&'a Record> {
        let entries = self.records.children(kind, &router.id).iter().copied();
        entries.filter(|entry| self.keeps(site, entry)).collect()
    }

    fn keeps(&mut self, site: &Record, record: &Record) -> bool {
        if self.own == Some(site.id.as_str()) {
            return true;
        }
        let key = || {
            let key = record.text(Text::Address)?;
            Some((record.kind, key.to_owned()))
        };
        match (self.detail, key()) {
            (Detail::Full, _) => true,
            (Detail::OwnSite, _) | (Detail::OneOfKey | Detail::OwnKeys, None) => false,
            (Detail::OneOfKey, Some(key)) => self.written.insert(key),
            (Detail::OwnKeys, Some(key)) => self.needed.contains(&key) && self.written.insert(key),
        }
    }

    /// A connector, with the process that it leads to if that is known.
    fn connector(&self, site: &Record, record: &Record) -> Value {
        let names = [
            ("destHost", Text::DestHost),
            ("destPort", Text::DestPort),
            ("address", Text::Address),
            ("process", Text::Process),
        ];
        let mut connector = texts(record, &names);
        let named = record
            .text(Text::Process)
            .and_then(|id| self.records.all.get(id));
        let named = named
            .filter(|process| process.kind == Kind::Process)
            .copied();
        let process = named.or_else(|| {
            let host = record.text(Text::DestHost)?;
            let all = self
                .records
                .children(Kind::Process, &site.id)
                .iter()
                .copied();
            let mut all = all.filter(|process| process.text(Text::SourceHost) == Some(host));
            all.next()
        });
        if let Some(process) = process {
            connector.insert("process".to_owned(), process.id.clone().into());
            if let Some(name) = process.text(Text::Name) {
                connector.insert("target".to_owned(), name.into());
            }
        }
        Value::Object(connector)
    }
}

fn link(record: &Record) -> Value {
    let names = [
        ("name", Text::Name),
        ("status", Text::Status),
        ("role", Text::Role),
        ("peer", Text::Peer),
    ];
    let mut link = texts(record, &names);
    if let Some(cost) = record.cost {
        link.insert("linkCost".to_owned(), cost.into());
    }
    Value::Object(link)
}

fn listener(record: &Record) -> Value {
    let names = [
        ("name", Text::Name),
        ("destHost", Text::DestHost),
        ("destPort", Text::DestPort),
        ("protocol", Text::Protocol),
        ("address", Text::Address),
    ];
    Value::Object(texts(record, &names))
}

/// The routing keys with their users.
fn addresses(records: &Records<'_>) -> Vec<Value> {
    let mut addresses: BTreeMap<&str, (u64, u64, &str)> = BTreeMap::new();
    for record in records.all.values() {
        let Some(key) = record.text(Text::Address) else {
            continue;
        };
        match record.kind {
            Kind::Listener => addresses.entry(key).or_default().0 += 1,
            Kind::Connector => {
                let address = addresses.entry(key).or_default();
                address.1 += 1;
                if address.2.is_empty() {
                    address.2 = record.text(Text::Protocol).unwrap_or_default();
                }
            }
            Kind::Site | Kind::Router | Kind::Link | Kind::Process | Kind::Access => {}
        }
    }
    let addresses = addresses
        .into_iter()
        .map(|(key, (listeners, connectors, protocol))| {
            let mut address = Map::new();
            if !protocol.is_empty() {
                address.insert("protocol".to_owned(), protocol.into());
            }
            for (name, value) in [
                ("name", Value::from(key)),
                ("startTime", 0.into()),
                ("endTime", 0.into()),
                ("listenerCount", listeners.into()),
                ("connectorCount", connectors.into()),
            ] {
                address.insert(name.to_owned(), value);
            }
            Value::Object(address)
        });
    addresses.collect()
}

/// The texts of a record that there are.
fn texts(record: &Record, names: &[(&str, Text)]) -> Map<String, Value> {
    let texts = names.iter().filter_map(|(name, text)| {
        let text = record.text(*text)?;
        Some(((*name).to_owned(), Value::from(text)))
    });
    texts.collect()
}
