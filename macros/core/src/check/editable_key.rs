//! A warning: a `held` object is acquired under a key, or found by a name, that may change during
//! the life of the object. `spec` and labels are edited, another object changes, and `meta.name` is
//! not unique across namespaces. The undo would then query another key, and the acquired object
//! would stay for ever. `meta.uid` and a `record` never change. Neither does a field that the API
//! server makes immutable, which an `allow` declares.
//!
//! ```text
//! put: call zone sets { entry = Yes } undo drop key spec.host;        // warned: whoever edits the host leaves the old entry behind
//! put: call zone sets { entry = Yes } undo drop key meta.uid;
//! ```

use crate::errors::Sink;
use crate::model::{Effect, Kind, Lifecycle, Lookup, Mode, Path};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC160",
    name: "editable_key",
    group: Group::Deletion,
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
            "effect `{name}` acquires `{fact}` {how}, and {why}: what it acquired is then never released"
        );
        let help = "use `meta.uid`, or a `record` that is written before; if no user can edit it, `allow` this and say why";
        sink.push(RULE.finding(span, name.to_string(), message).help(help));
    }
}

/// Value that an effect depends on, and the reason that it does not stay constant.
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
        // One stable key suffices to identify the owner of the answer.
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
        why: "an edit of that leads to another object".to_owned(),
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

/// Returns true if a path leads to a part of the object that its owner may edit, and not to a part
/// that identifies it.
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
