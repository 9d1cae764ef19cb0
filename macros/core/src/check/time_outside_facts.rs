//! The current time is passed to an item that is no fact: a value, a builder, a field of the
//! status, a lookup. Its result would differ in every reconcile, and an object that is built from
//! it would be written without end. A fact has few answers, and each answer carries the time until
//! which it holds. A `held` fact does not depend on time either: one effect acquires it, and
//! another releases it. A minted value is made once, and may receive the time of its creation.
//!
//! ```text
//! let age: Age from issued, now;                        // refused
//! due: { No, Yes } from issued, now;
//! ```

use proc_macro2::Ident;

use crate::errors::{Item, Sink};
use crate::model::{FieldOf, Input, InputId, Lifecycle, Lookup, Origin, Path, Source, Use};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC100",
    name: "time_outside_facts",
    group: Group::Facts,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for value in &lifecycle.values {
        let place = Item::new("value", &value.name);
        // A value that is made once may contain its creation time.
        let read = match value.mint {
            Some(_) => &value.from[..1],
            None => value.from.as_slice(),
        };
        refuse(lifecycle, read, &place, WRITES, sink);
    }
    for effect in &lifecycle.effects {
        let place = Item::new("effect", &effect.name);
        refuse(lifecycle, &effect.from, &place, WRITES, sink);
        if let Some(key) = &effect.key {
            rooted(lifecycle, &key.path, &place, KEY, sink);
        }
    }
    for field in &lifecycle.fields {
        if let FieldOf::Method { from, .. } = &field.what {
            let place = Item::new("field", &field.name);
            refuse(lifecycle, from, &place, WRITES, sink);
        }
    }
    for input in &lifecycle.inputs {
        lookup(lifecycle, input, sink);
    }
    for var in lifecycle.vars.iter().filter(|var| var.held.is_some()) {
        if let Origin::Fact { from, .. } = &var.origin {
            let place = Item::new("fact", &var.name);
            refuse(lifecycle, from, &place, HELD, sink);
        }
    }
}

const WRITES: &str = "it would differ in every reconcile, and be written endlessly";
const KEY: &str = "it would differ in every reconcile";
const HELD: &str = "time alone neither acquires nor releases anything";

fn lookup(lifecycle: &Lifecycle, input: &Input, sink: &mut Sink) {
    let place = Item::new("input", &input.name);
    match &input.lookup {
        Lookup::Names { of } | Lookup::Refs { of } | Lookup::Ref { from: of } => {
            refuse(lifecycle, of, &place, KEY, sink);
        }
        Lookup::Name { path, .. } | Lookup::Equal { ours: path, .. } => {
            rooted(lifecycle, path, &place, KEY, sink);
        }
        Lookup::Keys(keys) => {
            for key in keys {
                rooted(lifecycle, &key.path, &place, KEY, sink);
            }
        }
        Lookup::Labels { pairs } => {
            for (_, path) in pairs {
                rooted(lifecycle, path, &place, KEY, sink);
            }
        }
        Lookup::None | Lookup::Owner | Lookup::Namespace => {}
    }
}

fn refuse(lifecycle: &Lifecycle, from: &[Use], place: &Item, why: &str, sink: &mut Sink) {
    let clocks = from.iter().filter(|one| lifecycle.is_clock(one.source));
    clocks.for_each(|clock| report_clock(&clock.name, place, why, sink));
}

fn rooted(lifecycle: &Lifecycle, path: &Path, place: &Item, why: &str, sink: &mut Sink) {
    let mut inputs = lifecycle.inputs.iter();
    let found = inputs.position(|input| input.name == *path.root());
    if found.is_some_and(|at| lifecycle.is_clock(Source::Input(InputId(at)))) {
        report_clock(path.root(), place, why, sink);
    }
}

fn report_clock(clock: &Ident, place: &Item, why: &str, sink: &mut Sink) {
    let message = format!("{place} reads `{clock}`, but only facts may read the time: {why}");
    let help =
        format!("declare a fact such as `due: {{ No, Yes }} from self, {clock};`, and ask that");
    sink.push(RULE.finding(clock.span(), place.name(), message).help(help));
}
