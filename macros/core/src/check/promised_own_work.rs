//! A warning: a promise covers a change that only this operator brings about. The value `Current`
//! of an object of ours follows from our own write, and without one from nothing. If an effect that
//! sets the same values is permitted wherever a promise is due, the promise only hides that the
//! effect may fail. Leave the promise out. The work of the environment after our write has a value
//! of its own. A promise that is also due during a deletion, when only stages of the teardown run,
//! is judged by the worlds before the deletion.
//!
//! ```text
//! made: service == Stale sets { service = Current };                     // warned: `apply service` makes it so
//! starts: service == Current && !up sets { up = true };
//! ```

use std::collections::BTreeSet;

use crate::errors::{Diagnostic, Sink};
use crate::model::{Assign, Effect, EffectId, Lifecycle, Mode, Origin, Promise, Verb, Verdict};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::Explored;
use crate::space::promised::Mover;

pub(super) const RULE: Rule = Rule {
    code: "LC166",
    name: "promised_own_work",
    group: Group::Liveness,
    severity: Severity::Warning,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let lifecycle = explored.space.lifecycle;
    for (at, promise) in lifecycle.promises.iter().enumerate() {
        if let Some(found) =
            of_verdict(lifecycle, promise).or_else(|| of_effect(explored, at, promise))
        {
            sink.push(found);
        }
    }
}

/// Reports a promise that our written object becomes current.
fn of_verdict(lifecycle: &Lifecycle, promise: &Promise) -> Option<Diagnostic> {
    let mut sets = promise.sets.iter().flatten();
    let (writer, target) = sets.find_map(|one| verdict(lifecycle, one))?;
    let name = &promise.name;
    let Some(writer) = writer.map(|effect| &effect.name) else {
        let message = format!(
            "promise `{name}` declares that `{target}` becomes Current, and no effect writes it"
        );
        let help = format!(
            "declare `apply {target};` instead of the promise; or, if another writes it, observe it without `owned`"
        );
        return Some(
            RULE.finding(name.span(), name.to_string(), message)
                .help(help),
        );
    };
    let message = format!(
        "promise `{name}` declares that `{target}` becomes Current, which only effect `{writer}` does"
    );
    Some(
        RULE.finding(name.span(), name.to_string(), message)
            .note(writer.span(), format!("`{writer}` is declared here"))
            .help("leave it out; what the environment does after our write needs a fact and values of its own"),
    )
}

/// The effect that makes an object Current, if any effect writes the object, and the object.
fn verdict<'a>(
    lifecycle: &'a Lifecycle,
    one: &Assign,
) -> Option<(Option<&'a Effect>, &'a proc_macro2::Ident)> {
    let var = &lifecycle.vars[one.var.0];
    let Origin::Input(input) = var.origin else {
        return None;
    };
    let is_ours = match lifecycle.inputs[input.0].mode {
        Mode::Owned | Mode::Shared | Mode::Part | Mode::Record | Mode::Group => true,
        Mode::Watched | Mode::Noted | Mode::Poll | Mode::Probe | Mode::Clock => false,
    };
    let is_current = var.verdict(one.value) == Some(Verdict::Current);
    if !is_ours || lifecycle.inputs[input.0].many || !is_current {
        return None;
    }
    let effects = lifecycle.effects.iter();
    let writes = |effect: &&Effect| effect.target == input && effect.verb != Verb::Delete;
    let mut effects = effects.filter(writes).peekable();
    let is_written = effects.peek().is_some();
    let writer = effects.find(|effect| effect.verb == Verb::Apply);
    let is_promised = writer.is_some() || !is_written;
    is_promised.then_some((writer, &lifecycle.inputs[input.0].name))
}

/// Reports a promise if, wherever it counts in life, an effect that sets these values runs, waits
/// for its turn, or was refused.
fn of_effect(explored: &Explored<'_>, at: usize, promise: &Promise) -> Option<Diagnostic> {
    let space = explored.space;
    let graph = &explored.drives.graph;
    let due = |world: &usize| {
        let mut moves = graph.moves(*world).iter();
        moves.any(|one| one.mover == Mover::Promise(at))
    };
    let mut runs = BTreeSet::new();
    for world in space.live().filter(due) {
        let does = |effect: &EffectId| {
            let declared = &space.lifecycle.effects[effect.0];
            let mut sets = promise.sets.iter();
            sets.all(|set| brings_about(declared, set))
                && space
                    .permissions
                    .would_run(*effect, space.worlds.get(world))
        };
        let mut effects = (0..space.lifecycle.effects.len()).map(EffectId);
        runs.insert(effects.find(does)?);
    }
    let effect = &space.lifecycle.effects[runs.first()?.0];
    let (name, effect) = (&promise.name, &effect.name);
    let message = format!(
        "promise `{name}` declares the operator's own work: wherever it is due, effect `{effect}` is permitted and sets the same"
    );
    Some(
        RULE.finding(name.span(), name.to_string(), message)
            .note(effect.span(), format!("`{effect}` is declared here"))
            .help("leave it out: it would hide that the effect may not bring it about"),
    )
}

/// Returns true if one of the alternatives of an effect sets all of these values.
fn brings_about(effect: &Effect, set: &[Assign]) -> bool {
    let mut alternatives = effect.sets.iter();
    alternatives.any(|own| {
        let is_set = |one: &Assign| {
            own.iter()
                .any(|ours| (ours.var, ours.value) == (one.var, one.value))
        };
        set.iter().all(is_set)
    })
}
