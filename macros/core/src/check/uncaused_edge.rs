//! Edges in `transitions` that no effect and no promise causes in a quiet run. A change that the
//! environment makes on its own is not an edge: it may move any world to any world. Remove the
//! edge, or find out why its intended cause does not lead there.
//!
//! `_ -> Failed` need not be caused from every state, but from one. All edges without a cause are one finding.
//!
//! ```text
//! transitions { Ready -> Provisioning; }                   // refused: the outside may do so at any time, nothing of ours does
//! ```

use proc_macro2::Span;

use super::idle_promise::waits_for_nobody;
use super::undeclared_edge::{arrow, undeclared, whole_block};
use crate::errors::{Fix, Sink};
use crate::model::{StateId, Transitions};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Class;
use crate::space::explored::Explored;

pub(super) const RULE: Rule = Rule {
    code: "LC031",
    name: "uncaused_edge",
    group: Group::Effects,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

/// A declared edge.
struct Declared {
    name: String,
    /// `None` of one from every state.
    from: Option<StateId>,
    to: StateId,
    /// Location in the source.
    span: Span,
}

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let Some(transitions) = &explored.space.lifecycle.transitions else {
        return;
    };
    let uncaused = uncaused(explored, transitions);
    let Some(first) = uncaused.first() else {
        return;
    };
    let names: Vec<&str> = uncaused.iter().map(|one| one.name.as_str()).collect();
    let help = match uncaused.len() {
        1 => entered(explored, first),
        _ if undeclared(explored).is_empty() => {
            format!(
                "remove them; the whole block is:\n{}",
                whole_block(explored)
            )
        }
        _ => "remove them: the block that LC030 shows is without them".to_owned(),
    };
    let message = format!("nothing causes `{}`", names.join("`, `"));
    let found = RULE
        .finding(first.span, names.join(", "), message)
        .help(help);
    // The help names the alternatives for a single one.
    sink.push(
        match uncaused.len() > 1 && undeclared(explored).is_empty() {
            true => found.fix(Fix::Section {
                keyword: transitions.span,
                whole: whole_block(explored),
                added: None,
            }),
            false => found,
        },
    );
}

fn uncaused(explored: &Explored<'_>, transitions: &Transitions) -> Vec<Declared> {
    let caused = &explored.drives.caused;
    let mut all = Vec::new();
    for edge in &transitions.edges {
        let (from, to) = (Class::State(edge.from), Class::State(edge.to));
        if !caused.contains_key(&(from, to)) {
            all.push(Declared {
                name: arrow(explored, from, to),
                from: Some(edge.from),
                to: edge.to,
                span: edge.span,
            });
        }
    }
    for one in &transitions.anywhere {
        // An implicit state has no declared edges, so it is none of the states that `_` means.
        let declared = |(from, to): &(Class, Class)| {
            matches!(from, Class::State(_)) && *to == Class::State(one.to)
        };
        if !caused.keys().any(declared) {
            let name = explored.space.class_name(Class::State(one.to));
            all.push(Declared {
                name: format!("_ -> {name}"),
                from: None,
                to: one.to,
                span: one.span,
            });
        }
    }
    all
}

/// From where a state is entered, implicit states included.
fn sources(explored: &Explored<'_>, to: StateId) -> Vec<String> {
    let caused = explored.drives.caused.keys();
    let enters = caused.filter(|(_, end)| *end == Class::State(to));
    enters
        .map(|(from, _)| format!("`{}`", explored.space.class_name(*from)))
        .collect()
}

fn entered(explored: &Explored<'_>, edge: &Declared) -> String {
    let to = Class::State(edge.to);
    if let Some(from) = edge.from
        && let Some(promise) = explored.idly_promised(Class::State(from), |class| class == to)
    {
        let state = &explored.space.lifecycle.states[from.0];
        return format!("remove it; or: {}", waits_for_nobody(state, promise));
    }
    let (name, from) = (explored.space.class_name(to), sources(explored, edge.to));
    if from.is_empty() {
        return format!("remove it: only the environment leads to `{name}`");
    }
    format!("remove it: `{name}` is entered from {}", from.join(", "))
}
