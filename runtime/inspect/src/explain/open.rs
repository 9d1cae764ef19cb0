//! Unknowns of a look and their possible values: the questions that the environment, a missing
//! right or the memory of the operator would answer. Also narrows down the possible worlds, as far
//! as the status allows. Pure.

use std::collections::{BTreeMap, BTreeSet};

use lifecycle_runtime::cluster::observe::Observed;
use lifecycle_runtime::lifecycle::Observation;
use lifecycle_runtime::machine::ir::{Lifecycle, Mode, Node, Origin};
use lifecycle_runtime::machine::verdict::Verdict;
use lifecycle_runtime::machine::world::World;

use crate::explain::reported::Reported;

/// More worlds are not gone through.
const MOST: usize = 20_000;

/// Returns the open questions and their possible answers.
pub(crate) fn vars(
    ir: &Lifecycle,
    seen: &Observation,
    closed: &BTreeSet<usize>,
    is_apart: impl Fn(usize) -> bool,
) -> BTreeMap<usize, Vec<u8>> {
    let mut open = BTreeMap::new();
    for (number, var) in ir.vars.iter().enumerate() {
        let all: Vec<u8> = (0..var.answers).collect();
        let compares = |value: &str| {
            let verdict = Verdict::from_name(value);
            matches!(verdict, Some(Verdict::Stale | Verdict::Current))
        };
        let is_compared = compares(ir.value(&seen.world, number));
        match var.origin {
            Origin::Input(input) if is_apart(input) && is_compared => {
                let mut compared = all;
                compared.retain(|answer| compares(var.values[usize::from(*answer)]));
                open.insert(number, compared);
            }
            Origin::Input(_) | Origin::Fact => {
                let mut reads = var.reads.iter();
                let is_closed = reads.any(|input| closed.contains(input));
                if is_closed && !is_settled(ir, seen, closed, number) {
                    open.insert(number, all);
                }
            }
            Origin::Refused(_) | Origin::Deleting | Origin::Claimed => {}
        }
    }
    open
}

/// Returns true for a fact that is evaluated here although no external system was queried. Then
/// only its `given` depends on such a reply. If the fact can be evaluated without a reply, its
/// method receives none.
fn is_settled(ir: &Lifecycle, seen: &Observation, closed: &BTreeSet<usize>, var: usize) -> bool {
    let var = &ir.vars[var];
    let is_evaluated = var.given.iter().all(|guard| seen.world.holds(&guard.pred));
    let asked = var.given.iter().flat_map(|guard| guard.pred.vars());
    let guarded: BTreeSet<usize> = asked.flat_map(|var| ir.vars[var].reads).copied().collect();
    let is_of_given = |input: &usize| {
        let is_outside = matches!(ir.inputs[*input].mode, Mode::Poll | Mode::Probe);
        is_outside && guarded.contains(input)
    };
    let mut unknown = var.reads.iter().filter(|input| closed.contains(input));
    var.origin == Origin::Fact && is_evaluated && unknown.all(is_of_given)
}

/// Returns the possible worlds, and whether the status reports one of them.
pub(crate) fn worlds(
    ir: &Lifecycle,
    observed: &Observed,
    open: &BTreeMap<usize, Vec<u8>>,
    reported: &Reported,
) -> (Vec<World>, bool) {
    let (seen, deleting) = (&observed.observation, observed.is_deleting());
    let mut all = Vec::new();
    if observed.failure.is_none() && !deleting {
        let base = Base {
            ir,
            seen: &seen.world,
            open,
        };
        base.follow(0, World::first(ir), &mut all);
        all.retain(|world| !ir.nevers.iter().any(|never| world.holds(never)));
    }
    if all.is_empty() || all.len() >= MOST {
        all = vec![seen.world.clone()];
    }
    let tells =
        |world: &World| reported.matches_world(ir, seen, (ir.classify(world, deleting), world));
    let told: Vec<World> = all.iter().filter(|world| tells(world)).cloned().collect();
    if !told.is_empty() {
        return (told, !reported.is_behind);
    }
    // A refusal is remembered by the operator alone.
    let refused: Vec<World> = all
        .iter()
        .flat_map(|world| refusals(ir, world, deleting))
        .filter(|world| tells(world))
        .collect();
    match refused.is_empty() || deleting {
        true => (all, false),
        false => (refused, !reported.is_behind),
    }
}

/// The same world, with one write refused that would leave in it.
fn refusals<'a>(
    ir: &'a Lifecycle,
    world: &'a World,
    deleting: bool,
) -> impl Iterator<Item = World> + 'a {
    let effects = 0..ir.effects.len();
    let permitted = effects.filter(move |effect| ir.permitted(world, *effect, deleting));
    permitted.map(move |effect| {
        let mut other = world.clone();
        other.set(ir.effects[effect].refused, 1);
        other
    })
}

struct Base<'a> {
    ir: &'a Lifecycle,
    seen: &'a World,
    open: &'a BTreeMap<usize, Vec<u8>>,
}

impl Base<'_> {
    /// Answers the questions from this node on in every way.
    fn follow(&self, node: usize, mut world: World, into: &mut Vec<World>) {
        for (at, node) in self.ir.order.iter().enumerate().skip(node) {
            let Node::Var(var) = *node else { continue };
            let declared = &self.ir.vars[var];
            let guard = declared.given.iter().find(|g| !world.holds(&g.pred));
            if let Some(guard) = guard {
                world.set(var, guard.otherwise);
                continue;
            }
            let was_asked = declared.given.iter().all(|g| self.seen.holds(&g.pred));
            let anything: Vec<u8> = (0..declared.answers).collect();
            let answers = match (self.open.get(&var), was_asked) {
                (Some(answers), true) => answers,
                (Some(_), false) => &anything,
                (None, true) => {
                    world.set(var, self.seen.get(var));
                    continue;
                }
                (None, false) => &anything,
            };
            for answer in answers {
                if into.len() >= MOST {
                    return;
                }
                let mut other = world.clone();
                other.set(var, *answer);
                self.follow(at + 1, other, into);
            }
            return;
        }
        into.push(world);
    }
}
