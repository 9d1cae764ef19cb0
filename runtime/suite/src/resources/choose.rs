//! Choice of the faults to try: every single fault at every write of every path, spread evenly over
//! a budget; and random combinations.

use std::collections::{BTreeMap, BTreeSet};

use rand::Rng;
use rand::rand_core::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::Core;
use super::explore::{Edge, Explored};
use super::moves::{Edit, Fault, Move, Planned, Schedule};

/// Faults that can occur on the line of one write.
const LINE: [&str; 19] = [
    "crash-before",
    "crash-after",
    "lost",
    "silent",
    "timeout",
    "409",
    "422",
    "429",
    "500",
    "503",
    "break",
    "end",
    "relist",
    "delay/5s",
    "coalesce/5s",
    "reorder/5s",
    "lag/5s",
    "cut/5s",
    "freeze/20s",
];
/// Number of schedules in which the Lease is lost, and the minimum number of single-fault schedules
/// for each of them. They are few because each renews the Lease for minutes.
const LEASES: usize = 24;
const FOR_ONE: usize = 8;

/// Every schedule with a single fault, by kind of fault.
fn all_single(core: &Core, explored: &Explored, lines: &[&str]) -> BTreeMap<String, Vec<Schedule>> {
    let mut all: BTreeMap<String, Vec<Schedule>> = BTreeMap::new();
    for edge in &explored.edges {
        for (of, share) in edge.shares.iter().enumerate() {
            for at in 1..=share.sent {
                for what in lines {
                    let fault = Fault::Line((*what).to_owned());
                    let kind = kind_of(of, fault.kind_name());
                    let schedule = edge.with_faults(vec![Planned { of, at, fault }]);
                    all.entry(kind).or_default().push(schedule);
                }
            }
            for at in 1..=share.writes {
                for m in operations(core, edge) {
                    for fault in [Fault::Before(m.clone()), Fault::After(m)] {
                        let is_before = matches!(fault, Fault::Before(_));
                        let side = if is_before { "before" } else { "after" };
                        let kind = kind_of(of, &format!("{} {side}", fault.kind_name()));
                        let schedule = edge.with_faults(vec![Planned { of, at, fault }]);
                        all.entry(kind).or_default().push(schedule);
                    }
                }
            }
        }
    }
    all
}

/// Returns the kind of a fault. A fault of a companion lifecycle is a kind of its own, so that it
/// has a share of the budget.
fn kind_of(of: usize, word: &str) -> String {
    match of {
        0 => word.to_owned(),
        _ => format!("{word} beside"),
    }
}

impl Edge {
    fn with_faults(&self, faults: Vec<Planned>) -> Schedule {
        Schedule {
            moves: self.moves.clone(),
            calm: self.moves.len().saturating_sub(1),
            faults,
            lease: false,
        }
    }
}

/// Returns the moves that another controller or user may make in the middle of a path.
fn operations(core: &Core, edge: &Edge) -> Vec<Move> {
    let mut present: BTreeMap<&str, &str> = BTreeMap::new();
    let find = |key: &str| core.fixtures.iter().find(|f| f.key == key);
    for fixture in core.fixtures.iter().filter(|f| f.given) {
        present.insert(&fixture.path, &fixture.key);
    }
    for m in &edge.moves {
        match m {
            Move::Create(key) | Move::Replace(key) => {
                if let Some(fixture) = find(key) {
                    present.insert(&fixture.path, &fixture.key);
                }
            }
            Move::Delete(path) => {
                present.remove(path.as_str());
            }
            Move::Seize(_)
            | Move::Control(_)
            | Move::Edit(..)
            | Move::Intrude(..)
            | Move::Vanish(_)
            | Move::Linger(_)
            | Move::Loosen(_)
            | Move::Smudge(_)
            | Move::Keep(..)
            | Move::Fair
            | Move::Down
            | Move::Up
            | Move::Perturb(_)
            | Move::Restart
            | Move::Tick => {}
        }
    }
    let mut operations = Vec::new();
    for fixture in &core.fixtures {
        match present.get(fixture.path.as_str()) {
            None if fixture.subject => {}
            None => operations.push(Move::Create(fixture.key.clone())),
            Some(key) if *key == fixture.key => {
                operations.push(Move::Delete(fixture.path.clone()));
                if fixture.subject {
                    operations.push(Move::Smudge(fixture.path.clone()));
                }
            }
            Some(_) => operations.push(Move::Replace(fixture.key.clone())),
        }
    }
    for path in edge
        .wrote
        .iter()
        .filter(|p| !present.contains_key(p.as_str()))
    {
        // An object that is created once differs according to whether it was recorded before its
        // deletion or takeover. Such moves therefore happen only in a settled state.
        if !core.is_made_once(path) {
            operations.push(Move::Seize(path.clone()));
            let kept = core.is_kept_or_adopted(path);
            operations.extend(kept.then(|| Move::Control(path.clone())));
            operations.push(Move::Vanish(path.clone()));
        }
        operations.push(Move::Linger(path.clone()));
        let edits = Edit::ALL.into_iter().enumerate();
        operations.extend(edits.map(|(place, edit)| Move::Edit(path.clone(), place, edit)));
        let lists = 0..core.exclusive_lists(path);
        operations.extend(lists.map(|list| Move::Intrude(path.clone(), list)));
    }
    operations
}

