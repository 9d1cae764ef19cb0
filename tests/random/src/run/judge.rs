//! Checks the operations of a driver against the meaning of the lifecycle: each reconciliation by
//! itself, and each step by its result.

use lifecycle_oracle::meaning::{Named, Step, WorldClass};
use lifecycle_runtime::controller::{Move, Written};
use lifecycle_runtime::machine::ir::Lifecycle;
use serde_json::Value;

use super::{BYSTANDER, Run, SUBJECT};
use crate::hours;
use crate::watched::{Entry, Pass};

/// Event between two reconciliations.
#[derive(Clone, Copy, Debug)]
enum Interlude {
    Nothing,
    /// A write is on its way.
    Sent,
    Ended(Written, &'static str),
}

impl Run<'_> {
    /// Judges the operations since the last call.
    pub(super) fn judge(&mut self) {
        let mut between = Interlude::Nothing;
        for entry in self.watched.take() {
            if self.is_over {
                return;
            }
            self.log_line(|| format!("{entry:?}"));
            match entry {
                Entry::Sent(Written::Event) | Entry::Ended(Written::Event, _) => {}
                Entry::Told(object) => self.is_read(&object),
                Entry::Sent(_) => between = Interlude::Sent,
                Entry::Ended(what, how) => between = Interlude::Ended(what, how),
                Entry::Passed(pass) => {
                    self.pass(&pass);
                    if let Some(before) = self.last.take() {
                        self.step(&before, between, &pass);
                    }
                    self.last = Some(pass);
                    between = Interlude::Nothing;
                }
            }
        }
    }

    fn pass(&mut self, pass: &Pass) {
        self.ran.passes += 1;
        self.ran.worlds.insert(pass.world.clone());
        if let Some(failure) = &pass.failure {
            self.find(format!("failure: {failure}"));
            return;
        }
        self.note_suspension(pass);
        if pass.place.is_none() != pass.ruled_out.is_some() {
            self.find(format!(
                "stopped and not told, or told and not stopped: {pass:?}"
            ));
            return;
        }
        if !self.meaning.knows(&pass.world) {
            // This is not an operation of the driver: the environment may make a world that is
            // ruled out. The driver's operations there are checked once settled.
            return;
        }
        if let Some(ruled_out) = &pass.ruled_out {
            self.find(format!("ruled out, and it may be: {ruled_out}"));
            return;
        }
        let (place, step) = (
            self.meaning.classify(&pass.world),
            self.meaning.step(&pass.world),
        );
        if place != pass.place {
            self.find(format!(
                "another state: {:?}, and the meaning is {place:?}",
                pass.place
            ));
        } else if step != pass.step {
            self.find(format!(
                "another move: {:?}, and the meaning is {step:?} in {:?}",
                pass.step, pass.world
            ));
        } else if let Some(instead) = instead_of(&step, pass.does, self.driven.ir) {
            self.find(format!("another deed: {instead} instead of {step:?}"));
        } else if pass.place == Some(WorldClass::Deleting)
            && let Step::Run(undo) = &step
        {
            self.note_steps(&step);
            self.gives_back_in_order(pass, undo);
        }
    }

    /// The world after a step, with everything refused that was refused before.
    fn still_refused(&self, before: &Pass, after: &Named) -> Named {
        let refused = |name: &String| {
            name.starts_with('?') && before.world.get(name).is_some_and(|said| said == "true")
        };
        let pairs = after.iter().map(|(name, value)| {
            let value = if refused(name) { "true" } else { value };
            (name.clone(), value.to_owned())
        });
        pairs.collect()
    }

    /// The conditions of the status are those of the world.
    pub(super) fn is_told(&mut self, world: &Named) {
        let Some(told) = self.meaning.reported_conditions(world) else {
            return;
        };
        let this = self.cluster.get(0, SUBJECT).unwrap_or_default();
        let rows = this.pointer("/status/conditions").and_then(Value::as_array);
        for (name, wanted) in told {
            let mut rows = rows.into_iter().flatten();
            let row = rows.find(|row| row["type"].as_str() == Some(&name));
            let says = row.map(|row| {
                let text = |key: &str| row[key].as_str().unwrap_or_default().to_owned();
                (text("status"), text("reason"))
            });
            if says != wanted {
                self.find(format!(
                    "another status: {name} is {says:?} and should be {wanted:?} in {world:?}"
                ));
                return;
            }
        }
    }

    /// Checks that an object that no input finds is unchanged.
    pub(super) fn leaves_others_alone(&mut self) {
        let mut all = self.bystanders.iter();
        let touched = all.find(|(kind, made)| {
            let is = self.cluster.get(**kind, BYSTANDER);
            is.as_ref() != Some(made)
        });
        if let Some(kind) = touched.map(|(kind, _)| *kind) {
            self.find(format!(
                "hands off: a Thing{kind} that no input finds was changed or deleted"
            ));
        }
    }

