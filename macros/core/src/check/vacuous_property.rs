//! A property cannot fail, so it proves nothing. It holds regardless of the facts, or it covers no
//! world, or only worlds in which the effect was refused anyway. Alternatively, no quiet run has
//! both effects, or the property begins at its own goal.
//!
//! ```text
//! properties { never put while frozen == Yes && frozen == No; }    // refused: no world has both
//! properties { put before drop; }                                  // refused if one runs in the life of the object alone and one on its deletion
//! properties { reaches Ready | Failed from Failed; }               // refused: it is there already
//! ```

use crate::errors::Sink;
use crate::model::{EffectId, Lifecycle, Pred, Property, PropertyOf, Scope};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::calls::Called;
use crate::space::explored::Explored;
use crate::space::runs::{Backwards, Runs};
use crate::space::{Class, Space, witness};

use super::broken_always::{class_of, worlds_in_scope};
use super::broken_order::claims;

pub(super) const RULE: Rule = Rule {
    code: "LC096",
    name: "vacuous_property",
    group: Group::Properties,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Both(check, in_calls),
};

/// Bound on the combinations of values that are tried to find out if a predicate can fail.
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

/// Reports the properties that are vacuous by the worlds alone.
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
                        format!("a run that begins in `{name}` is there already"),
                        "take the state from one of the two sides",
                    )
                })
            }
        };
        if let Some((why, help)) = why {
            report_vacuous(property, &why, help, sink);
        }
    }
}

/// Reports a property `never effect` that cannot fail. A refused effect is not enabled, so a
/// predicate that holds only after its refusal claims nothing.
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
            "it holds with any facts".to_owned(),
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
    if scope.is_empty() && worlds_in_scope(space, scope, at_rest).is_empty() {
        return Some((what.to_owned(), help));
    }
    let mut scopes = scope.iter();
    let empty = scopes.find(|one| worlds_in_scope(space, &[**one], at_rest).is_empty())?;
    let name = space.class_name(class_of(*empty));
    Some((format!("{what} in `{name}`"), help))
}

/// Reports effects that share no run. If one of them never runs, the finding is about that effect.
fn never_both(space: &Space<'_>, drives: &[Runs<'_>], sink: &mut Sink) {
    let claims: Vec<_> = claims(space)
        .filter(|(_, first, then)| first != then)
        .collect();
    if claims.is_empty() {
        return;
    }
    let backs: Vec<Backwards> = drives
        .iter()
        .map(|runs| Backwards::from_graph(runs.graph, space.worlds.len()))
        .collect();
    for (property, first, then) in claims {
        let runs = |effect| {
            let mut worlds = space.worlds.indexes();
            worlds.any(|world| drives.iter().any(|runs| runs.runs_effect(effect, world)))
        };
        let mut all = drives.iter().zip(&backs);
        let both = all.any(|(runs, back)| {
            let order = runs.order(back, first, then);
            order.kept || !order.broken.is_empty()
        });
        if runs(first) && runs(then) && !both {
            let name = |effect: EffectId| &space.lifecycle.effects[effect.0].name;
            let why = format!(
                "no quiet run has both: after `{}` only the environment leads to `{}`",
                name(first),
                name(then)
            );
            let help = "an order is about one quiet run; for what the environment may do between two, write `never effect while ..`";
            report_vacuous(property, &why, help, sink);
        }
    }
}

/// Returns true if a predicate holds with every combination of values. Returns `false` if there are
/// too many combinations to try.
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

fn report_vacuous(property: &Property, why: &str, help: &str, sink: &mut Sink) {
    let message = format!("this cannot fail: {why}");
    sink.push(
        RULE.finding(property.span, property.name.as_str(), message)
            .help(help),
    );
}
