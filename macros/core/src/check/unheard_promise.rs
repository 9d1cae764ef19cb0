//! A warning: a promise is awaited although its object is gone. A Job that has cleaned itself up
//! reports nothing any more, so a fact that is only read from it never changes. Remember its result
//! while it exists, in a `record` that is written from it. Let the promise require that the object
//! exists.
//!
//! ```text
//! ends: ended == Running sets { ended = Good };                                  // warned: also with `job == Gone`
//! ends: ended == Running && job in { New, Made } sets { ended = Good };
//! ```

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::model::{InputId, Lifecycle, Origin, Promise, Source, VarId, Verdict};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::explored::Explored;
use crate::space::promised::Mover;
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC158",
    name: "unheard_promise",
    group: Group::Liveness,
    severity: Severity::Warning,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let lifecycle = explored.space.lifecycle;
    for (at, promise) in lifecycle.promises.iter().enumerate() {
        for input in (0..lifecycle.inputs.len()).map(InputId) {
            if is_only_of(lifecycle, promise, input) {
                of_gone(explored, (at, promise), input, sink);
            }
        }
    }
}

fn of_gone(
    explored: &Explored<'_>,
    (at, promise): (usize, &Promise),
    input: InputId,
    sink: &mut Sink,
) {
    let space = explored.space;
    let declared = &space.lifecycle.inputs[input.0];
    let (Some(var), Some(_), false) = (declared.var, declared.noted, declared.many) else {
        return;
    };
    let waits = |world: usize| {
        let mut moves = explored.drives.graph.moves(world).iter();
        moves.any(|one| one.mover == Mover::Promise(at))
    };
    let value = space.lifecycle.vars[var.0].position(Verdict::Gone);
    let gone = |world: usize| Some(space.worlds.get(world).value(var)) == value;
    let bad = |world: usize| waits(world) && gone(world);
    let Some(example) = space.live().find(|world| bad(*world)) else {
        return;
    };
    let expected: BTreeSet<VarId> = promise.when.vars().into_iter().chain([var]).collect();
    let claim = Claim {
        about: space.live().collect(),
        bad: &bad,
        expected,
    };
    let (name, of) = (&promise.name, &declared.name);
    let message = format!(
        "promise `{name}` is awaited with `{}`, but an object that is gone reports nothing",
        minimal(space, &claim, example)
    );
    let help = format!(
        "let it read `{of} in {{ New, Made }}`, and keep the data of `{of}` in a `record` that is written while it exists"
    );
    sink.push(
        RULE.finding(name.span(), name.to_string(), message)
            .help(help),
    );
}

/// Returns true if every fact that a promise sets is read from this input alone.
fn is_only_of(lifecycle: &Lifecycle, promise: &Promise, input: InputId) -> bool {
    let mut set = promise.sets.iter().flatten();
    set.all(|one| match &lifecycle.vars[one.var.0].origin {
        Origin::Fact { from, .. } => {
            let mut inputs = from.iter().filter(|one| one.source != Source::This);
            let reads = |one: &crate::model::Use| one.source == Source::Input(input);
            from.iter().any(reads) && inputs.all(reads)
        }
        Origin::Input(_) | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => false,
    })
}
