//! Something else than a fact is told what time it is: a value, a builder, a field of the status, a lookup. It would differ in every pass, and what is written
//! from it would be written without end. A fact has few answers, and says until when each holds. What is `held` is no question of time either: it becomes ours
//! by an effect, and free by another. A value that is minted is made once, and may be told when.
//!
//! ```text
//! let age: Age from issued, now;                        // refused
//! due: { No, Yes } from issued, now;
//! ```

use proc_macro2::Ident;

use crate::errors::{Item, Sink};
use crate::model::{FieldOf, Input, InputId, Lifecycle, Lookup, Origin, Path, Source, Use};
use crate::rule::{Context, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC100",
    name: "time_outside_facts",
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for value in &lifecycle.values {
        let place = Item::new("value", &value.name);
        // What is made once may say when.
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

const WRITES: &str = "it would differ in every pass, and be written without end";
const KEY: &str = "it would be another one in every pass";
const HELD: &str = "nothing becomes ours or free by time alone";

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
    clocks.for_each(|clock| say(&clock.name, place, why, sink));
}

fn rooted(lifecycle: &Lifecycle, path: &Path, place: &Item, why: &str, sink: &mut Sink) {
    let mut inputs = lifecycle.inputs.iter();
    let found = inputs.position(|input| input.name == *path.root());
    if found.is_some_and(|at| lifecycle.is_clock(Source::Input(InputId(at)))) {
        say(path.root(), place, why, sink);
    }
}

fn say(clock: &Ident, place: &Item, why: &str, sink: &mut Sink) {
    let message =
        format!("{place} reads `{clock}`, and only facts are told what time it is: {why}");
    let help =
        format!("declare a fact such as `due: {{ No, Yes }} from self, {clock};`, and ask that");
    sink.push(RULE.finding(clock.span(), place.name(), message).help(help));
}
