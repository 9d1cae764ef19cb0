//! Text of the warning: the decision, its alternative, and the reason why the fact is not
//! evaluated. Knows no rule but this one.

use super::{Case, Decided, Decision, DecisionContext, RULE};
use crate::errors::Diagnostic;
use crate::model::{Condition, VarId};
use crate::space::Class;
use crate::space::altered::Altered;
use crate::space::calls::Answer;
use crate::space::explored::clause_of;
use crate::space::witness::{Claim, fact, minimal};
use crate::space::world::World;

pub(super) fn diagnostic(look: &DecisionContext<'_>, var: VarId, decided: &Decided) -> Diagnostic {
    let (space, declared) = (look.space, &look.space.lifecycle.vars[var.0]);
    let (first, case) = decided.iter().next().expect("something is decided");
    let bad = |world: usize| {
        let at = space.worlds.get(world);
        !at.is_asked(var)
            && look.unsaid(var, at).is_some()
            && look
                .another(var, *first, world, &mut Altered::from_world(at))
                .is_some()
    };
    let world = space.worlds.get(case.world);
    let guard = look
        .unsaid(var, world)
        .expect("the fact is not evaluated there");
    let claim = Claim {
        about: space.worlds.indexes().collect(),
        bad: &bad,
        expected: guard.pred.vars(),
    };
    let said = fact(space.lifecycle, var, world.value(var));
    let message = format!(
        "with `{}` fact `{}` is not evaluated and counts as `{said}`, which decides {}",
        minimal(space, &claim, case.world),
        declared.name,
        describe_decision(look, *first, var, *case),
    );
    let value = &declared.values[world.value(var)];
    let help = match set_aside(look, *first, case) {
        Some(state) => format!(
            "write `else {value}` after that `given` if this value is right there, or an `else` with another value: no state of owned objects may be above `{state}`, which decides who owns the object"
        ),
        None => format!(
            "write `else {value}` after that `given` if this value is right there, or decide it above by the facts that `given` reads"
        ),
    };
    let found = RULE.finding(declared.name.span(), declared.name.to_string(), message);
    let others: Vec<String> = decided
        .iter()
        .skip(1)
        .map(|(decision, case)| describe_decision(look, *decision, var, *case))
        .collect();
    let found = match others.is_empty() {
        true => found,
        false => found.note(None, format!("it decides so, too: {}", others.join("; "))),
    };
    found
        .note(guard.pred.span, "this prevents its evaluation")
        .help(help)
}

/// Returns the state if it is the decision and only states of its kind may precede it.
fn set_aside(look: &DecisionContext<'_>, decision: Decision, case: &Case) -> Option<String> {
    let states = &look.space.lifecycle.states;
    let Class::State(state) = look.space.classes[case.world] else {
        return None;
    };
    let state = &states[state.0];
    (decision == Decision::State && state.is_set_aside()).then(|| state.name.to_string())
}

/// Describes the decision and its alternative.
fn describe_decision(
    look: &DecisionContext<'_>,
    decision: Decision,
    var: VarId,
    case: Case,
) -> String {
    let space = look.space;
    let (lifecycle, world) = (space.lifecycle, space.worlds.get(case.world));
    let other = fact(lifecycle, var, case.answer);
    let mut altered = Altered::from_world(world);
    altered.with_value(var, case.answer, |there| match decision {
        Decision::State => format!(
            "state `{}` (with `{other}` it would be `{}`)",
            space.class_name(space.classes[case.world]),
            space.class_name(space.classify(there))
        ),
        Decision::Condition(id) => {
            let condition = &lifecycle.conditions[id.0];
            format!(
                "that condition `{}` reports {} (with `{other}` it would report {})",
                condition.name,
                describe_condition(condition, world),
                describe_condition(condition, there)
            )
        }
        Decision::Effect(effect) => format!(
            "that effect `{}` runs (with `{other}` it would not)",
            lifecycle.effects[effect.0].name
        ),
        Decision::Call(at) => {
            let drive = &look.drives[at];
            format!(
                "that `{}` {} (with `{other}` it would {})",
                drive.call.name,
                describe_answer(look, drive.answers[case.world], true),
                describe_answer(look, drive.answer_in(space, there), false)
            )
        }
    })
}

/// Describes the status that a condition writes and the clause that sets it: `False "NoPod"` by
/// clause 2.
fn describe_condition(condition: &Condition, world: World<'_>) -> String {
    let Some(at) = clause_of(condition, world) else {
        return "nothing".to_owned();
    };
    let clause = &condition.clauses[at];
    let reason = clause
        .reason
        .as_deref()
        .map(|reason| format!(" {reason:?}"));
    let said = format!("{:?}{}", clause.status, reason.unwrap_or_default());
    format!("`{said}` by clause {}", at + 1)
}

/// Describes the action of a call. `is_so` selects the actual action, otherwise the hypothetical
/// one.
fn describe_answer(look: &DecisionContext<'_>, answer: Answer, is_so: bool) -> String {
    let s = if is_so { "s" } else { "" };
    match answer {
        Answer::Precondition(_, code) => format!("answer{s} {}", code.name()),
        Answer::Done => format!("answer{s} OK"),
        Answer::Refusal(at) => format!("give{s} refusal {}", at + 1),
        Answer::Run(effect) => {
            let effect = &look.space.lifecycle.effects[effect.0];
            format!("run{s} `{}`", effect.name)
        }
        Answer::Wait => format!("wait{s}"),
    }
}
