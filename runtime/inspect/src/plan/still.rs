//! Lifecycle that does nothing outside Kubernetes: it answers no poll and makes no call. It records
//! the skipped polls and calls.

use std::collections::BTreeSet;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};

use lifecycle_runtime::Machine;
use lifecycle_runtime::lifecycle::{Calling, MachineWrapper, Observation, Once, Polling};
use lifecycle_runtime::machine::ir::Mode;

/// Lifecycle whose polls and calls never end. Its operator writes everything possible without their
/// results, as it would while they are pending.
pub struct Still {
    machine: Arc<dyn Machine>,
    noted: Arc<Mutex<BTreeSet<String>>>,
}

impl std::fmt::Debug for Still {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Still")
            .field("lifecycle", &self.machine.ir().path)
            .finish_non_exhaustive()
    }
}

impl Still {
    /// Returns the lifecycle, and records its actions outside Kubernetes in `noted`.
    pub fn new(machine: Arc<dyn Machine>, noted: Arc<Mutex<BTreeSet<String>>>) -> Self {
        Self { machine, noted }
    }

    fn record_action(&self, observation: &Observation, what: &str, name: &str) {
        let kind = self.machine.ir().name;
        let meta = &observation.subject().meta;
        let place = meta.namespace.as_deref().map(|n| format!("{n}/"));
        let object = meta.name.as_deref().unwrap_or_default();
        let line = format!(
            "{what} `{name}` of {kind} {}{object}",
            place.unwrap_or_default()
        );
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        noted.insert(line);
    }
}

impl MachineWrapper for Still {
    fn inner(&self) -> &dyn Machine {
        &*self.machine
    }

    fn poll<'a>(&'a self, observation: &'a Observation, input: usize) -> Option<Polling<'a>> {
        // The author's method is not entered: it may begin to ask before its answer is waited for.
        let asked = &self.machine.ir().inputs[input];
        matches!(asked.mode, Mode::Poll | Mode::Probe).then(|| {
            self.record_action(observation, "poll", asked.name);
            Box::pin(pending()) as Polling<'a>
        })
    }

    fn call<'a>(
        &'a self,
        observation: &'a Observation,
        effect: usize,
        _once: Once<'a>,
    ) -> Option<Calling<'a>> {
        self.record_action(observation, "call", self.machine.ir().effects[effect].name);
        Some(Box::pin(pending()))
    }
}
