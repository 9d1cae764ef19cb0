//! `abandoned` holds in a world by a fact that is not evaluated there: an unobserved object would
//! count as gone, and the remaining objects would be abandoned. At run time such a fact does not
//! count, but a reader of the declaration assumes that it does. A poll that has not answered is
//! just as little evidence, because it is `Unknown` after each restart. Therefore neither
//! `abandoned` nor the `until` of a stage of the teardown may hold by an unanswered poll.
//!
//! ```text
//! abandoned when key == Revoked "..."                        // refused: without the Secret `key` is not asked, and has its first value
//! abandoned when token == Absent || key == Revoked "..."     // the Secret is always looked at
//! abandoned when node == Unknown "..."                       // refused: each restart of the operator would give up what is still there
//! ```

use std::collections::BTreeSet;

use proc_macro2::Span;

use crate::errors::{Diagnostic, Sink};
use crate::model::{Mode, Origin, Pred, VarId, Verdict};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Space;
use crate::space::witness::{Claim, minimal};
use crate::space::world::World;

pub(super) const RULE: Rule = Rule {
    code: "LC144",
    name: "abandoned_unasked",
    group: Group::Deletion,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Worlds(check),
};

fn check(space: &Space<'_>, sink: &mut Sink) {
    let lifecycle = space.lifecycle;
    for abandoned in &lifecycle.abandoned {
        let when = &abandoned.when;
        let bad = |world: World<'_>| {
            world.holds(when) && evaluate_known(space, when, world) != Some(true)
        };
        let place = PredicateUse {
            item: "abandoned".to_owned(),
            says: "`abandoned` holds".to_owned(),
            span: when.span,
        };
        sink_one(space, when, &bad, &place, sink);
    }
    for step in &lifecycle.steps {
        let until = &step.until;
        let bad = |world: World<'_>| {
            let said = world.try_evaluate(until, lifecycle);
            said == Some(true) && evaluate_known(space, until, world) != Some(true)
        };
        let name = lifecycle.effects[step.effect.0].name.to_string();
        let place = PredicateUse {
            says: format!("step `{name}` is over"),
            item: name,
            span: until.span,
        };
        sink_one(space, until, &bad, &place, sink);
    }
}

/// Item that reads a predicate, and the conclusion that it draws from it.
struct PredicateUse {
    item: String,
    says: String,
    span: Span,
}

fn sink_one(
    space: &Space<'_>,
    pred: &Pred,
    bad: &dyn Fn(World<'_>) -> bool,
    place: &PredicateUse,
    sink: &mut Sink,
) {
    let is_bad = |world: usize| bad(space.worlds.get(world));
    if let Some(example) = space.deleting().find(|world| is_bad(*world)) {
        sink.push(diagnostic(space, pred, &is_bad, place, example));
    }
}

fn diagnostic(
    space: &Space<'_>,
    pred: &Pred,
    bad: &dyn Fn(usize) -> bool,
    place: &PredicateUse,
    example: usize,
) -> Diagnostic {
    let lifecycle = space.lifecycle;
    let at = space.worlds.get(example);
    let all = pred.vars();
    let unasked: BTreeSet<VarId> = all
        .iter()
        .copied()
        .filter(|var| !at.is_asked(*var))
        .collect();
    let mut expected = &all - &unasked;
    for var in &unasked {
        let given = lifecycle.vars[var.0].given.iter();
        expected.extend(given.flat_map(|guard| guard.pred.vars()));
    }
    let claim = Claim {
        about: space.deleting().collect(),
        bad,
        expected,
    };
    let facts = minimal(space, &claim, example);
    let silent = all.iter().copied().filter(|var| is_silent(space, *var, at));
    let silent: BTreeSet<VarId> = silent.collect();
    let names = |vars: &BTreeSet<VarId>| {
        let names = vars.iter().map(|var| &lifecycle.vars[var.0].name);
        let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
        names.join(", ")
    };
    let PredicateUse { item, says, span } = place;
    let (message, help) = match silent.is_empty() {
        true => (
            format!(
                "with `{facts}` nothing evaluates {}, and {says} by that: an object that is not observed may still exist",
                names(&unasked)
            ),
            "decide it by facts that are evaluated there: those that the `given` of the fact reads"
                .to_owned(),
        ),
        false => (
            format!(
                "with `{facts}` {} has not answered, and {says} by that: this is so after each restart, even if nothing is gone",
                names(&silent)
            ),
            "read what an answer reports, or another object that shows that it is gone".to_owned(),
        ),
    };
    RULE.finding(*span, item.clone(), message).help(help)
}

/// Evaluates a predicate from only those facts that are evaluated and answered.
fn evaluate_known(space: &Space<'_>, pred: &Pred, world: World<'_>) -> Option<bool> {
    pred.decided(&|var, values| {
        let given = &space.lifecycle.vars[var.0].given;
        let asked = given.iter().all(|guard| world.holds(&guard.pred));
        let known = asked && !is_silent(space, var, world);
        known.then(|| values.contains(world.value(var)))
    })
}

/// Returns true if the variable belongs to a poll that has not answered.
fn is_silent(space: &Space<'_>, var: VarId, world: World<'_>) -> bool {
    let declared = &space.lifecycle.vars[var.0];
    let is_poll = match declared.origin {
        Origin::Input(input) => space.lifecycle.inputs[input.0].mode == Mode::Poll,
        Origin::Fact { .. } | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => false,
    };
    is_poll && world.is_asked(var) && declared.verdict(world.value(var)) == Some(Verdict::Unknown)
}
