//! The types of entities that the adaptor manages, with the kind and the default of each attribute that an author can set.
//! Facts of the management schema of skupper-router; read-only attributes are absent on purpose.

use std::fmt::{self, Display, Formatter};

use serde_json::Value;

use super::Attributes;

/// The prefix of all types of entities in requests.
const PREFIX: &str = "io.skupper.router.";

/// Type of an entity that is created and deleted at run time. Variants are in the order of
/// creation: referenced types come first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Entity {
    /// Certificates of TLS.
    SslProfile,
    /// A proxy on the way to another router.
    ProxyProfile,
    /// A link that is dialled.
    Connector,
    /// A socket for links and clients of AMQP.
    Listener,
    /// A socket for clients of a routing key.
    TcpListener,
    /// A server of a routing key.
    TcpConnector,
    /// One of several routing keys of a [`Entity::TcpListener`].
    ListenerAddress,
}

/// How the router keeps an attribute.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    Number,
    Flag,
}

/// An attribute that an author can set.
#[derive(Clone, Copy, Debug)]
pub(super) struct Definition {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    /// Value of an unset attribute, as text; absent if it has none.
    pub(super) default: Option<&'static str>,
}

const fn text(name: &'static str) -> Definition {
    let (kind, default) = (Kind::Text, None);
    Definition {
        name,
        kind,
        default,
    }
}

const fn text_or(name: &'static str, default: &'static str) -> Definition {
    let (kind, default) = (Kind::Text, Some(default));
    Definition {
        name,
        kind,
        default,
    }
}

const fn number(name: &'static str) -> Definition {
    let (kind, default) = (Kind::Number, None);
    Definition {
        name,
        kind,
        default,
    }
}

const fn number_or(name: &'static str, default: &'static str) -> Definition {
    let (kind, default) = (Kind::Number, Some(default));
    Definition {
        name,
        kind,
        default,
    }
}

const fn flag(name: &'static str, default: bool) -> Definition {
    let default = if default { "true" } else { "false" };
    let (kind, default) = (Kind::Flag, Some(default));
    Definition {
        name,
        kind,
        default,
    }
}

const SSL_PROFILE: &[Definition] = &[
    text("ciphers"),
    text("protocols"),
    text("caCertFile"),
    text("certFile"),
    text("privateKeyFile"),
    text("password"),
    text("uidFormat"),
    text("uidNameMappingFile"),
    number_or("ordinal", "0"),
    number_or("oldestValidOrdinal", "0"),
];

const PROXY_PROFILE: &[Definition] = &[
    text("host"),
    text("port"),
    text("username"),
    text("password"),
];

const CONNECTOR: &[Definition] = &[
    text_or("host", "127.0.0.1"),
    text_or("port", "amqp"),
    text("socketAddressFamily"),
    text_or("role", "normal"),
    number_or("cost", "1"),
    text("sslProfile"),
    text("proxyProfile"),
    text("saslMechanisms"),
    flag("allowRedirect", true),
    number_or("maxFrameSize", "16384"),
    number_or("maxSessions", "32768"),
    number("maxSessionFrames"),
    number_or("idleTimeoutSeconds", "16"),
    text_or("stripAnnotations", "both"),
    number("linkCapacity"),
    flag("verifyHostname", true),
    text("saslUsername"),
    text("saslPassword"),
    text_or("messageLoggingComponents", "none"),
    text("policyVhost"),
];

const LISTENER: &[Definition] = &[
    text("host"),
    text_or("port", "amqp"),
    text("socketAddressFamily"),
    text_or("role", "normal"),
    number_or("cost", "1"),
    text("sslProfile"),
    text("saslMechanisms"),
    flag("authenticatePeer", false),
    flag("requireEncryption", false),
    flag("requireSsl", false),
    number_or("maxFrameSize", "16384"),
    number_or("maxSessions", "32768"),
    number("maxSessionFrames"),
    number_or("idleTimeoutSeconds", "16"),
    number_or("initialHandshakeTimeoutSeconds", "0"),
    text_or("stripAnnotations", "both"),
    number("linkCapacity"),
    text("failoverUrls"),
    flag("healthz", true),
    flag("metrics", true),
    flag("websockets", true),
    flag("http", false),
    text("httpRootDir"),
    text_or("messageLoggingComponents", "none"),
    text("policyVhost"),
];

const TCP_LISTENER: &[Definition] = &[
    text("address"),
    text("host"),
    number_or("backlog", "0"),
    text("port"),
    text_or("multiAddressStrategy", "none"),
    text("siteId"),
    text("sslProfile"),
    flag("authenticatePeer", false),
    text_or("observer", "auto"),
];

const TCP_CONNECTOR: &[Definition] = &[
    text("address"),
    text_or("host", "127.0.0.1"),
    text("port"),
    text("siteId"),
    text("processId"),
    text("sslProfile"),
    flag("verifyHostname", true),
];

const LISTENER_ADDRESS: &[Definition] = &[text("address"), number("value"), text("listener")];

impl Entity {
    /// All types, in the order of creation.
    pub const ALL: [Self; 7] = [
        Self::SslProfile,
        Self::ProxyProfile,
        Self::Connector,
        Self::Listener,
        Self::TcpListener,
        Self::TcpConnector,
        Self::ListenerAddress,
    ];

    /// All types, in the order of deletion: a type comes after all types that refer to it.
    pub const DELETION: [Self; 7] = [
        Self::ListenerAddress,
        Self::TcpConnector,
        Self::TcpListener,
        Self::Connector,
        Self::Listener,
        Self::SslProfile,
        Self::ProxyProfile,
    ];

