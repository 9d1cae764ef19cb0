//! Nothing remembers a created object: after its deletion it would be made again. Each input that
//! an effect creates has one `record of` it, and each `record of` refers to an input that an effect
//! creates.
//!
//! ```text
//! observe { job: owned Job by name meta.name; }                                     // refused
//! observe { job: owned Job by name meta.name; made: record of job; }
//! effects { create job; }
//! ```

use crate::ast::{Input, Lifecycle, Mode, Verb, WriteMode};
use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC156",
    name: "unnoted_create",
    group: Group::Records,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Checks every `create` and every `record of`.
pub(crate) fn check(ast: &Lifecycle, sink: &mut Sink) {
    let records = || ast.inputs.iter().filter(|input| input.mode == Mode::Noted);
    let of = |record: &Input, input: &Input| record.of.as_ref() == Some(&input.name);
    for input in &ast.inputs {
        let mut creates = ast.effects.iter().filter(|e| e.verb == Verb::Create);
        let create = creates.find(|effect| effect.target == input.name);
        let mut of_it = records().filter(|record| of(record, input));
        let first = of_it.next();
        if let (Some(create), None) = (create, first) {
            let name = &input.name;
            let message = format!(
                "`{}` creates `{name}` once, and nothing remembers that it did",
                create.name()
            );
            let help = format!("write `made: record of {name};` in `observe`");
            let found = RULE.finding(create.target.span(), create.name().to_string(), message);
            sink.push(found.help(help));
        }
        for more in of_it {
            let (name, record) = (&input.name, &more.name);
            let message = format!("`{record}` is a second record of `{name}`");
            let found = RULE.finding(record.span(), record.to_string(), message);
            sink.push(found.help("leave it out"));
        }
    }
    for record in records() {
        let Some(of) = &record.of else {
            continue;
        };
        let is_known = ast.inputs.iter().any(|input| input.name == *of);
        if is_known && ast.comes(of) != WriteMode::Once {
            let name = &record.name;
            let message = format!("`{name}` is the record of `{of}`, which no effect creates");
            let found = RULE.finding(of.span(), name.to_string(), message);
            sink.push(found.help(format!(
                "write `create {of};` in `effects`, or leave the record out"
            )));
        }
    }
}
