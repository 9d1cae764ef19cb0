//! A `never` relates facts that share no input. Each can change without the other, so the outside can bring such a world about at any time.
//!
//! ```text
//! never matched && validity == Bad;    // `matched` reads `network`, `validity` reads `peers`
//! ```
//!
//! Leave the `never` out and give these worlds a state.

use crate::errors::Sink;
use crate::model::Lifecycle;
use crate::rule::{Context, Rule, Run, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC015",
    name: "independent_never",
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    for never in &context.lifecycle.nevers {
        let vars = never.pred.vars();
        if vars.len() < 2 || !context.frames.common(vars.iter().copied()).is_empty() {
            continue;
        }
        let names: Vec<String> = vars
            .iter()
            .map(|var| format!("`{}`", context.lifecycle.vars[var.0].name))
            .collect();
        sink.push(
            RULE.error(never.span,
                "never",
                format!(
                    "`never` relates {}, which share no input: the outside can bring this about at any time; give these worlds a state",
                    and(&names)
                ),
            )
            .help(help(context.lifecycle)),
        );
    }
}

fn help(lifecycle: &Lifecycle) -> String {
    let first = lifecycle.states.first().map(|state| state.name.to_string());
    let before = first.map_or(String::new(), |name| format!(" above `{name}`"));
    format!("leave the `never` out and write a state for it{before}")
}

fn and(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [init @ .., last] => format!("{} and {last}", init.join(", ")),
    }
}
