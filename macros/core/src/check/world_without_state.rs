//! A world that no state matches. States are read like a `match` and must cover every combination of facts, for a restart or a hand-made edit can
//! bring any of them about. Add a state, widen one, or rule the combination out with `never` if it cannot be.
//!
//! ```text
//! goal Ready when ready => Ready;                          // `class && !ready` matches no state
//! Waiting when !ready => Pending; goal Ready when ready => Ready;
//! ```

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::witness::{Claim, minimal};
use crate::space::{Class, Space};

pub(super) const RULE: Rule = Rule {
    code: "LC011",
    name: "world_without_state",
    group: Group::States,
    severity: Severity::Error,
    stage: Stage::World,
    run: Run::Worlds(check),
};

fn check(space: &Space<'_>, sink: &mut Sink) {
    let bad = |world: usize| space.classes[world] == Class::Nowhere;
    let worlds: Vec<usize> = space.worlds.indexes().filter(|world| bad(*world)).collect();
    let Some(&example) = worlds.first() else {
        return;
    };
    let claim = Claim {
        about: space.worlds.indexes().collect(),
        bad: &bad,
        expected: BTreeSet::new(),
    };
    let name = &space.lifecycle.name;
    let message = format!(
        "{} of {} worlds match no state, for example `{}`",
        worlds.len(),
        space.worlds.len(),
        minimal(space, &claim, example)
    );
    sink.push(
        RULE.finding(name.span(), name.to_string(), message)
            .help("add a state that matches them, or a `never` if they cannot be"),
    );
}
