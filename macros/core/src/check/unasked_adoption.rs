//! A warning: whatever has the name is taken over, and nobody is asked. Who may write the object of the lifecycle then comes by everything that its operator may write and
//! nobody controls. Let a fact say that somebody wants it: a field of the spec, an annotation, a label of what is there, read as an input of its own.
//!
//! ```text
//! adopt secret;                       // warned
//! adopt secret when takes_over;
//! allow LC133 adopt_secret "its name carries the uid: only our own earlier one has it";
//! ```

use crate::errors::Sink;
use crate::model::Verb;
use crate::rule::{Context, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC133",
    name: "unasked_adoption",
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
            "effect `{name}` takes over whatever has the name of `{target}`, and nobody is asked"
        );
        let help =
            format!("write `adopt {target} when ..;` with a fact that says that somebody wants it");
        sink.push(RULE.finding(effect.target_span, name, message).help(help));
    }
}
