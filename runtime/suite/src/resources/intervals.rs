//! Longest time between two requests of a poll, as declared and as the fixture objects specify.

use std::sync::Arc;
use std::time::Duration;

use lifecycle_runtime::lifecycle::{Machine, Observation, Stored};
use lifecycle_runtime::machine::ir::Length;
use serde_json::Value;

use super::Core;
use super::fixture::Fixture;

impl Core {
    /// Sets the waiting times that the polled system needs.
    pub(super) fn wait_for_polls(&mut self) {
        let polled = longest(&*self.machine, &self.fixtures);
        // The time is longer than any write takes, and longer than a polled change stays
        // unobserved.
        self.quiet = Duration::from_secs(45) + polled * 3 / 2;
        self.calm = Duration::from_secs(5) + polled * 3 / 2;
        self.deaf = polled * 4;
    }
}

/// The longest interval of a poll, of any object.
fn longest(machine: &dyn Machine, fixtures: &[Fixture]) -> Duration {
    let ir = machine.ir();
    let subjects = fixtures.iter().filter(|fixture| fixture.subject);
    let seen = subjects.filter_map(|fixture| seen(machine, &fixture.object));
    let seen: Vec<Observation> = seen.collect();
    let every = ir.inputs.iter().filter_map(|input| input.every.as_ref());
    let of_all = |every: &Length| {
        let said = |observation| every.said.and_then(|time| machine.time(observation, time));
        let said = seen.iter().map(|one| every.resolve(said(one).as_ref()).0);
        said.chain([every.resolve(None).0]).max()
    };
    every.filter_map(of_all).max().unwrap_or_default()
}

/// Observes the object alone.
fn seen(machine: &dyn Machine, object: &Value) -> Option<Observation> {
    let stored = Stored {
        meta: serde_json::from_value(object.get("metadata")?.clone()).ok()?,
        decoded: machine.subject()?.decode(object).map_err(|e| e.to_string()),
        unread: None,
        raw: None,
        compared: Default::default(),
        before: None,
    };
    Some(Observation::new(machine.ir(), Arc::new(stored)))
}
