//! Services of the Container Storage Interface from what volume lifecycles declare: requests in, replies out, over Unix sockets.
//! Decides nothing: what a call does in a world is in `machine`; knows nothing of the loop that runs passes.

mod authority;
mod caller;
mod capability;
mod cells;
mod code;
mod controller;
mod deadline;
pub(crate) mod direct;
mod drive;
mod identity;
mod inflight;
mod node;
mod reading;
mod registration;
mod request;
mod sentences;
mod serve;
mod socket;
mod staged;
mod standing;

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use kube::{Client, Resource};
use serde::de::DeserializeOwned;
pub(crate) use serve::{Offered, prepare};
pub use socket::{SocketError, path_of};

use crate::health::Health;
use crate::lifecycle::Kind;
use crate::shutdown::Shutdown;
use standing::Watched;

/// What the process gives to every driver that it serves.
pub(crate) struct Around {
    pub(crate) client: Option<Client>,
    pub(crate) seed: u64,
    pub(crate) shutdown: Shutdown,
    pub(crate) health: Health,
}

/// How calls read, where not by one request each.
#[derive(Clone, Default)]
pub(crate) struct Reads {
    watched: Vec<Watched>,
    followed: Vec<Kind>,
    lasting: Vec<Kind>,
}

impl Reads {
    fn follows(&self, kind: &Kind) -> bool {
        self.followed.iter().any(|known| known.shares_cache(kind))
    }

    fn lasts(&self, kind: &Kind) -> bool {
        let mut lasting = self.followed.iter().chain(&self.lasting);
        lasting.any(|known| known.shares_cache(kind))
    }
}

/// What all processes of one driver say about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plugin {
    name: String,
    version: String,
    has_controller: bool,
    has_topology: bool,
}

impl Plugin {
    /// A driver by its domain name, such as `listeners.stackable.tech`, in a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            has_controller: false,
            has_topology: false,
        }
    }

    /// One of its processes makes volumes.
    #[must_use]
    pub fn with_controller(mut self) -> Self {
        self.has_controller = true;
        self
    }

    /// Its volumes cannot be reached from everywhere.
    #[must_use]
    pub fn with_topology(mut self) -> Self {
        self.has_topology = true;
        self
    }

    /// What is wrong with it: the interface bounds a name, and its conformance suite asks more.
    fn wrong(&self) -> Option<&'static str> {
        let ends = [self.name.chars().next(), self.name.chars().next_back()];
        let letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphabetic());
        let inside = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        match self.name.len() {
            1..=63 if !ends.into_iter().all(letter) => {
                Some("the name of a driver begins and ends with a letter")
            }
            1..=63 if !self.name.chars().all(inside) => {
                Some("the name of a driver has letters, digits, `-`, `.` and `_`")
            }
            1..=63 if self.version.is_empty() => Some("a driver has a version"),
            1..=63 => None,
            _ => Some("the name of a driver has 1 to 63 characters"),
        }
    }
}

/// One process of a driver: which services it offers, and where.
#[derive(Clone)]
pub struct Driver {
    plugin: Plugin,
    endpoint: String,
    side: Side,
    reads: Reads,
}

#[derive(Clone)]
enum Side {
    Controller,
    Node(Node),
}

/// What only a process on a node knows.
#[derive(Clone)]
struct Node {
    id: String,
    segments: BTreeMap<String, String>,
    most_volumes: u32,
    usage: Option<Arc<dyn Usages>>,
    registration: Option<Registration>,
}

/// How kubelet finds the driver.
#[derive(Clone, Debug)]
struct Registration {
    folder: PathBuf,
    endpoint: Option<PathBuf>,
}

/// How full a published volume is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How many bytes there are; zero if nobody knows.
    pub total_bytes: u64,
    /// How many are used.
    pub used_bytes: u64,
    /// How many can still be written.
    pub available_bytes: u64,
}

/// Tells how full a volume is, by where it is published or staged.
pub trait Usages: Send + Sync + 'static {
    /// Asked only of a path where the volume is.
    ///
    /// # Errors
    /// The system does not tell.
    fn usage(&self, path: &Path) -> io::Result<Usage>;
}

impl<F: Fn(&Path) -> io::Result<Usage> + Send + Sync + 'static> Usages for F {
    fn usage(&self, path: &Path) -> io::Result<Usage> {
        self(path)
    }
}

impl Driver {
    /// The process that makes volumes, at an endpoint: a path, or `unix://` and a path.
    pub fn controller(plugin: Plugin, endpoint: impl Into<String>) -> Self {
        Self {
            plugin: plugin.with_controller(),
            endpoint: endpoint.into(),
            side: Side::Controller,
            reads: Reads::default(),
        }
    }

    /// The process on the node with this id, at an endpoint: a path, or `unix://` and a path.
    pub fn node(plugin: Plugin, endpoint: impl Into<String>, id: impl Into<String>) -> Self {
        Self {
            plugin,
            endpoint: endpoint.into(),
            side: Side::Node(Node {
                id: id.into(),
                segments: BTreeMap::new(),
                most_volumes: 0,
                usage: None,
                registration: None,
            }),
            reads: Reads::default(),
        }
    }

    fn on_node(mut self, change: impl FnOnce(&mut Node)) -> Self {
        match &mut self.side {
            Side::Node(node) => change(node),
            Side::Controller => {}
        }
        self
    }

    /// Always watches the objects of a kind that a field selector chooses, such as `spec.nodeName=node-1`; empty: all.
    /// Calls then read them without asking the API server.
    #[must_use]
    pub fn watching<K>(mut self, fields: impl Into<String>) -> Self
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
        K::Scope: 'static,
    {
        self.reads.watched.push((Kind::of::<K>(), fields.into()));
        self
    }

    /// Follows what calls read of a kind from the first look on, from staging into publishing too: for objects that calls wait for, one request instead of two.
    #[must_use]
    pub fn following<K>(mut self) -> Self
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
        K::Scope: 'static,
    {
        self.reads.followed.push(Kind::of::<K>());
        self
    }

    /// What staging read of a kind holds for the publishing right after it: for objects that say which volume it is.
    #[must_use]
    pub fn lasting<K>(mut self) -> Self
    where
        K: Resource<DynamicType = ()> + DeserializeOwned + Send + Sync + 'static,
        K::Scope: 'static,
    {
        self.reads.lasting.push(Kind::of::<K>());
        self
    }

    /// Where the node is, for volumes that cannot be reached from everywhere.
    #[must_use]
    pub fn segment(self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.on_node(|node| {
            node.segments.insert(key.into(), value.into());
        })
    }

    /// At most so many volumes on the node.
    #[must_use]
    pub fn most_volumes(self, most: u32) -> Self {
        self.on_node(|node| node.most_volumes = most)
    }

    /// Tells how full volumes are.
    #[must_use]
    pub fn usage(self, usage: impl Usages) -> Self {
        self.on_node(|node| node.usage = Some(Arc::new(usage)))
    }

    /// Registers itself with the kubelet that watches this folder, so that no registrar is needed.
    #[must_use]
    pub fn registers_in(self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        self.on_node(|node| {
            let endpoint = None;
            node.registration = Some(Registration { folder, endpoint });
        })
    }

    /// Where kubelet finds the endpoint, if not where this process does; only where it registers itself.
    #[must_use]
    pub fn endpoint_on_host(self, path: impl Into<PathBuf>) -> Self {
        let path = path.into();
        self.on_node(|node| {
            if let Some(registration) = &mut node.registration {
                registration.endpoint = Some(path);
            }
        })
    }
}

#[cfg(test)]
mod tests;
