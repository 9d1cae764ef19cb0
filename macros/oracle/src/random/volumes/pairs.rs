//! The calls of a sound volume: the results of each, the calls that undo them, and their refusal
//! codes.

use super::draft::{Draft, Needs};
use crate::random::sketch::{Effect, Guard, State, alternatives, to_strings};

/// A call that makes something and the one that takes it back.
struct Pair {
    makes: &'static str,
    undoes: &'static str,
    /// Field that both carry besides the volume.
    path: &'static str,
}

const STAGE: Pair = Pair {
    makes: "NodeStageVolume",
    undoes: "NodeUnstageVolume",
    path: "staging_target_path",
};
const PUBLISH: Pair = Pair {
    makes: "NodePublishVolume",
    undoes: "NodeUnpublishVolume",
    path: "target_path",
};

impl Draft<'_> {
    /// The lines of `rpc`.
    pub(super) fn pairs(&mut self) -> Vec<String> {
        let pairs: &[(usize, &Pair)] = match self.dice.random_below(4) {
            0 => &[(0, &STAGE)],
            1 => &[(1, &PUBLISH)],
            _ => &[(0, &STAGE), (1, &PUBLISH)],
        };
        let by_volume = self.dice.one_in(3);
        let fields = |pair: &Pair| if by_volume { "volume_id" } else { pair.path };
        for (number, pair) in pairs {
            self.table(*number, fields(pair));
        }
        if pairs.len() == 2 && self.dice.one_in(2) {
            self.preconditions.push(("unstaged", "!up0".to_owned()));
        }
        let (last, _) = pairs[pairs.len() - 1];
        self.differs(last);
        let done = format!("up{last}");
        self.states(&done);
        let mut lines = self.lines_of_preconditions();
        let shares = self.dice.random_below(2);
        for (at, (number, pair)) in pairs.iter().enumerate() {
            // One of the calls does the preparation, or both do.
            let mine = if at == 0 || shares == 0 {
                self.needs.clone()
            } else {
                Needs::default()
            };
            let published = (by_volume && pairs.len() == 2 && at == 0).then_some("up1");
            lines.push(self.makes(pair.makes, *number, mine));
            lines.push(self.undoes(pair.undoes, *number, published));
        }
        lines
    }

    /// Adds a local or outside resource that is put and removed again.
    fn table(&mut self, number: usize, field: &str) {
        let head = if self.dice.one_in(4) {
            "poll Table"
        } else {
            "probe Table"
        };
        let (table, up) = (format!("table{number}"), format!("up{number}"));
        let volume = if field != "volume_id" && self.dice.one_in(3) {
            "request.volume_id, "
        } else {
            ""
        };
        let keys = format!("{volume}request.{field}");
        self.input(&table, head, &keys, Guard::new());
        self.fact(&up, "bool", &[&table], Guard::new());
        let polled = head.starts_with("poll");
        let fact = self.sketch.facts.last_mut().expect("just pushed");
        fact.held = true;
        if polled {
            fact.domain = "{ No, Yes }".to_owned();
            fact.givens = vec![(to_strings(&[&table]), Some("Unknown".to_owned()))];
        }
        let key = Some(format!("request.{field}"));
        let mut from = self.some_inputs();
        let when = if self.dice.one_in(2) {
            self.needs.done.clone()
        } else {
            self.ready.clone()
        };
        if let Some(value) = self.sketch.lets.first()
            && self.dice.one_in(2)
        {
            from.push(value.name.clone());
        }
        let (yes, no) = if polled {
            ("Yes", "No")
        } else {
            ("true", "false")
        };
        self.sketch.effects.push(Effect {
            name: Some(format!("put{number}")),
            head: format!("call {table}"),
            from,
            when,
            sets: alternatives(&up, &[yes]),
            undo: Some(format!("drop{number}")),
            key: key.clone(),
        });
        self.sketch.effects.push(Effect {
            name: Some(format!("drop{number}")),
            head: format!("call {table}"),
            sets: alternatives(&up, &[no]),
            key,
            ..Effect::default()
        });
    }

    /// Adds now and then the precondition that a volume that is up was requested with other
    /// arguments.
    fn differs(&mut self, number: usize) {
        let up = self.is_up(number);
        if !self.dice.one_in(3) {
            return;
        }
        let table = format!("table{number}");
        self.fact(
            "same",
            "{ Yes, No }",
            &["request", &table],
            to_strings(&[&up]),
        );
        self.preconditions
            .push(("differs", "same == No".to_owned()));
    }

    fn is_polled(&self, number: usize) -> bool {
        let table = format!("table{number}");
        let mut inputs = self.sketch.inputs.iter();
        inputs.any(|input| input.name == table && input.head.starts_with("poll"))
    }

    fn is_up(&self, number: usize) -> String {
        let value = if self.is_polled(number) {
            " == Yes"
        } else {
            ""
        };
        format!("up{number}{value}")
    }

    fn is_down(&self, number: usize) -> String {
        if self.is_polled(number) {
            format!("up{number} == No")
        } else {
            format!("!up{number}")
        }
    }

    fn states(&mut self, up: &str) {
        let number = up.trim_start_matches("up").parse().unwrap_or_default();
        let (is_up, is_down) = (self.is_up(number), self.is_down(number));
        let mut state = |name: &str, when: &str| {
            self.sketch.states.push(State {
                name: name.to_owned(),
                when: to_strings(&[when]),
                ..State::default()
            });
        };
        state("Up", &is_up);
        state("Down", &is_down);
        if self.is_polled(number) {
            self.sketch.states.push(State {
                name: "Hidden".to_owned(),
                when: to_strings(&[&format!("up{number} == Unknown")]),
                ..State::default()
            });
        }
    }

    pub(super) fn lines_of_preconditions(&mut self) -> Vec<String> {
        // `unstaged` depends on a held fact, which may be polled.
        let polled = self.is_polled(0);
        let names = [
            "unfit",
            "unknown",
            "in_use",
            "elsewhere",
            "unstaged",
            "differs",
        ];
        let line = |name: &str| {
            let declared = self.preconditions.iter().find(|(other, _)| *other == name);
            match declared {
                Some((_, when)) if when == "!up0" && polled => {
                    format!("{name} when up0 == No;")
                }
                Some((_, when)) => format!("{name} when {when};"),
                None => format!("{name} never \"so it is\";"),
            }
        };
        names.into_iter().map(line).collect()
    }

    fn refusals_of(&mut self, by: &[String]) -> Vec<String> {
        let refused = |one: &String| format!("refused({one})");
        if self.dice.one_in(2) {
            let code = *self.dice.pick(&["INTERNAL", "UNAVAILABLE", "ABORTED"]);
            let all: Vec<String> = by.iter().map(refused).collect();
            return vec![format!("{} => {code};", all.join(" || "))];
        }
        let mut lines = Vec::new();
        for one in by {
            let code = *self
                .dice
                .pick(&["INTERNAL", "UNAVAILABLE", "PERMISSION_DENIED"]);
            lines.push(format!("{} => {code};", refused(one)));
        }
        lines
    }

    fn makes(&mut self, name: &str, number: usize, mut needs: Needs) -> String {
        needs.done.push(self.is_up(number));
        needs.by.push(format!("put{number}"));
        let refused = self.refusals_of(&needs.by);
        if self.dice.one_in(2) {
            needs.refusals.extend(refused);
        } else {
            needs.refusals.splice(0..0, refused);
        }
        let target = match needs.done.as_slice() {
            [_] if self.dice.one_in(2) && self.sketch.states[0].when == needs.done => {
                "Up".to_owned()
            }
            _ => needs.done.join(" && "),
        };
        let waits = needs.waits || self.is_polled(number) || self.dice.one_in(3);
        let within = if waits {
            *self.dice.pick(&[
                " within 90s else UNAVAILABLE",
                " within 30s else DEADLINE_EXCEEDED",
            ])
        } else {
            ""
        };
        format!(
            "{name} -> {target} by {}{within} {{ {} }}",
            needs.by.join(", "),
            needs.refusals.join(" ")
        )
    }

    fn undoes(&mut self, name: &str, number: usize, published: Option<&str>) -> String {
        let mut refusals = Vec::new();
        if published.is_some() && self.dice.one_in(2) {
            refusals.push(format!("{} => FAILED_PRECONDITION;", self.is_up(1)));
        }
        let by = format!("drop{number}");
        refusals.extend(self.refusals_of(std::slice::from_ref(&by)));
        let within = if self.is_polled(number) || self.dice.one_in(4) {
            " within 60s else UNAVAILABLE"
        } else {
            ""
        };
        format!(
            "{name} -> {} by {by}{within} {{ {} }}",
            self.is_down(number),
            refusals.join(" ")
        )
    }
}
