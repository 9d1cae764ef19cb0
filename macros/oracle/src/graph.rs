//! The last stage: findings that follow from the worlds, the moves and the conditions together.

use std::collections::{BTreeMap, BTreeSet};

use crate::broken::Rule;
use crate::drive::{MoveGraph, Mover, idle_promises, rests_at};
use crate::findings::{Findings, Outline};
use crate::moves::Move;
use crate::properties::{self, Runs};
use crate::syntax::{Clause, Condition, Pred, Span, State};
use crate::worlds::{NodePlace, Test, World, Worlds};

pub(crate) struct Graph<'a> {
    pub(crate) worlds: &'a Worlds<'a>,
    pub(crate) policy: Vec<Option<Move>>,
    pub(crate) live: Vec<usize>,
    /// By condition and clause: when it applies, if not always.
    clauses: Vec<Vec<Option<Test>>>,
}

impl<'a> Graph<'a> {
    pub(crate) fn new(worlds: &'a Worlds<'a>) -> Self {
        let policy = worlds
            .all
            .iter()
            .map(|world| worlds.policy(world))
            .collect();
        let live = (0..worlds.all.len())
            .filter(|at| !worlds.is_deleting(&worlds.all[*at]))
            .collect();
        let when = |clause: &Clause| clause.when.as_ref().map(|when| worlds.test(when));
        let clauses = |condition: &Condition| condition.clauses.iter().map(when).collect();
        Self {
            worlds,
            policy,
            live,
            clauses: worlds.life.conditions.iter().map(clauses).collect(),
        }
    }
    /// Adds every finding, and returns the declarations that would avoid all findings about edges and clauses.
    pub(crate) fn check(&self, found: &mut Findings) -> Outline {
        self.worlds(found);
        let drive = MoveGraph::new(
            self.worlds,
            &self.live,
            &self.policy,
            &|at| self.is_at_rest(at),
            found,
        );
        self.live_drive(&drive, found);
        self.goals(found);
        let deletion = self.deletion(found);
        self.worlds.torn_down_well(&self.policy, found);
        self.effects(found);
        self.wakes(found);
        self.ticks(found);
        self.patience(&drive, found);
        let caused = self.caused(&drive);
        self.transitions(&caused, found);
        let waits = self.waits(&drive);
        let idle = self.conditions(found);
        self.roll_up(found);
        let moves: BTreeMap<_, _> = drive.moves.into_iter().chain(deletion.moves).collect();
        idle_promises(self.worlds, moves.values(), found);
        self.too_early(&moves, found);
        self.own_work(&moves, found);
        self.unheard(&moves, found);
        self.beside_a_person(found);
        let runs = Runs::new(self.worlds, moves, &self.policy, &|at| self.is_over(at));
        properties::in_life(&runs, found);
        Outline {
            caused,
            waits,
            idle,
        }
    }

    /// Reports the findings that resources and volumes have in common.
    pub(crate) fn worlds(&self, found: &mut Findings) {
        self.states_without_a_world(found);
        self.broken_nevers(found);
        properties::in_worlds(self.worlds, &|at| self.is_over(at), found);
    }

    fn node_place(&self, at: usize) -> NodePlace {
        self.worlds.states[at].expect("worlds without a state were found before")
    }

