//! Moves of the environment: generic moves on objects, answers and processes.

use lifecycle_oracle::meaning::truth::given_to;
use lifecycle_runtime::machine::ir::{Lookup as Found, Mode, Origin, Source};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::{BYSTANDER, Run, SUBJECT};
use crate::author::{self, Document};
use crate::cluster::name;
use crate::declared::Lookup;

impl Run<'_> {
    /// Does one thing by chance that is possible.
    pub(super) fn disturb(&mut self) {
        for _ in 0..20 {
            let now = Instant::now();
            let before = self.machine.outside.state().changes;
            if !self.machine.ir.times.is_empty() && self.dice.one_in(6) && self.say_a_time() {
                self.moved = Some((now, false));
                self.ran.moves += 1;
                self.log_line(|| "outside: says another time".to_owned());
                return;
            }
            let all = if self.has_keepers() { 16 } else { 13 };
            let which = self.dice.roll(all);
            let done = match which {
                0..4 => self.answer_anew(),
                4 => self.make_one(),
                5 => self.remove_one(),
                6 => self.drift(),
                7 => self.rename(),
                8 => self.silence(),
                9 => self.refuse(),
                10 => self.restart(),
                11 => self.strip(),
                12 => self.loosen(),
                _ => self.change_owner(),
            };
            if done {
                // A poll reports the change later.
                let late = self.machine.outside.state().changes != before;
                self.moved = Some((now, late));
                self.ran.moves += 1;
                self.log_line(|| format!("outside: {which}"));
                return;
            }
        }
    }

    fn inputs(&self, fits: impl Fn(&Self, usize) -> bool) -> Vec<usize> {
        (0..self.machine.ir.inputs.len())
            .filter(|input| fits(self, *input))
            .collect()
    }

    /// A declared fact gets another answer.
    fn answer_anew(&mut self) -> bool {
        let facts: Vec<(String, Vec<String>)> = self
            .meaning
            .answers()
            .into_iter()
            .filter(|(name, _)| {
                let vars = &self.machine.ir.vars;
                // A held fact changes by our calls alone.
                vars.iter()
                    .any(|v| v.name == name && v.origin == Origin::Fact && v.free.is_none())
            })
            .collect();
        let Some((fact, answers)) = self.dice.pick(&facts).cloned() else {
            return false;
        };
        let answer = self.dice.pick(&answers).cloned().unwrap_or_default();
        self.force(&fact, &answer)
    }

    /// Of each kind that is written, an object that no input finds.
    pub(super) fn make_bystanders(&mut self) {
        let is_found = |lookup: &Lookup| matches!(lookup, Lookup::All);
        let kinds = self.inputs(|run, input| {
            run.is_written(input) && !is_found(&run.machine.declared.lookups[input])
        });
        for kind in kinds.into_iter().map(|input| input + 1) {
            self.cluster.create(kind, BYSTANDER, &json!({}), &json!({}));
            let made = self.cluster.get(kind, BYSTANDER);
            self.bystanders.extend(made.map(|made| (kind, made)));
        }
    }

    fn make_one(&mut self) -> bool {
        let inputs = self.inputs(Self::is_object);
        let input = self.dice.pick(&inputs).copied();
        input.is_some_and(|input| self.make(input))
    }

    /// Makes an object that an input finds, or may find later.
    pub(super) fn make(&mut self, input: usize) -> bool {
        if !self.is_object(input) {
            return false;
        }
        let mode = self.machine.ir.inputs[input].mode;
        // Other controllers seldom create objects that are ours.
        if matches!(mode, Mode::Owned | Mode::Shared) && !self.dice.one_in(4) {
            return false;
        }
        let called = &self.machine.declared.inputs[input];
        let (mut named, mut labels) = (format!("n{}", self.dice.roll(3)), json!({}));
        let names: Vec<String> = (0..self.dice.roll(3)).map(|n| format!("n{n}")).collect();
        let mut spec = json!({ "names": names, "made": self.dice.roll(1000) });
        match &self.machine.declared.lookups[input] {
            Lookup::Name(path) => {
                let this = self.cluster.get(0, SUBJECT);
                named = this
                    .and_then(|this| crate::machine::text_in(&this, &path.parts))
                    .unwrap_or_else(|| "a".to_owned());
            }
            Lookup::Ref(_) => named = author::reference(called),
            Lookup::Labels(pairs) => {
                labels = pairs
                    .iter()
                    .map(|(key, _)| (key.clone(), json!(SUBJECT)))
                    .collect::<serde_json::Map<_, _>>()
                    .into();
                if matches!(mode, Mode::Owned | Mode::Shared) {
                    named = format!("{}-m{}", author::dashed(called), self.dice.roll(3));
                }
            }
            Lookup::Equal(theirs, _) => {
                let mut at = &mut spec;
                for part in &theirs[1..] {
                    at = &mut at[part.as_str()];
                }
                *at = json!(if self.dice.one_in(3) { "b" } else { "a" });
            }
            Lookup::Names(_)
            | Lookup::Refs(_)
            | Lookup::Owner
            | Lookup::All
            | Lookup::Of(_)
            | Lookup::At(_)
            | Lookup::Several(_) => {}
        }
        self.cluster.create(input + 1, &named, &labels, &spec)
    }

    pub(super) fn some_object(&mut self, inputs: &[usize]) -> Option<(usize, Value)> {
        let mut all = Vec::new();
        for input in inputs {
            all.extend(
                self.cluster
                    .all(input + 1)
                    .into_iter()
                    .filter(|object| name(object) != BYSTANDER)
                    .map(|object| (*input, object)),
            );
        }
        self.dice.pick(&all).cloned()
    }

    fn remove_one(&mut self) -> bool {
        let inputs = self.inputs(Self::is_object);
        let Some((input, object)) = self.some_object(&inputs) else {
            return false;
        };
        let held = self.is_written(input) && self.dice.one_in(2);
        self.cluster.delete(input + 1, name(&object), held)
    }

    /// Changes an object that we wrote.
    fn drift(&mut self) -> bool {
        let inputs = self.inputs(Self::is_written);
        let Some((input, object)) = self.some_object(&inputs) else {
            return false;
        };
        let other = self.dice.roll(1000);
        self.cluster.edit(input + 1, name(&object), |object| {
            object["spec"]["built"]["of"] = json!(format!("drift {other}"));
        })
    }

    /// Wants another object to be found, or none.
    fn rename(&mut self) -> bool {
        let paths: Vec<Vec<String>> = self
            .paths()
            .into_iter()
            .filter(|path| path[0] == "spec")
            .collect();
        let Some(path) = self.dice.pick(&paths).cloned() else {
            return false;
        };
        let wanted = match self.dice.roll(3) {
            0 => json!("a"),
            1 => json!("b"),
            _ if self.is_optional(&path) => json!(""),
            _ => json!("b"),
        };
        self.cluster.edit(0, SUBJECT, |object| {
            let mut at = object;
            for part in &path {
                at = &mut at[part.as_str()];
            }
            *at = wanted;
        })
    }

    fn is_optional(&self, path: &[String]) -> bool {
        let mut inputs = self
            .machine
            .ir
            .inputs
            .iter()
            .zip(&self.machine.declared.lookups);
        inputs.all(|(input, lookup)| match lookup {
            Lookup::Name(of) if of.parts == path => {
                let unnamed = input
                    .var
                    .is_some_and(|var| self.machine.ir.vars[var].values.contains(&"Unnamed"));
                unnamed && matches!(input.lookup, Found::Name(_))
            }
            _ => true,
        })
    }

    /// Makes the target of a poll stop answering, or answer again.
    fn silence(&mut self) -> bool {
        let inputs = self.inputs(|run, input| run.machine.ir.inputs[input].mode == Mode::Poll);
        let Some(input) = self.dice.pick(&inputs).copied() else {
            return false;
        };
        let called = self.machine.declared.inputs[input].clone();
        let mut outside = self.machine.outside.state();
        let down = !outside.is_down(&called);
        outside.silence(&called, down)
    }

    /// Writes of an effect are refused from now on, or no longer.
    fn refuse(&mut self) -> bool {
        let effects = self.machine.ir.effects;
        let at = self.dice.roll(effects.len());
        let Some(effect) = effects.get(at) else {
            return false;
        };
        if self.mints(at) {
            return false;
        }
        if self.machine.ir.inputs[effect.target].mode == Mode::Poll {
            let mut outside = self.machine.outside.state();
            if !outside.refused.remove(effect.name) {
                outside.refused.insert(effect.name.to_owned());
            }
        } else {
            // Of a group, one member.
            let targets = self.machine.ir.of_objects(effect.target);
            let Some(target) = self.dice.pick(&targets).copied() else {
                return false;
            };
            let mut wire = self.watched.wire();
            if !wire.refused.remove(&(target + 1)) {
                wire.refused.insert(target + 1);
            }
        }
        true
    }

    /// Returns true if an effect writes something else each time that it is refused. No memory of a
    /// refusal can recognize this, so the brake slows it.
    fn mints(&self, effect: usize) -> bool {
        let target = self.machine.ir.effects[effect].target;
        let values = self.machine.declared.effects[effect].iter();
        let mut values = values.filter_map(|(_, source)| match source {
            Source::Value(value) => Some(&self.machine.declared.values[*value]),
            _ => None,
        });
        values.any(|from| {
            from.iter()
                .any(|(_, source)| *source == Source::Input(target))
        })
    }

    fn restart(&mut self) -> bool {
        self.stop();
        self.start();
        true
    }

    /// Takes our finalizer away by hand.
    fn strip(&mut self) -> bool {
        self.cluster
            .loosen(0, SUBJECT, Some(&self.naming.finalizer))
    }

    /// Lets something go that lingers.
    pub(super) fn loosen(&mut self) -> bool {
        let inputs = self.inputs(Self::is_written);
        let mut done = false;
        for input in inputs {
            for object in self.cluster.all(input + 1) {
                done |= self.cluster.loosen(input + 1, name(&object), None);
            }
        }
        done
    }

    /// Makes a fact have a value, if the environment can. Returns true if it changed anything.
    pub(super) fn force(&mut self, fact: &str, value: &str) -> bool {
        let inputs = &self.machine.declared.inputs;
        if let Some(input) = inputs.iter().position(|input| input == fact) {
            return match value {
                "Known" => self.machine.outside.state().silence(fact, false),
                "Absent" | "Gone" | "Foreign" | "Current" | "Behind" => self.loosen(),
                "Present" | "Stale" => self.make(input),
                _ => false,
            };
        }
        let Some(var) = self
            .machine
            .ir
            .vars
            .iter()
            .find(|v| v.name == fact && v.origin == Origin::Fact)
        else {
            return false;
        };
        let words = &var.values[..usize::from(var.answers)];
        let answers = words.len();
        let Some(wanted) = words.iter().position(|v| *v == value) else {
            return false;
        };
        let held = var.free.is_some();
        let Some(now) = self.now() else {
            return false;
        };
        let Some(from) = given_to(self.meaning, &now, fact) else {
            return false;
        };
        let this = now.this.clone();
        let levers = author::levers(held, &this, &from);
        if author::counts(words) {
            return self.count(fact, value, &levers);
        }
        let is = author::answer(fact, held, words, &this, &from);
        let Some(lever) = self.dice.pick(&levers).cloned() else {
            return false;
        };
        if is == wanted {
            return false;
        }
        let more = u64::try_from((wanted + answers - is) % answers).expect("few answers");
        let points = author::points(&lever, fact) + more;
        if let Some(place) = lever.get("outside").and_then(Value::as_array) {
            let part = |at: usize| place[at].as_str().unwrap_or_default();
            self.machine
                .outside
                .state()
                .set((part(0), part(1)), fact, points);
            return true;
        }
        if lever.pointer("/metadata/uid") == this.pointer("/metadata/uid") {
            return self.cluster.edit(0, SUBJECT, |object| {
                object["spec"]["answers"][fact] = json!(points)
            });
        }
        self.answer_in(&lever, fact, points)
    }

    /// Makes an object report this many points of a question, in its status.
    fn answer_in(&mut self, lever: &Document, fact: &str, points: u64) -> bool {
        let in_spec = lever
            .pointer(&format!("/spec/answers/{fact}"))
            .and_then(Value::as_u64)
            .unwrap_or_default();
        let kind = lever
            .get("kind")
            .and_then(Value::as_str)
            .and_then(|kind| kind.strip_prefix("Thing"));
        let Some(kind) = kind.and_then(|kind| kind.parse().ok()) else {
            return false;
        };
        self.cluster
            .set_answer(kind, name(lever), fact, points - in_spec)
    }

    /// Makes a count hold of none of the members, of the first of several, or of all.
    fn count(&mut self, fact: &str, value: &str, members: &[Document]) -> bool {
        if value == "Empty" || value == "Some" && members.len() < 2 {
            return false;
        }
        let mut did = false;
        for (at, member) in members.iter().enumerate() {
            let wanted = value == "All" || value == "Some" && at == 0;
            if author::holds(fact, member) != wanted {
                did |= self.answer_in(member, fact, author::points(member, fact) + 1);
            }
        }
        did
    }

    pub(super) fn is_written(&self, input: usize) -> bool {
        matches!(
            self.machine.ir.inputs[input].mode,
            Mode::Owned | Mode::Shared | Mode::Part
        )
    }

    pub(super) fn is_object(&self, input: usize) -> bool {
        self.machine.ir.inputs[input].mode.is_object()
    }
}
