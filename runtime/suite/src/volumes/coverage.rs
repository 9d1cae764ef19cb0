//! Coverage of the declarations of a suite's lifecycles by its schedules.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::test_env::TestEnv;
use crate::faults::{FaultPoint, Sent};
use crate::resources::Coverage;
use lifecycle_csi::in_process::ClassifiedVolume;
use lifecycle_runtime::lifecycle::Observation;
use lifecycle_runtime::machine::ir::{Code, Lifecycle, Rpc, Verb};
use lifecycle_runtime::machine::policy::Class;
use lifecycle_runtime::machine::world::World;

/// Coverage of answers, states and effects.
#[derive(Default)]
pub(super) struct RpcCoverage {
    /// How often each call was answered how; none is OK.
    answers: BTreeMap<Rpc, BTreeMap<Option<Code>, u64>>,
    /// Names of lifecycles and states.
    states: BTreeSet<(&'static str, &'static str)>,
    /// Names of lifecycles and of their effects outside the API server.
    effects: BTreeSet<(&'static str, &'static str)>,
    /// Plurals of the resources that were written to the API server.
    written: BTreeSet<String>,
    /// Coverage of each lifecycle that runs beside the driver.
    beside: Vec<(&'static Lifecycle, Coverage)>,
    /// Settled worlds of a volume and of all those lifecycles: name of the lifecycle, and worlds.
    rests: BTreeSet<(&'static str, World, Vec<World>)>,
}

impl RpcCoverage {
    pub(super) fn add(&mut self, other: Self) {
        for (rpc, codes) in other.answers {
            for (code, times) in codes {
                *self
                    .answers
                    .entry(rpc)
                    .or_default()
                    .entry(code)
                    .or_default() += times;
            }
        }
        self.states.extend(other.states);
        self.effects.extend(other.effects);
        self.written.extend(other.written);
        self.add_companions(other.beside);
        self.rests.extend(other.rests);
    }

    pub(super) fn add_companions(&mut self, seen: Vec<(&'static Lifecycle, Coverage)>) {
        for (ir, seen) in seen {
            match self.beside.iter_mut().find(|(own, _)| own.path == ir.path) {
                Some((_, own)) => own.add(seen),
                None => self.beside.push((ir, seen)),
            }
        }
    }

    /// Records the settled worlds of a volume and of the lifecycles beside it.
    pub(super) fn record_rest(&mut self, name: &'static str, world: World, mut beside: Vec<World>) {
        beside.sort();
        self.rests.insert((name, world, beside));
    }

    pub(super) fn record_answer(&mut self, rpc: Rpc, code: Option<Code>) {
        *self
            .answers
            .entry(rpc)
            .or_default()
            .entry(code)
            .or_default() += 1;
    }

    pub(super) fn observed(&mut self, ir: &'static Lifecycle, observation: &Observation) {
        self.classified(Some((ir, ir.classify(&observation.world, false))));
    }

    pub(super) fn classified(&mut self, volume: Option<ClassifiedVolume>) {
        if let Some((ir, Class::State(state))) = volume {
            self.states.insert((ir.name, ir.states[state].name));
        }
    }

    pub(super) fn effects(&mut self, done: &[(&'static str, &'static str)], sent: &[Sent]) {
        self.effects.extend(done);
        let written = sent
            .iter()
            .filter(|sent| matches!(sent.at, FaultPoint::Write(_)));
        for sent in written {
            let parts = sent.what.split(['/', ' ', '?']);
            self.written.extend(parts.map(str::to_owned));
        }
    }

    /// All of it in lines, for every lifecycle of a driver.
    pub(super) fn report(&self, name: &str, env: &TestEnv<'_>) -> String {
        let mut text = format!("{name}\n");
        for machine in env.machines() {
            let ir = machine.ir();
            let states = ir.states.iter().map(|state| state.name);
            let states = states.map(|state| (state, self.states.contains(&(ir.name, state))));
            line(&mut text, ir.name, "states", states.collect());
            let effects = ir.effects.iter().map(|effect| {
                let kind = machine.kind(effect.target);
                let is_done = match effect.verb {
                    Verb::Call => self.effects.contains(&(ir.name, effect.name)),
                    Verb::Apply | Verb::Delete | Verb::Adopt | Verb::Create | Verb::Note => {
                        kind.is_some_and(|kind| self.written.contains(&kind.plural))
                    }
                };
                (effect.name, is_done)
            });
            line(&mut text, ir.name, "effects", effects.collect());
            for call in ir.calls {
                let answers = self.answers.get(&call.rpc);
                let answers = answers
                    .into_iter()
                    .flatten()
                    .map(|(code, times)| match code {
                        Some(code) => format!("{code:?} {times}"),
                        None => format!("OK {times}"),
                    });
                let answers: Vec<String> = answers.collect();
                let answers = match answers.is_empty() {
                    true => "never asked".to_owned(),
                    false => answers.join(", "),
                };
                // Writing to a text never fails.
                let _written = writeln!(text, "  {:?}: {answers}", call.rpc);
            }
        }
        for (ir, seen) in &self.beside {
            let states = ir.states.entries();
            let states = states.map(|(number, state)| (state.name, seen.states.contains(&number)));
            line(&mut text, ir.name, "states", states.collect());
        }
        if !self.beside.is_empty() {
            // Writing to a text never fails.
            let _written = writeln!(text, "  together: {} settled worlds", self.rests.len());
        }
        text
    }
}

fn line(text: &mut String, of: &str, what: &str, all: Vec<(&str, bool)>) {
    if all.is_empty() {
        return;
    }
    let names = |seen: bool| {
        let names = all
            .iter()
            .filter(|(_, is)| *is == seen)
            .map(|(name, _)| *name);
        names.collect::<Vec<_>>().join(", ")
    };
    let unseen = match names(false) {
        none if none.is_empty() => String::new(),
        names => format!("; never: {names}"),
    };
    let _written = writeln!(text, "  {of} {what}: {}{unseen}", names(true));
}