/// Chosen schedules, and the number of candidates.
pub(crate) struct Chosen {
    pub(crate) schedules: Vec<Schedule>,
    pub(crate) of: usize,
}

/// As many schedules with a single fault as the suite allows, evenly over the kinds of faults.
pub(crate) fn single(core: &Core, explored: &Explored, go_on: bool) -> Chosen {
    let most = if go_on { core.single } else { 0 };
    of_lines(core, explored, &LINE, most)
}

/// Returns this number of schedules with a single fault, which is on one of these lines.
pub(crate) fn of_lines(core: &Core, explored: &Explored, lines: &[&str], most: usize) -> Chosen {
    let mut random = Pcg64Mcg::seed_from_u64(core.seed);
    let kinds = all_single(core, explored, lines);
    let mut kinds: Vec<Vec<Schedule>> = kinds.into_values().collect();
    let of = kinds.iter().map(Vec::len).sum();
    let mut schedules = Vec::new();
    while schedules.len() < most && kinds.iter().any(|kind| !kind.is_empty()) {
        for kind in kinds.iter_mut().filter(|kind| !kind.is_empty()) {
            if schedules.len() < most {
                let at = random_below(&mut random, kind.len());
                schedules.push(kind.swap_remove(at));
            }
        }
    }
    Chosen { schedules, of }
}

/// Returns schedules in which the Lease is lost during work, or its holder dies.
pub(crate) fn leases(core: &Core, explored: &Explored, go_on: bool) -> Vec<Schedule> {
    if !go_on {
        return Vec::new();
    }
    let mut random = Pcg64Mcg::seed_from_u64(core.seed ^ 0x006c_6561_7365);
    let mut busy: Vec<&Edge> = explored
        .edges
        .iter()
        .filter(|e| e.shares[0].writes > 0)
        .collect();
    let mut chosen = Vec::new();
    while chosen.len() < LEASES.min(core.single / FOR_ONE) && !busy.is_empty() {
        let edge = busy.swap_remove(random_below(&mut random, busy.len()));
        let at = 1 + random_below(&mut random, edge.shares[0].writes);
        let fault = match chosen.len() % 4 {
            3 => Fault::Line("crash-after".to_owned()),
            2 => Fault::Line("second/90s".to_owned()),
            _ => Fault::LoseLease,
        };
        let mut schedule = edge.with_faults(vec![Planned { of: 0, at, fault }]);
        schedule.lease = true;
        chosen.push(schedule);
    }
    chosen
}

/// Random ways with several faults each.
pub(crate) fn several(core: &Core, explored: &Explored, go_on: bool) -> Vec<Schedule> {
    let mut random = Pcg64Mcg::seed_from_u64(core.seed ^ 0x0073_6576_6572_616c);
    let busy: Vec<&Edge> = explored.edges.iter().filter(|e| e.sent() > 0).collect();
    if !go_on || busy.is_empty() {
        return Vec::new();
    }
    let mut chosen = BTreeSet::new();
    let mut tries = 0;
    while chosen.len() < core.several && tries < core.several * 8 {
        tries += 1;
        let edge = busy[random_below(&mut random, busy.len())];
        let mut moves = edge.moves.clone();
        let calm = moves.len() - 1;
        let next: Vec<_> = explored
            .edges
            .iter()
            .filter(|e| starts_at(e, edge, explored))
            .collect();
        if !next.is_empty() && random.next_u64() % 2 == 0 {
            let step = next[random_below(&mut random, next.len())];
            moves.extend(step.moves.last().cloned());
        }
        let count = 2 + random_below(&mut random, 3);
        let faults = (0..count).map(|_| {
            let of = of_whom(edge, &mut random);
            Planned {
                of,
                at: 1 + random_below(&mut random, edge.shares[of].sent + 2),
                fault: Fault::Line(LINE[random_below(&mut random, LINE.len())].to_owned()),
            }
        });
        let mut faults: Vec<_> = faults.collect();
        faults.sort();
        faults.dedup_by_key(|p| (p.of, p.at));
        chosen.insert(Schedule {
            moves,
            calm,
            faults,
            lease: false,
        });
    }
    chosen.into_iter().collect()
}

/// Picks one of the lifecycles that write on an edge. Draws no random number if only one lifecycle
/// runs.
fn of_whom(edge: &Edge, random: &mut Pcg64Mcg) -> usize {
    let busy = edge.shares.iter().enumerate();
    let busy: Vec<usize> = busy.filter(|(_, s)| s.sent > 0).map(|(of, _)| of).collect();
    match (edge.shares.len(), busy.as_slice()) {
        (1, _) | (_, []) => 0,
        (_, busy) => busy[random_below(random, busy.len())],
    }
}

/// Returns true if an edge begins where another ended, by the path that is kept for that world.
fn starts_at(edge: &Edge, before: &Edge, explored: &Explored) -> bool {
    let way = &edge.moves[..edge.moves.len() - 1];
    way == before.moves.as_slice() || explored.worlds.get(&before.end).is_some_and(|w| w == way)
}

pub(crate) fn random_below(random: &mut Pcg64Mcg, limit: usize) -> usize {
    let limit = u64::try_from(limit.max(1)).unwrap_or(u64::MAX);
    usize::try_from(random.next_u64() % limit).unwrap_or_default()
}
