//! Decisions that depend on a fact that is not evaluated and has no declared default. The oracle
//! repeats each decision with every other answer.

use crate::calls::{Answer, ResolvedCall, Visibility, rpc};
use crate::findings::Findings;
use crate::graph::Graph;
use crate::moves::Move;
use crate::syntax::{Call, Fact};
use crate::worlds::{Act, NodePlace, Test, Value, World, Worlds};

/// The world with another answer of a variable.
type Change = (usize, World, World);

impl Worlds<'_> {
    /// Returns every world in which a fact without an `else` is not evaluated, with each other
    /// answer: the index of the world, the world itself, and the changed world.
    fn unasked_worlds(&self, fact: &Fact) -> Vec<Change> {
        let var = self.var(&fact.name).expect("every fact has a variable");
        let silent = |world: &World| {
            let chain = self.vars[var].chain.iter().zip(&fact.chain);
            let mut failing = chain.filter(|((given, _), _)| !self.holds(given, world));
            failing
                .next()
                .is_some_and(|(_, (_, other))| other.is_none())
        };
        let mut all = Vec::new();
        for (at, world) in self
            .all
            .iter()
            .enumerate()
            .filter(|(_, world)| silent(world))
        {
            let others: Vec<Value> = self.vars[var].answers.clone();
            for answer in others.into_iter().filter(|answer| *answer != world[var]) {
                let mut other = world.clone();
                other[var] = answer;
                all.push((at, world.clone(), other));
            }
        }
        all
    }

    /// Returns true if the author's predicates about an effect evaluate the fact.
    fn is_about(&self, act: &Act, fact: &Fact) -> bool {
        let var = self.var(&fact.name).expect("every fact has a variable");
        act.tests
            .iter()
            .chain(&act.when)
            .any(|test| reads_var(test, var))
    }
}

fn reads_var(test: &Test, var: usize) -> bool {
    match test {
        Test::And(left, right) | Test::Or(left, right) => {
            reads_var(left, var) || reads_var(right, var)
        }
        Test::Not(inner) => reads_var(inner, var),
        Test::Is(other, _) => *other == var,
        Test::Enabled(_) => false,
    }
}

/// Compares the decisions of a resource: its states, the clauses of its conditions, and its
/// effects.
pub(crate) fn of_resource(graph: &Graph<'_>, found: &mut Findings) {
    let worlds = graph.worlds;
    for fact in &worlds.life.facts {
        let decides = |(at, world, other): &Change| {
            let live = !worlds.is_deleting(world);
            let state = matches!(worlds.states[*at], Some(NodePlace::State(_)))
                && worlds.classify(other) != worlds.classify(world);
            let clause = live
                && (0..worlds.life.conditions.len()).any(|condition| {
                    graph.tells_of(condition, at)
                        && graph.clause_in(condition, world) != graph.clause_in(condition, other)
                });
            let runs = match graph.policy[*at] {
                Some(Move::Run(act) | Move::Claim(Some(act))) => Some(&worlds.acts[act]),
                Some(Move::Claim(None) | Move::Release) | None => None,
            };
            let effect =
                runs.is_some_and(|act| worlds.is_about(act, fact) && !worlds.enabled(act, other));
            state || clause || effect
        };
        if worlds.unasked_worlds(fact).iter().any(decides) {
            found.report("LC014", &fact.name);
        }
    }
}

/// Compares the decisions of a volume: the answers and effects of its calls.
pub(crate) fn of_volume(worlds: &Worlds<'_>, found: &mut Findings) {
    for fact in &worlds.life.facts {
        let changes = worlds.unasked_worlds(fact);
        let decides = |call: &Call| of_call(worlds, fact, call, &changes);
        if worlds.life.calls.iter().any(decides) {
            found.report("LC014", &fact.name);
        }
    }
}

fn of_call(worlds: &Worlds<'_>, fact: &Fact, call: &Call, changes: &[Change]) -> bool {
    let asking = ResolvedCall::new(worlds, call);
    let visibility = Visibility::new(worlds.life, worlds, rpc(&call.name));
    let mut met = changes
        .iter()
        .filter(|(_, world, _)| visibility.meets(world));
    let decides = |(at, world, other): &Change| match asking.answer(world, worlds.states[*at]) {
        Answer::Wait => false,
        Answer::Run(act) => {
            let act = &worlds.acts[act];
            worlds.is_about(act, fact) && !worlds.enabled(act, other)
        }
        told @ (Answer::Precondition(_) | Answer::Done | Answer::Refusal(_)) => {
            asking.answer(other, worlds.classify(other)) != told
        }
    };
    met.any(decides)
}
