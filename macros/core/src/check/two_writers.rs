//! A warning: two inputs are one object, and effects write both, or write one and delete the other.
//! Each apply names the fields that its own builder returns, under one field manager, and removes
//! the fields of the other. Therefore both are `Stale` in turns for ever. A deleted object is made
//! again, and of two that are created once only one is ever made. Write the object through one
//! input; several ways to build it are several effects of that input. Two objects have two names: a
//! method makes one of the names (`by ref from self`).
//!
//! ```text
//! config: owned ConfigMap by name meta.name; extra: owned ConfigMap by name meta.name;
//! effects { apply config; apply extra; }                                // warned: each undoes what the other wrote
//! ```

use std::collections::BTreeMap;

use quote::ToTokens;

use crate::errors::{Diagnostic, Sink};
use crate::model::{Input, InputId, Lifecycle, Lookup, Mode, Verb};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC168",
    name: "two_writers",
    group: Group::Effects,
    severity: Severity::Warning,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    let mut by_object: BTreeMap<Object, Vec<&Input>> = BTreeMap::new();
    for input in &lifecycle.inputs {
        if let Some(object) = object(input).filter(|_| is_written(lifecycle, input)) {
            by_object.entry(object).or_default().push(input);
        }
    }
    for mut inputs in by_object.into_values() {
        // Takes the first by name, so the finding does not depend on the order of declaration.
        inputs.sort_by(|one, other| one.name.cmp(&other.name));
        let Some((first, others)) = inputs.split_first() else {
            continue;
        };
        let creates = |input: &&Input| has_effect(lifecycle, input, Verb::Create);
        let builds = |input: &&Input| has_effect(lifecycle, input, Verb::Apply) || creates(input);
        if !inputs.iter().any(builds) {
            continue;
        }
        for input in others {
            let fight = match builds(first) && builds(input) {
                true if creates(first) || creates(input) => {
                    "effects make both: the object that exists counts as the other one too, which is never made"
                }
                true => "effects write both: each takes away what the other wrote",
                false => "effects write one and delete the other: what is made is deleted again",
            };
            sink.push(diagnostic(first, input, fight));
        }
    }
}

fn diagnostic(first: &Input, input: &Input, fight: &str) -> Diagnostic {
    let (first, name) = (&first.name, &input.name);
    let message = format!("`{first}` and `{name}` are one object, and {fight}");
    RULE.finding(name.span(), name.to_string(), message)
        .note(first.span(), format!("`{first}` is declared here"))
        .help(format!(
            "leave `{name}` out, and let the builder of `{first}` return the whole object; to have two objects, give one a name of its own, `by ref from self`"
        ))
}

fn is_written(lifecycle: &Lifecycle, input: &Input) -> bool {
    let is_ours = matches!(input.mode, Mode::Owned | Mode::Shared | Mode::Part);
    is_ours
        && [Verb::Apply, Verb::Create, Verb::Delete]
            .into_iter()
            .any(|verb| has_effect(lifecycle, input, verb))
}

fn has_effect(lifecycle: &Lifecycle, input: &Input, verb: Verb) -> bool {
    let mut effects = lifecycle.effects.iter();
    effects.any(|effect| {
        let target = &lifecycle.inputs[effect.target.0].name;
        let is_it = *target == input.name || input.group == Some(effect.target);
        effect.verb == verb && is_it
    })
}

/// Identity of an object: true for a set, the type, and the keys of the lookup.
type Object = (bool, String, Vec<String>);

/// Returns the identity of an input, unless a method decides it.
fn object(input: &Input) -> Option<Object> {
    let by = match &input.lookup {
        Lookup::Name { path, .. } => vec![path.to_string()],
        Lookup::Labels { pairs } => {
            let pairs = pairs.iter().map(|(key, path)| format!("{key}={path}"));
            let mut pairs: Vec<String> = pairs.collect();
            pairs.sort();
            pairs
        }
        Lookup::Owner => vec!["owner".to_owned()],
        Lookup::Namespace => vec!["namespace".to_owned()],
        Lookup::None
        | Lookup::Names { .. }
        | Lookup::Refs { .. }
        | Lookup::Ref { .. }
        | Lookup::Equal { .. }
        | Lookup::Keys(_) => return None,
    };
    Some((input.many, input.ty.to_token_stream().to_string(), by))
}

/// Of each input the first one that is the same object.
pub(super) fn firsts(lifecycle: &Lifecycle) -> Vec<InputId> {
    let mut known: BTreeMap<Object, InputId> = BTreeMap::new();
    let inputs = lifecycle.inputs.iter().enumerate();
    let first = |(at, input): (usize, &Input)| match object(input) {
        Some(object) => *known.entry(object).or_insert(InputId(at)),
        None => InputId(at),
    };
    inputs.map(first).collect()
}
