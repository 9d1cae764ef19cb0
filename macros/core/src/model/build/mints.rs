//! Effects of a minted value on the rest of a model. Its keeper is built only if everything that
//! the value is made from exists. If the value must be made anew, its keeper is not current.

use proc_macro2::Span;

use super::Builder;
use crate::ast;
use crate::check::misplaced_mint;
use crate::errors::Item;
use crate::model::{
    InputId, Lifecycle, Mint, Never, Pred, PredKind, Source, Use, ValueId, ValueSet, Verb, Verdict,
};

impl Builder<'_> {
    /// Returns the keeper as the first source of the value, and the rest of the mint.
    pub(super) fn mint(&mut self, value: &ast::Value, place: &Item) -> Option<(Use, Mint)> {
        let mint = value.mint.as_ref()?;
        let until = mint.until.as_ref().map(|u| self.pred_or_true(u, place));
        let name = mint.keeper.clone();
        let source = self.source(&name, place)?;
        let Source::Input(keeper) = source else {
            let found = misplaced_mint::no_input(&value.name, &name);
            self.sink.push(found);
            self.complete = false;
            return None;
        };
        let span = mint.span;
        Some((
            Use { source, name },
            Mint {
                keeper,
                until,
                span,
            },
        ))
    }
}

/// Fills in the consequences of minted values.
pub(super) fn imply(lifecycle: &mut Lifecycle) {
    for at in 0..lifecycle.effects.len() {
        let needs = needs(lifecycle, at);
        lifecycle.effects[at].from.extend(needs);
    }
    let kept = lifecycle.values.iter().filter_map(|v| v.mint.as_ref());
    let nevers: Vec<Never> = kept
        .filter_map(|mint| expired_and_current(lifecycle, mint))
        .collect();
    lifecycle.nevers.extend(nevers);
}

/// Returns the sources of a builder's minted values that the builder does not read anyway.
fn needs(lifecycle: &Lifecycle, effect: usize) -> Vec<Use> {
    let effect = &lifecycle.effects[effect];
    let mut known: Vec<Use> = effect.from.clone();
    let written = known.len();
    let mut next = 0;
    while let Some(one) = known.get(next) {
        next += 1;
        let Source::Value(value) = one.source else {
            continue;
        };
        let value = &lifecycle.values[value.0];
        let is_kept = value
            .mint
            .as_ref()
            .is_some_and(|m| m.keeper == effect.target);
        if effect.verb != Verb::Apply || !is_kept {
            continue;
        }
        for made_from in value.made_from() {
            let is_new = known.iter().all(|one| one.source != made_from.source);
            let is_clock = lifecycle.is_clock(made_from.source);
            if is_new && !is_clock && made_from.source != Source::This {
                known.push(made_from.clone());
            }
        }
    }
    known.split_off(written)
}

/// Returns the implied `never` of a minted value: a keeper whose value must be made anew is not
/// current.
fn expired_and_current(lifecycle: &Lifecycle, mint: &Mint) -> Option<Never> {
    let until = mint.until.clone()?;
    let (span, var) = (mint.span, lifecycle.inputs[mint.keeper.0].var?);
    let current = lifecycle.vars[var.0].position(Verdict::Current)?;
    let is = |values| Pred {
        kind: PredKind::Is { var, values },
        span,
    };
    Some(Never {
        pred: all(span, [until, is(ValueSet::from_value(current))]),
        span,
        is_implied: true,
    })
}

fn all(span: Span, parts: [Pred; 2]) -> Pred {
    Pred {
        kind: PredKind::All(parts.into()),
        span,
    }
}

impl Lifecycle {
    /// The minted values that an input keeps.
    pub fn minted_in(&self, keeper: InputId) -> impl Iterator<Item = (ValueId, &Mint)> {
        let values = self.values.iter().enumerate();
        values.filter_map(move |(at, value)| {
            let mint = value.mint.as_ref()?;
            (mint.keeper == keeper).then_some((ValueId(at), mint))
        })
    }
}
