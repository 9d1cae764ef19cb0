//! Declares the variables of a lifecycle in their fixed order, then resolves the conditions of
//! their evaluation.

use proc_macro2::{Ident, Span};

use super::Builder;
use super::inputs::domain;
use crate::ast;
use crate::check::{declared_twice, misfit_count, too_many_values, unknown_name};
use crate::errors::Item;
use crate::model::{
    EffectId, FreeValues, Guard, Input, InputId, Kind, Never, Origin, Pred, Source, Use, ValueSet,
    Var, VarId,
};

/// A domain is a bit each in a word.
const LIMIT: usize = 64;

impl Builder<'_> {
    /// Declares all variables, without guards and sources: predicates need their values first.
    pub(super) fn declare_vars(&mut self) {
        let ast = self.ast;
        let holds = ast.facts.iter().any(|fact| fact.held.is_some());
        if ast.kind == Kind::Resource && (holds || ast.teardown.is_some()) {
            self.vars.push(own(&ast.name, "deleting", Origin::Deleting));
            self.vars.push(own(&ast.name, "claimed", Origin::Claimed));
        }
        for (at, input) in ast.inputs.iter().enumerate() {
            if let Some(values) = domain(input, self.ast.comes(&input.name)) {
                let values = values.iter().map(|v| v.as_str().to_owned()).collect();
                let origin = Origin::Input(InputId(at));
                self.declare(var(&input.name, &input.doc, origin, values));
            }
        }
        for fact in &ast.facts {
            let var = self.declared_fact(fact);
            self.declare(var);
        }
        for (at, effect) in ast.effects.iter().enumerate() {
            let origin = Origin::Refused(EffectId(at));
            self.vars.push(var(&effect.name(), "", origin, booleans()));
        }
    }

    fn declare(&mut self, var: Var) {
        let id = VarId(self.vars.len());
        self.scope.facts.entry(var.name.to_string()).or_insert(id);
        self.vars.push(var);
    }

    fn declared_fact(&mut self, fact: &ast::Fact) -> Var {
        let (values, spans, free) = self.domain_of(fact);
        let origin = Origin::Fact {
            from: Vec::new(),
            boolean: matches!(fact.domain, ast::Domain::Bool),
            counts: fact.count.is_some(),
        };
        let mut var = var(&fact.name, &fact.doc, origin, values);
        var.spans = spans;
        for otherwise in fact.given.iter().filter_map(|g| g.otherwise.as_ref()) {
            let text = otherwise.to_string();
            if var.values.contains(&text) {
                continue;
            }
            if ["true", "false"].contains(&text.as_str()) {
                // A word that is no name cannot be a value of its own.
                let (place, known) = (Item::new("fact", &fact.name), &var.values);
                let found = unknown_name::value(otherwise, &fact.name, &place, known);
                self.sink.push(found);
                self.complete = false;
                continue;
            }
            var.values.push(text);
            var.spans.push(otherwise.span());
        }
        if var.values.len() > LIMIT {
            let count = var.values.len();
            self.sink
                .push(too_many_values::diagnostic(&fact.name, count, LIMIT));
            self.complete = false;
            var.values.truncate(LIMIT);
            var.spans.truncate(LIMIT);
            var.answers = var.answers.min(LIMIT);
        }
        var.held = fact.held.map(|span| FreeValues {
            free: ValueSet(u64::MAX >> (LIMIT - free.clamp(1, LIMIT))),
            span,
        });
        var
    }

    /// Returns all answers, their locations, and the number of answers that mean that nothing is
    /// ours.
    fn domain_of(&mut self, fact: &ast::Fact) -> (Vec<String>, Vec<Span>, usize) {
        let ast::Domain::Values { left, right } = &fact.domain else {
            return (booleans(), Vec::new(), 1);
        };
        let mut values: Vec<String> = Vec::new();
        let mut first: Vec<Span> = Vec::new();
        for value in left.iter().chain(right.iter().flatten()) {
            let text = value.to_string();
            match values.iter().position(|v| *v == text) {
                Some(at) => self.sink.push(declared_twice::diagnostic(value, first[at])),
                None => {
                    values.push(text);
                    first.push(value.span());
                }
            }
        }
        let free = if right.is_some() { left.len() } else { 1 };
        (values, first, free)
    }

    /// Resolves sources and guards of the variables that are declared.
    pub(super) fn guards(&mut self, inputs: &[Input]) {
        let ast = self.ast;
        for var in &mut self.vars {
            let Origin::Input(input) = var.origin else {
                continue;
            };
            // An input that is not observed has the first value: Absent, Unnamed or Unknown.
            var.given = inputs[input.0]
                .given
                .iter()
                .map(|pred| guard(pred.clone(), 0, None))
                .collect();
        }
        let first = self.vars.len() - ast.effects.len() - ast.facts.len();
        for (at, fact) in ast.facts.iter().enumerate() {
            self.guard_fact(first + at, fact, inputs);
        }
    }

    /// Reports a count whose source is not the members of one set.
    fn counted(&mut self, fact: &ast::Fact, uses: &[Use], inputs: &[Input]) {
        let is_set = |used: &Use| match used.source {
            Source::Input(id) => inputs[id.0].many,
            Source::This
            | Source::Request
            | Source::Field(_)
            | Source::Value(_)
            | Source::Fact(_) => false,
        };
        if let Some(of) = uses.iter().find(|used| !is_set(used)) {
            self.sink.push(misfit_count::no_set(fact, &of.name));
            self.complete = false;
        }
        let values = match &fact.domain {
            ast::Domain::Values { left, .. } => misfit_count::values(fact, left),
            ast::Domain::Bool => None,
        };
        for found in values.into_iter().chain(misfit_count::check_held(fact)) {
            self.sink.push(found);
            self.complete = false;
        }
    }

    fn guard_fact(&mut self, var: usize, fact: &ast::Fact, inputs: &[Input]) {
        let place = Item::new("fact", &fact.name);
        let mut uses = self.read_fields(&fact.of_request, &place);
        uses.extend(self.uses(&fact.from, &place));
        if fact.count.is_some() {
            self.counted(fact, &uses, inputs);
        }
        if let Origin::Fact { from, .. } = &mut self.vars[var].origin {
            *from = uses;
        }
        let mut guards = Vec::new();
        for given in &fact.given {
            let pred = self.pred_or_true(&given.pred, &place);
            let otherwise = given.otherwise.as_ref();
            let at = otherwise.and_then(|value| {
                let text = value.to_string();
                self.vars[var].values.iter().position(|v| *v == text)
            });
            guards.push(guard(pred, at.unwrap_or(0), otherwise.map(Ident::span)));
        }
        self.vars[var].given = guards;
    }

    /// Reports values that only an `else` gives, that nothing queries, and that are spelled almost
    /// like an answer, which was probably meant.
    pub(super) fn misspelt_values(&mut self, vars: &[Var]) {
        for fact in &self.ast.facts {
            let Some(&id) = self.scope.facts.get(&fact.name.to_string()) else {
                continue;
            };
            let var = &vars[id.0];
            let others = fact
                .given
                .iter()
                .filter_map(|given| given.otherwise.as_ref());
            for value in others {
                let at = var.values.iter().position(|known| value == known);
                let is_answer = at.is_none_or(|at| at < var.answers);
                if is_answer || at.is_some_and(|at| self.asked.contains(&(id, at))) {
                    continue;
                }
                let answers = var.values[..var.answers].iter().map(String::as_str);
                let near = self.suggestions.nearest(&value.to_string(), answers);
                if let Some(near) = near {
                    let found = unknown_name::unasked_value(value, &fact.name, &near);
                    self.sink.push(found);
                    self.complete = false;
                }
            }
        }
    }

    pub(super) fn nevers(&mut self) -> Vec<Never> {
        let ast = self.ast;
        let nevers = ast.nevers.iter();
        nevers
            .map(|never| Never {
                pred: self.pred_or_true(&never.pred, &Item::section("never")),
                span: never.span,
                is_implied: false,
            })
            .collect()
    }
}

fn guard(pred: Pred, otherwise: usize, otherwise_span: Option<Span>) -> Guard {
    Guard {
        pred,
        otherwise,
        otherwise_span,
    }
}

fn booleans() -> Vec<String> {
    vec!["false".to_owned(), "true".to_owned()]
}

fn own(lifecycle: &Ident, name: &str, origin: Origin) -> Var {
    var(&Ident::new(name, lifecycle.span()), "", origin, booleans())
}

fn var(name: &Ident, doc: &str, origin: Origin, values: Vec<String>) -> Var {
    Var {
        name: name.clone(),
        doc: doc.to_owned(),
        origin,
        answers: values.len(),
        values,
        spans: Vec::new(),
        given: Vec::new(),
        held: None,
    }
}
