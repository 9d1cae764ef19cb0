//! A held fact counts as released while it is not observed. The finalizer would then be removed
//! although something may still be ours.
//!
//! ```text
//! held bucket: { No | Current } from store given store;                 // refused: unseen is `No`
//! held bucket: { No | Current } from store given store else Unknown;
//! ```
//!
//! A `given` that queries records only may imply that nothing is held: an object that was never
//! recorded was never acquired. An object that is gone may take everything in it along: its own
//! `given` says so, above that of the poll, if the poll has the object itself as a key. A Secret
//! holds credentials and nothing else.
//!
//! ```text
//! held entry: { No | Yes } from server given network else No given server else Unknown;   // server: poll .. by network
//! ```

use crate::errors::{Diagnostic, Sink};
use crate::model::{Guard, Input, InputId, Lifecycle, Lookup, Mode, Origin, Source, Var, Verdict};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC047",
    name: "unseen_is_free",
    group: Group::Deletion,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    for var in &context.lifecycle.vars {
        for guard in &var.given {
            if frees_unseen(context.lifecycle, var, guard) {
                sink.push(diagnostic(var, guard));
            }
        }
    }
}

fn frees_unseen(lifecycle: &Lifecycle, var: &Var, guard: &Guard) -> bool {
    let free = var
        .held
        .is_some_and(|held| held.free.contains(guard.otherwise));
    let asked = guard.pred.vars();
    let mut origins = asked.iter().map(|var| &lifecycle.vars[var.0].origin);
    free && !origins.all(|origin| match origin {
        Origin::Input(input) => {
            let is_record = lifecycle.inputs[input.0].mode == Mode::Record;
            is_record || is_gone_with(lifecycle, var, guard, *input)
        }
        Origin::Fact { .. } | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => false,
    })
}

/// Returns true if the author declares that nothing is held where an object is gone: the queried
/// system is a part of the object. A silent system must be unknown all the same.
fn is_gone_with(lifecycle: &Lifecycle, var: &Var, guard: &Guard, home: InputId) -> bool {
    let Origin::Fact { from, .. } = &var.origin else {
        return false;
    };
    let is_part = |poll: &Input| {
        let Lookup::Keys(keys) = &poll.lookup else {
            return false;
        };
        let mut keys = keys.iter().filter_map(|key| key.as_input());
        keys.any(|key| key.source == Source::Input(home))
    };
    let is_unknown = |guard: &Guard| {
        let held = var.held;
        held.is_some_and(|held| !held.free.contains(guard.otherwise))
    };
    let polls: Vec<&Input> = from
        .iter()
        .filter_map(|one| match one.source {
            Source::Input(input) => Some(&lifecycle.inputs[input.0]),
            Source::This
            | Source::Request
            | Source::Field(_)
            | Source::Value(_)
            | Source::Fact(_) => None,
        })
        .filter(|input| input.mode == Mode::Poll)
        .collect();
    let is_silence_unknown = |poll: &&Input| {
        let mut others = var.given.iter().filter(|other| is_unknown(other));
        others.any(|other| poll.var.is_some_and(|var| other.pred.vars().contains(&var)))
    };
    let home = &lifecycle.inputs[home.0];
    guard.otherwise_span.is_some()
        && home.mode == Mode::Watched
        && !home.many
        && !is_secret(home)
        && !polls.is_empty()
        && polls
            .iter()
            .all(|poll| is_part(poll) && is_silence_unknown(poll))
}

/// Returns true if an input is a Secret.
fn is_secret(input: &Input) -> bool {
    let syn::Type::Path(path) = &input.ty else {
        return false;
    };
    let last = path.path.segments.last();
    last.is_some_and(|last| last.ident == "Secret")
}

fn diagnostic(var: &Var, guard: &Guard) -> Diagnostic {
    let value = &var.values[guard.otherwise];
    let span = guard.otherwise_span.unwrap_or(guard.pred.span);
    RULE.finding(span,
        var.name.to_string(),
        format!(
            "held fact `{}` counts as released (`{value}`) while it is not observed: write `else` with a value that means unknown",
            var.name
        ),
    )
    .help(help(var, guard))
}

/// Returns the help text. Leaves out any advice to write a value that exists already.
fn help(var: &Var, guard: &Guard) -> String {
    let unknown = var.position(Verdict::Unknown);
    let is_free = |value: &usize| var.held.is_some_and(|held| held.free.contains(*value));
    match unknown.filter(is_free) {
        Some(_) if guard.otherwise_span.is_some() => {
            "`Unknown` is left of the bar, where nothing is owned: remove it there, so that only this `else` names it".to_owned()
        }
        Some(_) => {
            "write `else Unknown`, and remove `Unknown` left of the bar, where nothing is owned".to_owned()
        }
        None => "write `else Unknown`".to_owned(),
    }
}
