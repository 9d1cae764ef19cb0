//! A call acquires something `held`, and the call that should undo it has no effect that releases
//! it. It would be left over for ever.
//!
//! ```text
//! NodePublishVolume -> Published by write_tree { .. } NodeUnpublishVolume;   // refused: the files stay
//! NodeUnpublishVolume -> Free by remove_tree { .. }
//! ```

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::model::{Call, Effect, Lifecycle, VarId};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::calls::Called;

pub(super) const RULE: Rule = Rule {
    code: "LC084",
    name: "setup_without_teardown",
    group: Group::Calls,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Calls(check),
};

fn check(called: &Called<'_>, sink: &mut Sink) {
    let lifecycle = called.space.lifecycle;
    for (call, undo, var) in left_over(lifecycle) {
        let fact = &lifecycle.vars[var.0].name;
        let (call, undo) = (&call.name, &undo.name);
        let message = format!("`{call}` acquires `{fact}` and `{undo}` does not give it back");
        sink.push(
            RULE.finding(undo.span(), fact.to_string(), message)
                .note(call.span(), format!("`{call}` is declared here"))
                .help(match frees(lifecycle, var) {
                    Some(effect) => format!("write `{undo} -> .. by {}`", effect.name),
                    None => format!("declare an effect that sets `{fact}` free, and name it: `{undo} -> .. by ..`"),
                }),
        );
    }
}

/// Returns the facts that a call acquires and that its counterpart, the undoing call, does not
/// release.
fn left_over(lifecycle: &Lifecycle) -> Vec<(&Call, &Call, VarId)> {
    let mut all = Vec::new();
    for call in &lifecycle.calls {
        let undone = call.rpc.demands().undone_by;
        let mut calls = lifecycle.calls.iter();
        let Some(undo) = calls.find(|other| Some(other.rpc) == undone) else {
            continue;
        };
        let acquired = collect_vars(lifecycle, call, |effect| effect.acquires(lifecycle));
        let freed = collect_vars(lifecycle, undo, |effect| effect.frees(lifecycle));
        all.extend(acquired.difference(&freed).map(|var| (call, undo, *var)));
    }
    all
}

/// Returns true if an effect is one that such a call should name.
pub(super) fn is_missed(lifecycle: &Lifecycle, effect: &Effect) -> bool {
    let mut missed = left_over(lifecycle)
        .into_iter()
        .filter_map(|(_, _, var)| frees(lifecycle, var));
    missed.any(|one| one.name == effect.name)
}

fn collect_vars(
    lifecycle: &Lifecycle,
    call: &Call,
    of: impl Fn(&Effect) -> Vec<VarId>,
) -> BTreeSet<VarId> {
    let effects = call
        .by
        .iter()
        .map(|(effect, _)| &lifecycle.effects[effect.0]);
    effects.flat_map(of).collect()
}

/// An effect that gives it back and acquires nothing.
fn frees(lifecycle: &Lifecycle, var: VarId) -> Option<&Effect> {
    lifecycle.effects.iter().find(|effect| {
        effect.acquires(lifecycle).is_empty() && effect.frees(lifecycle).contains(&var)
    })
}
