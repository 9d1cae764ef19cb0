//! View that every controller of the world reads at its turn. Knows none of the controllers.

use std::time::Duration;

use tokio::time::Instant;

use super::World;
use super::cache::Cache;
use super::calls::Calls;

/// View that a controller reads.
pub(super) struct View<'a> {
    pub(super) cache: &'a Cache,
    pub(super) world: &'a World,
    pub(super) calls: &'a Calls,
    /// Our own clock.
    pub(super) at: Instant,
    /// For how long it has waited for this object.
    pub(super) waited: Duration,
    /// The wall clock, as statuses show it.
    pub(super) now: String,
}
