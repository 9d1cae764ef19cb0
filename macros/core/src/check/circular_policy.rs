//! Whether an object is retained, or adopted, is decided by what only the object itself tells. What is retained is written so from the first write on, when
//! there is none to read; what is not ours yet no fact reads. Ask the object of the lifecycle, or another input; what somebody else's object
//! says, a read-only input of the same name tells.
//!
//! ```text
//! secret: owned Secret by name meta.name retain when precious; precious: bool from secret;     // refused
//! secret: owned Secret by name meta.name retain when precious; precious: bool from self;
//! ```

use crate::errors::{Diagnostic, Sink};
use crate::model::build::behind;
use crate::model::frames::is_read_in;
use crate::model::{Effect, Input, InputId, Lifecycle, Node, Origin, Pred, VarId, Verb};
use crate::rule::{Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC131",
    name: "circular_policy",
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Looks at every policy.
pub(crate) fn check(lifecycle: &Lifecycle, sink: &mut Sink) {
    for input in retained(lifecycle) {
        let Some(policy) = &input.retain else {
            continue;
        };
        let name = input.name.to_string();
        let message = format!(
            "whether `{name}` is retained is decided by what `{name}` itself tells, which is not there when it is made"
        );
        let help = "ask a fact `from self`, or `from` another input";
        sink.push(RULE.finding(policy.span, name, message).help(help));
    }
    let effects = lifecycle.effects.iter().filter(|e| e.verb == Verb::Adopt);
    let adopted = effects.filter_map(|effect| adopted(lifecycle, effect));
    adopted.for_each(|found| sink.push(found));
}

/// The inputs whose policy needs them.
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
        "effect `{name}` asks `{fact}`, which reads `{target}`: what is not ours yet no fact reads"
    );
    let help = format!(
        "observe it once more, only to read it: `found: Type by name ..`, and let `{fact}` read that"
    );
    Some(RULE.finding(when.span, name, message).help(help))
}
