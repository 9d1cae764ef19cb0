//! `retired` names an item that the lifecycle still has, or names an item twice. A declared item is
//! still written, so nothing of it can be removed for good. An input is identified by its objects
//! and by its lookup, not by its name.
//!
//! ```text
//! status { condition Hung { .. } }   retired { condition Hung; }                       // refused: it is still told
//! secret: owned Secret by name meta.name;   old: owned Secret by name meta.name deleted;   // refused: they are the same objects
//! ```

use std::collections::BTreeMap;

use proc_macro2::Span;

use crate::ast::{Lifecycle, Mode};
use crate::errors::Sink;
use crate::lock;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC171",
    name: "retired_and_declared",
    group: Group::Records,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Checks each line of the section.
pub(crate) fn check(ast: &Lifecycle, sink: &mut Sink) {
    let declared = lock::lines(ast);
    let mut seen: BTreeMap<String, Span> = BTreeMap::new();
    for (item, span) in named(ast) {
        if declared.contains_key(&item) {
            let message = format!("`{item}` is retired, and the lifecycle still has it");
            let help = "leave out one of the two";
            sink.push(RULE.finding(span, item, message).help(help));
            continue;
        }
        match seen.get(&item) {
            Some(first) => {
                let message = format!("`{item}` is retired twice");
                let found = RULE.finding(span, item, message);
                let found = found.note(*first, "it is retired here already");
                sink.push(found.help("leave out one of the two"));
            }
            None => {
                seen.insert(item, span);
            }
        }
    }
}

/// Returns the retired items, spelled as in a lock, with their locations.
fn named(ast: &Lifecycle) -> Vec<(String, Span)> {
    let lines = ast.retired.iter().flat_map(|retired| &retired.lines);
    let lines = lines.map(|gone| (lock::named_by(&gone.what), gone.span));
    let inputs = ast.inputs.iter().filter(|input| input.retired.is_some());
    let inputs = inputs.filter(|input| !matches!(input.mode, Mode::Record | Mode::Noted));
    let inputs = inputs.map(|input| (lock::input_key(input), input.name.span()));
    lines.chain(inputs).collect()
}
