//! Messages of VanFlow, the protocol in which routers and sites announce themselves and their
//! entries over AMQP: decodes and encodes BEACON, HEARTBEAT, RECORD and FLUSH. Pure; independent of
//! any connection. Every message is decoded, ignored or an error, whatever its content.

use std::collections::BTreeMap;

use fe2o3_amqp::types::messaging::{ApplicationProperties, Body, Message, Properties};
use fe2o3_amqp::types::primitives::{OrderedMap, SimpleValue, Value as Amqp};
use thiserror::Error;

/// The address of all beacons.
pub(super) const BEACONS: &str = "mc/sfe.all";

/// The beginning of addresses of records and heartbeats.
const EVENTS: &str = "mc/sfe.";

/// The beginning of addresses of commands.
const COMMANDS: &str = "sfe.";

/// Suffix of the address to which sources that are not routers send their heartbeats.
const HEARTBEATS: &str = ".heartbeats";

/// The version of the protocol.
const VERSION: u32 = 1;

/// The longest identity and address, in bytes.
const MAX_ID: usize = 256;

/// The longest text of another attribute, in bytes.
const MAX_TEXT: usize = 4096;

/// The most records of one message.
const MAX_RECORDS: usize = 16_384;

/// Codes of the attributes that every record has.
const RECORD_TYPE: u32 = 0;
const IDENTITY: u32 = 1;
const START: u32 = 3;
const END: u32 = 4;

/// The code of the only number among the attributes.
const COST: u32 = 33;

/// End times up to this many microseconds since 1970 mean that the record has not ended.
const NO_END: u64 = 1_000_000;

/// A message as AMQP has it.
pub(super) type Raw = Message<Body<Amqp>>;

/// Why a message is of no use.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(super) enum Error {
    /// The message has no subject.
    #[error("the message has no subject, expected BEACON, HEARTBEAT, RECORD or FLUSH")]
    NoSubject,
    /// It is something else.
    #[error("the message has subject `{0}`, expected BEACON, HEARTBEAT, RECORD or FLUSH")]
    Subject(String),
    /// A beacon lacks a property that locates its source.
    #[error("the {subject} has no usable `{property}`; update the program that sends it")]
    Property {
        /// The kind of message.
        subject: &'static str,
        /// The application property.
        property: &'static str,
    },
    /// The body of a RECORD is no list.
    #[error("the body of the RECORD is no list of maps")]
    NoList,
    /// The body of a RECORD is too long.
    #[error("the RECORD has {0} records, expected {MAX_RECORDS} at most")]
    TooMany(usize),
}

/// The kinds of records that the state of a network is made from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Site,
    Router,
    Link,
    Listener,
    Connector,
    Process,
    Access,
}

impl Kind {
    pub(super) const ALL: [Self; 7] = [
        Self::Site,
        Self::Router,
        Self::Link,
        Self::Listener,
        Self::Connector,
        Self::Process,
        Self::Access,
    ];

    pub(super) const fn code(self) -> u32 {
        match self {
            Self::Site => 0,
            Self::Router => 1,
            Self::Link => 2,
            Self::Listener => 4,
            Self::Connector => 5,
            Self::Process => 7,
            Self::Access => 15,
        }
    }
}

/// The attributes with texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Text {
    Parent,
    Peer,
    Process,
    Provider,
    Platform,
    Namespace,
    Mode,
    SourceHost,
    DestHost,
    Protocol,
    DestPort,
    Address,
    ImageName,
    ImageVersion,
    Hostname,
    Name,
    Version,
    Status,
    Role,
}

impl Text {
    pub(super) const ALL: [Self; 19] = [
        Self::Parent,
        Self::Peer,
        Self::Process,
        Self::Provider,
        Self::Platform,
        Self::Namespace,
        Self::Mode,
        Self::SourceHost,
        Self::DestHost,
        Self::Protocol,
        Self::DestPort,
        Self::Address,
        Self::ImageName,
        Self::ImageVersion,
        Self::Hostname,
        Self::Name,
        Self::Version,
        Self::Status,
        Self::Role,
    ];

    const fn code(self) -> u32 {
        match self {
            Self::Parent => 2,
            Self::Peer => 6,
            Self::Process => 7,
            Self::Provider => 10,
            Self::Platform => 11,
            Self::Namespace => 12,
            Self::Mode => 13,
            Self::SourceHost => 14,
            Self::DestHost => 15,
            Self::Protocol => 16,
            Self::DestPort => 18,
            Self::Address => 19,
            Self::ImageName => 20,
            Self::ImageVersion => 21,
            Self::Hostname => 22,
            Self::Name => 30,
            Self::Version => 32,
            Self::Status => 53,
            Self::Role => 54,
        }
    }
}

