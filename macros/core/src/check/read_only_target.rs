//! An effect writes an input that is only read. `apply` and `delete` require an input that is
//! `owned`, `shared`, `part` or `record`; a `call` requires one that is polled or probed.
//!
//! ```text
//! observe { nodes: [Node] by names of volumes; }
//! effects { apply each nodes; }                     // objects of another controller or user
//! ```

use crate::errors::{Diagnostic, Sink};
use crate::model::{Effect, Input, Mode, Verb};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC070",
    name: "read_only_target",
    group: Group::Effects,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    for effect in &context.lifecycle.effects {
        let target = &context.lifecycle.inputs[effect.target.0];
        // Rules of their own cover `create` and the records of created objects.
        if target.mode == Mode::Noted || effect.verb == Verb::Create {
            continue;
        }
        let outside = matches!(target.mode, Mode::Poll | Mode::Probe);
        if target.mode == Mode::Clock {
            sink.push(timed(effect, target));
        } else if outside != (effect.verb == Verb::Call) {
            sink.push(called(effect, target));
        } else if target.mode == Mode::Watched {
            sink.push(written(effect, target));
        } else if effect.verb == Verb::Delete && matches!(target.mode, Mode::Part | Mode::Record) {
            sink.push(deleted(effect, target));
        }
    }
}

fn diagnostic(effect: &Effect, message: String) -> Diagnostic {
    RULE.finding(effect.target_span, effect.name.to_string(), message)
}

fn written(effect: &Effect, target: &Input) -> Diagnostic {
    diagnostic(
        effect,
        format!(
            "effect `{}` may not write `{}`: it is only read; write `owned`, `shared` or `part` in `observe`",
            effect.name, target.name
        ),
    )
    .note(target.name.span(), format!("`{}` is observed here", target.name))
    .help(format!("write `{}: owned ..`", target.name))
}

fn called(effect: &Effect, target: &Input) -> Diagnostic {
    let (verb, instead) = match effect.verb {
        Verb::Call if target.mode == Mode::Watched => (
            "`call` works on a polled or probed input",
            "write `poll` or `probe` in `observe`",
        ),
        Verb::Call => (
            "`call` works on a polled or probed input",
            "write `apply`, which is compared with what its builder returns",
        ),
        Verb::Apply | Verb::Delete | Verb::Adopt | Verb::Create | Verb::Note => (
            "`apply` and `delete` work on objects",
            "write `name: call ..`, for this lies outside the API server",
        ),
    };
    diagnostic(
        effect,
        format!(
            "effect `{}` may not write `{}`: {verb}",
            effect.name, target.name
        ),
    )
    .note(
        target.name.span(),
        format!("`{}` is observed here", target.name),
    )
    .help(instead)
}

fn timed(effect: &Effect, target: &Input) -> Diagnostic {
    let (effect_name, name) = (&effect.name, &target.name);
    let message = format!("effect `{effect_name}` may not write `{name}`: the time cannot be set");
    diagnostic(effect, message)
        .note(name.span(), format!("`{name}` is observed here"))
        .help(
            "write what the time is compared with: an object, a `record`, or what a `call` changes",
        )
}

fn deleted(effect: &Effect, target: &Input) -> Diagnostic {
    diagnostic(
        effect,
        format!(
            "effect `{}` may not delete `{}`: in a `{}` the operator owns only its own fields",
            effect.name,
            target.name,
            target.mode.keyword()
        ),
    )
    .note(
        target.name.span(),
        format!("`{}` is observed here", target.name),
    )
    .help("apply it with fewer fields instead")
}
