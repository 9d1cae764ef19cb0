//! ast -> model: declares every name, then resolves every mention and fills the defaults.
//! Reports everything that it finds in one go; knows no worlds.

mod derived;
mod effects;
mod facts;
mod inputs;
mod mints;
mod order;
mod predicate;
mod properties;
mod rpc;
mod scope;
mod states;
mod status;
mod suspended;
mod teardown;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Ident;

use crate::ast;
use crate::check::unknown_name::{Respelling, Suggestions};
use crate::check::{
    circular_policy, misfit_clause, misfit_group, misfit_kstatus, misfit_retired, misplaced_create,
    misplaced_ignored, misplaced_lock, misplaced_retain, misplaced_suspended, misplaced_teardown,
    noted_by_hand, retired_and_declared, unknown_name, unnoted_create, unobserved_source,
};
use crate::errors::{Diagnostic, Item, Sink};
use crate::lock;
use crate::model::{Fragment, Length, Lifecycle, Locked, Pred, Source, StateId, Use, Var, VarId};
use crate::union::union;
pub(crate) use derived::Mention;
pub(crate) use inputs::domain;
pub(crate) use order::{behind, polls_behind};
pub(crate) use scope::input_method;
use scope::{Noun, Scope};

/// Result of the build, as far as it succeeded.
pub(crate) struct Built {
    /// The lifecycle without unresolved items. If it is incomplete, it serves only rules that check
    /// one declaration at a time.
    pub(crate) lifecycle: Lifecycle,
    /// True if everything resolved and has an order.
    pub(crate) complete: bool,
    /// Names that did not resolve, with those that they resemble.
    pub(crate) respellings: Vec<Respelling>,
    /// Places at which a name stands for a predicate.
    pub(crate) mentions: Vec<Mention>,
    /// True if rules may examine the lifecycle, because no chain in it is too long to follow.
    pub(crate) bounded: bool,
}

/// Converts a written duration. A duration that the object holds without `min` has no lower bound.
fn length(written: &ast::Length) -> Length {
    let least = match written.path {
        Some(_) => written.least.unwrap_or_default(),
        None => written.otherwise,
    };
    Length {
        span: Some(written.span),
        path: written.path.clone(),
        otherwise: written.otherwise,
        least,
    }
}

/// Builds the model. `None` if a name did not resolve, facts depend on themselves, or it is too large; everything found goes to the sink.
pub fn build(ast: &ast::Lifecycle, sink: &mut Sink) -> Option<Lifecycle> {
    let mut built = resolve(&union(ast, sink), sink);
    order(&mut built, sink);
    built.complete.then_some(built.lifecycle)
}

/// Resolves all names; the order of evaluation is still missing.
pub(crate) fn resolve(ast: &ast::Lifecycle, sink: &mut Sink) -> Built {
    misfit_clause::check(ast, sink);
    misfit_group::check(ast, sink);
    misplaced_ignored::check(ast, sink);
    misplaced_suspended::check(ast, sink);
    misfit_kstatus::check(ast, sink);
    misplaced_teardown::check(ast, sink);
    misplaced_retain::check(ast, sink);
    misplaced_lock::check(ast, sink);
    retired_and_declared::check(ast, sink);
    misfit_retired::check(ast, sink);
    misplaced_create::check(ast, sink);
    unnoted_create::check(ast, sink);
    noted_by_hand::check(ast, sink);
    let scope = Scope::from_ast(ast, sink);
    let mut builder = Builder {
        ast,
        sink,
        scope,
        vars: Vec::new(),
        suggestions: Suggestions::new(),
        respellings: Vec::new(),
        derived: BTreeMap::new(),
        mentions: Vec::new(),
        asked: BTreeSet::new(),
        is_each: false,
        complete: ast.taint.names.is_empty() && !ast.taint.everything,
    };
    builder.declare_vars();
    builder.derive();
    let mut lifecycle = builder.lifecycle();
    lifecycle.names = builder.names();
    builder.misspelt_values(&lifecycle.vars);
    mints::imply(&mut lifecycle);
    suspended::silence_polls(&mut lifecycle);
    Built {
        complete: builder.complete && !builder.sink.has_errors(),
        respellings: builder.respellings,
        mentions: builder.mentions,
        bounded: true,
        lifecycle,
    }
}

/// Fills in the order of evaluation, if one exists.
pub(crate) fn order(built: &mut Built, sink: &mut Sink) {
    if built.complete {
        circular_policy::check(&built.lifecycle, sink);
        built.complete = !sink.has_errors();
    }
    let order = order::compute_order(&built.lifecycle);
    built.bounded = order.too_long.is_none();
    order
        .too_long
        .into_iter()
        .for_each(|found| sink.push(found));
    if built.complete {
        built.complete = built.bounded && order.circles.is_empty();
        order
            .circles
            .into_iter()
            .for_each(|circle| sink.push(circle));
    }
    built.lifecycle.order = order.vars;
    built.lifecycle.nodes = order.nodes;
}

/// Resolves a fragment by itself.
pub(crate) fn alone(fragment: &ast::Fragment, sink: &mut Sink) -> Built {
    let mut built = resolve(&fragment.by_itself(), sink);
    order(&mut built, sink);
    built
}

struct Builder<'a> {
    ast: &'a ast::Lifecycle,
    sink: &'a mut Sink,
    scope: Scope,
    vars: Vec<Var>,
    suggestions: Suggestions,
    respellings: Vec<Respelling>,
    /// Predicates that names stand for, by name; `None` if a part of one did not resolve.
    derived: BTreeMap<String, Option<Pred>>,
    mentions: Vec<Mention>,
    /// The values that predicates name, each as the author wrote it.
    asked: BTreeSet<(VarId, usize)>,
    /// True while the predicate that is being resolved is inside an `any(..)` or `all(..)`.
    is_each: bool,
    complete: bool,
}