/// One record, or a change of it: attributes that are absent are as before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) kind: Kind,
    pub(super) id: String,
    /// In microseconds since 1970.
    pub(super) start: Option<u64>,
    /// In microseconds since 1970; absent while the record has not ended.
    pub(super) end: Option<u64>,
    pub(super) texts: BTreeMap<Text, String>,
    /// The cost of a link.
    pub(super) cost: Option<u64>,
}

impl Record {
    /// A record without attributes.
    pub(super) fn new(kind: Kind, id: &str) -> Self {
        Self {
            kind,
            id: id.to_owned(),
            start: None,
            end: None,
            texts: BTreeMap::new(),
            cost: None,
        }
    }

    /// Returns the record with a text. An empty text means that the record has none.
    pub(super) fn with_text(mut self, name: Text, text: &str) -> Self {
        if !text.is_empty() {
            self.texts.insert(name, text.to_owned());
        }
        self
    }

    pub(super) fn text(&self, name: Text) -> Option<&str> {
        self.texts.get(&name).map(String::as_str)
    }

    /// The memory that it takes, about.
    pub(super) fn size(&self) -> usize {
        let texts = self.texts.values().map(|text| text.len() + 48);
        self.id.len() * 2 + texts.sum::<usize>() + 128
    }
}

/// The announcement of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Beacon {
    pub(super) id: String,
    /// `ROUTER` or `CONTROLLER`; empty if the source does not state it.
    pub(super) kind: String,
    /// The address of its records.
    pub(super) address: String,
    /// The address of commands to it.
    pub(super) direct: String,
}

impl Beacon {
    /// The announcement of a site.
    pub(super) fn of_site(id: &str) -> Self {
        Self {
            id: id.to_owned(),
            kind: "CONTROLLER".to_owned(),
            address: format!("{EVENTS}{id}"),
            direct: format!("{COMMANDS}{id}"),
        }
    }

    /// The address of heartbeats, where it is another one than that of records.
    pub(super) fn heartbeats(&self) -> Option<String> {
        (self.kind == "CONTROLLER").then(|| format!("{}{HEARTBEATS}", self.address))
    }
}

/// A message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Incoming {
    /// A source announces itself.
    Beacon(Beacon),
    /// A source is still there.
    Heartbeat,
    /// Records of a source, and how many others could not be read.
    Records(Vec<Record>, usize),
    /// All records are requested.
    Flush,
}

/// Decodes a message.
///
/// # Errors
/// Returns an error if the message does not belong to this protocol, or lacks a mandatory part.
pub(super) fn decode(message: Raw) -> Result<Incoming, Error> {
    let subject = message.properties.and_then(|properties| properties.subject);
    let subject = subject.ok_or(Error::NoSubject)?;
    match subject.as_str() {
        "BEACON" => beacon(message.application_properties.as_ref()).map(Incoming::Beacon),
        "HEARTBEAT" => Ok(Incoming::Heartbeat),
        "RECORD" => records(message.body),
        "FLUSH" => Ok(Incoming::Flush),
        _ => Err(Error::Subject(subject.chars().take(40).collect())),
    }
}

fn beacon(properties: Option<&ApplicationProperties>) -> Result<Beacon, Error> {
    let text = |name: &'static str| {
        let value = properties.and_then(|all| all.get(name))?;
        if let SimpleValue::Symbol(symbol) = value {
            return Some(symbol.0.clone());
        }
        if let SimpleValue::String(text) = value {
            return Some(text.clone());
        }
        None
    };
    let needed = |property: &'static str, prefix: &str| {
        let value = text(property).filter(|text| {
            text.len() > prefix.len() && text.len() <= MAX_ID && text.starts_with(prefix)
        });
        value.ok_or(Error::Property {
            subject: "BEACON",
            property,
        })
    };
    Ok(Beacon {
        id: needed("id", "")?,
        // No other address may be received from or sent to, whatever a beacon contains.
        address: needed("address", EVENTS)?,
        direct: needed("direct", COMMANDS)?,
        kind: text("sourceType")
            .filter(|kind| kind.len() <= MAX_ID)
            .unwrap_or_default(),
    })
}

