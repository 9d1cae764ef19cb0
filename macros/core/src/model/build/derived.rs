//! Names for predicates: `taken = secret == Foreign || service == Foreign;`. Each use of a name
//! stands for its predicate.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Span};

use super::Builder;
use super::scope::Scope;
use crate::ast;
use crate::check::{circular_fact, syntax, unknown_name};
use crate::errors::{Diagnostic, Item};
use crate::model::{Named, Pred, PredKind};

/// Upper bound on the questions that one name stands for: each mention of it evaluates them all.
const MOST: usize = 100;
/// Upper bound on the nesting depth of a name, in addition to the nesting of its mention.
const DEEPEST: usize = 16;

/// A place in which a name stands for a predicate.
#[derive(Clone, Debug)]
pub(crate) struct Mention {
    at: Span,
    name: Ident,
    written: String,
}

impl Mention {
    /// Adds the meaning of a name to findings about its predicate.
    pub(crate) fn explain(all: &[Self], found: Vec<Diagnostic>) -> Vec<Diagnostic> {
        let ends = |span: Span| {
            let (start, end) = (span.start(), span.end());
            (start.line, start.column, end.line, end.column)
        };
        let places: BTreeMap<_, &Self> = all.iter().map(|one| (ends(one.at), one)).collect();
        let explained = found
            .into_iter()
            .map(|found| match places.get(&ends(found.span)) {
                Some(one) => {
                    let text = format!("`{}` stands for `{}`", one.name, one.written);
                    found.note(one.name.span(), text)
                }
                None => found,
            });
        explained.collect()
    }
}

impl Builder<'_> {
    /// Resolves the predicates of names, each after those that it mentions.
    pub(super) fn derive(&mut self) {
        let ast = self.ast;
        let all = Definitions::from_ast(ast, &self.scope);
        for at in all.order() {
            let derived = &ast.derived[at];
            let place = Item::new("fact", &derived.name);
            let pred = self.pred(&derived.pred, &place);
            let pred = pred.filter(|pred| self.is_small(&derived.name, pred));
            let name = derived.name.to_string();
            // Of a name that is declared twice the first counts.
            if self.scope.derived.get(&name) == Some(&at) {
                self.derived.insert(name, pred);
            }
        }
        for circle in all.circles() {
            self.complete = false;
            let names: Vec<String> = circle
                .iter()
                .map(|at| ast.derived[*at].name.to_string())
                .collect();
            let span = ast.derived[circle[0]].name.span();
            self.sink.push(circular_fact::derived(&names, span));
        }
    }

    /// All of them, once everything that may mention one is resolved.
    pub(super) fn names(&self) -> Vec<Named> {
        let mentioned: BTreeSet<String> = self
            .mentions
            .iter()
            .map(|mention| mention.name.to_string())
            .collect();
        let known = self.ast.derived.iter().map(|derived| {
            let name = derived.name.to_string();
            let pred = self.derived.get(&name).and_then(Option::as_ref);
            Named {
                name: derived.name.clone(),
                asks: pred.map(Pred::vars).unwrap_or_default(),
                asked: mentioned.contains(&name),
            }
        });
        known.collect()
    }

    fn is_small(&mut self, name: &Ident, pred: &Pred) -> bool {
        let (questions, depth) = size(pred);
        let what = match (questions > MOST, depth > DEEPEST) {
            (true, _) => format!("more than {MOST} questions"),
            (false, true) => format!("questions that nest more than {DEEPEST} levels"),
            (false, false) => return true,
        };
        let message = format!("`{name}` consists of {what}");
        let help = "ask a part of it as a fact of its own, with a method";
        let found = syntax::diagnostic(name.span(), &name.to_string(), message, help);
        self.sink.push(found);
        false
    }

    /// Returns the predicate that a name stands for, at a place that mentions it. Returns
    /// `Some(None)` if the predicate did not resolve, which was reported.
    pub(super) fn stands_for(&mut self, name: &Ident, at: Span) -> Option<Option<Pred>> {
        let text = name.to_string();
        let number = *self.scope.derived.get(&text)?;
        let derived = &self.ast.derived[number];
        let known = self.derived.get(&text).cloned().flatten();
        match known {
            None => {
                self.complete = false;
                Some(None)
            }
            Some(mut pred) => {
                set_span(&mut pred, at);
                self.mentions.push(Mention {
                    at,
                    name: derived.name.clone(),
                    written: derived.pred.to_string(),
                });
                Some(Some(pred))
            }
        }
    }

    /// Handles a name that stands for `true` or `false`.
    pub(super) fn stands_for_one_of(
        &mut self,
        (name, values): (&Ident, &[Ident]),
        pred: Pred,
        place: &Item,
    ) -> Option<PredKind> {
        let known = ["false", "true"].map(str::to_owned);
        let mut asked = BTreeSet::new();
        for value in values {
            let text = value.to_string();
            if known.contains(&text) {
                asked.insert(text);
            } else {
                let found = unknown_name::value(value, name, place, &known);
                self.lost(name, found);
                return None;
            }
        }
        let only = |value: &str| asked.len() == 1 && asked.contains(value);
        Some(if only("true") {
            pred.kind
        } else if only("false") {
            PredKind::Not(Box::new(pred))
        } else {
            let not = Pred {
                kind: PredKind::Not(Box::new(pred.clone())),
                span: pred.span,
            };
            PredKind::Any(vec![pred, not])
        })
    }
}

