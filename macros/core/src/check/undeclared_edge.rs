//! An effect or a promise causes edges between states that `transitions` does not declare. The
//! block shows the lifecycle on one screen. It lists exactly the transitions of quiet runs, so a
//! change of behavior shows up in review. All missing edges are one finding: it names the causes of
//! the first few, and the help prints the whole block to paste.
//!
//! ```text
//! promises { balanced: address == NoBalancer sets { address = Full }; }
//! transitions { Provisioning -> Ready; }                   // refused without this line
//! ```

mod block;

use std::collections::BTreeSet;

use crate::errors::{Fix, Sink};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Class;
use crate::space::cause::Cause;
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};
use block::Edge;

pub(super) const RULE: Rule = Rule {
    code: "LC030",
    name: "undeclared_edge",
    group: Group::Effects,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

/// Number of further edges that are explained one by one. For larger changes the reader studies the
/// block.
const EXPLAINED: usize = 4;

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let Some(transitions) = &explored.space.lifecycle.transitions else {
        return;
    };
    let missing = undeclared(explored);
    let Some(first) = missing.first() else {
        return;
    };
    let shown = |(from, to): &Edge| arrow(explored, Class::State(*from), Class::State(*to));
    let names: Vec<String> = missing.iter().map(shown).collect();
    let others = match names.len() {
        1 => String::new(),
        2 => ", nor is one more edge".to_owned(),
        all => format!(", nor are {} more edges", all - 1),
    };
    let message = format!(
        "`{}` is {} and not declared{others}",
        names[0],
        caused(explored, *first)
    );
    let help = format!(
        "if that is meant, the whole block is:\n{}",
        whole_block(explored)
    );
    let found = RULE.finding(transitions.span, names.join(", "), message);
    let others = missing.iter().skip(1).take(EXPLAINED).map(|edge| {
        let cause = caused(explored, *edge);
        format!("`{}` is {cause}", shown(edge))
    });
    let found = others.fold(found, |found, note| found.note(None, note));
    let fix = Fix::Section {
        keyword: transitions.span,
        whole: whole_block(explored),
        added: Some(block::lines_of(explored.space.lifecycle, &missing)),
    };
    sink.push(found.help(help).fix(fix));
}

/// Returns the edges that are caused and not declared, states in order of declaration.
pub(super) fn undeclared(explored: &Explored<'_>) -> BTreeSet<Edge> {
    let transitions = &explored.space.lifecycle.transitions;
    let declared = |(from, to): &Edge| {
        let mut declared = transitions.iter();
        declared.any(|all| all.declares(*from, *to))
    };
    let mut edges = edges(explored);
    edges.retain(|edge| !declared(edge));
    edges
}

/// The edges between declared states that the lifecycle really has.
fn edges(explored: &Explored<'_>) -> BTreeSet<Edge> {
    let open = explored.space.lifecycle.open;
    let caused = explored.drives.caused.keys();
    let edges = caused.filter_map(|edge| match edge {
        // The regions begin and stop without an edge.
        (Class::State(from), Class::State(to)) if [*from, *to].map(Some).contains(&open) => None,
        (Class::State(from), Class::State(to)) => Some((*from, *to)),
        (Class::Deleting | Class::Refused | Class::Closed | Class::Nowhere, _)
        | (_, Class::Deleting | Class::Refused | Class::Closed | Class::Nowhere) => None,
    });
    edges.collect()
}

/// Describes the cause of an edge, and a world in which it occurs.
fn caused(explored: &Explored<'_>, (from, to): Edge) -> String {
    let space = explored.space;
    let from = Class::State(from);
    let cause: &Cause = &explored.drives.caused[&(from, Class::State(to))];
    let begins = |world: usize| cause.worlds.binary_search(&world).is_ok();
    let claim = Claim {
        about: space
            .live()
            .filter(|world| space.classes[*world] == from)
            .collect(),
        bad: &begins,
        expected: explored.vars_of(from),
    };
    let by = cause.by.iter().map(|by| by.describe(space.lifecycle));
    format!(
        "caused by {} with `{}`",
        by.collect::<Vec<_>>().join(", "),
        minimal(space, &claim, cause.worlds[0])
    )
}

/// An edge as it is written.
pub(super) fn arrow(explored: &Explored<'_>, from: Class, to: Class) -> String {
    let name = |class: Class| explored.space.class_name(class);
    format!("{} -> {}", name(from), name(to))
}

/// The `transitions` that the lifecycle really has.
pub(super) fn whole_block(explored: &Explored<'_>) -> String {
    block::written(explored.space.lifecycle, &edges(explored))
}
