//! The trajectories of a volume, one for each call: its answer in each world, the worlds in which
//! it gets stuck, repeats or waits.

use std::collections::BTreeSet;

use crate::csi::{Code, Precondition};
use crate::model::visibility::Visibility;
use crate::model::{Call, EffectId, Meaning, Pred, Target, VarId};
use crate::space::components::{Loop, loops};
use crate::space::cycle::round;
use crate::space::graph::Graph;
use crate::space::policy::Choice;
use crate::space::runs::Runs;
use crate::space::world::World;
use crate::space::{Class, Space};

/// Action of a call in a world, in the order in which the call determines it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Answer {
    /// A precondition of the interface applies.
    Precondition(Precondition, Code),
    /// Its target holds.
    Done,
    /// One of its own refusals applies, by position.
    Refusal(usize),
    /// It runs an effect.
    Run(EffectId),
    /// Nothing of this: it waits for a promise.
    Wait,
}

/// One call, explored from every world that it can meet.
#[derive(Debug)]
pub struct CallDrive<'a> {
    pub call: &'a Call,
    pub visibility: Visibility<'a>,
    /// Worlds that it can meet, ascending. A fact that its request does not carry has the first
    /// value.
    pub worlds: Vec<usize>,
    /// By world, also of those that it cannot meet.
    pub answers: Vec<Answer>,
    pub graph: Graph,
    /// Answer in each world, including worlds that it cannot meet.
    pub stuck: Vec<usize>,
    /// Parts in which a fair run can repeat for ever.
    pub loops: Vec<Loop>,
    /// By world: the effect that it runs.
    pub choices: Vec<Choice>,
}

/// The worlds of a volume with the trajectories of all its calls.
#[derive(Debug)]
pub struct Called<'a> {
    pub space: &'a Space<'a>,
    /// In the order of declaration.
    pub drives: Vec<CallDrive<'a>>,
}

impl<'a> Called<'a> {
    /// Explores every declared call.
    pub fn new(space: &'a Space<'a>) -> Self {
        let calls = space.lifecycle.calls.iter();
        Self {
            space,
            drives: calls.map(|call| CallDrive::new(space, call)).collect(),
        }
    }
}

impl<'a> CallDrive<'a> {
    fn new(space: &'a Space<'a>, call: &'a Call) -> Self {
        let visibility = Visibility::new(space.lifecycle, space.frames, call.rpc);
        let preconditions = preconditions(space, call);
        let answer = |index| {
            let world = space.worlds.get(index);
            answer(space, call, &preconditions, world, space.classes[index])
        };
        let answers: Vec<Answer> = space.worlds.indexes().map(answer).collect();
        let vars = (0..space.lifecycle.vars.len()).map(VarId);
        let fixed: Vec<VarId> = vars.filter(|var| visibility.is_fixed(*var)).collect();
        let meets = |index: usize| {
            let world = space.worlds.get(index);
            // A fact that its own `given` disables has the value of this `given`.
            let is_asked = |var: VarId| {
                let mut given = space.lifecycle.vars[var.0].given.iter();
                given.all(|guard| world.holds(&guard.pred))
            };
            fixed
                .iter()
                .all(|var| world.value(*var) == 0 || !is_asked(*var))
        };
        let rests = |index: usize| match answers[index] {
            Answer::Precondition(..) | Answer::Done | Answer::Refusal(_) => true,
            Answer::Run(_) | Answer::Wait => !meets(index),
        };
        let choice = |answer: &Answer| match answer {
            Answer::Run(effect) => Choice::Effect(*effect),
            Answer::Precondition(..) | Answer::Done | Answer::Refusal(_) | Answer::Wait => {
                Choice::Nothing
            }
        };
        let choices: Vec<Choice> = answers.iter().map(choice).collect();
        let graph = Graph::with_choices(space, &choices, rests);
        let stuck = |world: &usize| !graph.is_at_rest(*world) && graph.moves(*world).is_empty();
        Self {
            call,
            visibility,
            worlds: space.worlds.indexes().filter(|at| meets(*at)).collect(),
            stuck: space.worlds.indexes().filter(stuck).collect(),
            loops: loops(&graph, space.worlds.len()),
            answers,
            graph,
            choices,
        }
    }

