//! `retain` and `adopt` that have no meaning. Both concern the ownership of an object, which is
//! open only for an object that is `owned`, in a resource. An object that `by owner` finds has an
//! owner reference, which a retained object lacks. Members of a set are never adopted, because they
//! come and go by name. An `adopt` marks an existing object and builds nothing, so it has a `when`
//! and nothing more. An adopted object stays anyway, so `without retain` has no effect if the input
//! is always retained.
//!
//! ```text
//! config: shared ConfigMap by name meta.namespace retain;      // refused: it goes with the last that contributes to it
//! adopt secret from class when wanted;                         // refused: the next `apply` builds it
//! ```

use proc_macro2::Span;

use crate::ast::{Effect, Input, Kind, Lifecycle, Lookup, Mode, Verb};
use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC130",
    name: "misplaced_retain",
    group: Group::Ownership,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Location of the error, its description, and the replacement to write instead.
type Wrong = (Span, &'static str, &'static str);

/// Checks every `retain` and every `adopt`.
pub(crate) fn check(ast: &Lifecycle, sink: &mut Sink) {
    for input in &ast.inputs {
        if let Some((span, why, help)) = retained(ast, input) {
            let name = input.name.to_string();
            let message = format!("input `{name}` cannot be retained: {why}");
            sink.push(RULE.finding(span, name, message).help(help));
        }
    }
    for effect in ast.effects.iter().filter(|e| e.verb == Verb::Adopt) {
        let target = ast.inputs.iter().find(|input| input.name == effect.target);
        let found = check_clauses(effect).or_else(|| adopted(ast, effect, target?));
        if let Some((span, why, help)) = found {
            let name = effect.name().to_string();
            let message = format!("effect `{name}`: {why}");
            sink.push(RULE.finding(span, name, message).help(help));
        }
    }
}

fn retained(ast: &Lifecycle, input: &Input) -> Option<Wrong> {
    let span = input.retain.as_ref()?.span;
    let leave_out = "leave out `retain`";
    // These inputs have no clause at all, which another finding reports.
    if matches!(input.mode, Mode::Clock | Mode::Noted) {
        return None;
    }
    if input.mode != Mode::Owned {
        let why = "only what is `owned` goes with its owner";
        return Some((span, why, leave_out));
    }
    if ast.kind == Kind::Volume {
        let why = "objects that a volume makes belong to the object that it is made for";
        return Some((span, why, leave_out));
    }
    if matches!(input.lookup, Some((_, Lookup::Owner))) {
        let why = "it is found by its owner reference, which a retained object has not";
        return Some((
            span,
            why,
            "find it by labels: `by labels { KEY = meta.name }`",
        ));
    }
    None
}

fn check_clauses(effect: &Effect) -> Option<Wrong> {
    let from = effect.from.first().map(|name| name.span());
    let written = [
        effect.each,
        from,
        effect.sets.as_ref().map(|_| effect.target.span()),
        effect.undo.as_ref().map(|name| name.span()),
        effect.key.as_ref().map(|path| path.root().span()),
    ];
    let span = written.into_iter().flatten().next()?;
    let why = "an `adopt` marks one object that is there, and builds nothing";
    Some((span, why, "write `adopt input when predicate;`"))
}

fn adopted(ast: &Lifecycle, effect: &Effect, target: &Input) -> Option<Wrong> {
    let span = effect.target.span();
    if ast.kind == Kind::Volume {
        let why = "a volume adopts nothing: an object's owner decides to whom it belongs";
        return Some((span, why, "leave it out"));
    }
    match target.mode {
        // A rule of its own rejects effects on inputs that are only read.
        Mode::Watched | Mode::Poll | Mode::Probe | Mode::Clock => None,
        Mode::Shared | Mode::Part | Mode::Record | Mode::Noted => {
            let why = "only an `owned` object can belong to another controller or user, and so be adopted";
            Some((span, why, "leave it out"))
        }
        Mode::Group => {
            let why = "of a group nothing is adopted";
            let help = "leave it out, or observe the one object as an input of its own";
            Some((span, why, help))
        }
        Mode::Owned if target.many => {
            let why = "of a set nothing is adopted";
            let help = "leave it out, or observe the one object by its name as an input of its own";
            Some((span, why, help))
        }
        Mode::Owned => {
            let always = target.retain.as_ref().is_some_and(|r| r.when.is_none());
            let without = effect.without_retain.filter(|_| always)?;
            let why = "what it adopts is retained, because the input declares so without a `when`";
            Some((
                without,
                why,
                "leave out `without retain`, or the `retain` of the input",
            ))
        }
    }
}
