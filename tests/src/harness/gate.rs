//! Gate that decides which tests of a program may run now. Tests that wait for servers leave cores
//! to tests that calculate.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

/// Load that a test puts on the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Load {
    /// It waits for others most of the time.
    Waits,
    /// It keeps a core busy.
    Calculates,
}

/// Number of waiting tests that run at a time for each core.
const WAITING_PER_CORE: usize = 2;

/// Admits tests in the order in which they arrive, as many of each load as the machine supports.
#[derive(Debug)]
pub(super) struct Gate {
    /// Maximum numbers of waiting tests and of computing tests.
    most: [usize; 2],
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct State {
    /// How many have come, of each load.
    come: [usize; 2],
    /// How many have begun.
    begun: [usize; 2],
    /// How many have ended.
    ended: [usize; 2],
}

/// A test that runs; it ends when this is dropped.
pub(super) struct Turn<'a> {
    gate: &'a Gate,
    load: Load,
}

impl Gate {
    /// Creates a gate for this machine. `threads` is the requested number of concurrent tests.
    pub(super) fn new(threads: Option<usize>) -> Arc<Self> {
        let cores = thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let most = match threads {
            Some(threads) => [threads, threads.min(cores)],
            None => [WAITING_PER_CORE * cores, cores],
        };
        Arc::new(Self {
            most,
            state: Mutex::default(),
            changed: Condvar::new(),
        })
    }

    /// Waits for its turn.
    pub(super) fn enter(&self, load: Load) -> Turn<'_> {
        let kind = load as usize;
        let mut state = self.state();
        let number = state.come[kind];
        state.come[kind] += 1;
        while state.begun[kind] != number || !self.has_room(&state, load) {
            let changed = self.changed.wait(state);
            state = changed.unwrap_or_else(PoisonError::into_inner);
        }
        state.begun[kind] += 1;
        self.changed.notify_all();
        Turn { gate: self, load }
    }

    /// While others wait for servers, which take a core, one core less is for calculations.
    fn has_room(&self, state: &State, load: Load) -> bool {
        let running = |kind: usize| state.begun[kind] - state.ended[kind];
        let most = self.most[load as usize];
        let most = match load {
            Load::Calculates if running(Load::Waits as usize) > 0 => (most / 2).max(1),
            Load::Calculates | Load::Waits => most,
        };
        running(load as usize) < most
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.gate.state().ended[self.load as usize] += 1;
        self.gate.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    /// How many of a load ran at once at most, when many come beside one that waits or none.
    fn most_at_once(gate: &Gate, load: Load) -> usize {
        let (now, most) = (AtomicUsize::new(0), AtomicUsize::new(0));
        thread::scope(|scope| {
            for _ in 0..12 {
                scope.spawn(|| {
                    let _turn = gate.enter(load);
                    let running = now.fetch_add(1, Ordering::SeqCst) + 1;
                    most.fetch_max(running, Ordering::SeqCst);
                    thread::yield_now();
                    now.fetch_sub(1, Ordering::SeqCst);
                });
            }
        });
        most.into_inner()
    }

    #[test]
    fn as_many_run_as_there_is_room_for() {
        let gate = Gate::new(Some(3));
        assert!(most_at_once(&gate, Load::Waits) <= 3);
        let alone = Gate::new(Some(1));
        assert_eq!(most_at_once(&alone, Load::Waits), 1);
        assert_eq!(most_at_once(&alone, Load::Calculates), 1);
    }

    #[test]
    fn calculations_go_on_beside_a_test_that_waits_and_leave_it_a_core() {
        let gate = Gate {
            most: [4, 2],
            state: Mutex::default(),
            changed: Condvar::new(),
        };
        let waits = gate.enter(Load::Waits);
        assert_eq!(most_at_once(&gate, Load::Calculates), 1);
        drop(waits);
        assert!(most_at_once(&gate, Load::Calculates) <= 2);
    }

    #[test]
    fn a_test_that_panics_makes_room() {
        let gate = Gate::new(Some(1));
        let panicked = thread::scope(|scope| {
            let panics = scope.spawn(|| {
                let _turn = gate.enter(Load::Waits);
                panic!("it fails");
            });
            panics.join().is_err()
        });
        assert!(panicked);
        drop(gate.enter(Load::Waits));
    }
}
