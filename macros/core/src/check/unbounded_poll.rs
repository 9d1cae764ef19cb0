//! The interval of a poll, or the maximum duration of a state, has no lower bound although the
//! object sets it. Any user who may write the object could trigger endless queries of a provider.
//! `min` declares the lower bound, and `else` is not below it; a `min` below 100ms bounds nothing.
//! A poll with a shorter interval that is written down is refused, too.
//! A state needs a `min` only if a poll ends it (LC104).
//!
//! ```text
//! remote: poll Head by spec.url every spec.interval else 1min;           // refused: `interval: 1ns` asks without end
//! remote: poll Head by spec.url every spec.interval else 1min min 10s;
//! ```

use proc_macro2::Ident;

use crate::errors::{Diagnostic, Sink};
use crate::model::{Kind, Length};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC103",
    name: "unbounded_poll",
    group: Group::Liveness,
    severity: Severity::Error,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    if lifecycle.kind == Kind::Volume {
        return;
    }
    for input in &lifecycle.inputs {
        let Some(every) = &input.every else {
            continue;
        };
        let place = ("input", &input.name);
        let found = unbounded(every, &input.name).or_else(|| contrary(every, place));
        found.into_iter().for_each(|one| sink.push(one));
    }
    for state in &lifecycle.states {
        let found = contrary(&state.overdue, ("state", &state.name));
        found.into_iter().for_each(|one| sink.push(one));
    }
}

/// Shortest useful interval in milliseconds. A poll with a shorter one queries without a pause.
const LEAST: u64 = 100;

fn unbounded(every: &Length, name: &Ident) -> Option<Diagnostic> {
    let span = every.span.unwrap_or_else(|| name.span());
    let Some(path) = &every.path else {
        let is_endless = every.otherwise < LEAST;
        let message = format!(
            "input `{name}`: a poll `every {}` queries without a pause",
            format_duration(every.otherwise)
        );
        let help = "write `every 5s`, or what its provider can bear; the least is 100ms";
        let found = RULE.finding(span, name.to_string(), message).help(help);
        return is_endless.then_some(found);
    };
    if every.least >= LEAST {
        return None;
    }
    let otherwise = format_duration(every.otherwise);
    let message = match every.least {
        0 => format!("input `{name}`: `{path}` may set the poll interval to zero"),
        least => format!(
            "input `{name}`: `min {}` limits nothing: `{path}` may request polls without a pause",
            format_duration(least)
        ),
    };
    let help = format!(
        "write `every {path} else {otherwise} min 5s`, with the least that its provider can bear"
    );
    Some(RULE.finding(span, name.to_string(), message).help(help))
}

/// Reports a default length, for an object that gives none, that is itself below the minimum.
fn contrary(length: &Length, (noun, name): (&str, &Ident)) -> Option<Diagnostic> {
    let path = length.path.as_ref()?;
    if length.least <= length.otherwise {
        return None;
    }
    let (otherwise, least) = (
        format_duration(length.otherwise),
        format_duration(length.least),
    );
    let message = format!("{noun} `{name}`: `else {otherwise}` is below its own `min {least}`");
    let help = format!("write `{path} else {least} min {least}`, or a smaller `min`");
    let span = length.span.unwrap_or_else(|| name.span());
    Some(RULE.finding(span, name.to_string(), message).help(help))
}

/// Milliseconds as they are declared.
pub(super) fn format_duration(time: u64) -> String {
    match time {
        time if time % 3_600_000 == 0 => format!("{}h", time / 3_600_000),
        time if time % 60_000 == 0 => format!("{}min", time / 60_000),
        time if time % 1_000 == 0 => format!("{}s", time / 1_000),
        time => format!("{time}ms"),
    }
}
