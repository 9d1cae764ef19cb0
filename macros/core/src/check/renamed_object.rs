//! A warning: an owned object has a name that the owner may edit, or that follows another object
//! (`by ref from other`), or an owned set is found by a label that the owner may edit. Nothing
//! removes the object with the previous name. It stays until its owner is deleted, with all its
//! content, and is not observed any more. Name it after `meta.name`, unchanged or with a suffix
//! (`by ref from self`, a method that returns the name). Alternatively, observe all owned objects
//! as a set `owned [K]`, and `delete each` that is not wanted. The lifecycle of another object may
//! clean up the objects that the other object owns (`of other`): an `allow` declares so.
//!
//! ```text
//! secret: owned Secret by name spec.secret;        // warned: after an edit the old Secret is still there
//! secret: owned Secret by name meta.name;
//! token:  owned Secret by ref from self;           // a method: `{meta.name}-token`
//! ```

use proc_macro2::{Ident, Span};

use super::editable_key::may_be_edited;
use crate::errors::{Diagnostic, Sink};
use crate::model::{Input, InputId, Kind, Lifecycle, Lookup, Mode, Path, Source, Verb};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC162",
    name: "renamed_object",
    group: Group::Ownership,
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
        if !is_ours || !is_applied(lifecycle, written) {
            continue;
        }
        let name = &input.name;
        if let Some(label) = editable_label(input) {
            sink.push(found_by_label(name, label));
            continue;
        }
        if is_tidied(lifecycle, input) {
            continue;
        }
        let Some((span, named)) = named(input) else {
            continue;
        };
        let message = format!(
            "`{name}` is {named}: the object of the old name then stays, and is no longer managed"
        );
        let help = "name it after `meta.name`, or by a method, `by ref from self`, that derives the name from it; or observe a set `owned [..]` of them and `delete each`; if no user can edit it, or the old object may stay, `allow` this and say why";
        let found = RULE.finding(span, name.to_string(), message);
        let tidies = input.of.map(|owner| {
            let owner = &lifecycle.inputs[owner.0].name;
            format!("it belongs to `{owner}`, whose lifecycle may delete it: if it does, `allow` this with that reason")
        });
        let found = tidies
            .into_iter()
            .fold(found, |found, note| found.note(None, note));
        sink.push(found.help(help));
    }
}

/// Returns the path of a label that members of a set have, if it may be edited.
fn editable_label(input: &Input) -> Option<&Path> {
    let Lookup::Labels { pairs } = &input.lookup else {
        return None;
    };
    let mut paths = pairs.iter().map(|(_, path)| path);
    paths.find(|path| may_be_edited(path))
}

fn found_by_label(name: &Ident, label: &Path) -> Diagnostic {
    let message = format!(
        "`{name}` are found by a label that is `{label}`, which may be edited: the members with the old label then stay, and are no longer managed"
    );
    let help = "find them `by owner`, or by a label that is `meta.name` or `meta.uid`; if no user can edit it, `allow` this and say why";
    let found = RULE.finding(label.root().span(), name.to_string(), message);
    found.help(help)
}

/// Returns the source of the name and its description, if the name may change.
fn named(input: &Input) -> Option<(Span, String)> {
    match &input.lookup {
        Lookup::Name { path, .. } if may_be_edited(path) => {
            let named = format!("named by `{path}`, which may be edited");
            Some((path.root().span(), named))
        }
        Lookup::Ref { from } => {
            let mut others = from.iter().filter(|one| one.source != Source::This);
            let other = others.next()?;
            let named = format!("named after data of `{}`, which may change", other.name);
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

/// Returns true if the lifecycle deletes left-over objects of its kind.
fn is_tidied(lifecycle: &Lifecycle, input: &Input) -> bool {
    let deletes = lifecycle
        .effects
        .iter()
        .filter(|effect| effect.verb == Verb::Delete && effect.each);
    let mut sets = deletes.map(|effect| &lifecycle.inputs[effect.target.0]);
    sets.any(|set| set.ty == input.ty)
}
