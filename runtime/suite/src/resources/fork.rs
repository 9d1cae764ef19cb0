//! Settled clusters, copied at the end of a way, so that runs that continue from there need not
//! repeat the way. A fork depends on its way alone. Runs that continue from it are byte-for-byte
//! equal, no matter when it was made.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::external::ExternalSystem;
use super::moves::Move;
use super::wire::WriteHistory;
use lifecycle_simulator::server::Server;

/// All that outlives the process at the end of a way.
pub(crate) struct Fork {
    pub(crate) server: Server,
    pub(crate) outside: Arc<dyn ExternalSystem>,
    /// How long the way took.
    pub(crate) lasted: Duration,
    /// The log of the way, if the suite keeps logs.
    pub(crate) journal: String,
    pub(crate) present: BTreeMap<String, String>,
    pub(crate) foreign: BTreeSet<String>,
    pub(crate) lingering: BTreeSet<String>,
    pub(crate) is_down: bool,
    pub(crate) past: WriteHistory,
    pub(crate) uids: BTreeMap<String, bool>,
    /// The same of each lifecycle that runs beside it.
    pub(crate) beside: Vec<(WriteHistory, BTreeMap<String, bool>)>,
}

impl fmt::Debug for Fork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fork")
            .field("lasted", &self.lasted)
            .finish_non_exhaustive()
    }
}

type Cell = Arc<OnceLock<Result<Option<Arc<Fork>>, String>>>;

/// The forks of a suite, by their ways.
#[derive(Default)]
pub(crate) struct Forks(Mutex<BTreeMap<Vec<Move>, Cell>>);

impl Forks {
    fn cell(&self, way: &[Move]) -> Cell {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(all.entry(way.to_vec()).or_default())
    }

    /// Stores the cluster that a run has reached at the end of its way.
    pub(crate) fn keep(&self, way: &[Move], fork: Option<Arc<Fork>>) {
        // Another run of the same way has left the same.
        let _ = self.cell(way).set(Ok(fork)).is_ok();
    }

    /// The end of a way, gone now if it was not before; nothing if it cannot be gone or copied.
    ///
    /// # Errors
    /// Those of going it.
    pub(crate) fn get_or_run(
        &self,
        way: &[Move],
        go: impl FnOnce() -> Result<Option<Arc<Fork>>, String>,
    ) -> Result<Option<Arc<Fork>>, String> {
        self.cell(way).get_or_init(go).clone()
    }

    /// The longest part of a way that was gone before, and how many moves it is.
    pub(crate) fn longest(&self, way: &[Move]) -> (usize, Option<Arc<Fork>>) {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = (1..way.len()).rev().find_map(|moves| {
            let gone = all.get(&way[..moves])?.get()?;
            let fork = gone.as_ref().ok()?.as_ref()?;
            Some((moves, Some(Arc::clone(fork))))
        });
        found.unwrap_or_default()
    }
}
