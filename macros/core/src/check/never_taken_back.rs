//! A warning: an object is retained, and nothing adopts it. It stays under its name when its owner goes; when an owner of the same name comes again, it finds what the
//! earlier one left as `Foreign`, and waits for somebody who removes it by hand. Let an `adopt` take it back, or say why not.
//! Of a set, whose members nothing adopts, nothing is said.
//!
//! ```text
//! data: owned Claim by name meta.name retain;                                        // warned
//! data: owned Claim by name meta.name retain;  ..  adopt data when reuse;
//! allow LC132 data "its name carries the uid: none comes again";
//! ```

use crate::errors::Sink;
use crate::model::Verb;
use crate::rule::{Context, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC132",
    name: "never_taken_back",
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
            // What is created once nothing adopts.
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
