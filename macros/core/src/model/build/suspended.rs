//! Effects of a `Suspended` state on the rest of a model: the polls that are not queried, and the
//! conditions that are still written.

use std::collections::BTreeSet;

use super::order::polls_behind;
use crate::model::{
    ConditionId, Guard, Lifecycle, Mode, Origin, Pred, PredKind, State, ValueSet, VarId,
};

impl Lifecycle {
    /// Returns the facts that decide if an object is left alone. They are evaluated before
    /// everything else.
    fn decides_set_aside(&self) -> BTreeSet<VarId> {
        let states = self.all_states().filter(|state| state.is_set_aside());
        states.flat_map(|state| state.when.vars()).collect()
    }

    /// Returns true if a condition is written anew while the object is suspended, because every
    /// fact that it reads is known then.
    pub fn is_said_while_suspended(&self, condition: ConditionId) -> bool {
        let known = self.decides_set_aside();
        let clauses = self.conditions[condition.0].clauses.iter();
        let mut asked = clauses.filter_map(|clause| clause.when.as_ref());
        asked.all(|when| when.vars().is_subset(&known))
    }
}

/// Silences polls while the object is suspended, as if each had this condition in its `given`. A
/// deletion queries them again, because their answers release held objects, unless the deletion
/// waits as well.
pub(super) fn silence_polls(lifecycle: &mut Lifecycle) {
    let states = lifecycle.all_states();
    let suspended: Vec<State> = states
        .filter(|state| state.is_suspended())
        .cloned()
        .collect();
    let deciding = suspended.iter().flat_map(|state| state.when.vars());
    // A poll that decides is refused by a rule of its own, and could not wait for its own answer.
    if suspended.is_empty() || !polls_behind(lifecycle, deciding).is_empty() {
        return;
    }
    let vars = lifecycle.vars.iter();
    let deleting = vars
        .clone()
        .position(|var| matches!(var.origin, Origin::Deleting));
    let awake = awake(&suspended, deleting.map(VarId));
    for input in &mut lifecycle.inputs {
        if input.mode != Mode::Poll {
            continue;
        }
        let asked = input.given.take().into_iter().chain([awake.clone()]);
        input.given = Some(all(asked.collect()));
        if let Some(var) = input.var {
            lifecycle.vars[var.0].given.push(Guard {
                pred: awake.clone(),
                otherwise: 0,
                otherwise_span: None,
            });
        }
    }
}

/// Returns a predicate that holds if the object is not suspended, or if a deletion cleans up
/// anyway.
fn awake(suspended: &[State], deleting: Option<VarId>) -> Pred {
    let each = suspended.iter().map(|state| {
        let span = state.name.span();
        let out = Pred {
            kind: PredKind::Not(Box::new(state.when.clone())),
            span,
        };
        match deleting {
            Some(var) if !state.even_deleting => Pred {
                kind: PredKind::Any(vec![
                    out,
                    Pred {
                        kind: PredKind::Is {
                            var,
                            values: ValueSet::from_value(1),
                        },
                        span,
                    },
                ]),
                span,
            },
            Some(_) | None => out,
        }
    });
    all(each.collect())
}

fn all(mut preds: Vec<Pred>) -> Pred {
    match preds.len() {
        1 => preds.remove(0),
        _ => Pred {
            span: preds[0].span,
            kind: PredKind::All(preds),
        },
    }
}