    /// The name of the type in a document.
    pub fn name(self) -> &'static str {
        match self {
            Self::SslProfile => "sslProfile",
            Self::ProxyProfile => "proxyProfile",
            Self::Connector => "connector",
            Self::Listener => "listener",
            Self::TcpListener => "tcpListener",
            Self::TcpConnector => "tcpConnector",
            Self::ListenerAddress => "listenerAddress",
        }
    }

    /// The type with this name in a document; absent if the adaptor does not manage it.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|entity| entity.name() == name)
    }

    /// The name of the type in requests.
    pub fn managed_type(self) -> String {
        managed_type(self.name())
    }

    /// True if the entity is the router's own: it is never created, changed or deleted.
    pub fn is_fixed(self, name: &str) -> bool {
        match self {
            Self::Listener => ["@9090", "amqp", "amqps"].contains(&name),
            Self::Connector => name.starts_with("auto-mesh"),
            Self::SslProfile
            | Self::ProxyProfile
            | Self::TcpListener
            | Self::TcpConnector
            | Self::ListenerAddress => false,
        }
    }

    pub(super) fn definitions(self) -> &'static [Definition] {
        match self {
            Self::SslProfile => SSL_PROFILE,
            Self::ProxyProfile => PROXY_PROFILE,
            Self::Connector => CONNECTOR,
            Self::Listener => LISTENER,
            Self::TcpListener => TCP_LISTENER,
            Self::TcpConnector => TCP_CONNECTOR,
            Self::ListenerAddress => LISTENER_ADDRESS,
        }
    }

    fn definition(self, name: &str) -> Option<&'static Definition> {
        let mut definitions = self.definitions().iter();
        definitions.find(|definition| definition.name == name)
    }

    /// True if the router takes another value of the attribute without losing connections.
    pub(super) fn is_updatable(self, attribute: &str) -> bool {
        match self {
            Self::TcpListener => attribute == "observer",
            Self::SslProfile => ["ordinal", "oldestValidOrdinal"].contains(&attribute),
            // A link finds its proxy by name whenever it is dialled.
            Self::ProxyProfile => PROXY_PROFILE.iter().any(|known| known.name == attribute),
            Self::Connector | Self::Listener | Self::TcpConnector | Self::ListenerAddress => false,
        }
    }

    /// The attributes that name other entities, with the types of those.
    pub(super) fn references(self) -> &'static [(&'static str, Self)] {
        match self {
            Self::SslProfile | Self::ProxyProfile => &[],
            Self::Connector => &[
                ("sslProfile", Self::SslProfile),
                ("proxyProfile", Self::ProxyProfile),
            ],
            Self::Listener | Self::TcpListener | Self::TcpConnector => {
                &[("sslProfile", Self::SslProfile)]
            }
            Self::ListenerAddress => &[("listener", Self::TcpListener)],
        }
    }

    /// The value of an attribute as text, so that equal ones have equal texts; absent if it has none.
    pub(super) fn effective(self, attributes: &Attributes, name: &str) -> Option<String> {
        let value = attributes.get(name).unwrap_or(&Value::Null);
        match self.definition(name) {
            Some(definition) => {
                let text = canonical(definition.kind, value);
                let text = text.or_else(|| definition.default.map(str::to_owned));
                text.filter(|text| !text.is_empty())
            }
            // An unknown flag that is false is like one that is absent.
            None => plain_text(value).filter(|_| *value != Value::Bool(false)),
        }
    }

    /// Returns an attribute in the form that the router expects in a request; `None` if there is
    /// nothing to send.
    pub(super) fn typed(self, attributes: &Attributes, name: &str) -> Option<Value> {
        let value = attributes.get(name)?;
        let text = plain_text(value)?;
        let Some(definition) = self.definition(name) else {
            return Some(value.clone());
        };
        Some(typed(definition.kind, text))
    }

    /// Returns the value of an unset attribute, in the form that the router expects in a request.
    pub(super) fn typed_default(self, name: &str) -> Value {
        let default = self
            .definition(name)
            .and_then(|definition| Some((definition.kind, definition.default?)));
        default.map_or(Value::Null, |(kind, text)| typed(kind, text.to_owned()))
    }
}

impl Display for Entity {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The name of a type in requests.
pub(super) fn managed_type(name: &str) -> String {
    format!("{PREFIX}{name}")
}

fn typed(kind: Kind, text: String) -> Value {
    match kind {
        Kind::Text => Value::String(text),
        // An invalid number is sent unchanged: the router reports the error.
        Kind::Number => match text.parse::<i64>() {
            Ok(number) => Value::from(number),
            Err(_) => Value::String(text),
        },
        Kind::Flag => match flag_of(&text) {
            Some(flag) => Value::Bool(flag),
            None => Value::String(text),
        },
    }
}

fn canonical(kind: Kind, value: &Value) -> Option<String> {
    let text = plain_text(value)?;
    let canonical = match kind {
        Kind::Text => None,
        Kind::Number => text.parse::<i64>().ok().map(|number| number.to_string()),
        Kind::Flag => flag_of(&text).map(|flag| flag.to_string()),
    };
    Some(canonical.unwrap_or(text))
}

fn flag_of(text: &str) -> Option<bool> {
    match text {
        "true" | "yes" => Some(true),
        "false" | "no" => Some(false),
        _ => None,
    }
}

/// A value as text; absent if it is null or empty.
pub(super) fn plain_text(value: &Value) -> Option<String> {
    let text = match value {
        Value::Null => return None,
        Value::String(text) => text.clone(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    };
    Some(text).filter(|text| !text.is_empty())
}
