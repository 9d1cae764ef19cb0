//! Volumes, mostly sound by construction. The needs of a mount are refused, promised or awaited,
//! and each put resource is removed again.

use super::draft::Draft;
use crate::random::dice::Dice;
use crate::random::sketch::{Effect, Guard, Let, Sketch, State, to_strings};

/// A volume on a node.
pub(super) fn mount(dice: &mut Dice) -> Sketch {
    let mut draft = Draft::new(dice);
    draft.add_capability_check();
    draft.claim();
    if draft.dice.one_in(2) {
        draft.part();
    }
    if draft.dice.one_in(2) {
        draft.owned();
    }
    draft.shared_value();
    let lines = draft.pairs();
    let mut sketch = draft.sketch;
    sketch.calls = Some(lines);
    sketch
}

impl Draft<'_> {
    /// Not every capability is supported.
    fn add_capability_check(&mut self) {
        if self.dice.one_in(2) {
            self.fact("asked", "{ Mount, Block }", &["request"], Guard::new());
            self.preconditions
                .push(("unfit", "asked == Block".to_owned()));
        }
    }

    /// Something that another user makes.
    fn claim(&mut self) {
        if self.dice.one_in(3) {
            return;
        }
        let lookup = *self
            .dice
            .pick(&["name request.volume_id", "ref from request"]);
        self.input("claim", "Claim", lookup, Guard::new());
        self.must(
            "claim == Absent",
            "UNAVAILABLE",
            ("made", "claim", "Present"),
        );
        self.there.push("claim".to_owned());
        if self.dice.one_in(2) {
            self.fact("bound", "bool", &["claim"], to_strings(&["claim"]));
            self.must("!bound", "FAILED_PRECONDITION", ("binds", "bound", "true"));
            self.ready.push("bound".to_owned());
        }
    }

    /// Something that we mark.
    fn part(&mut self) {
        let has_claim = self.there.iter().any(|one| one == "claim");
        let lookup = if has_claim && self.dice.one_in(2) {
            "ref from claim"
        } else {
            "name request.volume_id"
        };
        let given = if has_claim {
            to_strings(&["claim"])
        } else {
            Guard::new()
        };
        self.input("pv", "part Volume", lookup, given);
        self.must("pv == Absent", "NOT_FOUND", ("provided", "pv", "Stale"));
        let from = self.some_inputs();
        let when = self.ready.clone();
        self.apply("pv", from, when);
        self.there.push("pv != Absent".to_owned());
    }

    /// Adds something that depends on the work of others. The author seldom queries its presence.
    fn owned(&mut self) {
        if !self.there.iter().any(|one| one == "claim") {
            return;
        }
        let given = if self.dice.one_in(3) {
            Guard::new()
        } else {
            to_strings(&["claim"])
        };
        let head = "owned Service of claim";
        self.input("own", head, "name request.volume_id", given);
        let refusal = "own == Foreign => FAILED_PRECONDITION;".to_owned();
        self.needs.refusals.push(refusal);
        // It may be going still.
        self.needs.waits = true;
        let from = self.some_inputs();
        let when = self.ready.clone();
        self.apply("own", from, when);
    }

    fn apply(&mut self, target: &str, from: Vec<String>, when: Guard) {
        let effect = Effect {
            head: format!("apply {target}"),
            from,
            when,
            ..Effect::default()
        };
        self.needs.done.push(format!("{target} == Current"));
        self.needs.by.push(effect.known_as());
        self.sketch.effects.push(effect);
    }

    /// Inputs that builders may read, for they are there before.
    pub(super) fn some_inputs(&mut self) -> Vec<String> {
        let there: Vec<String> = self
            .there
            .iter()
            .map(|one| one.split(' ').next().unwrap_or_default().to_owned())
            .collect();
        let dice = &mut *self.dice;
        there.into_iter().filter(|_| dice.one_in(2)).collect()
    }

    /// A value that builders share.
    fn shared_value(&mut self) {
        if self.there.is_empty() || !self.dice.one_in(3) {
            return;
        }
        let from = self.some_inputs();
        if from.is_empty() {
            return;
        }
        let given = self.there.clone();
        let name = "plan".to_owned();
        self.sketch.lets.push(Let {
            name,
            from,
            given,
            keeper: None,
        });
    }
}

/// A volume that is planned by a controller and needs nothing to be given back.
pub(super) fn provision(dice: &mut Dice) -> Sketch {
    let mut draft = Draft::new(dice);
    draft.add_capability_check();
    draft.input("claim", "Claim", "ref from request", Guard::new());
    let source = "{ Class, Name, Bad }";
    draft.fact("source", source, &["claim"], to_strings(&["claim"]));
    let classes = to_strings(&["source == Class", "claim"]);
    draft.input("class", "Class", "ref from claim", classes);
    let missing = "source == Class && class == Absent";
    let waits = draft.dice.one_in(2);
    if waits {
        let when = ["claim", "source == Class", "class == Absent"];
        draft.promise("made", &when, "class", "Present");
        draft.promise("claimed", &["claim == Absent"], "claim", "Present");
    } else {
        draft.needs.refusals = to_strings(&[
            "claim == Absent => UNAVAILABLE;",
            &format!("{missing} => UNAVAILABLE;"),
        ]);
    }
    draft
        .needs
        .refusals
        .push("source == Bad => INVALID_ARGUMENT;".to_owned());
    let mut state = |name: &str, when: &str| {
        draft.sketch.states.push(State {
            name: name.to_owned(),
            when: to_strings(&[when]),
            ..State::default()
        });
    };
    state("Unplanned", "claim == Absent || source == Bad");
    state("Waiting", missing);
    state("Planned", "claim");
    let mut lines = draft.lines_of_preconditions();
    let within = if waits {
        " within 90s else UNAVAILABLE"
    } else {
        ""
    };
    lines.push(format!(
        "CreateVolume -> Planned{within} {{ {} }}",
        draft.needs.refusals.join(" ")
    ));
    lines.extend(to_strings(&[
        "DeleteVolume;",
        "ValidateVolumeCapabilities;",
    ]));
    let mut sketch = draft.sketch;
    sketch.calls = Some(lines);
    sketch
}