    /// Checks that cleanup starts with the resource that was acquired last, also if that has to
    /// wait.
    fn gives_back_in_order(&mut self, pass: &Pass, undo: &str) {
        let (ir, held) = (self.machine.ir, self.meaning.held_facts(&pass.world));
        let acquires = ir
            .effects
            .iter()
            .filter_map(|effect| Some((effect, effect.undo?)));
        let acquires: Vec<_> = acquires.collect();
        // A step ends before the cleanup.
        let mut steps = ir.steps.iter();
        if steps.any(|step| ir.effects[step.effect].name == undo) {
            return;
        }
        let Some(at) = acquires
            .iter()
            .position(|(_, by)| ir.effects[*by].name == undo)
        else {
            return;
        };
        for (later, by) in &acquires[at + 1..] {
            let sets = later.sets.iter().copied().flatten();
            let holds = sets
                .map(|(var, _)| ir.vars[*var].name)
                .find(|name| held.iter().any(|held| held == name));
            if let Some(fact) = holds.filter(|_| ir.effects[*by].name != undo) {
                self.find(format!(
                    "out of order: `{undo}` runs while `{fact}` is held, which was acquired later"
                ));
                return;
            }
        }
    }

    /// Returns true if an operation of the environment may show in this reconciliation.
    fn is_free(&self, pass: &Pass) -> bool {
        self.moved.is_some_and(|(at, late)| late || pass.at == at)
    }

    /// Checks that only answers made from time have changed if only time has passed.
    fn day_passed(&mut self, before: &Pass, between: &Interlude, after: &Pass) {
        let is_quiet = matches!(between, Interlude::Nothing);
        if is_quiet && !self.meaning.passes(&before.world, &after.world) {
            let (was, is) = (&before.world, &after.world);
            self.find(format!("another time: it changed {was:?} to {is:?}"));
        }
    }

    fn step(&mut self, before: &Pass, between: Interlude, after: &Pass) {
        if self.is_over || self.is_free(after) || before.failure.is_some() {
            return;
        }
        let all = [&before.world, &after.world];
        if all.into_iter().any(|world| !self.meaning.knows(world)) {
            return;
        }
        self.ran.steps += 1;
        let days = [before.at, after.at].map(|at| hours::points(self.wall(at)));
        if self.has_clock() && days[0] != days[1] {
            self.day_passed(before, &between, after);
            return;
        }
        let same = self.meaning.ripens(&before.world, &after.world);
        let unripe = self.meaning.unripe(&before.world, &after.world);
        let leads = |step: &Step| {
            // A change to a write makes it a different write, which was not refused.
            let ends = [&after.world, &unripe, &self.still_refused(before, &unripe)];
            ends.into_iter()
                .any(|end| self.meaning.leads(&before.world, step, end))
        };
        let explained = match between {
            Interlude::Nothing | Interlude::Sent => same,
            Interlude::Ended(Written::Status | Written::Event, _) => same,
            Interlude::Ended(Written::Claim, "done") => leads(&Step::Claim),
            Interlude::Ended(Written::Effect(effect) | Written::Call(effect), how) => {
                let declared = &self.driven.ir.effects[effect];
                let step = Step::Run(declared.name.to_owned());
                match how {
                    "done" | "refused" if before.world == after.world => {
                        leads(&step) || declared.each
                    }
                    "done" | "refused" => leads(&step) || same,
                    _ => same,
                }
            }
            Interlude::Ended(Written::Claim | Written::Release | Written::Leftover, _) => same,
        };
        if !explained {
            let changed = after
                .world
                .iter()
                .filter(|(name, value)| before.world.get(*name) != Some(*value));
            let changed: Vec<String> = changed
                .map(|(name, value)| format!("{name} = {value}"))
                .collect();
            let place = &before.place;
            self.find(format!(
                "another outcome: {between:?} in {place:?} led to {changed:?}"
            ));
        }
    }
}

/// Returns the move of a reconciliation that contradicts the meaning. A status may always come
/// first, and everything may have to wait.
fn instead_of(step: &Step, does: Move, ir: &Lifecycle) -> Option<String> {
    let fits = match does {
        Move::Write(Written::Status) | Move::Wait(..) => true,
        Move::Write(Written::Effect(effect) | Written::Call(effect)) => {
            matches!(step, Step::Run(name) if name == ir.effects[effect].name)
        }
        Move::Write(Written::Claim) => *step == Step::Claim,
        Move::Write(Written::Release) => *step == Step::Release,
        Move::Write(Written::Event | Written::Leftover) => false,
        Move::Rest => *step == Step::Rest,
    };
    (!fits).then(|| format!("{does:?}"))
}
