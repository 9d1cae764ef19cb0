//! A value is minted, but its keeper is never written, or its builder does not take the value. The
//! value could not be read back, and each reconcile would make another one.
//!
//! ```text
//! mint password: Password in secret;
//! apply secret;                                            // refused: it does not write the password
//! apply secret from password;
//! ```

use crate::errors::Sink;
use crate::model::{Effect, Source, ValueId, Verb};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC151",
    name: "unkept_mint",
    group: Group::Ownership,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for (at, value) in lifecycle.values.iter().enumerate() {
        let Some(mint) = &value.mint else {
            continue;
        };
        let (name, keeper) = (value.name.to_string(), &value.from[0].name);
        let minted = Source::Value(ValueId(at));
        let takes = |effect: &&Effect| effect.from.iter().any(|one| one.source == minted);
        let effects = lifecycle.effects.iter();
        let builders = effects.filter(|e| e.verb == Verb::Apply && e.target == mint.keeper);
        let builders: Vec<&Effect> = builders.collect();
        if builders.is_empty() {
            let message = format!("`{name}` is minted in `{keeper}`, which no effect writes");
            let help = format!("declare `apply {keeper} from {name};`");
            let found = RULE.finding(keeper.span(), name.clone(), message);
            sink.push(found.help(help));
        }
        for builder in builders.into_iter().filter(|builder| !takes(builder)) {
            let message = format!(
                "effect `{}` writes `{keeper}` without `{name}`, which is kept there",
                builder.name
            );
            let help = format!("write `from {name}`: it gets what is there, or a new one");
            let found = RULE.finding(builder.target_span, name.clone(), message);
            sink.push(found.help(help));
        }
    }
}
