//! State that a volume's life has left behind, at each of its stages.

use super::deed::ManualOperation;
use super::snapshot::Snapshot;

/// How a volume's life ended.
#[derive(Clone, Debug, Default)]
pub(super) struct LifeOutcome {
    pub(super) before: Snapshot,
    /// All Pods have the volume.
    pub(super) up: Snapshot,
    /// They have given it back.
    pub(super) down: Snapshot,
    /// Snapshot after the claim, the Pods, the PersistentVolume and the objects that they owned are
    /// gone.
    pub(super) gone: Snapshot,
    /// Number of writes caused by repeating completed calls.
    pub(super) writes_at_rest: usize,
    pub(super) writes: u32,
    /// The same of each lifecycle that runs beside the driver.
    pub(super) writes_beside: Vec<usize>,
    /// Objects that were absent for a while, and were created anew.
    pub(super) restored: Vec<String>,
    /// Operations that a user could have performed by hand while the volume was mounted.
    pub(super) deeds: Vec<ManualOperation>,
    /// The first request of each kind in each step.
    pub(super) first_requests: Vec<u32>,
    /// True if the fault occurred.
    pub(super) is_over: bool,
    /// Findings on the way.
    pub(super) wrong: Vec<String>,
}
