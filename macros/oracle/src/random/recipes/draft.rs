//! A lifecycle during its composition: the items that its pieces add, and the facts on which they
//! may depend.

use crate::random::dice::Dice;
use crate::random::sketch::{
    Clause, Condition, Effect, Fact, Guard, Input, Promise, Sets, Sketch, State, to_strings,
};

/// A lifecycle while it grows.
pub(super) struct Draft<'a> {
    pub(super) sketch: Sketch,
    pub(super) dice: &'a mut Dice,
    /// Guard that holds once all pieces so far are right.
    pub(super) right: Guard,
    /// Inputs that earlier pieces guarantee to be there.
    pub(super) there: Vec<String>,
    /// Distinguishes the names of one piece from those of the next.
    pub(super) piece: usize,
}

impl Draft<'_> {
    pub(super) fn finish(mut self) -> Sketch {
        let last = self.right.last().cloned().into_iter().collect();
        let when = if self.dice.one_in(2) {
            self.right.clone()
        } else {
            last
        };
        let ready = Some("Ready".to_owned());
        self.sketch.states.push(State {
            goal: true,
            name: "Ready".to_owned(),
            when,
            phase: ready,
            ..State::default()
        });
        if self.dice.one_in(4)
            && let Some(first) = self.sketch.conditions.first()
        {
            let line = format!("implicit in {} \"Error\";", first.name);
            self.sketch.extras.push(line);
        }
        self.sketch.ready = self
            .sketch
            .conditions
            .iter()
            .map(|condition| condition.name.clone())
            .collect();
        if self.dice.one_in(4) {
            self.sketch
                .extras
                .push("field phase_now = phase;".to_owned());
            self.sketch
                .extras
                .push("column Class \".spec.class\";".to_owned());
        }
        if self.dice.one_in(6)
            && let Some(input) = self.sketch.inputs.iter().find(|i| i.head != "clock")
        {
            self.sketch.extras.push(format!(
                "field shown: String from {} last_reported;",
                input.name
            ));
        }
        self.sketch
    }

    pub(super) fn name(&self, base: &str) -> String {
        format!("{base}{}", self.piece)
    }

    pub(super) fn input(&mut self, base: &str, head: &str, lookup: &str) -> String {
        let name = self.name(base);
        self.sketch.inputs.push(Input {
            name: name.clone(),
            head: head.to_owned(),
            lookup: lookup.to_owned(),
            given: Vec::new(),
        });
        name
    }

    pub(super) fn fact(&mut self, base: &str, domain: &str, from: &[&str]) -> String {
        let name = self.name(base);
        self.sketch.facts.push(Fact {
            name: name.clone(),
            domain: domain.to_owned(),
            from: to_strings(from),
            ..Fact::default()
        });
        name
    }

    /// Restricts the last fact to worlds in which this guard holds.
    pub(super) fn given(&mut self, guard: &[&str], other: Option<&str>) {
        let fact = self
            .sketch
            .facts
            .last_mut()
            .expect("a fact comes before its given");
        fact.givens
            .push((to_strings(guard), other.map(str::to_owned)));
    }

    pub(super) fn state(&mut self, base: &str, when: &str, phase: &str, wakes: &[&str]) {
        let overdue = (phase == "Pending" && self.dice.one_in(4))
            .then(|| self.dice.pick_word(&["5min", "30s"]));
        self.sketch.states.push(State {
            goal: false,
            name: self.name(base),
            when: to_strings(&[when]),
            phase: Some(phase.to_owned()),
            even: false,
            wakes: to_strings(wakes),
            overdue,
        });
    }

    /// Returns some of the results of earlier pieces.
    pub(super) fn leaning(&mut self) -> Guard {
        let right = self.right.clone();
        right.into_iter().filter(|_| self.dice.one_in(3)).collect()
    }

    /// Sometimes returns another object that owns the written one.
    pub(super) fn owner(&mut self) -> Option<String> {
        let is_object = |name: &&String| {
            let mut inputs = self.sketch.inputs.iter();
            inputs.any(|input| {
                let one = !input.head.contains('[');
                let outside = ["poll ", "record ", "probe "];
                input.name == **name && one && !outside.iter().any(|w| input.head.starts_with(w))
            })
        };
        let objects: Vec<String> = self.there.iter().filter(is_object).cloned().collect();
        (!objects.is_empty() && self.dice.one_in(3)).then(|| self.dice.pick(&objects).clone())
    }

    /// Returns the keys of a poll: this one, and now and then a path of the object or an input that
    /// earlier pieces guarantee.
    pub(super) fn keys(&mut self, first: &str) -> String {
        let mut keys = vec![first.to_owned()];
        if self.dice.one_in(3) {
            keys.push("spec.class".to_owned());
        }
        let others: Vec<String> = self
            .there
            .iter()
            .filter(|n| **n != first)
            .cloned()
            .collect();
        if !others.is_empty() && self.dice.one_in(3) {
            let at = self.dice.random_below(keys.len() + 1);
            keys.insert(at, self.dice.pick(&others).clone());
        }
        keys.join(", ")
    }

    /// Some inputs that a builder can count on or wait for.
    pub(super) fn ingredients(&mut self) -> Vec<String> {
        let there = self.there.clone();
        there.into_iter().filter(|_| self.dice.one_in(3)).collect()
    }

    pub(super) fn effect(&mut self, head: &str, when: Guard) -> &mut Effect {
        let from = self.ingredients();
        self.sketch.effects.push(Effect {
            head: head.to_owned(),
            from,
            when,
            ..Effect::default()
        });
        self.sketch.effects.last_mut().expect("just pushed")
    }

    pub(super) fn promise(&mut self, base: &str, when: &str, sets: Sets) {
        let name = self.name(base);
        self.sketch.promises.push(Promise {
            name,
            when: to_strings(&[when]),
            sets,
        });
    }

    /// Adds a condition: False with a reason for each failure, then True, then the rest.
    pub(super) fn condition(&mut self, base: &str, bad: &[(&str, &str)], right: &str) {
        let clause = |value: &str, reason: Option<&str>, when: Option<&str>| Clause {
            value: value.to_owned(),
            reason: reason.map(str::to_owned),
            message: None,
            event: None,
            when: when.map(|when| to_strings(&[when])),
        };
        let mut clauses: Vec<Clause> = bad
            .iter()
            .map(|(when, reason)| clause("False", Some(reason), Some(when)))
            .collect();
        clauses.push(clause("True", None, Some(right)));
        clauses.push(clause("Unknown", Some("Working"), None));
        if self.dice.one_in(4) {
            clauses[0].event = Some("Noticed".to_owned());
        }
        if self.dice.one_in(4) {
            clauses[0].message = Some("this is why".to_owned());
        }
        // An omitted condition must not hide a later error, so this is rare.
        if self.dice.one_in(8)
            && let Some(last) = clauses.last_mut()
        {
            last.value = "Absent".to_owned();
        }
        if self.dice.one_in(8) {
            let right = clauses.iter_mut().find(|clause| clause.value == "True");
            right.into_iter().for_each(|clause| {
                *clause = Clause {
                    value: "Omit".to_owned(),
                    when: clause.when.take(),
                    ..Clause::default()
                };
            });
        }
        let name = self.name(base);
        self.sketch.conditions.push(Condition { name, clauses });
        self.right.push(right.to_owned());
    }
}
