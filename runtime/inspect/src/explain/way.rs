//! The declared way from a state to the goal, with its deadlines; from a state that nothing leads out of, from where it would be next. Pure.

use std::collections::{BTreeMap, VecDeque};

use lifecycle_runtime::machine::ir::{Lifecycle, Node, Phase, StateId};
use lifecycle_runtime::machine::policy::Class;
use lifecycle_runtime::machine::world::World;

use crate::explain::explanation::{Route, Step};
use crate::explain::look::{Inspection, Position};

/// The way from here.
pub(crate) fn find_route(look: &Inspection<'_>, place: &Position) -> Route {
    let (ir, world) = (look.ir, &place.worlds[0]);
    let state = match place.class {
        Class::State(state) => state,
        Class::Refused { .. } | Class::Deleting | Class::Contradiction => return Route::default(),
    };
    if ir.states[state].goal {
        return Route::default();
    }
    if let Some(path) = path(ir, state) {
        return Route {
            first: None,
            steps: path.into_iter().map(|state| step(look, state)).collect(),
        };
    }
    let name = ir.states[state].name;
    let Some(next) = next(ir, world, state) else {
        return Route {
            first: Some(format!("nothing leads out of {name} by itself")),
            steps: Vec::new(),
        };
    };
    Route {
        first: Some(format!(
            "nothing leads out of {name} by itself; if nothing else is wrong, it goes on from {}",
            ir.states[next].name
        )),
        steps: path(ir, next)
            .unwrap_or_else(|| vec![next])
            .into_iter()
            .map(|state| step(look, state))
            .collect(),
    }
}

fn step(look: &Inspection<'_>, state: StateId) -> Step {
    Step {
        state: look.ir.states[state].name.to_owned(),
        overdue_after: deadline(look, state).map(|limit| limit.as_secs()),
    }
}

/// Returns the time after which a state is overdue, if overdue states are reported.
pub(crate) fn deadline(look: &Inspection<'_>, state: StateId) -> Option<std::time::Duration> {
    let declared = &look.ir.states[state];
    if declared.phase != Phase::Pending || declared.wakes.is_some() {
        return None;
    }
    let said = declared.overdue.said;
    let said = said.and_then(|time| look.of.machine.time(&look.observed.observation, time));
    Some(declared.overdue.resolve(said.as_ref()).0)
}

/// The shortest way to a goal, itself first.
fn path(ir: &Lifecycle, from: StateId) -> Option<Vec<StateId>> {
    let mut before: BTreeMap<StateId, StateId> = BTreeMap::new();
    let mut queue = VecDeque::from([from]);
    while let Some(at) = queue.pop_front() {
        if ir.states[at].goal {
            let mut path = vec![at];
            while let Some(earlier) = before.get(path.last()?) {
                path.push(*earlier);
            }
            path.reverse();
            return Some(path);
        }
        for edge in ir.edges.iter().filter(|edge| edge.from == at) {
            if edge.to != from && !before.contains_key(&edge.to) {
                before.insert(edge.to, at);
                queue.push_back(edge.to);
            }
        }
    }
    None
}

/// Returns the next state if the deciding facts changed and no other fact did.
fn next(ir: &Lifecycle, world: &World, state: StateId) -> Option<StateId> {
    let vars = ir.decided_by(state, world);
    let others = vars.into_iter().flat_map(|var| {
        let now = world.get(var);
        let answers = (0..ir.vars[var].answers).rev();
        answers
            .filter(move |answer| *answer != now)
            .map(move |answer| (var, answer))
    });
    let mut found = others.filter_map(|(var, answer)| {
        let other = otherwise(ir, world, (var, answer));
        match ir.classify(&other, false) {
            Class::State(next) if next != state => Some(next),
            Class::State(_) | Class::Refused { .. } | Class::Deleting | Class::Contradiction => {
                None
            }
        }
    });
    found.find(|next| {
        let leads = ir.states[*next].goal || path(ir, *next).is_some();
        leads && ir.states[*next].phase != Phase::Error
    })
}

/// Returns the world with a different answer. A question that is open only in that world gets its
/// first answer.
fn otherwise(ir: &Lifecycle, world: &World, (changed, answer): (usize, u8)) -> World {
    let mut other = world.clone();
    for node in ir.order {
        let Node::Var(var) = *node else { continue };
        if var == changed {
            other.set(var, answer);
            continue;
        }
        let given = ir.vars[var].given;
        match given.iter().find(|guard| !other.holds(&guard.pred)) {
            Some(guard) => other.set(var, guard.otherwise),
            None if given.iter().any(|guard| !world.holds(&guard.pred)) => other.set(var, 0),
            None => {}
        }
    }
    other
}
