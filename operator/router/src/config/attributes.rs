//! The attributes of one entry, read one by one, so that unread attributes are found. Values may be
//! texts, numbers or booleans: the existing implementation writes `"port": "1024"`, its tools also
//! `1024`.

use std::collections::{BTreeMap, BTreeSet};

use ring::digest::{SHA256, digest};
use serde_json::{Map, Value};
use thiserror::Error;

/// Error in an entry.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum Wrong {
    /// A mandatory attribute is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// An attribute is of no use here.
    #[error("`{0}` must be a text, a number or a boolean")]
    Shape(String),
    /// An attribute that the entity does not have.
    #[error("`{0}` is no attribute of this entity")]
    Unknown(String),
    /// A port out of range.
    #[error("port `{0}` is not from 1 to 65535")]
    Port(String),
    /// No host.
    #[error("host `{0}` is neither an address nor a DNS name")]
    Host(String),
    /// A boolean that is none.
    #[error("`{name}` is `{value}`, neither true nor false")]
    Flag {
        /// The attribute.
        name: &'static str,
        /// Its value.
        value: String,
    },
    /// A value that is not among those that are allowed.
    #[error("`{name}` is `{value}`; it can be {}", allowed.join(", "))]
    Value {
        /// The attribute.
        name: &'static str,
        /// Its value.
        value: String,
        /// Allowed values.
        allowed: Vec<&'static str>,
    },
    /// Another protocol.
    #[error("type `{0}` is not supported, only tcp is")]
    Type(String),
    /// Clients cannot be required to have certificates without TLS.
    #[error("`authenticatePeer` needs an `sslProfile`")]
    AuthenticateWithoutProfile,
    /// A listener has one key or a strategy for several.
    #[error(
        "`address` and `multiAddressStrategy` exclude each other: the keys of a strategy are entries `listenerAddress`"
    )]
    KeyAndStrategy,
    /// A priority or weight that is none.
    #[error("value `{0}` is no whole number up to 4294967295")]
    Number(String),
    /// A key of a listener that is not there.
    #[error("there is no tcpListener `{0}`")]
    NoListener(String),
    /// A further key of a listener that has one.
    #[error(
        "tcpListener `{0}` has one routing key, its `address`: give it a `multiAddressStrategy`"
    )]
    OneKey(String),
    /// A key that its listener has by another entry.
    #[error("tcpListener `{0}` has this routing key by another entry")]
    SameKey(String),
    /// A list of something else than texts.
    #[error("`{0}` must be a list of texts, or a text with commas between them")]
    Texts(&'static str),
    /// A cost that is none.
    #[error("cost `{0}` is no whole number up to 1000000")]
    Cost(String),
    /// Links cannot go through a proxy.
    #[error("`proxyProfile`: links through a proxy are not supported")]
    Proxy,
    /// Links are always authenticated.
    #[error("`authenticatePeer` is false: every link is authenticated, leave it out")]
    Unauthenticated,
    /// Other sites could not identify the site that links.
    #[error(
        "this site has no id: `router` needs one, in `metadata` as {{\"id\": \"..\"}} or as its `id`"
    )]
    NoSite,
    /// An edge site takes in no links.
    #[error("the router is one of an edge site, which takes in no links")]
    Edge,
    /// A connector that leads to a listener of its own routing key.
    #[error(
        "it leads to `{0}` of the same routing key, so each connection would come back for ever: name the server itself"
    )]
    Circle(String),
    /// A profile without files.
    #[error("the profile names no file")]
    EmptyProfile,
    /// A file somewhere else.
    #[error("file `{0}` is not below the directory of certificates")]
    Outside(String),
}

/// The attributes of one entry.
pub(super) struct Attributes<'a> {
    map: &'a Map<String, Value>,
    read: BTreeSet<&'static str>,
}

impl<'a> Attributes<'a> {
    pub(super) fn new(map: &'a Map<String, Value>) -> Self {
        let read = BTreeSet::new();
        Self { map, read }
    }

