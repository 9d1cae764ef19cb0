//! Values are minted in a circle: each from the keeper of another, or one from its own keeper. Each
//! is made only after its inputs exist, so none of them is ever made.
//!
//! ```text
//! mint root: Root in authority from leaf;                  // refused: with neither of them there, neither is made
//! mint cert: Cert in leaf from authority;
//! ```

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::model::{InputId, Lifecycle, Source, Value};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC153",
    name: "minted_in_circle",
    group: Group::Ownership,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    let mut said: BTreeSet<InputId> = BTreeSet::new();
    for value in &lifecycle.values {
        let Some(mint) = &value.mint else {
            continue;
        };
        let before = needed_before(lifecycle, mint.keeper);
        if said.contains(&mint.keeper) || !before.contains(&mint.keeper) {
            continue;
        }
        // Keepers that are needed by each other are one mistake.
        let circle = before.iter().copied();
        let circle: Vec<InputId> = circle
            .filter(|other| needed_before(lifecycle, *other).contains(&mint.keeper))
            .collect();
        said.extend(&circle);
        report(lifecycle, value, mint.keeper, &circle, sink);
    }
}

fn report(
    lifecycle: &Lifecycle,
    value: &Value,
    keeper: InputId,
    circle: &[InputId],
    sink: &mut Sink,
) {
    let needs = value.made_from().iter();
    let mut needs = needs.filter(|one| match one.source {
        Source::Input(input) => circle.contains(&input),
        Source::This | Source::Request | Source::Field(_) | Source::Value(_) | Source::Fact(_) => {
            false
        }
    });
    let span = needs
        .next()
        .map_or(value.name.span(), |one| one.name.span());
    let name = value.name.to_string();
    let own = &lifecycle.inputs[keeper.0].name;
    let others = circle.iter().filter(|other| **other != keeper);
    let others: Vec<String> = others
        .map(|other| format!("`{}`", lifecycle.inputs[other.0].name))
        .collect();
    let message = match others.as_slice() {
        [] => format!(
            "`{name}` is minted in `{own}` from `{own}`: before that is there, it is not made"
        ),
        _ => format!(
            "`{name}` is minted in `{own}`, from what is minted in {} from that: none of them is made first",
            others.join(" and ")
        ),
    };
    let help = "make one of them from what is there without it, such as `self`";
    sink.push(RULE.finding(span, name, message).help(help));
}

/// Returns the inputs that must exist before the value of an input is made.
fn needed_before(lifecycle: &Lifecycle, keeper: InputId) -> BTreeSet<InputId> {
    let mut found = BTreeSet::new();
    let mut open = vec![keeper];
    while let Some(next) = open.pop() {
        for (value, _) in lifecycle.minted_in(next) {
            let uses = lifecycle.values[value.0].made_from().iter();
            let needed = uses.filter_map(|one| match one.source {
                Source::Input(input) => Some(input),
                Source::This
                | Source::Request
                | Source::Field(_)
                | Source::Value(_)
                | Source::Fact(_) => None,
            });
            open.extend(needed.filter(|input| found.insert(*input)));
        }
    }
    found
}
