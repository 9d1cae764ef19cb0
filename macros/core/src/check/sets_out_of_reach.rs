//! An effect claims to set a fact that does not read the target of the effect. An effect can change
//! only facts that read its target.
//!
//! ```text
//! apply service sets { validity = Fine };    // `validity` is read from `class`
//! ```

use crate::errors::Sink;
use crate::model::{Effect, EffectId, VarId};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC017",
    name: "sets_out_of_reach",
    group: Group::Effects,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    for (at, effect) in context.lifecycle.effects.iter().enumerate() {
        if effect.sets_written {
            unreached(context, EffectId(at), effect, sink);
        }
    }
}

fn unreached(context: &Context<'_>, id: EffectId, effect: &Effect, sink: &mut Sink) {
    let mut seen: Vec<VarId> = Vec::new();
    for assign in effect.sets.iter().flatten() {
        if context.frames.affected(id).contains(&assign.var) || seen.contains(&assign.var) {
            continue;
        }
        seen.push(assign.var);
        let target = &context.lifecycle.inputs[effect.target.0].name;
        let fact = &context.lifecycle.vars[assign.var.0].name;
        sink.push(
            RULE.finding(assign.span,
                effect.name.to_string(),
                format!(
                    "effect `{}` writes `{target}` but claims to set `{fact}`, which does not read it",
                    effect.name
                ),
            )
            .note(fact.span(), format!("`{fact}` is declared here"))
            .help(format!("leave `{fact}` out, or add `{target}` to what it is read from")),
        );
    }
}