    /// The runs of the call.
    pub fn runs(&self, space: &'a Space<'a>) -> Runs<'_> {
        Runs {
            space,
            graph: &self.graph,
            choices: &self.choices,
        }
    }

    /// Returns true if the call can meet a world.
    pub fn meets(&self, world: usize) -> bool {
        self.worlds.binary_search(&world).is_ok()
    }

    /// Returns the answer of the call in a world that need not be a world of the lifecycle.
    pub fn answer_in(&self, space: &Space<'_>, world: World<'_>) -> Answer {
        let preconditions = preconditions(space, self.call);
        answer(
            space,
            self.call,
            &preconditions,
            world,
            space.classify(world),
        )
    }

    /// Returns the worlds that it meets and in which it waits for a promise, ascending.
    pub fn waits(&self) -> Vec<usize> {
        let worlds = self.worlds.iter().copied();
        worlds
            .filter(|world| self.answers[*world] == Answer::Wait)
            .filter(|world| !self.graph.moves(*world).is_empty())
            .collect()
    }

    /// Returns the facts that decide its answer.
    pub fn vars(&self, space: &Space<'_>) -> BTreeSet<VarId> {
        let target = target(space, &self.call.target);
        let refusals = self.call.refusals.iter().map(|refusal| &refusal.when);
        let preds = target.into_iter().chain(refusals);
        preds.flat_map(Pred::vars).collect()
    }

    /// A round within one of its loops, as text.
    pub fn describe(&self, space: &Space<'_>, one: &Loop) -> String {
        round(&self.graph, one).describe(space, &self.choices)
    }
}

/// Returns the preconditions that a call evaluates and that may apply, in order of evaluation.
pub fn preconditions<'a>(space: &Space<'a>, call: &Call) -> Vec<(Precondition, Code, &'a Pred)> {
    let asked = call.rpc.demands().preconditions.iter();
    asked
        .filter_map(|(precondition, code)| {
            let mut declared = space.lifecycle.preconditions.iter();
            let declared = declared.find(|declared| declared.precondition == *precondition)?;
            match &declared.meaning {
                Meaning::When(when) => Some((*precondition, *code, when)),
                Meaning::Never(_) => None,
            }
        })
        .collect()
}

/// Returns the predicates that decide whether a target holds. For a state, these are its own and
/// those of the earlier states, which are evaluated first.
pub fn target<'a>(space: &Space<'a>, target: &'a Target) -> Vec<&'a Pred> {
    match target {
        Target::Nothing => Vec::new(),
        Target::Pred(pred) => vec![pred],
        Target::State(state, _) => {
            let states = space.lifecycle.states[..=state.0].iter();
            states.map(|state| &state.when).collect()
        }
    }
}

fn answer(
    space: &Space<'_>,
    call: &Call,
    preconditions: &[(Precondition, Code, &Pred)],
    world: World<'_>,
    class: Class,
) -> Answer {
    if let Some((precondition, code, _)) =
        preconditions.iter().find(|(_, _, when)| world.holds(when))
    {
        return Answer::Precondition(*precondition, *code);
    }
    if holds(&call.target, world, class) {
        return Answer::Done;
    }
    let mut refusals = call.refusals.iter();
    if let Some(refusal) = refusals.position(|refusal| world.holds(&refusal.when)) {
        return Answer::Refusal(refusal);
    }
    let mut steps = call.by.iter().map(|(effect, _)| *effect);
    let step = steps.find(|effect| space.permissions.enabled(*effect, world));
    step.map_or(Answer::Wait, Answer::Run)
}

fn holds(target: &Target, world: World<'_>, class: Class) -> bool {
    match target {
        Target::Nothing => true,
        Target::State(state, _) => class == Class::State(*state),
        Target::Pred(pred) => world.holds(pred),
    }
}
