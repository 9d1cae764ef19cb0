//! What a volume's life has left behind, at each of its stations.

use super::deed::Deed;
use super::snapshot::Snapshot;

/// How a volume's life ended.
#[derive(Clone, Debug, Default)]
pub(super) struct LifeOutcome {
    pub(super) before: Snapshot,
    /// All Pods have the volume.
    pub(super) up: Snapshot,
    /// They have given it back.
    pub(super) down: Snapshot,
    /// Claim, Pods and PersistentVolume are gone, and what they owned.
    pub(super) gone: Snapshot,
    /// How many writes it took to repeat what was done already.
    pub(super) writes_at_rest: usize,
    pub(super) writes: u32,
    /// The same of each lifecycle that runs beside the driver.
    pub(super) writes_beside: Vec<usize>,
    /// What was away for a while, and is there anew.
    pub(super) restored: Vec<String>,
    /// What somebody could have done by hand while the volume was mounted.
    pub(super) deeds: Vec<Deed>,
    /// The first request of each kind in each step.
    pub(super) first_requests: Vec<u32>,
    /// The fault came to pass.
    pub(super) is_over: bool,
    /// What went wrong on the way.
    pub(super) wrong: Vec<String>,
}
