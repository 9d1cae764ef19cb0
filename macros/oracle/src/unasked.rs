//! What rests on a fact that is not asked, and of which nobody says what counts then: each decision is made again with every other answer.

use crate::calls::{Answer, Asking, Visibility, rpc};
use crate::findings::Found;
use crate::graph::Graph;
use crate::moves::Move;
use crate::syntax::{Call, Fact};
use crate::worlds::{Act, NodePlace, Test, Value, World, Worlds};

/// The world with another answer of a variable.
type Change = (usize, World, World);

impl Worlds<'_> {
    /// Every world in which a fact is not asked for want of an `else`, with each other answer: which world, as it is, and as it would be.
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

    /// Whether what the author wrote about an effect asks the fact.
    fn is_about(&self, act: &Act, fact: &Fact) -> bool {
        let var = self.var(&fact.name).expect("every fact has a variable");
        act.tests
            .iter()
            .chain(&act.when)
            .any(|test| asks(test, var))
    }
}

fn asks(test: &Test, var: usize) -> bool {
    match test {
        Test::And(left, right) | Test::Or(left, right) => asks(left, var) || asks(right, var),
        Test::Not(inner) => asks(inner, var),
        Test::Is(other, _) => *other == var,
        Test::Enabled(_) => false,
    }
}

/// Of a resource: its states, the clauses of its conditions, and what it does.
pub(crate) fn of_resource(graph: &Graph<'_>, found: &mut Found) {
    let worlds = graph.worlds;
    for fact in &worlds.life.facts {
        let decides = |(at, world, other): &Change| {
            let live = !worlds.is_deleting(world);
            let state = matches!(worlds.states[*at], Some(NodePlace::State(_)))
                && worlds.place(other) != worlds.place(world);
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
            found.say("LC014", &fact.name);
        }
    }
}

/// Of a volume: what its calls answer and do.
pub(crate) fn of_volume(worlds: &Worlds<'_>, found: &mut Found) {
    for fact in &worlds.life.facts {
        let changes = worlds.unasked_worlds(fact);
        let decides = |call: &Call| of_call(worlds, fact, call, &changes);
        if worlds.life.calls.iter().any(decides) {
            found.say("LC014", &fact.name);
        }
    }
}

fn of_call(worlds: &Worlds<'_>, fact: &Fact, call: &Call, changes: &[Change]) -> bool {
    let asking = Asking::new(worlds, call);
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
            asking.answer(other, worlds.place(other)) != told
        }
    };
    met.any(decides)
}
