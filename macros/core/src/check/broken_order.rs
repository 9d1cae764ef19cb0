//! A property `first before then` has a quiet run in which `then` runs and `first` runs after it. A
//! run may begin in any world, including one in which a user did a part by hand. A refused write
//! has no effect, so `then` counts from the world in which it is accepted. Interference from the
//! environment starts another run. In a volume a run covers a single call.
//!
//! ```text
//! properties { drain before unmake; }                      // refused: `unmake` runs while `served == Yes` too, and `drain` after it
//! unmake: call infra when served == No ..
//! ```

use std::fmt::Display;

use crate::errors::Sink;
use crate::model::{EffectId, Property, PropertyOf};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::calls::Called;
use crate::space::explored::Explored;
use crate::space::promised::Mover;
use crate::space::runs::{Backwards, Runs, Walk};
use crate::space::witness::{Claim, minimal};
use crate::space::{Class, Space};

pub(super) const RULE: Rule = Rule {
    code: "LC094",
    name: "broken_order",
    group: Group::Properties,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Both(check, in_calls),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    all(explored.space, explored.runs(), "", sink);
}

/// The same in the calls of a volume.
fn in_calls(called: &Called<'_>, sink: &mut Sink) {
    let space = called.space;
    for drive in &called.drives {
        let place = format!("in `{}` ", drive.call.name);
        all(space, drive.runs(space), &place, sink);
    }
}

fn all(space: &Space<'_>, runs: Runs<'_>, place: &str, sink: &mut Sink) {
    let claims: Vec<_> = claims(space).collect();
    if claims.is_empty() {
        return;
    }
    let back = Backwards::from_graph(runs.graph, space.worlds.len());
    for (property, first, then) in claims {
        if first != then {
            check_property(runs, &back, property, (first, then), place, sink);
        }
    }
}

/// The properties of this form.
pub(super) fn claims<'a>(
    space: &Space<'a>,
) -> impl Iterator<Item = (&'a Property, EffectId, EffectId)> + use<'a> {
    let properties = space.lifecycle.properties.iter();
    properties.filter_map(|property| match &property.what {
        PropertyOf::Before { first, then } => Some((property, *first, *then)),
        PropertyOf::Always { .. } | PropertyOf::Never { .. } | PropertyOf::Reaches { .. } => None,
    })
}

fn check_property(
    runs: Runs<'_>,
    back: &Backwards,
    property: &Property,
    (first, then): (EffectId, EffectId),
    place: &str,
    sink: &mut Sink,
) {
    let space = runs.space;
    let broken = runs.order(back, first, then).broken;
    let Some(&example) = broken.first() else {
        return;
    };
    let name = |effect: EffectId| &space.lifecycle.effects[effect.0].name;
    let breaks = |world: usize| broken.binary_search(&world).is_ok();
    let does = |world: &usize| runs.runs_effect(then, *world);
    let when = space.lifecycle.effects[then.0].when.as_ref();
    let claim = Claim {
        about: space.worlds.indexes().filter(does).collect(),
        bad: &breaks,
        expected: when.map(crate::model::Pred::vars).unwrap_or_default(),
    };
    let walk = runs
        .walk(
            runs.accepted(then, example),
            &|world| runs.runs_effect(first, world),
            &|_| false,
        )
        .expect("it was found to lead there");
    let mut moves = vec![(
        u32::try_from(example).expect("bounded by the limit of worlds"),
        Mover::Effect,
    )];
    moves.extend(walk.moves);
    let end = walk.end;
    let way = runs.describe(&Walk { moves, end });
    let way = way.map(|way| format!(": {way} -> (effect `{}`)", name(first)));
    let message = format!(
        "{place}`{}` runs with `{}`, and `{}` after it{}",
        name(then),
        minimal(space, &claim, example),
        name(first),
        way.unwrap_or_default(),
    );
    let is_step = [first, then].map(|one| space.lifecycle.effects[one.0].is_step);
    let help = match is_step {
        [false, false] => help(space, example, name(first), name(then)),
        _ => format!(
            "steps run in the order in which they are written, each until its `until` holds by the facts evaluated there: let that of `{}` still hold after `{}`",
            name(first),
            name(then)
        ),
    };
    sink.push(
        RULE.finding(property.span, property.name.as_str(), message)
            .help(help),
    );
}

/// Returns the help text. On deletion the order follows from the acquired facts, and a `when` would
/// change nothing.
fn help(space: &Space<'_>, example: usize, first: &dyn Display, then: &dyn Display) -> String {
    if space.classes.get(example) == Some(&Class::Deleting) {
        return format!(
            "on deletion undos run from the last acquired to the first, whatever their `when`: declare the effect with `undo {first}` below the one with `undo {then}`"
        );
    }
    format!(
        "let the `when` of `{then}` ask for what `{first}` establishes, or exclude `{first}` from there on"
    )
}
