//! Environment that moves towards a world. It brings about all parts that it can, at once.

use lifecycle_oracle::meaning::Named;
use lifecycle_oracle::meaning::truth::truth;
use lifecycle_runtime::machine::ir::{Mode, Origin};
use serde_json::json;
use tokio::time::Instant;

use super::{BYSTANDER, Run, SUBJECT};
use crate::cluster::name;
use crate::declared::Lookup;
use crate::watched::called;

impl Run<'_> {
    /// Changes everything towards this world, except our own objects. Returns true if the object is
    /// deleted in this world.
    pub(super) fn make_for(&mut self, world: &Named) -> bool {
        self.moved = Some((Instant::now(), true));
        self.ran.moves += 1;
        self.log_line(|| format!("outside: makes for {world:?}"));
        let vars = self.machine.ir.vars.iter();
        let (mut inputs, mut facts) = (Vec::new(), Vec::new());
        for var in vars {
            let value = world.get(&called(var)).cloned().unwrap_or_default();
            match var.origin {
                Origin::Input(input) => inputs.push((input, value)),
                Origin::Fact => facts.push((var.name, value)),
                Origin::Refused(effect) => self.refuse_or_not(effect, value == "true"),
                Origin::Deleting | Origin::Claimed => {}
            }
        }
        for (input, value) in inputs {
            if self
                .sees(&self.machine.declared.inputs[input].clone())
                .as_ref()
                != Some(&value)
            {
                self.bring(input, &value);
            }
        }
        for (fact, value) in facts {
            self.force(fact, &value);
        }
        world
            .get("deleting")
            .is_some_and(|deleting| deleting == "true")
    }

    /// The value of a fact as things are.
    fn sees(&self, fact: &str) -> Option<String> {
        let truth = truth(self.meaning, &self.now()?, &Named::new()).ok()?;
        truth.get(fact).cloned()
    }

    fn refuse_or_not(&mut self, effect: usize, refused: bool) {
        let effect = &self.machine.ir.effects[effect];
        let targets = self.machine.ir.of_objects(effect.target);
        let is_outside = self.machine.ir.inputs[effect.target].mode == Mode::Poll;
        if is_outside && refused {
            let mut outside = self.machine.outside.state();
            outside.refused.insert(effect.name.to_owned());
        } else if is_outside {
            self.machine.outside.state().refused.remove(effect.name);
        } else if refused {
            let kinds = targets.into_iter().map(|target| target + 1);
            self.watched.wire().refused.extend(kinds);
        } else {
            for target in targets {
                self.watched.wire().refused.remove(&(target + 1));
            }
        }
    }

    /// Makes an input have this value, if the environment can.
    fn bring(&mut self, input: usize, value: &str) {
        // One member decides for its group.
        let input = *self.machine.ir.of_objects(input).first().unwrap_or(&input);
        let called = self.machine.declared.inputs[input].clone();
        self.want(input, value);
        match value {
            "Known" | "Unknown" => {
                let down = value == "Unknown";
                self.machine.outside.state().silence(&called, down);
            }
            "Unnamed" => self.name_it(input, ""),
            "Absent" => {
                self.name_it(input, "a");
                self.take(input, false);
            }
            "Present" => {
                self.name_it(input, "a");
                self.retry_make(input);
            }
            "Foreign" => {
                self.take(input, false);
                self.retry_make(input);
            }
            "Terminating" | "Draining" => self.take(input, true),
            "Behind" => self.take(input, false),
            "Stale" => self.change(input),
            _ => {
                self.loosen();
            }
        }
    }

    /// Lets the object want an optional one where only that leads to the value, and mostly otherwise.
    fn want(&mut self, input: usize, value: &str) {
        let Some(path) = self.machine.ir.inputs[input].only_if else {
            return;
        };
        let must = matches!(value, "Absent" | "Foreign");
        let text = match must || !self.dice.one_in(3) {
            true => "a",
            false => "",
        };
        self.cluster.edit(0, SUBJECT, |object| {
            let mut at = object;
            for part in path.split('.') {
                at = &mut at[part];
            }
            *at = json!(text);
        });
    }

    /// Sets the name by which the object refers to an input that is found by name.
    fn name_it(&mut self, input: usize, text: &str) {
        let Lookup::Name(path) = &self.machine.declared.lookups[input] else {
            return;
        };
        if path.input.is_some() || path.parts.first().is_none_or(|part| part != "spec") {
            return;
        }
        let parts = path.parts.clone();
        self.cluster.edit(0, SUBJECT, |object| {
            let mut at = object;
            for part in &parts {
                at = &mut at[part.as_str()];
            }
            *at = json!(text);
        });
    }

    /// Others make it, often enough that chance does not count.
    fn retry_make(&mut self, input: usize) {
        for _ in 0..40 {
            if self.make(input) {
                return;
            }
        }
    }

    /// Deletes all objects of an input. `held` keeps them from being removed.
    fn take(&mut self, input: usize, held: bool) {
        if !self.is_object(input) {
            return;
        }
        for object in self.cluster.all(input + 1) {
            let name = name(&object);
            if name == BYSTANDER {
                continue;
            }
            self.cluster.loosen(input + 1, name, None);
            self.cluster.delete(input + 1, name, held);
        }
    }

    /// Changes the objects that were written.
    fn change(&mut self, input: usize) {
        if !self.is_written(input) {
            return;
        }
        let other = self.dice.roll(1000);
        for object in self.cluster.all(input + 1) {
            if name(&object) != BYSTANDER {
                self.cluster.edit(input + 1, name(&object), |object| {
                    object["spec"]["built"]["of"] = json!(format!("drift {other}"));
                });
            }
        }
    }
}
