//! The state of entries in the router, read from the answers to queries. Pure. A router of this
//! kind reports sockets and connections; it does not report the servers behind its connectors.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{Attributes, Entity};
use crate::state::Status;

/// The rows of all queries that a reading needs.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rows {
    /// Entities `tcpListener`.
    pub tcp_listeners: Vec<Attributes>,
    /// Entities `tcpConnector`.
    pub tcp_connectors: Vec<Attributes>,
    /// Entities `connector`.
    pub connectors: Vec<Attributes>,
    /// Entities `router.address`.
    pub addresses: Vec<Attributes>,
    /// Entities `connection`.
    pub connections: Vec<Attributes>,
}

/// The state of one entry.
#[derive(Clone, Debug, PartialEq)]
pub struct ObservedEntry {
    /// Its type.
    pub entity: Entity,
    /// Its name.
    pub name: String,
    /// Its state.
    pub status: Status,
    /// Of a link: the container id of the other router, while it is connected.
    pub remote_container: Option<String>,
}

/// The users of a routing key.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AddressCounts {
    /// Consumers inside the router.
    pub in_process: u64,
    /// Consumers that are connected to the router.
    pub subscribers: u64,
    /// Other routers with consumers.
    pub remotes: u64,
}

impl AddressCounts {
    /// True if a connection to the routing key leads somewhere.
    pub fn is_reachable(self) -> bool {
        self.in_process > 0 || self.subscribers > 0 || self.remotes > 0
    }
}

/// The state of all entries, and of routing keys.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observed {
    /// Listeners, connectors and links that are dialled, each kind in the order of the router.
    pub entries: Vec<ObservedEntry>,
    /// Routing keys that the router knows.
    pub addresses: BTreeMap<String, AddressCounts>,
}

impl Observed {
    /// Reads rows. Rows without a name are left out, for no entry can be meant.
    pub fn from_rows(rows: &Rows) -> Self {
        let listeners = listeners(&rows.tcp_listeners);
        let connectors = rows
            .tcp_connectors
            .iter()
            .filter_map(|row| entry(Entity::TcpConnector, row, connector_status(row), None));
        let links = rows.connectors.iter().filter_map(|row| {
            let connection = connection_of(row, &rows.connections);
            let container = connection.and_then(|connection| text(connection, "container"));
            let status = link_status(row, connection.is_some());
            entry(Entity::Connector, row, status, container)
        });
        Self {
            entries: listeners.chain(connectors).chain(links).collect(),
            addresses: rows.addresses.iter().filter_map(address).collect(),
        }
    }

    /// Reads the rows of listeners alone.
    pub(super) fn of_listeners(rows: &[Attributes]) -> Self {
        Self {
            entries: listeners(rows).collect(),
            addresses: BTreeMap::new(),
        }
    }

    /// The state of an entry; absent if the router does not have it.
    pub fn entry(&self, entity: Entity, name: &str) -> Option<&ObservedEntry> {
        let mut entries = self.entries.iter();
        entries.find(|entry| entry.entity == entity && entry.name == name)
    }
}

fn listeners(rows: &[Attributes]) -> impl Iterator<Item = ObservedEntry> {
    let rows = rows.iter();
    rows.filter_map(|row| entry(Entity::TcpListener, row, listener_status(row), None))
}

fn entry(
    entity: Entity,
    row: &Attributes,
    status: Status,
    remote_container: Option<String>,
) -> Option<ObservedEntry> {
    Some(ObservedEntry {
        entity,
        name: text(row, "name")?,
        status,
        remote_container,
    })
}

/// Returns the status of a listener, which is up while it has its socket. Without a connector it
/// correctly has no socket, and then no message exists.
fn listener_status(row: &Attributes) -> Status {
    match (text(row, "operStatus").as_deref(), message(row)) {
        (Some("up"), _) => Status::Up,
        (_, Some(message)) => Status::Failed(message),
        (_, None) => Status::Idle,
    }
}

/// Returns the status of a connector. A connector has no socket of its own, so it is up unless the
/// router reports otherwise.
fn connector_status(row: &Attributes) -> Status {
    match (text(row, "operStatus").as_deref(), message(row)) {
        (None | Some("up"), _) => Status::Up,
        (Some(_), Some(message)) => Status::Failed(message),
        (Some(_), None) => Status::Idle,
    }
}

/// Returns the status of a link, which is up while it has a connection. A failed link has a message
/// with the reason; a link that is being established has none yet.
fn link_status(row: &Attributes, is_connected: bool) -> Status {
    if is_connected {
        return Status::Up;
    }
    match (text(row, "connectionStatus").as_deref(), message(row)) {
        (Some("FAILED"), Some(message)) => Status::Failed(message),
        (Some("FAILED"), None) => {
            Status::Failed("the router cannot connect and gives no reason".to_owned())
        }
        // The router is mostly at its next try; the reason is that of the last one.
        (Some("CONNECTING"), Some(message)) if message.contains(" failed: ") => {
            Status::Failed(message)
        }
        (_, _) => Status::Idle,
    }
}

/// The open connection that a connector made: the router keeps the connector's host and port with it, and its role.
fn connection_of<'a>(
    connector: &Attributes,
    connections: &'a [Attributes],
) -> Option<&'a Attributes> {
    let host = text(connector, "host").unwrap_or_else(|| "127.0.0.1".to_owned());
    let host = format!("{host}:{}", text(connector, "port")?);
    let role = text(connector, "role").unwrap_or_else(|| "normal".to_owned());
    connections.iter().find(|connection| {
        let is = |name: &str, value: &str| text(connection, name).as_deref() == Some(value);
        let flag = |name: &str| connection.get(name).and_then(Value::as_bool);
        is("host", &host)
            && is("role", &role)
            && is("dir", "out")
            && flag("opened") == Some(true)
            // Not every release has it; then every open connection is in use.
            && flag("active") != Some(false)
    })
}

/// A routing key with its users. Addresses of other classes, such as routers and links, are left out.
fn address(row: &Attributes) -> Option<(String, AddressCounts)> {
    let name = text(row, "key").or_else(|| text(row, "name"))?;
    let key = name.strip_prefix('M').filter(|key| !key.is_empty())?;
    let count = |name: &str| row.get(name).and_then(Value::as_u64).unwrap_or_default();
    let counts = AddressCounts {
        in_process: count("inProcess"),
        subscribers: count("subscriberCount"),
        remotes: count("remoteCount"),
    };
    Some((key.to_owned(), counts))
}

fn message(row: &Attributes) -> Option<String> {
    text(row, "connectionMsg")
}

fn text(row: &Attributes, name: &str) -> Option<String> {
    super::schema::plain_text(row.get(name)?)
}

#[cfg(test)]
mod tests;
