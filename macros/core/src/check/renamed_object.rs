//! A warning: an object of ours has a name that the owner may edit, and nothing removes the one of the name before. It stays until the object goes, with all that is in it,
//! and is looked at no more. Name it after `meta.name`; or look at all that are ours, as a set `owned [K]`, and `delete each` of them that is not wanted.
//! What another object owns (`of other`) is tidied by the lifecycle of that one.
//!
//! ```text
//! secret: owned Secret by name spec.secret;        // warned: after an edit the old Secret is still there
//! secret: owned Secret by name meta.name;
//! ```

use super::editable_key::may_be_edited;
use crate::errors::Sink;
use crate::model::{Input, InputId, Kind, Lifecycle, Lookup, Mode, Verb};
use crate::rule::{Context, Rule, Run, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC162",
    name: "renamed_object",
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    if lifecycle.kind == Kind::Volume {
        return;
    }
    for (at, input) in lifecycle.inputs.iter().enumerate() {
        let Lookup::Name { path, .. } = &input.lookup else {
            continue;
        };
        let is_ours = matches!(input.mode, Mode::Owned | Mode::Shared) && input.of.is_none();
        if !is_ours || !may_be_edited(path) || !is_applied(lifecycle, InputId(at)) {
            continue;
        }
        if is_tidied(lifecycle, input) {
            continue;
        }
        let name = &input.name;
        let message = format!(
            "`{name}` is named by `{path}`, which may be edited: the one of the old name then stays, and nobody looks at it"
        );
        let help = "name it after `meta.name`; or look at a set `owned [..]` of them and `delete each`; if nobody can edit it, or the old one is to stay, `allow` this and say so";
        sink.push(
            RULE.warning(path.root().span(), name.to_string(), message)
                .help(help),
        );
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
