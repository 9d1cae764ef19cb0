//! A warning: a lifecycle, or a region of one, has no goal. Then no run ends well: each ends where a
//! person or another controller has to act. Mark the state in which the object is as wanted with
//! `goal`. A state that is Ready and `wakes ..` is no goal: it waits for something.
//!
//! ```text
//! Up      when service == Current => Ready wakes service, self;   // warned: nothing is a goal
//! goal Up when service == Current => Ready;
//! ```

use proc_macro2::Ident;

use crate::errors::{Diagnostic, Sink};
use crate::model::{Kind, Phase, RegionId, State};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC179",
    name: "no_goal",
    group: Group::States,
    severity: Severity::Warning,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    if lifecycle.kind == Kind::Volume {
        return;
    }
    if lifecycle.regions.is_empty() {
        let states = lifecycle.states.iter().collect();
        let found = without_goal("lifecycle", &lifecycle.name, states);
        found.into_iter().for_each(|one| sink.push(one));
    }
    for (number, region) in lifecycle.regions.iter().enumerate() {
        let own = |state: &&State| state.region == Some(RegionId(number));
        let states = lifecycle.states.iter().filter(own).collect();
        let found = without_goal("region", &region.name, states);
        found.into_iter().for_each(|one| sink.push(one));
    }
}

fn without_goal(noun: &str, name: &Ident, states: Vec<&State>) -> Option<Diagnostic> {
    if states.is_empty() || states.iter().any(|state| state.goal) {
        return None;
    }
    let ready = |state: &&&State| state.phase == Some(Phase::Ready);
    let help = match states.iter().find(ready) {
        Some(state) => format!("write `goal {}`: there the object is as wanted", state.name),
        None => "declare a state in which the object is as wanted: `goal Ready when .. => Ready;`"
            .to_owned(),
    };
    let message = format!("{noun} `{name}` has no goal: no run ends well");
    Some(
        RULE.finding(name.span(), name.to_string(), message)
            .help(help),
    )
}
