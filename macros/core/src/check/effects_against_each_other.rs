//! Effects undo each other, so the object never settles. Give them permissions (`when`) that
//! exclude each other.
//!
//! ```text
//! light: call lamp when !lit ..; darken: call lamp when lit && unwanted ..;                 // refused: on, off, on, ..
//! light: call lamp when !lit && !unwanted ..; darken: call lamp when lit && unwanted ..;
//! ```

use std::collections::BTreeMap;

use super::work_in_goal::{undos_in_life, unsaid_target};
use crate::errors::Sink;
use crate::model::EffectId;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::components::Loop;
use crate::space::explored::Explored;

pub(super) const RULE: Rule = Rule {
    code: "LC023",
    name: "effects_against_each_other",
    group: Group::Liveness,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let mut first: BTreeMap<Vec<EffectId>, &Loop> = BTreeMap::new();
    for one in explored.live_loops() {
        let effects: Vec<EffectId> = explored
            .drives
            .effects_within(space, one)
            .into_iter()
            .collect();
        if one.worlds.len() > 1 && effects.len() > 1 {
            first.entry(effects).or_insert(one);
        }
    }
    for (effects, one) in first {
        let declared = || {
            effects
                .iter()
                .map(|effect| &space.lifecycle.effects[effect.0])
        };
        let mut names: Vec<String> = declared().map(|effect| effect.name.to_string()).collect();
        let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        let (last, others) = quoted.split_last().expect("at least two effects");
        let message = format!(
            "effects {} and {last} undo each other, for example {}",
            others.join(", "),
            explored.drives.describe(space, one)
        );
        names.sort();
        let span = space.lifecycle.effects[effects[0].0].name.span();
        let mut diagnostic = RULE.finding(span, names.join(", "), message);
        for effect in declared().skip(1) {
            let note = format!("`{}` is declared here", effect.name);
            diagnostic = diagnostic.note(effect.name.span(), note);
        }
        let help = unsaid_target(space.lifecycle, effects.iter().copied()).unwrap_or_else(|| {
            "let one of them ask in `when` for what the other does not want".to_owned()
        });
        let found = diagnostic.help(help);
        sink.push(undos_in_life(found, declared()));
    }
}
