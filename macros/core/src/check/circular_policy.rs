//! The decision to retain or adopt an object depends on data that only the object itself holds. A
//! retained object is written as retained from the first write on, when there is no object to read.
//! No fact reads an object that is not ours yet. Read the object of the lifecycle, or another
//! input. A read-only input of the same name reads an object that is owned by another controller or
//! user.
//!
//! ```text
//! secret: owned Secret by name meta.name retain when precious; precious: bool from secret;     // refused
//! secret: owned Secret by name meta.name retain when precious; precious: bool from self;
//! ```

use crate::errors::{Diagnostic, Sink};
use crate::model::build::behind;
use crate::model::frames::is_read_in;
use crate::model::{Effect, Input, InputId, Lifecycle, Node, Origin, Pred, VarId, Verb};
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC131",
    name: "circular_policy",
    group: Group::Ownership,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Checks every policy.
pub(crate) fn check(lifecycle: &Lifecycle, sink: &mut Sink) {
    for input in retained(lifecycle) {
        let Some(policy) = &input.retain else {
            continue;
        };
        let name = input.name.to_string();
        let message = format!(
            "the decision to retain `{name}` reads `{name}` itself, which does not exist when it is created"
        );
        let help = "ask a fact `from self`, or `from` another input";
        sink.push(RULE.finding(policy.span, name, message).help(help));
    }
    let effects = lifecycle.effects.iter().filter(|e| e.verb == Verb::Adopt);
    let adopted = effects.filter_map(|effect| adopted(lifecycle, effect));
    adopted.for_each(|found| sink.push(found));
}

/// Returns the inputs that must be read to evaluate their own policy.
fn retained(lifecycle: &Lifecycle) -> impl Iterator<Item = &Input> {
    let inputs = lifecycle.inputs.iter().enumerate();
    let circular = inputs.filter(|(at, input)| {
        let needs_it = |policy: &Pred| {
            let needed = behind(lifecycle, policy.vars());
            needed.contains(&Node::Input(InputId(*at)))
        };
        input.retain.as_ref().is_some_and(needs_it)
    });
    circular.map(|(_, input)| input)
}

fn adopted(lifecycle: &Lifecycle, effect: &Effect) -> Option<Diagnostic> {
    let when = effect.when.as_ref()?;
    let reads = |var: &VarId| match &lifecycle.vars[var.0].origin {
        Origin::Fact { from, .. } => is_read_in(lifecycle, from, effect.target),
        Origin::Input(_) | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => false,
    };
    let var = when.vars().into_iter().find(reads)?;
    let (name, target) = (
        effect.name.to_string(),
        &lifecycle.inputs[effect.target.0].name,
    );
    let fact = &lifecycle.vars[var.0].name;
    let message = format!(
        "effect `{name}` reads `{fact}`, which reads `{target}`: facts cannot read an object before it is adopted"
    );
    let help = format!(
        "observe it once more, only to read it: `found: Type by name ..`, and let `{fact}` read that"
    );
    Some(RULE.finding(when.span, name, message).help(help))
}
