//! Objects and writes, as a person reads them.

use lifecycle_runtime::cluster::observe::Job;
use lifecycle_runtime::machine::ir::{Mode, Verb};

use crate::explain::look::Inspection;
use crate::explain::why::{by, looked_at};

/// Returns a description of the objects that an input finds, or looks for.
pub(crate) fn named(look: &Inspection<'_>, input: usize) -> String {
    if look.ir.inputs[input].mode == Mode::Group {
        return format!("the members of `{}`", look.ir.inputs[input].name);
    }
    let found = looked_at(look, input);
    let kind = look.kind_of(input);
    let Some(found) = found else {
        return format!("a {kind} (`{}`)", look.ir.inputs[input].name);
    };
    match (found.found.as_slice(), found.missing.as_slice()) {
        ([one], _) if found.more == 0 => one.clone(),
        ([], [one]) => one.clone(),
        (_, _) => found.by,
    }
}

/// Any of those that an input finds.
pub(crate) fn one_of(look: &Inspection<'_>, input: usize) -> String {
    let (by, kind) = (by(look, input), look.kind_of(input));
    let of = by.strip_prefix("every ").unwrap_or(&by);
    match of.starts_with(&*kind) {
        true => format!("a {of}"),
        false => format!("a {kind} (`{}`)", look.ir.inputs[input].name),
    }
}

/// `apply Service `default/web``.
pub(crate) fn describe_effect(look: &Inspection<'_>, effect: usize) -> String {
    let declared = &look.ir.effects[effect];
    let plan = look.observed.plans[effect].first();
    let what = match plan {
        Some(plan) => {
            let kind = look.kind_of(plan.input.unwrap_or(declared.target));
            format!("{kind} `{}`", plan.name)
        }
        None => named(look, declared.target),
    };
    let deletes = plan.is_some_and(|plan| plan.job == Job::Delete);
    match declared.verb {
        // It is not wanted.
        Verb::Apply if deletes => format!("delete {what} (`{}`)", declared.name),
        Verb::Apply => format!("apply {what} (`{}`)", declared.name),
        Verb::Delete => format!("delete {what} (`{}`)", declared.name),
        Verb::Adopt => format!("take over {what} (`{}`)", declared.name),
        Verb::Create => format!("create {what}, once (`{}`)", declared.name),
        Verb::Note => format!("note what was made (`{}`)", declared.name),
        Verb::Call => format!("call `{}`", declared.name),
    }
}
