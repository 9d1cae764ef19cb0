//! An edge between states that an effect or a promise causes and that `transitions` does not declare. The block is the lifecycle on one screen:
//! it lists exactly what can happen in a quiet run, so that a change of behaviour shows up in review. The help prints the whole block.
//!
//! ```text
//! promises { balanced: address == NoBalancer sets { address = Full }; }
//! transitions { Provisioning -> Ready; }                   // refused without this line
//! ```

use std::collections::BTreeSet;

use crate::errors::Sink;
use crate::model::StateId;
use crate::rule::{Rule, Run, Stage};
use crate::space::Class;
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC030",
    name: "undeclared_edge",
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let Some(transitions) = &space.lifecycle.transitions else {
        return;
    };
    let declared: BTreeSet<(StateId, StateId)> = transitions
        .edges
        .iter()
        .map(|edge| (edge.from, edge.to))
        .collect();
    let mut block = Some(whole_block(explored));
    for ((from, to), cause) in &explored.drives.caused {
        let (Class::State(from_id), Class::State(to_id)) = (*from, *to) else {
            continue;
        };
        if declared.contains(&(from_id, to_id)) {
            continue;
        }
        let begins = |world: usize| cause.worlds.binary_search(&world).is_ok();
        let claim = Claim {
            about: space
                .live()
                .filter(|world| space.classes[*world] == *from)
                .collect(),
            bad: &begins,
            expected: explored.vars_of(*from),
        };
        let edge = format!("{} -> {}", space.class_name(*from), space.class_name(*to));
        let causes = cause.by.iter().map(|by| by.describe(space.lifecycle));
        let message = format!(
            "`{edge}` is caused by {} with `{}` and not declared",
            causes.collect::<Vec<_>>().join(", "),
            minimal(space, &claim, cause.worlds[0])
        );
        let mut diagnostic = RULE.error(transitions.span, edge, message);
        if let Some(block) = block.take() {
            diagnostic = diagnostic.help(format!("if that is meant, the whole block is:\n{block}"));
        }
        sink.push(diagnostic);
    }
}

/// The `transitions` that the lifecycle really has, states in order of declaration.
pub(super) fn whole_block(explored: &Explored<'_>) -> String {
    let space = explored.space;
    let mut block = "transitions {\n".to_owned();
    for (position, state) in space.lifecycle.states.iter().enumerate() {
        let from = Class::State(StateId(position));
        let to: Vec<String> = explored
            .drives
            .caused
            .keys()
            .filter(|(begin, end)| *begin == from && matches!(end, Class::State(_)))
            .map(|(_, end)| space.class_name(*end))
            .collect();
        if !to.is_empty() {
            block += &format!("    {} -> {};\n", state.name, to.join(" | "));
        }
    }
    block + "}"
}
