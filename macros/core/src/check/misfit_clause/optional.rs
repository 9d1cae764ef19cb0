//! Optional objects, `owned Ingress by name meta.name if spec.host`: where the clause is allowed,
//! and which items cannot use such an object.

use proc_macro2::{Ident, Span};

use super::misfit;
use crate::ast::{Input, Kind, Lifecycle, Lookup, Mode, Path, Verb};
use crate::errors::Sink;

/// Location of the error, its item, its description, and the replacement to write instead.
type Wrong = (Span, Ident, String, String);

/// Checks every `if`, and every item that names an object with one.
pub(super) fn check(ast: &Lifecycle, sink: &mut Sink) {
    let optional = ast.inputs.iter().filter_map(|input| {
        let (span, path) = input.only_if.as_ref()?;
        Some((input, *span, path))
    });
    for (input, span, path) in optional {
        let wrong = shape(ast.kind, input, (span, path));
        let wrong = Vec::from_iter(wrong)
            .into_iter()
            .chain(uses(ast, input, path));
        for (span, item, message, help) in wrong {
            sink.push(misfit(span, item, message, help));
        }
    }
}

fn shape(kind: Kind, input: &Input, (span, path): (Span, &Path)) -> Option<Wrong> {
    let name = &input.name;
    let say = |span: Span, message: String, help: &str| {
        Some((span, name.clone(), message, help.to_owned()))
    };
    // These inputs have no clause at all, which another finding reports.
    if matches!(input.mode, Mode::Clock | Mode::Noted) || input.member.is_some() {
        return None;
    }
    if kind == Kind::Volume {
        let message = format!("input `{name}`: a volume has no object whose fields could want it");
        return say(span, message, "leave out `if ..`");
    }
    if input.mode != Mode::Owned || input.many {
        let message = format!("input `{name}` cannot have an `if`: only one `owned` object can");
        let help = match input.many {
            true => "leave out `if ..`: a builder of a set may return no members",
            false => "leave out `if ..`, or write `owned`",
        };
        return say(span, message, help);
    }
    let of_object = path.root() == "meta" || path.root() == "spec";
    if !of_object || path.parts.len() < 2 {
        let message = format!("input `{name}`: `{path}` is no field of the object");
        let help = "write a path such as `if spec.host`; for a condition on facts write `given ..`";
        return say(span, message, help);
    }
    if let Some((_, Lookup::Name { path: named, .. })) = &input.lookup
        && named.parts.starts_with(&path.parts)
    {
        let message = format!(
            "input `{name}` is named by `{named}`, and would not be found where `{path}` is not set"
        );
        let help = "name it by a path that is always set, such as `by name meta.name`";
        return say(span, message, help);
    }
    if let Some(retain) = &input.retain {
        let message = format!(
            "input `{name}` exists only if `{path}` has a value, and a retained object is never deleted"
        );
        return say(retain.span, message, "leave out `retain`, or `if ..`");
    }
    input.retired.and_then(|_| {
        let message = format!("retired input `{name}` has an `if`, but nothing wants it any more");
        say(span, message, "leave out `if ..`")
    })
}

/// Returns the effects that do not fit an optional object, and the items that it must exist for.
fn uses(ast: &Lifecycle, input: &Input, path: &Path) -> Vec<Wrong> {
    let name = &input.name;
    let sometimes = format!("exists only if `{path}` has a value");
    let on = |verb: Verb| {
        let mut effects = ast.effects.iter();
        effects.any(|one| one.target == *name && one.verb == verb)
    };
    let is_applied = on(Verb::Apply);
    let mut found = Vec::new();
    for effect in ast.effects.iter().filter(|e| e.target == *name) {
        let why = match effect.verb {
            Verb::Delete if is_applied => {
                format!("`apply {name}` deletes it where it is not wanted")
            }
            Verb::Delete => {
                format!(
                    "only an `apply {name}` would make it, and delete it where it is not wanted"
                )
            }
            Verb::Create => "what is created once is never deleted by the operator".to_owned(),
            Verb::Adopt => "an adopted object is not deleted".to_owned(),
            Verb::Apply | Verb::Call | Verb::Note => continue,
        };
        let message = format!(
            "effect `{}`: `{name}` {sometimes}, and {why}",
            effect.name()
        );
        let help = match effect.verb {
            Verb::Delete if is_applied => "leave the effect out".to_owned(),
            Verb::Delete => format!("write `apply {name};` instead"),
            Verb::Create | Verb::Adopt | Verb::Apply | Verb::Call | Verb::Note => {
                "leave out `if ..` of the input".to_owned()
            }
        };
        let span = effect.target.span();
        found.push((span, effect.name(), message, help));
    }
    let help = "use an object that always exists";
    // A record is not owned by the objects that it records.
    let is_owned = |other: &&Input| other.mode != Mode::Noted && other.of.as_ref() == Some(name);
    for other in ast.inputs.iter().filter(is_owned) {
        let message = format!(
            "input `{}` cannot be owned by `{name}`, which {sometimes}",
            other.name
        );
        let span = other.of.as_ref().map_or(other.name.span(), Ident::span);
        found.push((span, other.name.clone(), message, help.to_owned()));
    }
    for effect in &ast.effects {
        let Some(key) = effect.key.as_ref().filter(|key| key.root() == name) else {
            continue;
        };
        let called = effect.name();
        let message = format!("effect `{called}` has a key of `{name}`, which {sometimes}");
        found.push((key.root().span(), called, message, help.to_owned()));
    }
    found
}