impl Builder<'_> {
    fn lifecycle(&mut self) -> Lifecycle {
        let ast = self.ast;
        let inputs = self.inputs();
        self.guards(&inputs);
        Lifecycle {
            kind: ast.kind,
            name: ast.name.clone(),
            doc: ast.doc.clone(),
            inputs,
            values: self.values(),
            nevers: self.nevers(),
            states: self.states(),
            closed: self.closed(),
            region: ast.place.region.clone(),
            is_asked: ast.place.is_asked,
            open: (ast.place.is_root).then(|| StateId(ast.states.len() - 1)),
            regions: self.regions(),
            effects: self.effects(),
            promises: self.promises(),
            steps: self.torn_down(),
            abandoned: self.abandoned(),
            transitions: self.transitions(),
            properties: self.properties(),
            conditions: self.conditions(),
            ready: self.ready(),
            implicit: self.implicit(),
            kstatus: ast.kstatus.is_some(),
            fields: self.fields(),
            columns: self.columns(),
            preconditions: self.preconditions(),
            calls: self.calls(),
            fragments: self.fragments(),
            lock: ast.lock.as_ref().map(|lock| Locked {
                path: lock.path.clone(),
                span: lock.span,
                text: lock.text.clone(),
                lines: lock::lines(ast),
            }),
            retired: ast
                .retired
                .iter()
                .flat_map(|all| all.lines.clone())
                .collect(),
            vars: std::mem::take(&mut self.vars),
            order: Vec::new(),
            nodes: Vec::new(),
            names: Vec::new(),
        }
    }

    /// Resolves each fragment by itself. Its findings are reported at the fragment.
    fn fragments(&self) -> Vec<Fragment> {
        let fragments = self.ast.fragments.iter();
        let alone = fragments.map(|fragment| {
            let mut sink = Sink::default();
            let alone = alone(fragment, &mut sink).lifecycle;
            sink.finish();
            Fragment {
                used: fragment.used.clone(),
                name: fragment.part.name.clone(),
                needs: fragment.needed(),
                alone,
            }
        });
        alone.collect()
    }

    /// Returns the result of a lookup. Reports it if it is missing, unless the item that declares
    /// it could not be parsed.
    fn found<T>(&mut self, found: Option<T>, name: &Ident, noun: Noun, place: &Item) -> Option<T> {
        if found.is_none() {
            self.complete = false;
            if !self.ast.taint.covers(name) {
                let text = name.to_string();
                let mut known = self.scope.names(noun);
                // Names of another kind are no suggestions.
                known.retain(|name| *name != text);
                let near = self.suggestions.nearest(&text, known.iter().copied());
                let meant = near.as_deref().map(|near| (name.span(), near.to_owned()));
                let instead = self.scope.instead(&text, noun);
                let is_lost = near.is_none() && instead.is_none() && noun == Noun::Effect;
                let found = unknown_name::diagnostic(name, noun.as_str(), place, near, instead);
                self.sink.push(match is_lost {
                    true => unknown_name::with_effects(found, &known),
                    false => found,
                });
                self.respellings.extend(meant);
            }
        }
        found
    }

    fn respell(&mut self, name: &Ident, near: Option<&str>) {
        let meant = near.map(|near| (name.span(), near.to_owned()));
        self.respellings.extend(meant);
    }

    /// Reports a name that does not resolve, unless the item that declares it could not be parsed.
    fn lost(&mut self, name: &Ident, diagnostic: Diagnostic) {
        self.complete = false;
        if !self.ast.taint.covers(name) {
            self.sink.push(diagnostic);
        }
    }

    /// The sources of a `from`; those that are unknown are reported and left out.
    fn uses(&mut self, names: &[Ident], place: &Item) -> Vec<Use> {
        let mut uses: Vec<Use> = Vec::new();
        for name in names {
            if let Some(source) = self.source(name, place) {
                uses.push(Use {
                    source,
                    name: name.clone(),
                });
            }
        }
        uses
    }

    fn source(&mut self, name: &Ident, place: &Item) -> Option<Source> {
        let found = self.scope.source(name, self.ast.kind);
        if found.is_none() {
            self.complete = false;
            if !self.ast.taint.covers(name) {
                let diagnostic = self.unobserved(name, place);
                self.sink.push(diagnostic);
            }
        }
        found
    }

    fn unobserved(&mut self, name: &Ident, place: &Item) -> Diagnostic {
        let text = name.to_string();
        let known = self.scope.sources();
        let near = self.suggestions.nearest(&text, known.into_iter());
        self.respell(name, near.as_deref());
        let is_path = ["meta", "spec"].contains(&text.as_str());
        let help = if is_path && self.ast.kind == ast::Kind::Resource {
            Some(
                "it is a part of the object, which every method gets: write `from self`, or nothing",
            )
        } else if is_path || text == "self" {
            Some("a volume has no object: its calls have a `request`, with `request.volume_id`")
        } else if text == "request" {
            Some("only a volume has a request")
        } else if self.scope.derived.contains_key(&text) {
            Some("it is decided by other facts: read what those are made from")
        } else if self.scope.facts.contains_key(&text) {
            Some("it is a fact: read what the fact is made from, or share a value by `let`")
        } else {
            None
        };
        unobserved_source::diagnostic(name, place, near, help)
    }
}
