//! Resolves predicates and `sets`: facts to variables, values to members of their domain.

use proc_macro2::Ident;

use super::Builder;
use super::scope::Noun;
use crate::ast;
use crate::check::{declared_twice, unknown_name};
use crate::errors::{Diagnostic, Item};
use crate::model::{Assign, Pred, PredKind, ValueSet, VarId, Verdict};

/// Returns true for a value that a bare name stands for.
fn is_presence(value: &str) -> bool {
    let verdict = Verdict::from_name(value);
    value == "true" || matches!(verdict, Some(Verdict::Present | Verdict::Known))
}

fn all_of(pred: Pred) -> Vec<Pred> {
    match pred.kind {
        PredKind::All(parts) => parts,
        PredKind::Is { .. } | PredKind::Any(_) | PredKind::Not(_) => vec![pred],
    }
}

fn any_of(pred: Pred) -> Vec<Pred> {
    match pred.kind {
        PredKind::Any(parts) => parts,
        PredKind::Is { .. } | PredKind::All(_) | PredKind::Not(_) => vec![pred],
    }
}

/// Returns true if the predicate is an `any(..)` or `all(..)`, because it begins before its first
/// part.
fn is_each(pred: &ast::Pred, parts: &[ast::Pred]) -> bool {
    let begins = |pred: &ast::Pred| (pred.span.start().line, pred.span.start().column);
    parts
        .first()
        .is_some_and(|first| begins(first) != begins(pred))
}

impl Builder<'_> {
    /// Resolves a predicate. Reports every name that does not resolve, and then returns `None` for
    /// the whole predicate.
    pub(super) fn pred(&mut self, pred: &ast::Pred, place: &Item) -> Option<Pred> {
        let was_each = std::mem::take(&mut self.is_each);
        let resolved = self.resolved(pred, place, was_each);
        self.is_each = was_each;
        resolved
    }

    fn resolved(&mut self, pred: &ast::Pred, place: &Item, was_each: bool) -> Option<Pred> {
        let kind = match &pred.kind {
            ast::PredKind::There(fact) => match self.stands_for(fact, pred.span) {
                Some(meant) => meant?.kind,
                None => self.resolve_presence(fact, place, was_each)?,
            },
            ast::PredKind::Is { fact, values } => match self.stands_for(fact, pred.span) {
                Some(meant) => self.stands_for_one_of((fact, values), meant?, place)?,
                None => self.is(fact, values, place)?,
            },
            ast::PredKind::Refused(effect) => self.refused(effect, place)?,
            ast::PredKind::Not(part) => PredKind::Not(Box::new(self.pred(part, place)?)),
            ast::PredKind::All(parts) => {
                self.is_each = is_each(pred, parts);
                PredKind::All(self.preds(parts, place, all_of)?)
            }
            ast::PredKind::Any(parts) => {
                self.is_each = is_each(pred, parts);
                PredKind::Any(self.preds(parts, place, any_of)?)
            }
        };
        Some(Pred {
            kind,
            span: pred.span,
        })
    }

    /// Resolves a predicate. Reports every name that does not resolve, and then returns a predicate
    /// that always holds.
    pub(super) fn pred_or_true(&mut self, pred: &ast::Pred, place: &Item) -> Pred {
        self.pred(pred, place).unwrap_or(Pred {
            kind: PredKind::All(Vec::new()),
            span: pred.span,
        })
    }

    /// Resolves the parts of an `&&` or `||`. A part that is itself one of them, for example
    /// through its name, contributes its own parts.
    fn preds(
        &mut self,
        parts: &[ast::Pred],
        place: &Item,
        parts_of: fn(Pred) -> Vec<Pred>,
    ) -> Option<Vec<Pred>> {
        let resolved: Vec<_> = parts.iter().map(|part| self.pred(part, place)).collect();
        let resolved: Option<Vec<Pred>> = resolved.into_iter().collect();
        Some(resolved?.into_iter().flat_map(parts_of).collect())
    }

    fn resolve_presence(&mut self, fact: &Ident, place: &Item, is_each: bool) -> Option<PredKind> {
        let var = self.fact(fact, place)?;
        let values = &self.vars[var.0].values;
        let there = values.iter().position(|v| is_presence(v));
        if let Some(value) = there {
            return Some(PredKind::Is {
                var,
                values: ValueSet::from_value(value),
            });
        }
        let diagnostic = unknown_name::needs_value(fact, place, values, is_each);
        self.not_a_value(fact, diagnostic)
    }

    fn is(&mut self, fact: &Ident, values: &[Ident], place: &Item) -> Option<PredKind> {
        let var = self.fact(fact, place)?;
        let mut set = ValueSet::default();
        let mut good = true;
        for value in values {
            match self.value(var, value, (fact, place), false) {
                Some(at) => {
                    self.asked.insert((var, at));
                    set.0 |= ValueSet::from_value(at).0;
                }
                None => good = false,
            }
        }
        good.then_some(PredKind::Is { var, values: set })
    }

    fn refused(&mut self, effect: &Ident, place: &Item) -> Option<PredKind> {
        let effect = self.effect(effect, place)?;
        Some(PredKind::Is {
            var: self.refusal_of(effect),
            values: ValueSet::from_value(1),
        })
    }

    /// The variable of a fact that a predicate, a `sets` or a field names.
    pub(super) fn fact(&mut self, name: &Ident, place: &Item) -> Option<VarId> {
        let found = self.scope.facts.get(&name.to_string()).copied();
        self.found(found, name, Noun::Fact, place)
    }

    /// Returns the position of a value. Only answers can be set; a predicate may also query the
    /// value of an `else`.
    fn value(
        &mut self,
        var: VarId,
        value: &Ident,
        (fact, place): (&Ident, &Item),
        answers_only: bool,
    ) -> Option<usize> {
        let var = &self.vars[var.0];
        let known = if answers_only {
            &var.values[..var.answers]
        } else {
            &var.values[..]
        };
        let text = value.to_string();
        if let Some(at) = known.iter().position(|v| *v == text) {
            return Some(at);
        }
        let diagnostic = unknown_name::value(value, fact, place, known);
        self.not_a_value(fact, diagnostic)
    }

    /// Reports an unknown value, except for facts with lost parts.
    fn not_a_value<T>(&mut self, fact: &Ident, diagnostic: Diagnostic) -> Option<T> {
        self.lost(fact, diagnostic);
        None
    }

    pub(super) fn sets(&mut self, sets: &[Vec<ast::Assign>], place: &Item) -> Vec<Vec<Assign>> {
        sets.iter().map(|set| self.assigns(set, place)).collect()
    }

    fn assigns(&mut self, set: &[ast::Assign], place: &Item) -> Vec<Assign> {
        let mut assigns: Vec<Assign> = Vec::new();
        for assign in set {
            let Some(var) = self.fact(&assign.fact, place) else {
                continue;
            };
            let Some(value) = self.value(var, &assign.value, (&assign.fact, place), true) else {
                continue;
            };
            if let Some(first) = assigns.iter().find(|a| a.var == var) {
                let diagnostic = declared_twice::diagnostic(&assign.fact, first.span);
                self.sink.push(diagnostic);
                continue;
            }
            assigns.push(Assign {
                var,
                value,
                span: assign.fact.span(),
            });
        }
        assigns
    }
}
