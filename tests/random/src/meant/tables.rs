//! Contents of a description apart from worlds: a text for each thing, so that no order counts.

use std::collections::BTreeMap;

use lifecycle_runtime::machine::ir::{Lifecycle, Origin};

use super::Aspect;
use crate::declared::Declared;

pub(super) fn build_tables(
    ir: &Lifecycle,
    declared: &Declared,
) -> BTreeMap<(Aspect, String), String> {
    let mut all = BTreeMap::new();
    let mut say = |aspect: Aspect, what: &str, name: &str, text: String| {
        all.insert((aspect, format!("{what} {name}")), text);
    };
    for (at, input) in ir.inputs.iter().enumerate() {
        let text = format!(
            "{:?}",
            (
                (
                    input.mode,
                    input.many,
                    input.kind,
                    input.lookup,
                    input.every
                ),
                (input.provider, input.var, input.owner, input.controller),
                (
                    input.exclusive,
                    input.retired,
                    input.noted,
                    input.retain.is_some(),
                    (input.group, input.optional, input.only_if)
                ),
                &declared.lookups[at],
            )
        );
        say(Aspect::Tables, "input", input.name, text);
    }
    for (at, value) in ir.values.iter().enumerate() {
        let keeper = value.mint.as_ref().map(|mint| mint.keeper);
        let text = format!("{:?}", (keeper, &declared.values[at]));
        say(Aspect::Tables, "value", value.name, text);
    }
    for (at, var) in ir.vars.iter().enumerate() {
        if matches!(var.origin, Origin::Refused(_)) {
            continue;
        }
        let otherwise: Vec<u8> = var.given.iter().map(|guard| guard.otherwise).collect();
        let text = format!(
            "{:?}",
            (
                (var.origin, var.values, var.answers, otherwise),
                (var.free, var.timed, var.reads, &declared.facts[at]),
            )
        );
        say(Aspect::Tables, "fact", var.name, text);
    }
    for (at, effect) in ir.effects.iter().enumerate() {
        let undo = effect.undo.map(|undo| ir.effects[undo].name);
        let text = format!(
            "{:?}",
            (
                (effect.verb, effect.each, effect.target, effect.from),
                (effect.sets, effect.affects, undo, effect.is_undo),
                (effect.is_step, effect.keeps, &declared.effects[at]),
                &declared.keys[at],
            )
        );
        say(Aspect::Tables, "effect", effect.name, text);
    }
    for promise in ir.promises {
        let text = format!("{:?}", promise.sets);
        say(Aspect::Promises, "promise", promise.name, text);
    }
    for (at, field) in ir.fields.iter().enumerate() {
        let text = format!("{:?}", (field.what, &declared.fields[at]));
        say(Aspect::Fields, "field", field.name, text);
    }
    say(Aspect::Fields, "kstatus", "", ir.kstatus.to_string());
    let columns = format!("{:?}", ir.columns);
    say(Aspect::Columns, "columns", "", columns);
    for edge in ir.edges {
        let name = format!("{} {}", ir.states[edge.from].name, ir.states[edge.to].name);
        say(Aspect::Edges, "edge", &name, String::new());
    }
    all
}
