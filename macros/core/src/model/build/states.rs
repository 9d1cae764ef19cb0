//! Resolves states and the edges between them.

use proc_macro2::Ident;

use super::Builder;
use super::scope::Noun;
use crate::ast;
use crate::check::{declared_twice, no_phase};
use crate::errors::Item;
use crate::model::{Edge, Kind, Phase, State, StateId, Transitions};

/// Milliseconds after which a state is overdue, where nothing is written.
const OVERDUE: u64 = 600_000;

impl Builder<'_> {
    pub(super) fn states(&mut self) -> Vec<State> {
        let ast = self.ast;
        ast.states.iter().map(|s| self.one_state(s)).collect()
    }

    fn one_state(&mut self, state: &ast::State) -> State {
        let place = Item::new("state", &state.name);
        State {
            name: state.name.clone(),
            doc: state.doc.clone(),
            goal: state.goal,
            when: self.pred_or_true(&state.when, &place),
            phase: self.phase(state),
            wakes: state.wakes.as_ref().map(|names| self.uses(names, &place)),
            overdue: state.overdue.unwrap_or(OVERDUE),
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
                "Ignored" => return Some(Phase::Ignored),
                _ => no_phase::unknown(&state.name, phase),
            },
        };
        self.sink.push(wrong);
        None
    }

    pub(super) fn transitions(&mut self) -> Option<Transitions> {
        let written = self.ast.transitions.as_ref()?;
        let mut edges: Vec<Edge> = Vec::new();
        for edge in &written.edges {
            let place = Item::section("transitions");
            let from = self.state(&edge.from, &place);
            for name in &edge.to {
                let to = self.state(name, &place);
                if let (Some(from), Some(to)) = (from, to) {
                    let span = name.span();
                    self.edge(&mut edges, Edge { from, to, span });
                }
            }
        }
        let span = written.span;
        Some(Transitions { span, edges })
    }

    fn edge(&mut self, edges: &mut Vec<Edge>, edge: Edge) {
        let twice = edges
            .iter()
            .find(|e| (e.from, e.to) == (edge.from, edge.to));
        let Some(first) = twice else {
            edges.push(edge);
            return;
        };
        let name = |state: StateId| &self.ast.states[state.0].name;
        let arrow = format!("{} -> {}", name(edge.from), name(edge.to));
        self.sink
            .push(declared_twice::edge(&arrow, edge.span, first.span));
    }

    pub(super) fn state(&mut self, name: &Ident, place: &Item) -> Option<StateId> {
        let found = self.scope.states.get(&name.to_string()).copied();
        self.found(found, name, Noun::State, place)
    }
}
