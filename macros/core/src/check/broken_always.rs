//! A property `always ..` does not hold in every world that it covers. Without `in` it covers every
//! world, and with `in` the worlds of the named states. With `at rest` it covers only the worlds in
//! which a quiet run may end.
//!
//! ```text
//! properties { always address == Full in Ready; }          // refused: `goal Ready when address in { Part, Full }`
//! goal Ready when address == Full => Ready;
//! ```

use proc_macro2::Ident;

use crate::errors::Sink;
use crate::model::{Pred, Property, PropertyOf, Scope};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::policy::Choice;
use crate::space::witness::{Claim, minimal};
use crate::space::{Class, Space};

pub(super) const RULE: Rule = Rule {
    code: "LC092",
    name: "broken_always",
    group: Group::Properties,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Worlds(check),
};

fn check(space: &Space<'_>, sink: &mut Sink) {
    for property in &space.lifecycle.properties {
        if let PropertyOf::Always {
            pred,
            scope,
            at_rest,
        } = &property.what
        {
            check_property(
                space,
                property,
                pred,
                &worlds_in_scope(space, scope, *at_rest),
                sink,
            );
        }
    }
}

fn check_property(
    space: &Space<'_>,
    property: &Property,
    pred: &Pred,
    about: &[usize],
    sink: &mut Sink,
) {
    let breaks = |world: usize| !space.worlds.get(world).holds(pred);
    let mut breaking = about.iter().copied().filter(|world| breaks(*world));
    let Some(example) = breaking.next() else {
        return;
    };
    let count = 1 + breaking.count();
    let class = space.classes[example];
    let of_class = about.iter().copied();
    let claim = Claim {
        about: of_class
            .filter(|world| space.classes[*world] == class)
            .collect(),
        bad: &breaks,
        expected: pred.vars(),
    };
    let at_rest = matches!(property.what, PropertyOf::Always { at_rest: true, .. });
    let rest = if at_rest { "at rest " } else { "" };
    let help = match refused_undo(space, example).filter(|_| at_rest) {
        Some(undo) => format!(
            "a deletion also settles where its undo is refused, because a user must act then: exclude that case, `always refused({undo}) || ..`"
        ),
        None if at_rest => "let an effect or a promise lead on from there, or narrow the claim: `.. in State at rest`".to_owned(),
        None => "narrow the states or what is claimed, or rule these worlds out with `never` if they cannot be".to_owned(),
    };
    let message = format!(
        "this does not hold {rest}in state `{}` with `{}`: {count} of {} worlds",
        space.class_name(class),
        minimal(space, &claim, example),
        about.len()
    );
    sink.push(
        RULE.finding(property.span, property.name.as_str(), message)
            .help(help),
    );
}

/// Returns the undo if its refusal is the only reason why a deletion settles in a world.
fn refused_undo<'a>(space: &Space<'a>, world: usize) -> Option<&'a Ident> {
    if space.classes[world] != Class::Deleting || space.choices[world] == Choice::Release {
        return None;
    }
    let at = space.worlds.get(world);
    let effects = &space.lifecycle.effects;
    let mut undos = space.policy.undos().iter().map(|undo| &effects[undo.0]);
    undos
        .find(|undo| at.value(undo.refused) == 1)
        .map(|undo| &undo.name)
}

/// The worlds that it is about, ascending.
pub(super) fn worlds_in_scope(space: &Space<'_>, scope: &[Scope], at_rest: bool) -> Vec<usize> {
    let in_scope = |world: &usize| {
        let class = space.classes[*world];
        scope.is_empty() || scope.iter().any(|scope| class_of(*scope) == class)
    };
    let worlds = space.worlds.indexes().filter(in_scope);
    worlds
        .filter(|world| !at_rest || space.is_at_rest(*world))
        .collect()
}

pub(super) fn class_of(scope: Scope) -> Class {
    match scope {
        Scope::State(state) => Class::State(state),
        Scope::Deleting => Class::Deleting,
        Scope::Refused => Class::Refused,
    }
}
