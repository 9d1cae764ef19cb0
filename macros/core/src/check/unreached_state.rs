//! A property `reaches A | B from C` has a quiet run from a world of `C` that ends before it comes
//! to a world of `A` or `B`. Every promise is kept in such a run, and nothing interferes. A run in
//! which a write is refused that no state mentions waits in `Refused`, and is excepted. A refusal
//! that a state mentions counts as that state. Other rules find runs that get stuck or repeat
//! (LC021 to LC024).
//!
//! ```text
//! properties { reaches Ready from Applying; }              // refused: a run may end in `Taken`, where somebody else has the name
//! properties { reaches Ready | Taken from Applying; }
//! ```

use super::idle_promise::waits_for_nobody;
use crate::errors::Sink;
use crate::model::{Property, PropertyOf, StateId};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Class;
use crate::space::explored::Explored;
use crate::space::runs::{Backwards, Walk};
use crate::space::witness::{Claim, minimal};

pub(super) const RULE: Rule = Rule {
    code: "LC095",
    name: "unreached_state",
    group: Group::Properties,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Drives(check),
};

fn check(explored: &Explored<'_>, sink: &mut Sink) {
    let space = explored.space;
    let mut back = None;
    for property in &space.lifecycle.properties {
        let PropertyOf::Reaches { to, from } = &property.what else {
            continue;
        };
        // A run that begins in its own goal cannot fail there, and the finding reports that.
        if from.iter().any(|state| to.contains(state)) {
            continue;
        }
        let worlds = space.worlds.len();
        let back =
            back.get_or_insert_with(|| Backwards::from_graph(&explored.drives.graph, worlds));
        check_property(explored, back, property, (to, from), sink);
    }
}

fn check_property(
    explored: &Explored<'_>,
    back: &Backwards,
    property: &Property,
    (to, from): (&[StateId], &[StateId]),
    sink: &mut Sink,
) {
    let (space, graph) = (explored.space, &explored.drives.graph);
    let arrived = |world: usize| match space.classes[world] {
        Class::State(state) => to.contains(&state),
        Class::Refused => true,
        Class::Deleting | Class::Closed | Class::Nowhere => false,
    };
    let ends = |world: usize| graph.is_at_rest(world) && !arrived(world);
    let goals: Vec<usize> = space.live().filter(|world| ends(*world)).collect();
    let leading = back.leading(graph, &goals, &arrived);
    let sources = from.iter().map(|state| Class::State(*state));
    let mut found = sources.filter_map(|class| {
        let mut worlds = explored.worlds_of(class);
        worlds
            .find(|world| leading[*world])
            .map(|world| (class, world))
    });
    let Some((class, example)) = found.next() else {
        return;
    };
    let runs = explored.runs();
    let start = u32::try_from(example).expect("bounded by the limit of worlds");
    let walk = runs.walk([start], &ends, &arrived);
    let walk = walk.expect("it was found to lead there");
    let claim = Claim {
        about: explored.worlds_of(class).collect(),
        bad: &|world| leading[world],
        expected: explored.vars_of(class),
    };
    let witness = minimal(space, &claim, example);
    let (message, help) = describe_violation(explored, &walk, (class, &witness), to);
    sink.push(
        RULE.finding(property.span, property.name.as_str(), message)
            .help(help),
    );
}

fn describe_violation(
    explored: &Explored<'_>,
    walk: &Walk,
    (class, witness): (Class, &str),
    to: &[StateId],
) -> (String, String) {
    let (space, runs) = (explored.space, explored.runs());
    let name = space.class_name(class);
    let states = |mark: &str| {
        let names = to.iter().map(|to| space.class_name(Class::State(*to)));
        names.collect::<Vec<_>>().join(mark)
    };
    let wanted = states("` or `");
    let end = space.classes[walk.end as usize];
    let end_name = space.class_name(end);
    let message = if walk.moves.is_empty() {
        format!("`{name}` with `{witness}` is settled: a quiet run ends there, without `{wanted}`")
    } else {
        let way = runs.describe(walk);
        let way = way.map(|way| format!(": {way}")).unwrap_or_default();
        format!(
            "from `{name}` with `{witness}` a quiet run may end in `{end_name}`, without `{wanted}`{way}"
        )
    };
    let idle = match end {
        Class::State(state) => explored
            .idly_promised(end, |class| class != end)
            .map(|promise| waits_for_nobody(&space.lifecycle.states[state.0], promise)),
        Class::Deleting | Class::Refused | Class::Closed | Class::Nowhere => None,
    };
    let help = if let Some(idle) = idle {
        idle
    } else if end == class {
        format!(
            "let an effect or a promise lead on from there, or give the worlds of `{name}` that wait a state of their own"
        )
    } else {
        let to = states(" | ");
        format!(
            "let an effect or a promise lead on from there, or allow runs to end there as well: `reaches {to} | {end_name} from {name}`"
        )
    };
    (message, help)
}
