//! A warning: what is `held` is acquired under a key, or found by a name, that does not stay with the object. `spec` and labels are edited, another object changes,
//! and `meta.name` is the same in another namespace. Then the undo asks for something else than was made, and what was made stays for ever.
//! `meta.uid` and a `record` stay; so does a field that the API server lets nobody change, which an `allow` says.
//!
//! ```text
//! put: call zone sets { entry = Yes } undo drop key spec.host;        // warned: whoever edits the host leaves the old entry behind
//! put: call zone sets { entry = Yes } undo drop key meta.uid;
//! ```

use crate::errors::Sink;
use crate::model::{Effect, Kind, Lifecycle, Lookup, Mode, Path};
use crate::rule::{Context, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC160",
    name: "editable_key",
    severity: Severity::Warning,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    if lifecycle.kind == Kind::Volume {
        return;
    }
    for effect in &lifecycle.effects {
        let Some(held) = effect.acquires(lifecycle).first().copied() else {
            continue;
        };
        let Some(under) = editable(lifecycle, effect) else {
            continue;
        };
        let (name, fact) = (&effect.name, &lifecycle.vars[held.0].name);
        let Editable { span, how, why } = under;
        let message = format!(
            "effect `{name}` makes `{fact}` ours {how}, and {why}: what was made then is never given back"
        );
        let help = "go by `meta.uid`, or by a `record` that is written before; if nobody can edit it, `allow` this and say so";
        sink.push(RULE.finding(span, name.to_string(), message).help(help));
    }
}

/// What an effect goes by, and why that does not stay.
struct Editable {
    span: proc_macro2::Span,
    how: String,
    why: String,
}

fn editable(lifecycle: &Lifecycle, effect: &Effect) -> Option<Editable> {
    if let Some(key) = &effect.key {
        let of_input = key.input.map(|input| &lifecycle.inputs[input.0]);
        let why = match of_input {
            Some(input) if input.mode == Mode::Record => None,
            Some(input) => Some(format!(
                "`{}` is another object, which may change",
                input.name
            )),
            None => changes(&key.path),
        };
        if let Some(why) = why {
            let how = format!("under the key `{}`", key.path);
            let span = key.path.root().span();
            return Some(Editable { span, how, why });
        }
    }
    let target = &lifecycle.inputs[effect.target.0];
    let path = match &target.lookup {
        Lookup::Name { path, .. } => path,
        // One key that stays tells whose the answer is.
        Lookup::Keys(keys) if keys.iter().all(|key| may_be_edited(&key.path)) => &keys[0].path,
        Lookup::Keys(_)
        | Lookup::None
        | Lookup::Names { .. }
        | Lookup::Refs { .. }
        | Lookup::Labels { .. }
        | Lookup::Owner
        | Lookup::Namespace
        | Lookup::Ref { .. }
        | Lookup::Equal { .. } => return None,
    };
    may_be_edited(path).then(|| Editable {
        span: effect.target_span,
        how: format!("in `{}`, which is found by `{path}`", target.name),
        why: "who edits that leads to another one".to_owned(),
    })
}

/// Why a path of the object is no key, if it is none.
fn changes(path: &Path) -> Option<String> {
    let is_name = path.to_string() == "meta.name" || path.to_string() == "meta.namespace";
    if is_name {
        return Some("objects of other namespaces may be called so, too".to_owned());
    }
    may_be_edited(path).then(|| "its owner may edit that".to_owned())
}

/// Whether a path leads to what an owner may edit, and not to what an object is known by.
pub(super) fn may_be_edited(path: &Path) -> bool {
    match path.root().to_string().as_str() {
        "spec" => true,
        "meta" => {
            let second = path.parts.get(1).map(ToString::to_string);
            !matches!(second.as_deref(), Some("uid" | "name" | "namespace"))
        }
        _ => false,
    }
}
