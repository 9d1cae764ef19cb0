//! Clusters at rest: copied at the end of a way, so that the runs that go on from there need not go the way again.
//! A fork is made of its way alone; whether it was made before or is made now, runs that go on from it are equal to the byte.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use super::Core;
use super::moves::{Move, Schedule};
use super::outside::Outside;
use super::run::Ask;
use super::stage::Stage;
use super::wire::Past;
use super::workers;
use crate::clock::Clock;
use crate::testing::server::Server;

/// All that outlives the process at the end of a way.
pub(crate) struct Fork {
    pub(crate) server: Server,
    pub(crate) outside: Arc<dyn Outside>,
    /// How long the way took.
    pub(crate) lasted: Duration,
    /// The log of the way, if the suite keeps logs.
    pub(crate) journal: String,
    present: BTreeMap<String, String>,
    foreign: BTreeSet<String>,
    lingering: BTreeSet<String>,
    is_down: bool,
    deleted: bool,
    past: Past,
    uids: BTreeMap<String, bool>,
}

impl fmt::Debug for Fork {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fork")
            .field("lasted", &self.lasted)
            .finish_non_exhaustive()
    }
}

impl Fork {
    /// A copy of all that outlives the process; nothing if something of it cannot be copied.
    pub(crate) fn of(stage: &Stage) -> Option<Self> {
        let live = stage.server.as_ref()?;
        let server = live.copy();
        server.set_clock(live.now());
        Some(Self {
            server,
            outside: stage.outside.copy()?,
            lasted: stage.faults.elapsed(),
            journal: stage.faults.journal(),
            present: stage.present.clone(),
            foreign: stage.foreign.clone(),
            lingering: stage.lingering.clone(),
            is_down: stage.is_down,
            deleted: stage.deleted,
            past: stage.wire.past(),
            uids: stage.onlooker.uids(),
        })
    }

    /// Tells a new run what it goes on from.
    pub(crate) fn restore(&self, stage: &mut Stage) {
        stage.present = self.present.clone();
        stage.foreign = self.foreign.clone();
        stage.lingering = self.lingering.clone();
        stage.is_down = self.is_down;
        stage.deleted = self.deleted;
        stage.wire.go_on_from(self.past.clone());
        stage.onlooker.go_on_from(self.uids.clone());
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

    /// Keeps what a run has left at the end of its way.
    pub(crate) fn keep(&self, way: &[Move], fork: Option<Arc<Fork>>) {
        // Another run of the same way has left the same.
        let _ = self.cell(way).set(Ok(fork)).is_ok();
    }

    /// The end of a way, gone now if it was not before; nothing if it cannot be gone or copied.
    ///
    /// # Errors
    /// Those of a run.
    pub(crate) fn at(&self, core: &Arc<Core>, way: &[Move]) -> Result<Option<Arc<Fork>>, String> {
        let gone = || {
            let ask = Ask {
                fork_only: true,
                ..Ask::default()
            };
            Ok(workers::one(core, &Schedule::step(way.to_vec()), ask)?.fork)
        };
        self.cell(way).get_or_init(gone).clone()
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
