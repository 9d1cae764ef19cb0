//! A warning: an effect adopts any object with the name, without consent. A user who may write the
//! object of the lifecycle can then take over every object that its operator may write and no
//! controller owns. Let a fact state the consent. It can read a field of the spec, an annotation,
//! or a label of the existing object as an input of its own.
//!
//! ```text
//! adopt secret;                       // warned
//! adopt secret when takes_over;
//! allow LC133 adopt_secret "its name carries the uid: only our own earlier one has it";
//! ```

use crate::errors::Sink;
use crate::model::Verb;
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC133",
    name: "unasked_adoption",
    group: Group::Ownership,
    severity: Severity::Warning,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let effects = context.lifecycle.effects.iter();
    for effect in effects.filter(|e| e.verb == Verb::Adopt && e.when.is_none()) {
        let (name, target) = (
            effect.name.to_string(),
            &context.lifecycle.inputs[effect.target.0].name,
        );
        let message = format!(
            "effect `{name}` takes over any object with the name of `{target}`, without a user's consent"
        );
        let help =
            format!("write `adopt {target} when ..;` with a fact that shows that a user wants it");
        sink.push(RULE.finding(effect.target_span, name, message).help(help));
    }
}
