//! A warning: an object of ours has a name that the owner may edit, or that follows another object (`by ref from other`), and nothing removes the one of the name before. It stays
//! until its owner goes, with all that is in it, and is looked at no more. Name it after `meta.name`, as it is or with something behind it (`by ref from self`, a method that gives the name);
//! or look at all that are ours, as a set `owned [K]`, and `delete each` of them that is not wanted.
//! What another object owns (`of other`) may be tidied by the lifecycle of that one: an `allow` says so.
//!
//! ```text
//! secret: owned Secret by name spec.secret;        // warned: after an edit the old Secret is still there
//! secret: owned Secret by name meta.name;
//! token:  owned Secret by ref from self;           // a method: `{meta.name}-token`
//! ```

use proc_macro2::Span;

use super::editable_key::may_be_edited;
use crate::errors::Sink;
use crate::model::{Input, InputId, Kind, Lifecycle, Lookup, Mode, Source, Verb};
use crate::rule::{Context, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC162",
    name: "renamed_object",
    severity: Severity::Warning,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    if lifecycle.kind == Kind::Volume {
        return;
    }
    for (at, input) in lifecycle.inputs.iter().enumerate() {
        let is_ours = matches!(input.mode, Mode::Owned | Mode::Shared);
        let written = input.group.unwrap_or(InputId(at));
        if !is_ours || !is_applied(lifecycle, written) || is_tidied(lifecycle, input) {
            continue;
        }
        let name = &input.name;
        let Some((span, named)) = named(input) else {
            continue;
        };
        let message = format!(
            "`{name}` is {named}: the one of the old name then stays, and nobody looks at it"
        );
        let help = "name it after `meta.name`, or by a method, `by ref from self`, that makes the name of that; or look at a set `owned [..]` of them and `delete each`; if nobody can edit it, or the old one is to stay, `allow` this and say so";
        let found = RULE.finding(span, name.to_string(), message);
        let tidies = input.of.map(|owner| {
            let owner = &lifecycle.inputs[owner.0].name;
            format!("it belongs to `{owner}`, whose lifecycle may delete it: if it does, `allow` this and say so")
        });
        let found = tidies
            .into_iter()
            .fold(found, |found, note| found.note(None, note));
        sink.push(found.help(help));
    }
}

/// By what it is named, if that does not stay.
fn named(input: &Input) -> Option<(Span, String)> {
    match &input.lookup {
        Lookup::Name { path, .. } if may_be_edited(path) => {
            let named = format!("named by `{path}`, which may be edited");
            Some((path.root().span(), named))
        }
        Lookup::Ref { from } => {
            let mut others = from.iter().filter(|one| one.source != Source::This);
            let other = others.next()?;
            let named = format!("named by what `{}` says, which may change", other.name);
            Some((other.name.span(), named))
        }
        Lookup::Name { .. }
        | Lookup::Names { .. }
        | Lookup::Refs { .. }
        | Lookup::Labels { .. }
        | Lookup::Owner
        | Lookup::Namespace
        | Lookup::Equal { .. }
        | Lookup::Keys(_)
        | Lookup::None => None,
    }
}

fn is_applied(lifecycle: &Lifecycle, input: InputId) -> bool {
    let mut effects = lifecycle.effects.iter();
    effects.any(|effect| effect.target == input && effect.verb == Verb::Apply)
}

/// Whether what is left over of its kind is deleted.
fn is_tidied(lifecycle: &Lifecycle, input: &Input) -> bool {
    let deletes = lifecycle
        .effects
        .iter()
        .filter(|effect| effect.verb == Verb::Delete && effect.each);
    let mut sets = deletes.map(|effect| &lifecycle.inputs[effect.target.0]);
    sets.any(|set| set.ty == input.ty)
}
