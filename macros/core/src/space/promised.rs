//! What the outside does by itself sooner or later: declared promises and those that every lifecycle has.

use crate::model::{InputId, Lifecycle, Mode, Pred, VarId};
use crate::space::world::World;

/// Who moves a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mover {
    /// Our effect.
    Effect,
    /// Our finalizer.
    Claim,
    /// A declared promise, by its position.
    Promise(usize),
    /// What is being deleted is gone; the members of a set likewise.
    Gone(InputId),
    /// A member of a set is gone and has to be made anew, or the next one has to be made. Once for each member: finitely often.
    Again(InputId),
    /// The poll answers.
    Answer(InputId),
}

impl Mover {
    /// Each such move repairs one member of a set, so it can make no loop.
    pub fn is_ranked(self) -> bool {
        matches!(self, Self::Again(_))
    }
}

/// One promise.
#[derive(Debug)]
pub struct Promised<'a> {
    pub mover: Mover,
    when: When<'a>,
    /// The alternatives.
    pub sets: Vec<Vec<(VarId, usize)>>,
}

#[derive(Debug)]
enum When<'a> {
    Pred(&'a Pred),
    Value(VarId, usize),
}

impl<'a> Promised<'a> {
    /// All promises of a lifecycle, declared ones first.
    pub fn all(lifecycle: &'a Lifecycle) -> Vec<Self> {
        let declared = lifecycle.promises.iter().enumerate();
        let mut all: Vec<Self> = declared
            .map(|(position, promise)| Self {
                mover: Mover::Promise(position),
                when: When::Pred(&promise.when),
                sets: promise
                    .sets
                    .iter()
                    .map(|set| {
                        set.iter()
                            .map(|assign| (assign.var, assign.value))
                            .collect()
                    })
                    .collect(),
            })
            .collect();
        for (input, declared) in lifecycle.inputs.iter().enumerate() {
            if let Some(var) = declared.var {
                all.extend(built_in(lifecycle, InputId(input), var));
            }
        }
        all
    }

    /// Whether the promise is to be kept in this world.
    pub fn holds(&self, world: World<'_>) -> bool {
        match self.when {
            When::Pred(pred) => world.holds(pred),
            When::Value(var, value) => world.asked(var) && world.value(var) == value,
        }
    }
}

fn built_in(lifecycle: &Lifecycle, input: InputId, var: VarId) -> Vec<Promised<'_>> {
    let values = &lifecycle.vars[var.0].values;
    let value = |name: &str| values.iter().position(|value| value == name);
    let promise = |mover, when: &str, to: &[&str]| {
        let to = to.iter().filter_map(|name| value(name));
        Some(Promised {
            mover,
            when: When::Value(var, value(when)?),
            sets: to.map(|to| vec![(var, to)]).collect(),
        })
    };
    let polled = lifecycle.inputs[input.0].mode == Mode::Poll;
    let is_once = lifecycle.inputs[input.0].noted.is_some();
    let gone = if is_once { "Gone" } else { "Absent" };
    // A member that was made is not made anew; but one after the other is made and noted.
    let again = if is_once { "New" } else { "Draining" };
    let all = [
        promise(Mover::Gone(input), "Terminating", &[gone]),
        promise(Mover::Gone(input), "Draining", &["Foreign", "Current"]),
        promise(Mover::Again(input), again, &["Behind"]),
        promise(Mover::Answer(input), "Unknown", &["Known"]).filter(|_| polled),
    ];
    all.into_iter().flatten().collect()
}
