//! Properties that an author claims. The oracle decides them by looking at every world and
//! following every move, round after round, until nothing is new.

use std::collections::{BTreeMap, BTreeSet};

use crate::broken::Rule;
use crate::drive::Mover;
use crate::findings::Findings;
use crate::moves::Move;
use crate::syntax::{Life, Pred, Property};
use crate::values::values;
use crate::worlds::{NodePlace, Worlds};

/// Predicates with more combinations of values are not tried.
const COMBINATIONS: usize = 4_096;

type Moves = BTreeMap<usize, BTreeMap<Mover, BTreeSet<usize>>>;

/// The quiet runs of an object, or of one call.
pub(crate) struct Runs<'a> {
    worlds: &'a Worlds<'a>,
    pub(crate) moves: Moves,
    /// Worlds in which a run may end.
    over: BTreeSet<usize>,
    /// Worlds with the effect that runs there.
    running: BTreeSet<(usize, usize)>,
    /// Worlds with each effect that is enabled there.
    pub(crate) enabled: BTreeSet<(usize, usize)>,
}

impl<'a> Runs<'a> {
    pub(crate) fn new(
        worlds: &'a Worlds<'a>,
        moves: Moves,
        policy: &[Option<Move>],
        over: &dyn Fn(usize) -> bool,
    ) -> Self {
        let mut running = BTreeSet::new();
        for (at, policy) in policy.iter().enumerate() {
            if let (Some(Move::Run(act)), false) = (policy, over(at)) {
                running.insert((at, *act));
            }
        }
        Self {
            worlds,
            over: (0..policy.len()).filter(|at| over(*at)).collect(),
            moves,
            running,
            enabled: BTreeSet::new(),
        }
    }

    fn running(&self, act: usize) -> BTreeSet<usize> {
        let here = self.running.iter().filter(|(_, one)| *one == act);
        here.map(|(at, _)| *at).collect()
    }

    /// Returns the worlds from which a run may come to one of these.
    fn leads_to(&self, goals: &BTreeSet<usize>, closed: &dyn Fn(usize) -> bool) -> BTreeSet<usize> {
        let mut leads = goals.clone();
        loop {
            let before = leads.len();
            for (&at, moves) in &self.moves {
                let mut ends = moves.values().flatten();
                if !closed(at) && ends.any(|end| leads.contains(end)) {
                    leads.insert(at);
                }
            }
            if leads.len() == before {
                return leads;
            }
        }
    }

    /// Returns true if one effect may run after another one was accepted.
    fn may_follow(&self, earlier: usize, later: usize) -> bool {
        let leads = self.leads_to(&self.running(later), &|_| false);
        let refused = self.worlds.acts[earlier].refused;
        let counts = self.worlds.forgets(Rule::RefusedHasNotRun);
        let accepted = |end: &&usize| counts || self.worlds.all[**end][refused] == 0;
        self.running(earlier).iter().any(|at| {
            let ends = self.moves.get(at).and_then(|moves| moves.get(&Mover::Us));
            let mut ends = ends.into_iter().flatten().filter(accepted);
            ends.any(|end| leads.contains(end))
        })
    }
}

fn act(worlds: &Worlds<'_>, name: &str) -> usize {
    let found = worlds.acts.iter().position(|act| act.name == name);
    found.expect("names were checked before")
}

/// `always`, of objects and volumes.
pub(crate) fn in_worlds(worlds: &Worlds<'_>, over: &dyn Fn(usize) -> bool, found: &mut Findings) {
    for property in &worlds.life.properties {
        let Property::Always { pred, states, rest } = property else {
            continue;
        };
        let name = property.name();
        if holds_anyway(worlds.life, pred) {
            found.report("LC096", name);
            continue;
        }
        let all = (0..worlds.all.len()).filter(|at| !rest || over(*at));
        let all: Vec<usize> = all.collect();
        let places: BTreeSet<NodePlace> =
            states.iter().map(|name| find_place(worlds, name)).collect();
        let there: BTreeSet<NodePlace> = all.iter().filter_map(|at| worlds.states[*at]).collect();
        if all.is_empty() || !places.is_subset(&there) {
            found.report("LC096", &name);
        }
        let test = worlds.test(pred);
        let about = |at: &usize| worlds.states[*at].is_some_and(|at| places.contains(&at));
        let mut about = all.iter().filter(|at| places.is_empty() || about(at));
        if !about.all(|at| worlds.holds(&test, &worlds.all[*at])) {
            found.report("LC092", name);
        }
    }
}

fn find_place(worlds: &Worlds<'_>, name: &str) -> NodePlace {
    let mut states = worlds.life.states.iter();
    let declared = states.position(|state| state.name == name);
    let declared = declared.map(NodePlace::State);
    declared.unwrap_or(match name {
        "Deleting" => NodePlace::Deleting,
        _ => NodePlace::Refused,
    })
}

