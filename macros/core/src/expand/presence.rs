//! Guarantees of a `given`: they decide if a method that is called only while it holds may take an
//! input as a plain reference. The analysis is sound and syntactic. It follows the text of the
//! author, so a signature changes only if the declaration does.

use crate::model::{Input, Lifecycle, Mode, Pred, PredKind, Source, ValueSet, VarId, Verdict};

/// Returns true if a source is certainly present wherever all of `given` hold.
pub(crate) fn is_guaranteed(model: &Lifecycle, given: &[&Pred], source: Source) -> bool {
    match source {
        Source::This | Source::Request | Source::Field(_) | Source::Fact(_) => true,
        Source::Input(input) => {
            let input = &model.inputs[input.0];
            let there = input
                .var
                .is_none_or(|var| implies_is(model, given, var, existing(model, input, var)));
            // A member of a group has no verdict of its own that could state its presence.
            let plain = input.var.is_some() || input.mode != Mode::Probe && input.group.is_none();
            input.many || there && plain
        }
        Source::Value(value) => model.values[value.0]
            .given
            .as_ref()
            .is_none_or(|g| implies(model, given, g)),
    }
}

/// Returns the values of a built-in fact with which its input may be read.
pub(crate) fn usable(model: &Lifecycle, var: VarId) -> ValueSet {
    model.vars[var.0].value_set(Verdict::is_usable)
}

/// Returns the values with which the input exists and may be read. An optional object may be
/// current because it does not exist.
fn existing(model: &Lifecycle, input: &Input, var: VarId) -> ValueSet {
    let may_lack = |verdict| input.only_if.is_some() && verdict == Verdict::Current;
    model.vars[var.0].value_set(|verdict| verdict.is_usable() && !may_lack(verdict))
}

fn implies(model: &Lifecycle, given: &[&Pred], wanted: &Pred) -> bool {
    match &wanted.kind {
        PredKind::Is { var, values } => implies_is(model, given, *var, *values),
        PredKind::All(all) => all.iter().all(|p| implies(model, given, p)),
        PredKind::Any(any) => any.iter().any(|p| implies(model, given, p)),
        PredKind::Not(p) => match &p.kind {
            PredKind::Is { var, values } => {
                implies_is(model, given, *var, complement(model, *var, *values))
            }
            PredKind::All(_) | PredKind::Any(_) | PredKind::Not(_) => false,
        },
    }
}

fn implies_is(model: &Lifecycle, given: &[&Pred], var: VarId, wanted: ValueSet) -> bool {
    let possible = given.iter().fold(all_of(model, var).0, |set, p| {
        set & allowed(model, p, var, true).0
    });
    possible & !wanted.0 == 0
}

/// The values that a variable may have where a predicate holds (or fails), never too few.
fn allowed(model: &Lifecycle, pred: &Pred, var: VarId, holds: bool) -> ValueSet {
    let of = |all: &[Pred], each: bool, meet: bool| {
        let sets = all.iter().map(|p| allowed(model, p, var, each).0);
        ValueSet(if meet {
            sets.fold(all_of(model, var).0, |a, b| a & b)
        } else {
            sets.fold(0, |a, b| a | b)
        })
    };
    match &pred.kind {
        PredKind::Is { var: v, values } => {
            let values = if holds {
                *values
            } else {
                complement(model, *v, *values)
            };
            if *v == var {
                values
            } else {
                allowed_by_answer(model, *v, values, var)
            }
        }
        PredKind::All(all) => of(all, holds, holds),
        PredKind::Any(any) => of(any, holds, !holds),
        PredKind::Not(p) => allowed(model, p, var, !holds),
    }
}

/// A variable with a value that is not an `else` value was evaluated, so its `given` holds.
fn allowed_by_answer(model: &Lifecycle, asked: VarId, values: ValueSet, var: VarId) -> ValueSet {
    let guards = model.vars[asked.0]
        .given
        .iter()
        .take_while(|g| !values.contains(g.otherwise));
    guards.fold(all_of(model, var), |set, g| {
        ValueSet(set.0 & allowed(model, &g.pred, var, true).0)
    })
}

fn all_of(model: &Lifecycle, var: VarId) -> ValueSet {
    ValueSet(u64::MAX >> (64 - model.vars[var.0].values.len()))
}

fn complement(model: &Lifecycle, var: VarId, values: ValueSet) -> ValueSet {
    ValueSet(all_of(model, var).0 & !values.0)
}
