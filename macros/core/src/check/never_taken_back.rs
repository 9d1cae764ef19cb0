//! A warning: an object is retained, and nothing adopts it. It keeps its name when its owner is
//! deleted. A new owner of that name finds the old object as `Foreign`, and waits for a user to
//! remove it by hand. Let an `adopt` take it back, or declare the reason. Sets are not reported,
//! because nothing adopts their members.
//!
//! ```text
//! data: owned Claim by name meta.name retain;                                        // warned
//! data: owned Claim by name meta.name retain;  ..  adopt data when reuse;
//! allow LC132 data "its name carries the uid: none comes again";
//! ```

use crate::errors::Sink;
use crate::model::Verb;
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC132",
    name: "never_taken_back",
    group: Group::Ownership,
    severity: Severity::Warning,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for (at, input) in lifecycle.inputs.iter().enumerate() {
        let Some(policy) = input
            .retain
            .as_ref()
            .filter(|_| !input.many && input.retired.is_none())
        else {
            continue;
        };
        let mut effects = lifecycle.effects.iter();
        if effects.any(|effect| effect.verb == Verb::Adopt && effect.target.0 == at) {
            continue;
        }
        let name = input.name.to_string();
        let message = format!(
            "`{name}` stays when its owner goes, and is `Foreign` to the next of the same name: nothing takes it back"
        );
        let help = match input.noted {
            // Nothing adopts an object that is created once.
            Some(_) => format!(
                "find it by a name that no other object will have, such as `by meta.uid`, or write `allow LC132 {name} \"why none comes again\";`"
            ),
            None => format!(
                "write `adopt {name} when ..;` in `effects`, or `allow LC132 {name} \"why none comes again\";`"
            ),
        };
        sink.push(RULE.finding(policy.span, name, message).help(help));
    }
}
