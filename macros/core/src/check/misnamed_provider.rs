//! A poll names an input after `of`, where it names the provider that is queried. The operator
//! limits the number of queries to a provider. The subject of the query comes after `by`.
//!
//! ```text
//! state: poll Bucket of handle every 30s;              // refused: `handle` is an input
//! state: poll Bucket of cloud by handle every 30s;
//! ```

use crate::errors::Sink;
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC117",
    name: "misnamed_provider",
    group: Group::Facts,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let inputs = &context.lifecycle.inputs;
    for input in inputs {
        let Some(provider) = &input.provider else {
            continue;
        };
        let named = inputs.iter().any(|other| other.name == *provider);
        if named {
            let name = &input.name;
            let message = format!("input `{name}`: `{provider}` is an input, and no provider");
            let help = format!(
                "name the provider: `poll Type of cloud`; the key comes after `by`: `poll Type by {provider}`"
            );
            sink.push(
                RULE.finding(provider.span(), name.to_string(), message)
                    .help(help),
            );
        }
    }
}