/// Moves a predicate to the place of its mention, so that findings point there.
fn set_span(pred: &mut Pred, at: Span) {
    pred.span = at;
    match &mut pred.kind {
        PredKind::Is { .. } => {}
        PredKind::All(parts) | PredKind::Any(parts) => {
            parts.iter_mut().for_each(|part| set_span(part, at));
        }
        PredKind::Not(part) => set_span(part, at),
    }
}

/// Returns the number of questions in a predicate, and their nesting depth.
fn size(pred: &Pred) -> (usize, usize) {
    match &pred.kind {
        PredKind::Is { .. } => (1, 0),
        PredKind::All(parts) | PredKind::Any(parts) => {
            let sizes = parts.iter().map(size);
            let (questions, depth) =
                sizes.fold((0, 0), |all, one| (all.0 + one.0, all.1.max(one.1)));
            (questions, depth + 1)
        }
        PredKind::Not(part) => {
            let (questions, depth) = size(part);
            (questions, depth + 1)
        }
    }
}

/// Mentions of definitions by other definitions.
struct Definitions {
    mentions: Vec<Vec<usize>>,
}

impl Definitions {
    fn from_ast(ast: &ast::Lifecycle, scope: &Scope) -> Self {
        let mentions = ast.derived.iter().map(|derived| {
            let asked = derived.pred.referenced_facts().into_iter();
            asked
                .filter_map(|fact| scope.derived.get(&fact.to_string()).copied())
                .collect()
        });
        Self {
            mentions: mentions.collect(),
        }
    }

    /// Returns the names, each after those that it mentions. Leaves out names that depend on
    /// themselves, directly or through others.
    fn order(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.mentions.iter().map(Vec::len).collect();
        let mut mentioned_by: Vec<Vec<usize>> = vec![Vec::new(); missing.len()];
        for (at, mentions) in self.mentions.iter().enumerate() {
            mentions
                .iter()
                .for_each(|other| mentioned_by[*other].push(at));
        }
        let mut order: Vec<usize> = (0..missing.len()).filter(|at| missing[*at] == 0).collect();
        let mut done = 0;
        while let Some(&at) = order.get(done) {
            done += 1;
            for other in &mentioned_by[at] {
                missing[*other] -= 1;
                if missing[*other] == 0 {
                    order.push(*other);
                }
            }
        }
        order
    }

    /// Returns the definitions that depend on themselves, once around from the first. A name is in
    /// one circle only.
    fn circles(&self) -> Vec<Vec<usize>> {
        let sound: BTreeSet<usize> = self.order().into_iter().collect();
        let mut seen = BTreeSet::new();
        let mut circles = Vec::new();
        for start in (0..self.mentions.len()).filter(|at| !sound.contains(at)) {
            let mut path: Vec<usize> = Vec::new();
            let mut at = start;
            while seen.insert(at) {
                path.push(at);
                let mut next = self.mentions[at]
                    .iter()
                    .filter(|next| !sound.contains(next));
                // An unsound name mentions another unsound one.
                at = next.next().copied().unwrap_or(start);
            }
            if let Some(begin) = path.iter().position(|one| *one == at) {
                circles.push(path.split_off(begin));
            }
        }
        circles
    }
}
