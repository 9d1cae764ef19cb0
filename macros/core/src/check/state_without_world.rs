//! A state that no world is in, because its predicate contradicts itself or because the states above it take all of its worlds.
//! The first state that fits counts: move it up, narrow those above, or remove it.
//!
//! ```text
//! Late when service == Stale => Pending;                   // below `Making when service in { Absent, Stale }`: never reached
//! ```

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::model::StateId;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::{Class, Space};

pub(super) const RULE: Rule = Rule {
    code: "LC012",
    name: "state_without_world",
    group: Group::States,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Worlds(check),
};

/// How many of the states above are named.
const NAMED: usize = 8;

fn check(space: &Space<'_>, sink: &mut Sink) {
    let inhabited: BTreeSet<Class> = space.classes.iter().copied().collect();
    for (position, state) in space.lifecycle.states.iter().enumerate() {
        if inhabited.contains(&Class::State(StateId(position))) {
            continue;
        }
        let worlds = space.worlds.indexes();
        let own = worlds.filter(|world| space.worlds.get(*world).holds(&state.when));
        let takers: BTreeSet<Class> = own.map(|world| space.classes[world]).collect();
        let named = takers.iter().take(NAMED);
        let mut named: Vec<String> = named
            .map(|class| format!("`{}`", space.class_name(*class)))
            .collect();
        if takers.len() > NAMED {
            named.push(format!("{} more", takers.len() - NAMED));
        }
        let (why, help) = if takers.is_empty() {
            (
                "its predicate is contradictory".to_owned(),
                "write a predicate that some world fits, or remove the state",
            )
        } else {
            (
                format!(
                    "the states above take every world of it: {}",
                    named.join(", ")
                ),
                "the first state that fits counts: move it up, or remove it",
            )
        };
        let message = format!("state `{}` never matches: {why}", state.name);
        sink.push(
            RULE.finding(state.name.span(), state.name.to_string(), message)
                .help(help),
        );
    }
}
