//! Warnings that follow from worlds and moves. A condition is reported too early, or we do a
//! promised change ourselves. An effect runs while a person is awaited, or an unnamed party ends
//! the wait.

use std::collections::{BTreeMap, BTreeSet};

use crate::drive::Mover;
use crate::findings::Findings;
use crate::graph::Graph;
use crate::moves::Move;
use crate::syntax::{Life, State};
use crate::worlds::{Act, NodePlace, World};

type Moves = BTreeMap<usize, BTreeMap<Mover, BTreeSet<usize>>>;

impl Graph<'_> {
    /// Finds states reported as Ready although the environment still has to move them. Promises
    /// that move nothing anywhere do not count.
    pub(crate) fn too_early(&self, moves: &Moves, found: &mut Findings) {
        let worlds = self.worlds;
        let vows = worlds.vows();
        let counts = |number: usize| {
            let mut movers = moves.values().flat_map(BTreeMap::keys);
            movers.any(|mover| *mover == Mover::Vow(number))
        };
        let declared = 0..worlds.life.promises.len();
        let declared: Vec<usize> = declared.filter(|number| counts(*number)).collect();
        for &at in &self.live {
            let ready = self
                .state(at)
                .filter(|state| state.phase.as_deref() == Some("Ready"));
            let Some(state) = ready.filter(|_| self.policy[at].is_none()) else {
                continue;
            };
            let ready = worlds.life.ready.as_ref();
            if ready.is_some_and(|ready| matches!(self.unmet(ready, at), Ok(Some(_)))) {
                continue;
            }
            let is_news = |end: &usize| self.tells_otherwise(at, *end);
            let leads_on = |number: &usize| {
                worlds
                    .promise_targets(&vows[*number], at)
                    .iter()
                    .any(is_news)
            };
            if declared.iter().any(leads_on) || self.lacks_an_object(state, at) {
                found.report("LC163", &state.name);
            }
        }
    }

    /// Returns true if the operator does not write an object of its own only because its name is
    /// taken, or because the last one has not gone yet, and if the state does not ask for it.
    fn lacks_an_object(&self, state: &State, at: usize) -> bool {
        let worlds = self.worlds;
        let asked = state.when.atoms();
        let inputs = worlds.life.inputs.iter();
        let mut ours = inputs.filter(|input| {
            ["owned", "group"].contains(&input.own.as_str()) && !asked.contains(&input.name)
        });
        ours.any(|input| {
            let is_set = input.many || input.own == "group";
            let (lacking, obstacles): (_, &[&str]) = match is_set {
                true => ("Behind", &["Foreign"]),
                false => ("Absent", &["Foreign", "Terminating"]),
            };
            let Some(var) = worlds.var(&input.name) else {
                return false;
            };
            let world = &worlds.all[at];
            let word = worlds.spell(world[var]);
            if worlds.unasked(var, world).is_some() || !obstacles.contains(&word.as_str()) {
                return false;
            }
            let forced = [(var, worlds.find_value(lacking))];
            let ends = worlds.changes(world, &[], &forced).into_iter();
            let ends: Vec<usize> = ends
                .filter_map(|end| worlds.all.get_index_of(&end))
                .collect();
            let writes = |act: &Act, end: usize| {
                worlds.states[end] != worlds.states[at] && worlds.would_run(act, &worlds.all[end])
            };
            let acts = worlds.acts.iter();
            let mut writers = acts.filter(|act| act.verb == "apply" && act.on == Some(var));
            !ends.is_empty() && writers.any(|act| ends.iter().all(|end| writes(act, *end)))
        })
    }

    /// Returns true if the status reports another state or another clause in the other world.
    fn tells_otherwise(&self, one: usize, other: usize) -> bool {
        let mut conditions = 0..self.worlds.life.conditions.len();
        self.worlds.states[one] != self.worlds.states[other]
            || conditions.any(|number| self.clause(number, one) != self.clause(number, other))
    }

    /// Finds promises of work that only this operator does.
    pub(crate) fn own_work(&self, moves: &Moves, found: &mut Findings) {
        for (number, promise) in self.worlds.life.promises.iter().enumerate() {
            let mut sets = promise.sets.iter().flatten();
            if sets.any(|(name, value)| value == "Current" && self.is_ours(name))
                || self.is_done_there(number, moves)
            {
                found.report("LC166", &promise.name);
            }
        }
    }

    fn is_ours(&self, name: &str) -> bool {
        let life = self.worlds.life;
        let ours = |own: &str| ["owned", "shared", "part", "record"].contains(&own);
        let input = life
            .input(name)
            .filter(|input| ours(&input.own) && !input.many);
        let mut effects = life
            .effects
            .iter()
            .filter(|effect| effect.on == name && effect.verb != "delete")
            .peekable();
        let is_written = effects.peek().is_some();
        input.is_some() && (!is_written || effects.any(|effect| effect.verb == "apply"))
    }

    /// Returns true if, wherever the promise moves an object that is not being deleted, a permitted
    /// effect may set the promised facts.
    fn is_done_there(&self, number: usize, moves: &Moves) -> bool {
        let worlds = self.worlds;
        let vow = &worlds.vows()[number];
        let mut due = moves.iter().filter(|(at, moves)| {
            let lives = !worlds.is_deleting(&worlds.all[**at]);
            lives && moves.contains_key(&Mover::Vow(number))
        });
        let does = |act: &Act, wanted: &Vec<(usize, u8)>| {
            let mut own = worlds.alternatives(act).into_iter();
            own.any(|own| wanted.iter().all(|one| own.contains(one)))
        };
        let is_done = |at: usize| {
            let mut acts = worlds.acts.iter();
            acts.any(|act| {
                let all = vow.sets.iter().all(|wanted| does(act, wanted));
                all && worlds.would_run(act, &worlds.all[at])
            })
        };
        let some = due.clone().next().is_some();
        some && due.all(|(at, _)| is_done(*at))
    }

    /// Finds writes while only an edit by the owner of the object helps, or while the lifecycle
    /// waits for any party.
    pub(crate) fn beside_a_person(&self, found: &mut Findings) {
        for &at in &self.live {
            let Some(Move::Run(act) | Move::Claim(Some(act))) = self.policy[at] else {
                continue;
            };
            let act = &self.worlds.acts[act];
            let is_read = |name: &String| {
                let input = self.worlds.life.input(name);
                name == "self" || input.is_some_and(|input| input.own.is_empty() && !input.many)
            };
            let people = |wakes: &Vec<String>| wakes.iter().all(is_read);
            let alone = |wakes: &Vec<String>| wakes.iter().all(|name| name == "self");
            let Some(state) = self.state(at) else {
                continue;
            };
            let is_pending = state.phase.as_deref() == Some("Pending") && !state.goal;
            let is_error = state.phase.as_deref() == Some("Error");
            let wakes = state.wakes.as_ref();
            let waits = (is_error && wakes.is_some_and(alone)
                || is_pending && wakes.is_some_and(people))
                && !state.when.atoms().iter().any(|name| name.starts_with('?'));
            let is_note = ["record", "noted"].contains(&act.own.as_str());
            if waits && !act.is_undo && !is_note && act.verb != "delete" {
                found.report("LC169", &state.name);
            }
        }
    }

    /// Reports a state that names only the owner, although another answer of something else leads
    /// out of it.
    pub(crate) fn ways_out(&self, number: usize, found: &mut Findings) {
        let (worlds, here) = (self.worlds, Some(NodePlace::State(number)));
        let (state, unnamed) = (&worlds.life.states[number], worlds.find_value("Unnamed"));
        let asked = state.when.atoms();
        let others = asked.iter().filter(|name| is_of_others(worlds.life, name));
        let others: Vec<usize> = others.filter_map(|name| worlds.var(name)).collect();
        let leaves = |at: usize, var: usize| {
            let world = &worlds.all[at];
            let input = worlds.life.input(&worlds.vars[var].name);
            let word = worlds.spell(world[var]);
            let theirs: Option<&[&str]> = match input.map_or("", |input| &input.own) {
                "owned" | "shared" | "group" => Some(&["Foreign", "Adoptable"]),
                "part" => Some(&["Absent"]),
                _ => None,
            };
            let is_theirs = theirs.is_none_or(|words| words.contains(&word.as_str()));
            let is_asked = worlds.unasked(var, world).is_none() && word != "Unnamed" && is_theirs;
            let ends = worlds.changes(world, &[var], &[]);
            let is_out = |end: &World| {
                worlds.allowed(end) && worlds.classify(end) != here && end[var] != unnamed
            };
            is_asked && ends.iter().any(is_out)
        };
        let rests = |at: &&usize| worlds.states[**at] == here && self.is_at_rest(**at);
        let mut resting = self.live.iter().filter(rests);
        if resting.any(|at| others.iter().any(|var| leaves(*at, *var))) {
            found.report("LC175", &state.name);
        }
    }
}

/// Returns true if a question is about one object that another controller or user may change, or
/// about several such objects.
fn is_of_others(life: &Life, name: &str) -> bool {
    let noted = |own: &str| ["record", "clock"].contains(&own);
    if let Some(input) = life.input(name) {
        return !noted(&input.own);
    }
    let Some(fact) = life.fact(name) else {
        return false;
    };
    let mut from = fact.from.clone();
    let mut at = 0;
    while let Some(name) = from.get(at).cloned() {
        at += 1;
        match (life.value(&name), life.input(&name)) {
            (Some(value), _) => {
                let new = value.from.iter().filter(|one| !from.contains(one));
                let new: Vec<String> = new.cloned().collect();
                from.extend(new);
            }
            (None, Some(input)) if !input.many && !noted(&input.own) => {}
            _ => return false,
        }
    }
    !from.is_empty()
}