/// Everything else of an object.
pub(crate) fn in_life(runs: &Runs<'_>, found: &mut Findings) {
    let worlds = runs.worlds;
    let mut enabled = BTreeSet::new();
    let alone = worlds.forgets(Rule::EnabledBehind);
    for (at, world) in worlds.all.iter().enumerate() {
        for (number, act) in worlds.acts.iter().enumerate() {
            let runs = runs.running.contains(&(at, number));
            if worlds.enabled(act, world) && (runs || !alone) {
                enabled.insert((at, number));
            }
        }
    }
    nevers(worlds, &enabled, found);
    orders(worlds, std::slice::from_ref(runs), found);
    for property in &worlds.life.properties {
        if let Property::Reaches { to, from } = property {
            reaches(runs, property, to, from, found);
        }
    }
}

/// The same of the calls of a volume, which reach nothing by themselves.
pub(crate) fn in_calls(worlds: &Worlds<'_>, calls: &[Runs<'_>], found: &mut Findings) {
    let enabled = calls.iter().flat_map(|runs| &runs.enabled);
    nevers(worlds, &enabled.copied().collect(), found);
    orders(worlds, calls, found);
}

fn nevers(worlds: &Worlds<'_>, enabled: &BTreeSet<(usize, usize)>, found: &mut Findings) {
    for property in &worlds.life.properties {
        let Property::Never { effect, pred } = property else {
            continue;
        };
        let (number, test) = (act(worlds, effect), worlds.test(pred));
        let all = 0..worlds.all.len();
        let holds = all.filter(|at| worlds.holds(&test, &worlds.all[*at]));
        let holds: Vec<usize> = holds.collect();
        let refused = worlds.acts[number].refused;
        if holds.iter().all(|at| worlds.all[*at][refused] == 1) {
            found.report("LC096", property.name());
        }
        if holds.iter().any(|at| enabled.contains(&(*at, number))) {
            found.report("LC093", property.name());
        }
    }
}

fn orders(worlds: &Worlds<'_>, drives: &[Runs<'_>], found: &mut Findings) {
    for property in &worlds.life.properties {
        let Property::Before(first, then) = property else {
            continue;
        };
        let (first, then) = (act(worlds, first), act(worlds, then));
        let follows = |earlier, later| drives.iter().any(|runs| runs.may_follow(earlier, later));
        let runs = |act| drives.iter().any(|runs| !runs.running(act).is_empty());
        if first == then {
            found.report("LC096", property.name());
        } else if follows(then, first) {
            found.report("LC094", property.name());
        } else if runs(first) && runs(then) && !follows(first, then) {
            found.report("LC096", property.name());
        }
    }
}

fn reaches(
    runs: &Runs<'_>,
    property: &Property,
    to: &[String],
    from: &[String],
    found: &mut Findings,
) {
    if from.iter().any(|state| to.contains(state)) {
        found.report("LC096", property.name());
        return;
    }
    let worlds = runs.worlds;
    let places = |names: &[String]| -> BTreeSet<NodePlace> {
        names.iter().map(|name| find_place(worlds, name)).collect()
    };
    let (mut to, from) = (places(to), places(from));
    if !worlds.forgets(Rule::RefusedIsExcepted) {
        to.insert(NodePlace::Refused);
    }
    let is_in = |places: &BTreeSet<NodePlace>, at: usize| {
        worlds.states[at].is_some_and(|at| places.contains(&at))
    };
    let elsewhere = |at: &&usize| !is_in(&to, **at) && !worlds.is_deleting(&worlds.all[**at]);
    let ends: BTreeSet<usize> = runs.over.iter().filter(elsewhere).copied().collect();
    let lost = runs.leads_to(&ends, &|at| is_in(&to, at));
    if lost.iter().any(|at| is_in(&from, *at)) {
        found.report("LC095", property.name());
    }
}

/// Returns true if a predicate holds with all values that its facts may have, even if no such world
/// exists.
fn holds_anyway(life: &Life, pred: &Pred) -> bool {
    let names = pred.atoms();
    let domains: Vec<Vec<String>> = names
        .iter()
        .map(|name| {
            let (answers, others) = values(life, name).expect("names were checked before");
            let all: BTreeSet<String> = answers.into_iter().chain(others).collect();
            all.into_iter().collect()
        })
        .collect();
    let many = domains.iter().map(Vec::len).product::<usize>() > COMBINATIONS;
    !many && every(pred, &names, &domains, &mut BTreeMap::new())
}

fn every(
    pred: &Pred,
    names: &[String],
    domains: &[Vec<String>],
    chosen: &mut BTreeMap<String, String>,
) -> bool {
    let Some((name, names)) = names.split_first() else {
        return is_true(pred, chosen);
    };
    domains[0].iter().all(|value| {
        chosen.insert(name.clone(), value.clone());
        every(pred, names, &domains[1..], chosen)
    })
}

fn is_true(pred: &Pred, chosen: &BTreeMap<String, String>) -> bool {
    match pred {
        Pred::And(left, right) => is_true(left, chosen) && is_true(right, chosen),
        Pred::Or(left, right) => is_true(left, chosen) || is_true(right, chosen),
        Pred::Not(inner) => !is_true(inner, chosen),
        Pred::Is(name, None) => ["true", "Present", "Known"].contains(&chosen[name].as_str()),
        Pred::Is(name, Some(asked)) => asked.contains(&chosen[name]),
    }
}
