//! A minted value is passed to something other than the builder of its keeper. Before the keeper is
//! written, nothing else has the value, so a refused or late write leaves two values in use. Users
//! of the value read it from its keeper.
//!
//! ```text
//! mint password: Password in secret;
//! apply each copies from password;                         // refused
//! apply each copies from secret;
//! ```

use crate::errors::{Item, Sink};
use crate::model::{FieldOf, InputId, Lifecycle, Lookup, Origin, Source, Use, Value, Verb};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC152",
    name: "unread_keeper",
    group: Group::Ownership,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    let mut look = |from: &[Use], place: Item, builds: Option<InputId>| {
        for one in from {
            if let Some((value, keeper)) = minted(lifecycle, one)
                && builds != Some(keeper)
            {
                report_use(one, value, &place, sink);
            }
        }
    };
    for value in &lifecycle.values {
        let keeper = value.mint.as_ref().map(|mint| mint.keeper);
        look(&value.from, Item::new("value", &value.name), keeper);
    }
    for var in &lifecycle.vars {
        if let Origin::Fact { from, .. } = &var.origin {
            look(from, Item::new("fact", &var.name), None);
        }
    }
    for input in &lifecycle.inputs {
        if let Lookup::Names { of } | Lookup::Refs { of } | Lookup::Ref { from: of } = &input.lookup
        {
            look(of, Item::new("input", &input.name), None);
        }
    }
    for effect in &lifecycle.effects {
        let builds = (effect.verb == Verb::Apply).then_some(effect.target);
        look(&effect.from, Item::new("effect", &effect.name), builds);
    }
    for field in &lifecycle.fields {
        if let FieldOf::Method { from, .. } = &field.what {
            look(from, Item::new("field", &field.name), None);
        }
    }
}

fn minted<'a>(lifecycle: &'a Lifecycle, one: &Use) -> Option<(&'a Value, InputId)> {
    let Source::Value(value) = one.source else {
        return None;
    };
    let value = &lifecycle.values[value.0];
    Some((value, value.mint.as_ref()?.keeper))
}

fn report_use(one: &Use, value: &Value, place: &Item, sink: &mut Sink) {
    let (name, keeper) = (&value.name, &value.from[0].name);
    let message = format!(
        "{place} reads `{name}` before it is kept in `{keeper}`: only the builder of that input may read it"
    );
    let help = format!("read `{keeper}`, where it is kept");
    sink.push(
        RULE.finding(one.name.span(), place.name(), message)
            .help(help),
    );
}
