//! What the tasks of one router share, whatever configuration is applied. Knows no task.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::link::node::Node;
use crate::metrics::Metrics;
use crate::options::Options;
use crate::routing::Routes;
use crate::state::StateStore;
use crate::streams::Streams;

/// What the router and its connections share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) routes: Routes,
    pub(crate) streams: Arc<Streams>,
    pub(crate) state: StateStore,
    pub(crate) metrics: Metrics,
    /// The network may be another one, or a link: what follows from that is to be looked at.
    pub(crate) changed: Notify,
    node: Mutex<Option<Node>>,
}

impl Shared {
    /// Of a router without a configuration.
    pub(crate) fn new(options: Options) -> Self {
        Self {
            routes: Routes::default(),
            streams: Streams::new(options.caps()),
            state: StateStore::new(),
            metrics: Metrics::default(),
            changed: Notify::new(),
            node: Mutex::default(),
            options,
        }
    }

    /// The router's part of the network, if it has links.
    pub(crate) fn node(&self) -> Option<Node> {
        let node = self.node.lock().unwrap_or_else(PoisonError::into_inner);
        node.clone()
    }

    /// Has this part of the network from now on.
    pub(crate) fn set_node(&self, node: Option<Node>) {
        *self.node.lock().unwrap_or_else(PoisonError::into_inner) = node;
    }
}
