//! An effect makes a held fact ours and names no `undo`. The finalizer of the object could never go.
//!
//! ```text
//! register: call dns sets { name = Ours } key meta.uid;                    // refused
//! register: call dns sets { name = Ours } undo unregister key meta.uid;
//! ```

use crate::errors::Sink;
use crate::rule::{Context, Rule, Run, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC041",
    name: "missing_undo",
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for effect in lifecycle.effects.iter().filter(|e| e.undo.is_none()) {
        let Some(held) = effect.acquires(lifecycle).first().copied() else {
            continue;
        };
        let fact = &lifecycle.vars[held.0].name;
        let frees = lifecycle
            .effects
            .iter()
            .find(|e| e.acquires(lifecycle).is_empty() && e.frees(lifecycle).contains(&held));
        let help = match frees {
            Some(other) => format!("write `undo {}`", other.name),
            None => format!(
                "write a `call` that sets `{fact}` to a value left of its bar, and name it: `undo ..`"
            ),
        };
        sink.push(
            RULE.error(
                effect.name.span(),
                effect.name.to_string(),
                format!(
                    "effect `{}` acquires the held fact `{fact}` but names no `undo`",
                    effect.name
                ),
            )
            .note(fact.span(), format!("`{fact}` is held"))
            .help(help),
        );
    }
}
