//! Resolves states and the edges between them.

use proc_macro2::Ident;

use super::Builder;
use super::scope::Noun;
use crate::ast;
use crate::check::{declared_twice, no_phase};
use crate::errors::Item;
use crate::model::{
    Anywhere, Edge, Kind, Length, Phase, Region, RegionId, State, StateId, Transitions,
};

/// Default time after which a state is overdue.
const OVERDUE: Length = Length {
    span: None,
    path: None,
    otherwise: 600_000,
    least: 600_000,
};

impl Builder<'_> {
    pub(super) fn states(&mut self) -> Vec<State> {
        let ast = self.ast;
        ast.states.iter().map(|s| self.one_state(s)).collect()
    }

    /// The states of the root in which a region rests.
    pub(super) fn closed(&mut self) -> Vec<State> {
        let closed = &self.ast.place.closed;
        closed.iter().map(|s| self.one_state(s)).collect()
    }

    pub(super) fn regions(&self) -> Vec<Region> {
        let regions = self.ast.regions.iter();
        regions
            .map(|region| Region {
                name: region.name.clone(),
                doc: region.doc.clone(),
                counts: region.counts(self.ast),
            })
            .collect()
    }

    fn one_state(&mut self, state: &ast::State) -> State {
        let place = Item::new("state", &state.name);
        State {
            name: state.name.clone(),
            doc: state.doc.clone(),
            goal: state.goal,
            when: self.pred_or_true(&state.when, &place),
            phase: self.phase(state),
            even_deleting: state.even_deleting.is_some(),
            wakes: state.wakes.as_ref().map(|names| self.uses(names, &place)),
            overdue: state.overdue.as_ref().map_or(OVERDUE, super::length),
            region: state.region.map(RegionId),
        }
    }

    fn phase(&mut self, state: &ast::State) -> Option<Phase> {
        let wrong = match (&state.phase, self.ast.kind) {
            (None, Kind::Volume) => return None,
            (None, Kind::Resource) => no_phase::missing(&state.name),
            (Some(phase), Kind::Volume) => no_phase::in_volume(&state.name, phase),
            (Some(phase), Kind::Resource) => match phase.to_string().as_str() {
                "Pending" => return Some(Phase::Pending),
                "Ready" => return Some(Phase::Ready),
                "Error" => return Some(Phase::Error),
                "Suspended" => return Some(Phase::Suspended),
                "Ignored" => return Some(Phase::Ignored),
                _ => no_phase::unknown(&state.name, phase),
            },
        };
        self.sink.push(wrong);
        None
    }

    pub(super) fn transitions(&mut self) -> Option<Transitions> {
        let written = self.ast.transitions.as_ref()?;
        let mut all = Transitions {
            span: written.span,
            edges: Vec::new(),
            anywhere: Vec::new(),
        };
        for edge in &written.edges {
            match &edge.from {
                ast::From::States(states) => self.edges(&mut all, states, &edge.to),
                ast::From::Anywhere => self.anywhere(&mut all, &edge.to),
            }
        }
        self.covered(&all);
        Some(all)
    }

    fn edges(&mut self, all: &mut Transitions, from: &[Ident], to: &[Ident]) {
        let place = Item::section("transitions");
        let to: Vec<_> = to
            .iter()
            .map(|name| (name, self.state(name, &place)))
            .collect();
        for begin in from {
            let from_id = self.state(begin, &place);
            for (end, to_id) in &to {
                let (Some(from_id), Some(to_id)) = (from_id, *to_id) else {
                    continue;
                };
                let place = if from.len() > 1 && to.len() == 1 {
                    begin
                } else {
                    end
                };
                let edge = Edge {
                    from: from_id,
                    to: to_id,
                    span: place.span(),
                };
                self.edge(&mut all.edges, edge);
            }
        }
    }

    fn edge(&mut self, edges: &mut Vec<Edge>, edge: Edge) {
        let mut before = edges.iter();
        let twice = before.find(|e| (e.from, e.to) == (edge.from, edge.to));
        match twice {
            Some(first) => {
                let arrow = self.arrow(edge.from, edge.to);
                let found = declared_twice::edge(&arrow, edge.span, first.span);
                self.sink.push(found);
            }
            None => edges.push(edge),
        }
    }

    fn anywhere(&mut self, all: &mut Transitions, to: &[Ident]) {
        for name in to {
            let Some(to) = self.state(name, &Item::section("transitions")) else {
                continue;
            };
            let span = name.span();
            match all.anywhere.iter().find(|one| one.to == to) {
                Some(first) => {
                    let arrow = format!("_ -> {name}");
                    let found = declared_twice::edge(&arrow, span, first.span);
                    self.sink.push(found);
                }
                None => all.anywhere.push(Anywhere { to, span }),
            }
        }
    }

    /// Reports edges to a state that is entered from every state and therefore needs no other edge.
    fn covered(&mut self, all: &Transitions) {
        for edge in &all.edges {
            if let Some(whole) = all.anywhere.iter().find(|one| one.to == edge.to) {
                let arrow = self.arrow(edge.from, edge.to);
                let anywhere = format!("_ -> {}", self.ast.states[edge.to.0].name);
                let found = declared_twice::covered(&arrow, edge.span, &anywhere, whole.span);
                self.sink.push(found);
            }
        }
    }

    fn arrow(&self, from: StateId, to: StateId) -> String {
        let name = |state: StateId| &self.ast.states[state.0].name;
        format!("{} -> {}", name(from), name(to))
    }

    pub(super) fn state(&mut self, name: &Ident, place: &Item) -> Option<StateId> {
        let found = self.scope.states.get(&name.to_string()).copied();
        self.found(found, name, Noun::State, place)
    }
}