    /// Takes note of attributes that mean nothing here.
    pub(super) fn skip(&mut self, names: &[&'static str]) {
        self.read.extend(names);
    }

    /// An attribute as text; an empty one is absent.
    pub(super) fn text(&mut self, name: &'static str) -> Result<Option<String>, Wrong> {
        self.read.insert(name);
        let value = match self.map.get(name) {
            None | Some(Value::Null) => return Ok(None),
            Some(value) => scalar(value).ok_or_else(|| Wrong::Shape(name.to_owned()))?,
        };
        Ok(Some(value).filter(|value| !value.is_empty()))
    }

    /// An attribute as texts: a list, or a text with commas between them.
    pub(super) fn texts(&mut self, name: &'static str) -> Result<Option<BTreeSet<String>>, Wrong> {
        let of = |texts: &mut dyn Iterator<Item = &str>| {
            let texts = texts.map(str::trim).filter(|text| !text.is_empty());
            texts.map(str::to_owned).collect()
        };
        if let Some(Value::Array(values)) = self.map.get(name) {
            self.read.insert(name);
            let texts: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
            let texts = texts.ok_or(Wrong::Texts(name))?;
            return Ok(Some(of(&mut texts.into_iter())));
        }
        let text = self.text(name)?;
        Ok(text.map(|text| of(&mut text.split(','))))
    }

    pub(super) fn needed(&mut self, name: &'static str) -> Result<String, Wrong> {
        self.text(name)?.ok_or(Wrong::Missing(name))
    }

    pub(super) fn port(&mut self) -> Result<u16, Wrong> {
        let text = self.needed("port")?;
        let is_digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let port = text.parse().ok().filter(|port| is_digits && *port > 0);
        port.ok_or(Wrong::Port(text))
    }

    pub(super) fn flag(&mut self, name: &'static str) -> Result<Option<bool>, Wrong> {
        match self.text(name)? {
            None => Ok(None),
            Some(value) => match value.as_str() {
                "true" | "yes" => Ok(Some(true)),
                "false" | "no" => Ok(Some(false)),
                _ => Err(Wrong::Flag { name, value }),
            },
        }
    }

    pub(super) fn one_of(
        &mut self,
        name: &'static str,
        allowed: &[&'static str],
    ) -> Result<(), Wrong> {
        match self.text(name)? {
            Some(value) if !allowed.contains(&value.as_str()) => Err(Wrong::Value {
                name,
                value,
                allowed: allowed.to_vec(),
            }),
            Some(_) | None => Ok(()),
        }
    }

    pub(super) fn tcp_only(&mut self) -> Result<(), Wrong> {
        match self.text("type")? {
            Some(other) if other != "tcp" => Err(Wrong::Type(other)),
            Some(_) | None => Ok(()),
        }
    }

    /// Fails for an attribute that was not read: a slip of the pen in `authenticatePeer` must not open a door.
    pub(super) fn none_left(&self) -> Result<(), Wrong> {
        let unread = self
            .map
            .keys()
            .find(|key| !self.read.contains(key.as_str()));
        unread.map_or(Ok(()), |name| Err(Wrong::Unknown(name.clone())))
    }
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(flag) => Some(flag.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// Returns a hash that distinguishes entries: 16 hexadecimal digits of SHA-256 over the attributes
/// as JSON, sorted, scalars as texts, empty ones left out. With it the author of a document can see
/// in the state that the applied entry is the written one.
pub fn hash(attributes: &Map<String, Value>) -> String {
    let canonical: BTreeMap<&str, Value> = attributes
        .iter()
        .map(|(name, value)| {
            let value = scalar(value).map_or_else(|| value.clone(), Value::String);
            (name.as_str(), value)
        })
        .filter(|(_, value)| !value.is_null() && value.as_str() != Some(""))
        .collect();
    let json = serde_json::to_vec(&canonical).expect("texts and JSON values can be written");
    let digest = digest(&SHA256, &json);
    let bytes = digest.as_ref().iter().take(8);
    bytes.map(|byte| format!("{byte:02x}")).collect()
}
