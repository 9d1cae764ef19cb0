//! State that the tasks of one router share, independent of the applied configuration. Independent
//! of the tasks.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::Notify;

use crate::link::node::Node;
use crate::metrics::Metrics;
use crate::options::Options;
use crate::routing::{Check, Routes, Target};
use crate::state::{StateStore, Status};
use crate::streams::Streams;

/// State that the router and its connections share.
pub(crate) struct Shared {
    pub(crate) options: Options,
    pub(crate) routes: Routes,
    pub(crate) streams: Arc<Streams>,
    pub(crate) state: StateStore,
    pub(crate) metrics: Metrics,
    /// Signals that the network or a link may have changed, so that the consequences must be
    /// evaluated.
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

    /// Logs and reports the result of a check of a target, if it is news.
    pub(crate) fn report(&self, target: &Target, check: Check, fault: Option<String>) {
        let before = target.fault();
        if target.found(check, fault.clone()) == fault {
            return;
        }
        match (&fault, check) {
            (Some(text), _) => tracing::warn!(connector = &*target.name, "{text}"),
            (None, Check::Name) => {
                tracing::info!(connector = &*target.name, "its host resolves again");
            }
            (None, Check::Server) => {
                tracing::info!(connector = &*target.name, "its server answers again");
            }
        }
        let status = |fault: Option<String>| fault.map_or(Status::Up, Status::Failed);
        let (before, now) = (status(before), status(target.fault()));
        // Other errors of the entry take precedence.
        self.state
            .replace("tcpConnector", &target.name, &before, now);
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