fn records(body: Body<Amqp>) -> Result<Incoming, Error> {
    let Body::Value(value) = body else {
        return Err(Error::NoList);
    };
    let Amqp::List(values) = value.0 else {
        return Err(Error::NoList);
    };
    if values.len() > MAX_RECORDS {
        return Err(Error::TooMany(values.len()));
    }
    let mut read = Vec::new();
    let mut unreadable = 0;
    for value in values {
        match record(value) {
            Ok(Some(record)) => read.push(record),
            Ok(None) => {}
            Err(Unreadable) => unreadable += 1,
        }
    }
    Ok(Incoming::Records(read, unreadable))
}

/// Record that lacks a mandatory part.
struct Unreadable;

/// None for a record of a kind that does not matter here.
fn record(value: Amqp) -> Result<Option<Record>, Unreadable> {
    let Amqp::Map(pairs) = value else {
        return Err(Unreadable);
    };
    let get = |code: u32| pairs.get(&Amqp::Uint(code));
    let Some(Amqp::Uint(code)) = get(RECORD_TYPE) else {
        return Err(Unreadable);
    };
    let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.code() == *code) else {
        return Ok(None);
    };
    let id = get(IDENTITY).and_then(text).filter(|id| id.len() <= MAX_ID);
    let mut record = Record::new(kind, id.ok_or(Unreadable)?);
    record.start = get(START).and_then(number);
    record.end = get(END).and_then(number).filter(|end| *end > NO_END);
    record.cost = get(COST).and_then(number).filter(|cost| *cost > 0);
    for name in Text::ALL {
        if let Some(text) = get(name.code()).and_then(text) {
            record.texts.insert(name, text.to_owned());
        }
    }
    Ok(Some(record))
}

fn text(value: &Amqp) -> Option<&str> {
    let text = if let Amqp::Symbol(symbol) = value {
        &symbol.0
    } else if let Amqp::String(text) = value {
        text
    } else {
        return None;
    };
    Some(text.as_str()).filter(|text| !text.is_empty() && text.len() <= MAX_TEXT)
}

fn number(value: &Amqp) -> Option<u64> {
    if let Amqp::Uint(number) = value {
        return Some(u64::from(*number));
    }
    if let Amqp::Ulong(number) = value {
        return Some(*number);
    }
    None
}

/// The announcement of a source.
pub(super) fn encode_beacon(beacon: &Beacon) -> Raw {
    let properties = [
        ("v", SimpleValue::Uint(VERSION)),
        ("sourceType", beacon.kind.clone().into()),
        ("address", beacon.address.clone().into()),
        ("direct", beacon.direct.clone().into()),
        ("id", beacon.id.clone().into()),
    ];
    message(BEACONS, "BEACON", &properties, Amqp::Null)
}

/// A sign of life of a source, with the time in microseconds since 1970.
pub(super) fn encode_heartbeat(beacon: &Beacon, now: u64) -> Raw {
    let properties = [
        ("v", SimpleValue::Uint(VERSION)),
        ("now", SimpleValue::Ulong(now)),
        ("id", beacon.id.clone().into()),
    ];
    message(&beacon.address, "HEARTBEAT", &properties, Amqp::Null)
}

/// Records of a source.
pub(super) fn encode_records(address: &str, records: &[Record]) -> Raw {
    let list = records.iter().map(map).collect();
    message(address, "RECORD", &[], Amqp::List(list))
}

/// The request for all records of a source.
pub(super) fn encode_flush(direct: &str) -> Raw {
    message(direct, "FLUSH", &[], Amqp::Null)
}

fn map(record: &Record) -> Amqp {
    let mut pairs: OrderedMap<Amqp, Amqp> = OrderedMap::new();
    let mut set = |code: u32, value: Amqp| pairs.insert(Amqp::Uint(code), value);
    set(RECORD_TYPE, Amqp::Uint(record.kind.code()));
    set(IDENTITY, Amqp::String(record.id.clone()));
    for (code, number) in [
        (START, record.start),
        (END, record.end),
        (COST, record.cost),
    ] {
        if let Some(number) = number {
            set(code, Amqp::Ulong(number));
        }
    }
    for (name, text) in &record.texts {
        set(name.code(), Amqp::String(text.clone()));
    }
    Amqp::Map(pairs)
}

fn message(to: &str, subject: &str, properties: &[(&str, SimpleValue)], body: Amqp) -> Raw {
    let pairs = properties.iter().cloned();
    let properties: OrderedMap<String, SimpleValue> = pairs
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
    let mut message = Message::builder()
        .properties(Properties::builder().to(to).subject(subject).build())
        .body(Body::from(body))
        .build();
    message.application_properties =
        (!properties.is_empty()).then_some(ApplicationProperties(properties));
    message
}

#[cfg(test)]
mod tests;
