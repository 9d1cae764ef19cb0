//! LC022: a quiet run can go round for ever without coming to rest, though every promise is kept. Break the round: promise what ends it,
//! or let an effect set or ask for what tells the first time from the second.

use std::collections::BTreeMap;

use crate::errors::{Diagnostic, Sink};
use crate::space::Class;
use crate::space::components::Loop;
use crate::space::cycle::round;
use crate::space::explored::Explored;
use crate::space::witness::{Claim, minimal};

pub(crate) fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let mut first: BTreeMap<Class, &Loop> = BTreeMap::new();
    for one in explored.live_loops() {
        if one.worlds.len() > 1 && explored.drives.effects_within(space, one).len() < 2 {
            let classes = one
                .worlds
                .iter()
                .map(|world| space.classes[*world as usize]);
            first
                .entry(classes.min().expect("no loop is empty"))
                .or_insert(one);
        }
    }
    for (class, one) in first {
        let inside = |world: usize| one.worlds.iter().any(|other| *other as usize == world);
        let here = |world: &usize| space.classes[*world] == class;
        let example = space.live().filter(here).find(|world| inside(*world));
        let claim = Claim {
            about: space.live().filter(here).collect(),
            bad: &inside,
            expected: explored.vars_of(class),
        };
        let example = example.expect("the state was taken from a world of the loop");
        let name = space.class_name(class);
        let message = format!(
            "from `{name}` with `{}` the run can go round for ever without coming to rest: {}",
            minimal(space, &claim, example),
            round(explored.drives, one).describe(space)
        );
        sink.push(
            Diagnostic::error("LC022", explored.span_of(class), name, message)
                .help("promise what ends the round, or narrow the `when` or the `sets` of what keeps it going"),
        );
    }
}
