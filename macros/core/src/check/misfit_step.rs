//! The effect of a stage of the teardown is needed in life as well. Without a `when` it runs only
//! on deletion, like an undo. Therefore it neither acquires something nor makes an owned or shared
//! object that a state queries: no effect would make it before. If several effects build one
//! object, none of them is a stage of the teardown. The choice between them must not depend on a
//! deletion.
//!
//! ```text
//! effects { apply server; } teardown { apply_server until server == Current; }       // refused: a state waits for the server in life
//! effects { apply server when wanted; remove: delete server; } teardown { remove until server == Absent; }
//! ```

use crate::errors::{Diagnostic, Sink};
use crate::model::frames::Dependency;
use crate::model::{Effect, Lifecycle, Mode, Step, Verb};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC142",
    name: "misfit_step",
    group: Group::Deletion,
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
        let help = "let one effect build it, and let its inputs decide how it must be when the object is deleted";
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
            "step `{name}` makes `{}`, which a state waits for, but without a `when` it runs only when the object is deleted",
            target.name
        );
        let help = "declare with `when` where the effect runs before deletion, or name an effect that removes something";
        said(message, help.to_owned())
    })
}
