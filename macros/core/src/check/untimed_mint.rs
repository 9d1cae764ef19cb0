//! A warning: a minted value receives the clock, so it knows its age, but no fact in its `until`
//! reads the clock; or the other way round. Either is easily forgotten, and nothing else shows it.
//! A fact without the clock triggers no reconcile at the due time. A value without its creation
//! time is never due, or always.
//!
//! ```text
//! due: { No, Yes } from secret;  ..  mint password: Password in secret from now until due == Yes;        // warned: no tick asks `due`
//! due: { No, Yes } from secret, now;  ..  mint password: Password in secret until due == Yes;            // warned: made without `now`
//! due: { No, Yes } from secret, now;  ..  mint password: Password in secret from now until due == Yes;
//! ```
//!
//! Several values of one keeper are made in one write: it is enough that one of them knows when.

use crate::errors::{Diagnostic, Sink};
use crate::model::frames::Dependency;
use crate::model::{Lifecycle, Mint, Mode, Pred, Source, Use, Value, VarId};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC147",
    name: "untimed_mint",
    group: Group::Ownership,
    severity: Severity::Warning,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for value in &lifecycle.values {
        let mint = value.mint.as_ref();
        let Some((mint, until)) = mint.and_then(|mint| Some((mint, mint.until.as_ref()?))) else {
            continue;
        };
        let mut timed: Vec<VarId> = until.vars().into_iter().collect();
        timed.retain(|var| is_timed(context, *var));
        let found = match clock_of(lifecycle, value) {
            Some(clock) if timed.is_empty() => Some(untold(lifecycle, value, until, clock)),
            Some(_) => None,
            None => ageless(context, value, mint, &timed),
        };
        found.into_iter().for_each(|found| sink.push(found));
    }
}

/// Returns true if time may change an answer, by the fact itself or by the predicate of its
/// `given`.
fn is_timed(context: &Context<'_>, var: VarId) -> bool {
    let mut reads = context.frames.reads(var).iter();
    reads.any(|one| match one {
        Dependency::Input(input) => context.lifecycle.is_clock(Source::Input(*input)),
        Dependency::This | Dependency::Request | Dependency::Field(_) => false,
        Dependency::Value(_) | Dependency::Path(_) => false,
    })
}

/// The clock that a value is made from.
fn clock_of<'a>(lifecycle: &Lifecycle, value: &'a Value) -> Option<&'a Use> {
    let mut from = value.made_from().iter();
    from.find(|one| lifecycle.is_clock(one.source))
}

/// Reports a value that knows its creation time, while no fact in its `until` knows the current
/// time.
fn untold(lifecycle: &Lifecycle, value: &Value, until: &Pred, clock: &Use) -> Diagnostic {
    let asked = until.vars();
    let asked = asked.iter().map(|var| &lifecycle.vars[var.0].name);
    let asked: Vec<String> = asked.map(|name| format!("`{name}`")).collect();
    let (name, clock) = (value.name.to_string(), &clock.name);
    let message = format!(
        "`{name}` knows when it was made, but {}, which ends it, does not read the time: time alone never renews it",
        asked.join(" or ")
    );
    let keeper = &value.from[0].name;
    let help = format!(
        "write `from {keeper}, {clock}` in the fact that decides when it is due; or leave `{clock}` out here, if it never is"
    );
    RULE.finding(until.span, name, message).help(help)
}

/// It is over some time after it was made, and does not know when that was.
fn ageless(
    context: &Context<'_>,
    value: &Value,
    mint: &Mint,
    timed: &[VarId],
) -> Option<Diagnostic> {
    let lifecycle = context.lifecycle;
    let keeper = Dependency::Input(mint.keeper);
    let mut timed = timed.iter();
    let due = timed.find(|var| context.frames.reads(**var).contains(&keeper))?;
    let mut beside = lifecycle.minted_in(mint.keeper);
    if beside.any(|(other, _)| clock_of(lifecycle, &lifecycle.values[other.0]).is_some()) {
        return None;
    }
    let (name, due) = (value.name.to_string(), &lifecycle.vars[due.0].name);
    let clocks = lifecycle.inputs.iter();
    let mut clocks = clocks.filter(|input| input.mode == Mode::Clock);
    let clock = &clocks.next()?.name;
    let message = format!(
        "`{due}` decides by the time whether `{name}` is over, but `{name}` is made without reading the time"
    );
    let keeper = &value.from[0].name;
    let help = format!(
        "write `mint {name}: .. in {keeper} from {clock}`, and let its builder write down when it was made"
    );
    Some(RULE.finding(value.name.span(), name, message).help(help))
}
