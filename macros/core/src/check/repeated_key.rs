//! A poll or probe has a key twice, or a field of the request and an input that have one name: its method gets each once, by that name.
//!
//! ```text
//! live: poll Records by handle, handle every 1min;         // refused
//! live: poll Records by handle, token every 1min;
//! ```

use crate::ast::Path;
use crate::errors::Sink;
use crate::model::{Input, Kind, Lookup, PollKey};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC115",
    name: "repeated_key",
    group: Group::Facts,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    for input in &context.lifecycle.inputs {
        if let Lookup::Keys(keys) = &input.lookup {
            repeated(input, keys, sink);
            if context.lifecycle.kind == Kind::Volume {
                namesakes(input, keys, sink);
            }
        }
    }
}

fn repeated(input: &Input, keys: &[PollKey], sink: &mut Sink) {
    for (at, key) in keys.iter().enumerate() {
        let same = |other: &&PollKey| other.path.parts == key.path.parts;
        let Some(first) = keys[..at].iter().find(same) else {
            continue;
        };
        let (name, path) = (&input.name, &key.path);
        let message = format!("input `{name}` has the key `{path}` twice");
        sink.push(
            RULE.finding(last(path).span(), name.to_string(), message)
                .note(last(&first.path).span(), "first used here")
                .help("leave one of them out: each key is needed only once"),
        );
    }
}

/// `by request.pod, pod`: both would be called `pod` where the method gets them.
fn namesakes(input: &Input, keys: &[PollKey], sink: &mut Sink) {
    for field in keys.iter().filter(|key| key.path.root() == "request") {
        let of_input = |other: &&PollKey| {
            let root = other.path.root();
            other.input.is_some() && root == last(&field.path)
        };
        if let Some(other) = keys.iter().find(of_input) {
            let (name, called) = (&input.name, last(&field.path));
            let message =
                format!("input `{name}` has two keys that its method would get as `{called}`");
            sink.push(
                RULE.finding(called.span(), name.to_string(), message)
                    .note(other.path.root().span(), "this is the other")
                    .help(format!("rename the input `{called}`")),
            );
        }
    }
}

fn last(path: &Path) -> &proc_macro2::Ident {
    path.parts.last().unwrap_or_else(|| path.root())
}
