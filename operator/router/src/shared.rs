//! What the tasks of one router share, whatever configuration is applied. Knows no task.

use std::sync::Arc;

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
}

impl Shared {
    /// Of a router without a configuration.
    pub(crate) fn new(options: Options) -> Self {
        Self {
            routes: Routes::default(),
            streams: Streams::new(options.caps()),
            state: StateStore::new(),
            metrics: Metrics::default(),
            options,
        }
    }
}