    pub(crate) fn state(&self, at: usize) -> Option<&'a State> {
        match self.node_place(at) {
            NodePlace::State(state) => Some(&self.worlds.life.states[state]),
            NodePlace::Deleting | NodePlace::Refused => None,
        }
    }

    pub(crate) fn is_at_rest(&self, at: usize) -> bool {
        self.policy[at].is_none() && rests_at(self.worlds, Some(self.node_place(at)))
    }

    /// Returns true if a run may end there, including a run of a deletion.
    fn is_over(&self, at: usize) -> bool {
        if !self.worlds.is_deleting(&self.worlds.all[at]) {
            return self.is_at_rest(at);
        }
        let acts = self.worlds.acts.iter();
        let mut undoes = acts.filter(|act| act.is_undo || act.is_step);
        let waits = self.worlds.is_even_deleting(&self.worlds.all[at]);
        self.policy[at] == Some(Move::Release)
            || waits && self.policy[at].is_none()
            || undoes.any(|act| self.worlds.all[at][act.refused] == 1)
    }

    /// Returns true if the status reports anything about an object there.
    fn is_reported(&self, at: &usize) -> bool {
        let silent = self.state(*at).is_some_and(State::is_ignored);
        !silent || self.worlds.forgets(Rule::IgnoredIsSilent)
    }

    /// Returns true if the status reports this condition there. A suspended object reports a condition only if it evaluates just facts known of any object that is left alone.
    pub(crate) fn tells_of(&self, condition: usize, at: &usize) -> bool {
        let life = self.worlds.life;
        let suspended = self.state(*at).is_some_and(State::is_suspended);
        if !suspended || self.worlds.forgets(Rule::SuspendedSaysLittle) {
            return self.is_reported(at);
        }
        let aside = |state: &&State| state.is_ignored() || state.is_suspended();
        let states = life.states.iter().filter(aside);
        let known: BTreeSet<String> = states.flat_map(|state| state.when.atoms()).collect();
        let clauses = life.conditions[condition].clauses.iter();
        let mut asked = clauses.flat_map(|clause| clause.when.iter().flat_map(Pred::atoms));
        asked.all(|name| known.contains(&name))
    }

    fn name(&self, at: usize) -> String {
        self.state(at).map_or_else(
            || format!("{:?}", self.node_place(at)),
            |state| state.name.clone(),
        )
    }

    fn states_without_a_world(&self, found: &mut Findings) {
        for (number, state) in self.worlds.life.states.iter().enumerate() {
            if !self.worlds.states.contains(&Some(NodePlace::State(number))) {
                found.report("LC012", &state.name);
            }
        }
    }

    fn broken_nevers(&self, found: &mut Findings) {
        for act in self.worlds.acts.iter().filter(|act| act.verb == "call") {
            for world in self
                .worlds
                .all
                .iter()
                .filter(|world| self.worlds.enabled(act, world))
            {
                self.worlds.outcomes(act, world, found);
            }
        }
    }

    fn live_drive(&self, drive: &MoveGraph, found: &mut Findings) {
        for &at in &drive.stuck {
            found.report("LC021", self.name(at));
        }
        for part in &drive.loops {
            let inside = |at: &&usize| {
                drive.moves[*at]
                    .get(&Mover::Us)
                    .into_iter()
                    .flatten()
                    .any(|end| part.contains(end))
            };
            let runs = |at: &usize| match self.policy[*at] {
                Some(Move::Run(act)) => Some(self.worlds.acts[act].name.clone()),
                Some(Move::Claim(_) | Move::Release) | None => None,
            };
            let effects: BTreeSet<String> = part.iter().filter(inside).filter_map(runs).collect();
            let effects: Vec<String> = effects.into_iter().collect();
            let first = part
                .iter()
                .copied()
                .min_by_key(|at| self.node_place(*at))
                .expect("no part is empty");
            match (part.len(), effects.len()) {
                (1, _) => found.report("LC024", effects.join(", ")),
                (_, 0 | 1) => found.report("LC022", self.name(first)),
                _ => found.report("LC023", effects.join(", ")),
            }
        }
    }

    fn goals(&self, found: &mut Findings) {
        for &at in &self.live {
            if let Some(Move::Claim(Some(act)) | Move::Run(act)) = self.policy[at]
                && self.state(at).is_some_and(|state| state.goal)
            {
                found.report("LC025", &self.worlds.acts[act].name);
            }
        }
    }

    fn deletion(&self, found: &mut Findings) -> MoveGraph {
        if self.worlds.deleting.is_none() {
            return MoveGraph::default();
        }
        let worlds = &self.worlds.all;
        let all: Vec<usize> = (0..worlds.len())
            .filter(|at| self.worlds.is_deleting(&worlds[*at]))
            .collect();
        let over = |at: usize| self.is_over(at);
        let drive = MoveGraph::new(self.worlds, &all, &self.policy, &over, found);
        let rounds = drive.loops.iter().filter(|part| {
            let against = self.steps_within(&drive, part);
            if against.len() > 1 {
                let names: Vec<String> = against.into_iter().collect();
                found.report("LC143", names.join(", "));
                return false;
            }
            true
        });
        let rounds: Vec<&BTreeSet<usize>> = rounds.collect();
        for &at in drive.stuck.iter().chain(rounds.into_iter().flatten()) {
            if let Some(step) = self.worlds.open_step(&worlds[at]) {
                found.report("LC040", &self.worlds.acts[step].name);
                continue;
            }
            for (var, &value) in self.worlds.all[at].iter().enumerate() {
                if self.worlds.is_held(var, value) {
                    found.report("LC040", &self.worlds.vars[var].name);
                }
            }
        }
        drive
    }

    /// The steps that run within a round.
    fn steps_within(&self, drive: &MoveGraph, part: &BTreeSet<usize>) -> BTreeSet<String> {
        let stays = |at: &&usize| {
            let ends = drive.moves[*at].get(&Mover::Us);
            ends.into_iter().flatten().any(|end| part.contains(end))
        };
        let steps = part
            .iter()
            .filter(stays)
            .filter_map(|at| match self.policy[*at] {
                Some(Move::Run(act)) => Some(&self.worlds.acts[act]),
                Some(Move::Claim(_) | Move::Release) | None => None,
            });
        let steps = steps.filter(|act| act.is_step);
        steps.map(|act| act.name.clone()).collect()
    }

    fn effects(&self, found: &mut Findings) {
        for number in 0..self.worlds.acts.len() {
            let runs = |at: &usize| self.policy[*at] == Some(Move::Run(number));
            let runs: Vec<usize> = (0..self.worlds.all.len()).filter(runs).collect();
            if runs.is_empty() && !self.worlds.acts[number].is_step {
                found.report("LC016", &self.worlds.acts[number].name);
            }
            self.records(number, &runs, found);
        }
    }

    /// A record is written before anything is acquired under it and stays while something may be.
    fn records(&self, number: usize, runs: &[usize], found: &mut Findings) {
        let (life, act) = (self.worlds.life, &self.worlds.acts[number]);
        let effect = &life.effects[number];
        let word = |at: usize, var: usize| self.worlds.all[at][var];
        if act.verb == "apply" && act.own == "record" {
            let record = act.on.expect("a record brings a fact");
            let keyed = life
                .effects
                .iter()
                .filter(|other| other.key.as_ref() == Some(&effect.on));
            let under: Vec<usize> = keyed
                .flat_map(|other| other.sets.iter().flatten())
                .filter_map(|(fact, _)| self.worlds.var(fact))
                .filter(|var| self.worlds.vars[*var].held)
                .collect();
            let stale = self.worlds.find_value("Stale");
            let held = |at: &&usize| {
                under
                    .iter()
                    .any(|var| self.worlds.is_held(*var, word(**at, *var)))
            };
            if runs
                .iter()
                .filter(held)
                .any(|at| word(*at, record) == stale)
            {
                found.report("LC049", &act.name);
            }
        }
        let key = effect.key.as_ref().and_then(|key| life.input(key));
        if let Some(key) = key
            && act.verb == "call"
            && act.acquires
            && key.own == "record"
        {
            let record = self.worlds.var(&key.name).expect("a record brings a fact");
            let current = self.worlds.find_value("Current");
            if runs.iter().any(|at| word(*at, record) != current) {
                found.report("LC048", &act.name);
            }
        }
    }

    /// Reports a state that is overdue before the next query of the poll that shows its end.
    fn patience(&self, drive: &MoveGraph, found: &mut Findings) {
        const UNSAID: Span = Span {
            path: None,
            usual: 600_000,
            min: None,
        };
        let life = self.worlds.life;
        for (number, state) in life.states.iter().enumerate() {
            if state.phase.as_deref() != Some("Pending") || state.goal || state.wakes.is_some() {
                continue;
            }
            let here = NodePlace::State(number);
            let waits = |at: &usize| self.node_place(*at) == here && self.policy[*at].is_none();
            let mut ends: BTreeSet<usize> = BTreeSet::new();
            for (_, moves) in drive.moves.iter().filter(|(at, _)| waits(at)) {
                for (mover, to) in moves {
                    // The first ones are those that are declared.
                    if let Mover::Vow(vow) = mover
                        && *vow < life.promises.len()
                        && to.iter().any(|end| self.node_place(*end) != here)
                    {
                        ends.insert(*vow);
                    }
                }
            }
            let sets = ends.iter().flat_map(|vow| &life.promises[*vow].sets);
            let facts = sets.flatten().filter_map(|(fact, _)| life.fact(fact));
            let mut read: Vec<String> = facts.flat_map(|fact| fact.from.clone()).collect();
            let mut at = 0;
            while let Some(name) = read.get(at) {
                let further = life.value(name).map(|value| value.from.clone());
                read.extend(further.unwrap_or_default());
                at += 1;
            }
            let overdue = state.overdue.as_ref().unwrap_or(&UNSAID);
            let soon =
                |every: &Span| overdue.usual < every.usual || overdue.least() < every.least();
            let polls = read.iter().filter_map(|name| life.input(name));
            let mut polls = polls.filter(|input| input.own == "poll");
            if polls.any(|input| input.every.as_ref().is_some_and(soon)) {
                found.report("LC104", &state.name);
            }
        }
    }

    fn caused(&self, drive: &MoveGraph) -> BTreeSet<(String, String)> {
        let mut caused = BTreeSet::new();
        for (&at, moves) in &drive.moves {
            for &end in moves
                .values()
                .flatten()
                .filter(|end| self.node_place(**end) != self.node_place(at))
            {
                if let (Some(from), Some(to)) = (self.state(at), self.state(end)) {
                    caused.insert((from.name.clone(), to.name.clone()));
                }
            }
        }
        caused
    }

    /// The worlds that only other lifecycles lead out of, by their states.
    fn waits(&self, drive: &MoveGraph) -> BTreeSet<(String, Vec<String>)> {
        let promises = &self.worlds.life.promises;
        let claimed = |mover: &Mover| match mover {
            Mover::Vow(number) => promises
                .get(*number)
                .filter(|promise| !promise.claimed.is_empty())
                .map(|promise| promise.name.clone()),
            Mover::Claim | Mover::Us => None,
        };
        let mut all: BTreeSet<(String, Vec<String>)> = BTreeSet::new();
        for (&at, moves) in &drive.moves {
            let due: Option<Vec<String>> = moves.keys().map(claimed).collect();
            let state = self.state(at);
            if let (Some(due), Some(state)) = (due.filter(|due| !due.is_empty()), state) {
                all.insert((state.name.clone(), due));
            }
        }
        let is_more = |(state, due): &(String, Vec<String>)| {
            let mut same = all.iter().filter(|(other, _)| other == state);
            same.any(|(_, less)| less.len() < due.len() && less.iter().all(|one| due.contains(one)))
        };
        let least = all.iter().filter(|one| !is_more(one));
        least.cloned().collect()
    }

    fn transitions(&self, caused: &BTreeSet<(String, String)>, found: &mut Findings) {
        let Some(edges) = &self.worlds.life.edges else {
            return;
        };
        let same = |declared: &&(String, String), caused: &(String, String)| {
            let anywhere = declared.0 == "_" && !self.worlds.forgets(Rule::FromAnywhere);
            (anywhere || declared.0 == caused.0) && declared.1 == caused.1
        };
        for edge in caused {
            if !edges.iter().any(|declared| same(&declared, edge)) {
                found.report("LC030", format!("{} -> {}", edge.0, edge.1));
            }
        }
        for declared in edges {
            if !caused.iter().any(|edge| same(&declared, edge)) {
                found.report("LC031", format!("{} -> {}", declared.0, declared.1));
            }
        }
    }

    /// The position of the clause that applies, of the condition with this number.
    pub(crate) fn clause(&self, condition: usize, at: usize) -> Option<usize> {
        self.clause_in(condition, &self.worlds.all[at])
    }

    /// The same in a world that need not be one of the lifecycle's.
    pub(crate) fn clause_in(&self, condition: usize, world: &World) -> Option<usize> {
        let holds = |when: &Test| self.worlds.holds(when, world);
        let mut clauses = self.clauses[condition].iter();
        clauses.position(|when| when.as_ref().is_none_or(holds))
    }

    /// The clauses that never apply.
    fn conditions(&self, found: &mut Findings) -> BTreeSet<(String, usize)> {
        let mut idle = BTreeSet::new();
        for (number, condition) in self.worlds.life.conditions.iter().enumerate() {
            let told = self.live.iter().filter(|at| self.tells_of(number, at));
            let applied = told.map(|at| self.clause(number, *at));
            let applied: BTreeSet<Option<usize>> = applied.collect();
            if applied.contains(&None) {
                found.report("LC052", &condition.name);
            }
            for clause in
                (0..condition.clauses.len()).filter(|clause| !applied.contains(&Some(*clause)))
            {
                found.report("LC054", &condition.name);
                idle.insert((condition.name.clone(), clause));
            }
        }
        idle
    }

    /// The first clause of the roll-up that leaves its condition out, else the first that is not True; `Err` where a condition before it has no value.
    pub(crate) fn unmet(&self, ready: &[String], at: usize) -> Result<Option<&'a Clause>, ()> {
        let mut first = None;
        for name in ready {
            let mut conditions = self.worlds.life.conditions.iter();
            let number = conditions
                .position(|condition| condition.name == *name)
                .ok_or(())?;
            let condition = &self.worlds.life.conditions[number];
            let clause = &condition.clauses[self.clause(number, at).ok_or(())?];
            match clause.value.as_str() {
                "Absent" => return Ok(Some(clause)),
                "True" | "Omit" => {}
                _ => first = first.or(Some(clause)),
            }
        }
        Ok(first)
    }

    /// Returns true if one of these conditions is False there with a reason.
    fn says_what_is_wrong(&self, ready: &[String], at: usize) -> bool {
        let conditions = self.worlds.life.conditions.iter().enumerate();
        let mut asked = conditions.filter(|(_, condition)| ready.contains(&condition.name));
        asked.any(|(number, condition)| {
            let clause = self.clause(number, at);
            clause.is_some_and(|clause| {
                let clause = &condition.clauses[clause];
                clause.value == "False" && clause.reason.is_some()
            })
        })
    }

    /// Checks that phase and conditions agree if nothing is left to do.
    fn roll_up(&self, found: &mut Findings) {
        let Some(ready) = &self.worlds.life.ready else {
            return;
        };
        let rolled_up = |at: &usize| !self.state(*at).is_some_and(State::is_suspended);
        let idle = |at: &&usize| {
            let told = self.is_reported(at) && rolled_up(at);
            self.policy[**at].is_none() && told
        };
        for &at in self.live.iter().filter(idle) {
            let (Some(state), Ok(unmet)) = (self.state(at), self.unmet(ready, at)) else {
                continue;
            };
            let phase = state.phase.as_deref().unwrap_or_default();
            if (phase == "Ready") != unmet.is_none() {
                found.report("LC051", &state.name);
            }
            let told = self.says_what_is_wrong(ready, at);
            if phase == "Error" && unmet.is_some() && !told {
                found.report("LC053", &state.name);
            }
        }
    }
}
