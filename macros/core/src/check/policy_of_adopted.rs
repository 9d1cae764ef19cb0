//! A warning: an object is retained only sometimes, and an effect adopts it. An adopted object is
//! always retained, because it was not ours to delete before. The policy does not apply to it, so a
//! user who wants it deleted with its owner still finds it there. Write `adopt .. without retain`,
//! or declare with an `allow` that this is intended. If another effect adopts the object `without
//! retain`, its author knows the difference.
//!
//! ```text
//! secret: owned Secret by name meta.name retain when keeps;  ..  adopt secret when consent;          // warned: an adopted one stays whatever `keeps` says
//! adopt secret without retain when consent;
//! allow LC135 adopt_secret "what was there before us is never ours to delete";
//! ```

use crate::errors::Sink;
use crate::model::{Effect, Verb};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC135",
    name: "policy_of_adopted",
    group: Group::Ownership,
    severity: Severity::Warning,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    let adopts = lifecycle.effects.iter();
    for effect in adopts.filter(|effect| effect.verb == Verb::Adopt && effect.keeps) {
        let mut others = lifecycle.effects.iter();
        let lets_go = |other: &Effect| other.verb == Verb::Adopt && !other.keeps;
        if others.any(|other| other.target == effect.target && lets_go(other)) {
            continue;
        }
        let input = &lifecycle.inputs[effect.target.0];
        let policy = input.retain.as_ref();
        let Some(policy) = policy.filter(|policy| !policy.vars().is_empty()) else {
            continue;
        };
        let (name, kept) = (effect.name.to_string(), &input.name);
        let message = format!(
            "objects that `{name}` adopts stay whatever the `retain` of `{kept}` declares: adopted means retained"
        );
        let help = format!(
            "write `adopt {kept} without retain ..` if the policy is to count for that, too, or `allow LC135 {name} \"why not\"`"
        );
        let found = RULE.finding(effect.target_span, name, message);
        let found = found.note(policy.span, "this is the policy");
        sink.push(found.help(help));
    }
}
