//! A quiet run can repeat for ever without settling, although every promise is kept. Break the
//! cycle: promise the change that ends it. Alternatively, let an effect set or query a fact that
//! distinguishes the first round from the second.
//!
//! ```text
//! goes: light == Red sets { light = Green }; stops: light == Green sets { light = Red };    // refused: for ever
//! goes: light == Red sets { light = Green };
//! ```

use std::collections::BTreeMap;

use super::work_in_goal::unsaid_target;
use crate::errors::Sink;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Class;
use crate::space::components::Loop;
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC022",
    name: "endless_round",
    group: Group::Liveness,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let mut by_class: BTreeMap<Class, Vec<&Loop>> = BTreeMap::new();
    for one in explored.live_loops() {
        if one.worlds.len() > 1 && explored.drives.effects_within(space, one).len() < 2 {
            let classes = one
                .worlds
                .iter()
                .map(|world| space.classes[*world as usize]);
            let first = classes.min().expect("no loop is empty");
            by_class.entry(first).or_default().push(one);
        }
    }
    for (class, loops) in by_class {
        let mut worlds: Vec<u32> = loops.iter().flat_map(|one| &one.worlds).copied().collect();
        worlds.sort_unstable();
        let inside = |world: usize| {
            let world = u32::try_from(world).expect("bounded by the limit of worlds");
            worlds.binary_search(&world).is_ok()
        };
        let example = explored.worlds_of(class).find(|world| inside(*world));
        let claim = Claim {
            about: explored.worlds_of(class).collect(),
            bad: &inside,
            expected: explored.vars_of(class),
        };
        let example = example.expect("the state was taken from a world of the loop");
        let name = space.class_name(class);
        let message = format!(
            "from `{name}` with `{}` the run can loop forever without settling: {}",
            minimal(space, &claim, example),
            explored.drives.describe(space, loops[0])
        );
        let inside = explored.drives.effects_within(space, loops[0]);
        let help = unsaid_target(space.lifecycle, inside).unwrap_or_else(|| {
            "promise what ends the round, or narrow the `when` or the `sets` of what keeps it going".to_owned()
        });
        sink.push(
            RULE.finding(explored.span_of(class), name, message)
                .help(help),
        );
    }
}
