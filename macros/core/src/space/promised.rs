//! Changes that the environment makes by itself sooner or later: declared promises, and those that
//! every lifecycle has.

use std::collections::BTreeSet;

use crate::model::{InputId, Lifecycle, Mode, Pred, VarId, Verdict};
use crate::space::world::World;

/// Mover of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mover {
    /// Our effect.
    Effect,
    /// Our finalizer.
    Claim,
    /// A declared promise, by its position.
    Promise(usize),
    /// The object that is being deleted is gone. The members of a set likewise.
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
    when: PromiseCondition<'a>,
    /// The alternatives.
    pub sets: Vec<Vec<(VarId, usize)>>,
}

#[derive(Debug)]
enum PromiseCondition<'a> {
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
                when: PromiseCondition::Pred(&promise.when),
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

    /// Returns the variables that decide if the promise must be kept.
    pub fn vars(&self) -> BTreeSet<VarId> {
        match self.when {
            PromiseCondition::Pred(pred) => pred.vars(),
            PromiseCondition::Value(var, _) => BTreeSet::from([var]),
        }
    }

    /// Returns true if the promise must be kept in this world.
    pub fn holds(&self, world: World<'_>) -> bool {
        match self.when {
            PromiseCondition::Pred(pred) => world.holds(pred),
            PromiseCondition::Value(var, value) => world.is_asked(var) && world.value(var) == value,
        }
    }
}

fn built_in(lifecycle: &Lifecycle, input: InputId, var: VarId) -> Vec<Promised<'_>> {
    let declared = &lifecycle.vars[var.0];
    let promise = |mover, when: Verdict, to: &[Verdict]| {
        let to = to.iter().filter_map(|verdict| declared.position(*verdict));
        Some(Promised {
            mover,
            when: PromiseCondition::Value(var, declared.position(when)?),
            sets: to.map(|to| vec![(var, to)]).collect(),
        })
    };
    let polled = lifecycle.inputs[input.0].mode == Mode::Poll;
    let is_once = lifecycle.inputs[input.0].noted.is_some();
    // An object that is not wanted is current once it is gone.
    let is_optional = lifecycle.inputs[input.0].only_if.is_some();
    let gone: &[Verdict] = match (is_once, is_optional) {
        (true, _) => &[Verdict::Gone],
        (false, true) => &[Verdict::Absent, Verdict::Current],
        (false, false) => &[Verdict::Absent],
    };
    // A created member is not created again. However, the members are created and recorded one
    // after the other.
    let again = if is_once {
        Verdict::New
    } else {
        Verdict::Draining
    };
    let all = [
        promise(Mover::Gone(input), Verdict::Terminating, gone),
        promise(
            Mover::Gone(input),
            Verdict::Draining,
            &[Verdict::Foreign, Verdict::Current],
        ),
        promise(Mover::Again(input), again, &[Verdict::Behind]),
        promise(Mover::Answer(input), Verdict::Unknown, &[Verdict::Known]).filter(|_| polled),
    ];
    all.into_iter().flatten().collect()
}
