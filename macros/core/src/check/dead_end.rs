//! A world outside every goal in which nothing can happen: no effect is enabled and nothing is promised. If only a person or another object can
//! help, say so with `wakes ..`; otherwise an effect or a promise is missing.
//!
//! ```text
//! Taken when service == Foreign => Error;                  // refused: nothing is enabled and nothing is promised
//! Taken when service == Foreign => Error wakes service, self;
//! ```

use std::collections::{BTreeMap, BTreeSet};

use crate::errors::Sink;
use crate::model::VarId;
use crate::model::frames::Dependency;
use crate::rule::{Rule, Run, Stage};
use crate::space::Class;
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC021",
    name: "dead_end",
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let mut by_class: BTreeMap<Class, usize> = BTreeMap::new();
    for &world in &explored.drives.stuck {
        if space.classes[world] != Class::Deleting {
            by_class.entry(space.classes[world]).or_insert(world);
        }
    }
    for (class, example) in by_class {
        let stuck = |world: usize| explored.drives.stuck.binary_search(&world).is_ok();
        let expected = explored.vars_of(class);
        let claim = Claim {
            about: explored.worlds_of(class).collect(),
            bad: &stuck,
            expected: expected.clone(),
        };
        let name = space.class_name(class);
        let why = match space.choices[example].effect() {
            None => "no effect is enabled and nothing is promised".to_owned(),
            Some(effect) => format!(
                "effect `{}` can end nowhere, for a `never` rules out all that it may bring about",
                space.lifecycle.effects[effect.0].name
            ),
        };
        let witness = minimal(space, &claim, example);
        let message = format!("dead end: in state `{name}` with `{witness}` {why}");
        let help = format!(
            "mark it `wakes {}` if only a change of these can help, or promise what the outside does by itself",
            inputs(explored, &expected)
        );
        sink.push(
            RULE.error(explored.span_of(class), name, message)
                .help(help),
        );
    }
}

/// What the facts of a state read, as a `wakes` would name it.
fn inputs(explored: &Explored<'_>, vars: &BTreeSet<VarId>) -> String {
    let lifecycle = explored.space.lifecycle;
    let places = vars
        .iter()
        .flat_map(|var| explored.space.frames.reads(*var));
    let places: BTreeSet<&Dependency> = places.collect();
    let names = places.into_iter().filter_map(|place| match place {
        Dependency::Input(input) => Some(lifecycle.inputs[input.0].name.to_string()),
        Dependency::This | Dependency::Request | Dependency::Value(_) | Dependency::Path(_) => None,
    });
    names
        .chain(["self".to_owned()])
        .collect::<Vec<_>>()
        .join(", ")
}
