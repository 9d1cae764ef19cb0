//! A property that cannot fail, so that nobody learns anything from it: it holds whatever the facts are, it is about no world or only about those in which the effect
//! was refused anyway, no quiet run has both effects, or it begins where it is to end.
//!
//! ```text
//! properties { never put while frozen == Yes && frozen == No; }    // refused: no world has both
//! properties { put before drop; }                                  // refused if one runs in the life of the object alone and one on its deletion
//! properties { reaches Ready | Failed from Failed; }               // refused: it is there already
//! ```

use crate::errors::Sink;
use crate::model::{EffectId, Lifecycle, Pred, Property, PropertyOf, Scope};
use crate::rule::{Rule, Run, Severity, Stage};
use crate::space::calls::Called;
use crate::space::explored::Explored;
use crate::space::runs::{Backwards, Runs};
use crate::space::{Class, Space, witness};

use super::broken_always::{about, class_of};
use super::broken_order::claims;

pub(super) const RULE: Rule = Rule {
    code: "LC096",
    name: "vacuous_property",
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Both(check, in_calls),
};

/// How many combinations of values are tried to see whether a predicate can fail.
const COMBINATIONS: usize = 4_096;

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    alone(explored.space, sink);
    never_both(explored.space, &[explored.runs()], sink);
}

/// The same for the calls of a volume.
fn in_calls(called: &Called<'_>, sink: &mut Sink) {
    let space = called.space;
    alone(space, sink);
    let runs = called.drives.iter().map(|drive| drive.runs(space));
    never_both(space, &runs.collect::<Vec<_>>(), sink);
}

/// What worlds show.
fn alone(space: &Space<'_>, sink: &mut Sink) {
    for property in &space.lifecycle.properties {
        let why = match &property.what {
            PropertyOf::Always {
                pred,
                scope,
                at_rest,
            } => always(space, pred, scope, *at_rest),
            PropertyOf::Never { effect, pred } => never(space, *effect, pred),
            PropertyOf::Before { first, then } => (first == then).then(|| {
                (
                    "both are the same effect".to_owned(),
                    "name the effect that must not come first behind `before`",
                )
            }),
            PropertyOf::Reaches { to, from } => {
                let mut both = from.iter().filter(|state| to.contains(state));
                both.next().map(|state| {
                    let name = space.class_name(Class::State(*state));
                    (
                        format!("what begins in `{name}` is there already"),
                        "take the state from one of the two sides",
                    )
                })
            }
        };
        if let Some((why, help)) = why {
            say(property, &why, help, sink);
        }
    }
}

/// A refused effect is not enabled, so of what holds only where it was refused nothing is claimed.
fn never(space: &Space<'_>, effect: EffectId, pred: &Pred) -> Option<(String, &'static str)> {
    let worlds = space.worlds.indexes().map(|index| space.worlds.get(index));
    let mut holding = worlds.filter(|world| world.holds(pred)).peekable();
    let help = "leave it out, or ask for something that may be while the effect is not refused";
    if holding.peek().is_none() {
        return Some(("no world is like that".to_owned(), help));
    }
    let declared = &space.lifecycle.effects[effect.0];
    let is_refused = holding.all(|world| world.value(declared.refused) == 1);
    is_refused.then(|| {
        let why = format!("`{}` was refused in every such world", declared.name);
        (why, help)
    })
}

fn always(
    space: &Space<'_>,
    pred: &Pred,
    scope: &[Scope],
    at_rest: bool,
) -> Option<(String, &'static str)> {
    if cannot_fail(space.lifecycle, pred) {
        return Some((
            "it holds whatever the facts are".to_owned(),
            "leave it out, or claim something that may fail",
        ));
    }
    let (what, help) = if at_rest {
        (
            "no quiet run ends",
            "leave the state out, or leave out `at rest`",
        )
    } else {
        ("no world is", "leave the state out")
    };
    if scope.is_empty() && about(space, scope, at_rest).is_empty() {
        return Some((what.to_owned(), help));
    }
    let mut scopes = scope.iter();
    let empty = scopes.find(|one| about(space, &[**one], at_rest).is_empty())?;
    let name = space.class_name(class_of(*empty));
    Some((format!("{what} in `{name}`"), help))
}

/// Effects that run in no common run; where one of them never runs that is told of the effect.
fn never_both(space: &Space<'_>, drives: &[Runs<'_>], sink: &mut Sink) {
    let claims: Vec<_> = claims(space)
        .filter(|(_, first, then)| first != then)
        .collect();
    if claims.is_empty() {
        return;
    }
    let backs: Vec<Backwards> = drives
        .iter()
        .map(|runs| Backwards::of(runs.graph, space.worlds.len()))
        .collect();
    for (property, first, then) in claims {
        let runs = |effect| {
            let mut worlds = space.worlds.indexes();
            worlds.any(|world| drives.iter().any(|runs| runs.does(effect, world)))
        };
        let mut all = drives.iter().zip(&backs);
        let both = all.any(|(runs, back)| {
            let order = runs.order(back, first, then);
            order.kept || !order.broken.is_empty()
        });
        if runs(first) && runs(then) && !both {
            let name = |effect: EffectId| &space.lifecycle.effects[effect.0].name;
            let why = format!(
                "no quiet run has both: after `{}` only the outside leads to `{}`",
                name(first),
                name(then)
            );
            let help = "an order is that of one quiet run; of what the outside may do between two, ask by `never effect while ..`";
            say(property, &why, help, sink);
        }
    }
}

/// Whether a predicate holds with every combination of values; `false` where there are too many to try.
fn cannot_fail(lifecycle: &Lifecycle, pred: &Pred) -> bool {
    let vars: Vec<_> = pred.vars().into_iter().collect();
    let sizes = vars.iter().map(|var| lifecycle.vars[var.0].values.len());
    let count = sizes
        .clone()
        .try_fold(1_usize, |all, size| all.checked_mul(size));
    let Some(count) = count.filter(|count| *count <= COMBINATIONS) else {
        return false;
    };
    (0..count).all(|number| {
        let mut rest = number;
        let mut values = vec![0; lifecycle.vars.len()];
        for (var, size) in vars.iter().zip(sizes.clone()) {
            values[var.0] = rest % size;
            rest /= size;
        }
        witness::holds(pred, &values)
    })
}

fn say(property: &Property, why: &str, help: &str, sink: &mut Sink) {
    let message = format!("this cannot fail: {why}");
    sink.push(
        RULE.finding(property.span, property.name.as_str(), message)
            .help(help),
    );
}
