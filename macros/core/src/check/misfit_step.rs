//! A step whose effect is needed in life as well. Without a `when` it runs only when the object goes, like an undo; so it neither acquires something nor
//! makes an owned or shared object that a state asks for: nobody would make it before. Of several effects that build one object none is a step: which of them says what is wanted must
//! not depend on whether the object goes.
//!
//! ```text
//! effects { apply server; } teardown { apply_server until server == Current; }       // refused: a state waits for the server in life
//! effects { apply server when wanted; remove: delete server; } teardown { remove until server == Absent; }
//! ```

use crate::errors::{Diagnostic, Sink};
use crate::model::frames::Dependency;
use crate::model::{Effect, Lifecycle, Mode, Step, Verb};
use crate::rule::{Context, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC142",
    name: "misfit_step",
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for step in &lifecycle.steps {
        let effect = &lifecycle.effects[step.effect.0];
        let target = Dependency::Input(effect.target);
        let mut states = lifecycle.states.iter();
        let is_awaited = states.any(|state| {
            let vars = state.when.vars();
            vars.iter()
                .any(|var| context.frames.reads(*var).contains(&target))
        });
        let found = misfit(lifecycle, step, (effect, is_awaited));
        found.into_iter().for_each(|found| sink.push(found));
    }
}

fn misfit(
    lifecycle: &Lifecycle,
    step: &Step,
    (effect, is_awaited): (&Effect, bool),
) -> Option<Diagnostic> {
    let (name, target) = (&effect.name, &lifecycle.inputs[effect.target.0]);
    let said = |message: String, help: String| {
        let found = RULE.finding(step.span, name.to_string(), message);
        found
            .note(name.span(), "the effect is declared here")
            .help(help)
    };
    if effect.is_one_of_several(lifecycle) {
        let message = format!(
            "step `{name}` is one of several effects that build `{}`",
            target.name
        );
        let help = "let one effect build it, and say in what it is built from how it is to be when the object goes";
        return Some(said(message, help.to_owned()));
    }
    if effect.when.is_some() {
        return None;
    }
    if let Some(var) = effect.acquires(lifecycle).first() {
        let fact = &lifecycle.vars[var.0].name;
        let message = format!(
            "step `{name}` acquires `{fact}`, and without a `when` it runs only when the object goes"
        );
        let help = format!("name the effect that gives `{fact}` back");
        return Some(said(message, help));
    }
    let builds = matches!(effect.verb, Verb::Apply | Verb::Create);
    let makes = builds && matches!(target.mode, Mode::Owned | Mode::Shared | Mode::Group);
    (makes && is_awaited).then(|| {
        let message = format!(
            "step `{name}` makes `{}`, for which a state waits, and without a `when` it runs only when the object goes",
            target.name
        );
        let help = "say `when` the effect runs in life, or name an effect that takes something away";
        said(message, help.to_owned())
    })
}
