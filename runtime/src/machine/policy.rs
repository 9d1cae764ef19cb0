//! Policy for a world: its state, the enabled effects, and the one move of a reconciliation.

use super::ir::{
    Effect, Lifecycle, Mode, Node, Origin, Phase, RegionId, Source, State, StateId, Verb,
};
use super::verdict::Verdict;
use super::world::World;

/// Class of a world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The object is being deleted.
    Deleting,
    /// A write was refused that no state mentions.
    Refused {
        /// The effect.
        effect: usize,
    },
    /// A declared state.
    State(StateId),
    /// A world that a `never` rules out, or that no state takes: the declaration is wrong about the world.
    Contradiction,
}

impl Class {
    /// The name of the state; of a world without one, a word of its own.
    pub fn name(self, lifecycle: &Lifecycle) -> &'static str {
        match self {
            Self::State(state) => lifecycle.states[state].name,
            Self::Deleting => "Deleting",
            Self::Refused { .. } => "Refused",
            Self::Contradiction => "Unclear",
        }
    }
}

/// The one action of a reconciliation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Put our finalizer on the object, before anything is acquired.
    Claim,
    /// Run an effect.
    Effect(usize),
    /// Remove our finalizer, because nothing is held any more.
    Release,
    /// Nothing to do: report, and wait.
    Rest,
}

impl State {
    /// Returns true if no effect is enabled in the state, regardless of pending work.
    pub(super) fn is_set_aside(&self) -> bool {
        matches!(self.phase, Phase::Ignored | Phase::Suspended)
    }

    /// Returns how far a state of a region is from its goal.
    fn distance(&self) -> u8 {
        match (self.goal, self.phase) {
            (true, _) => 0,
            (false, Phase::Error) => 2,
            (false, _) => 1,
        }
    }
}

impl Lifecycle {
    /// Returns true if the object needs our finalizer. It does exactly if it can hold resources or
    /// has a teardown.
    pub fn has_finalizer(&self) -> bool {
        let holds = self.vars.iter().any(|v| v.free.is_some());
        !self.volume && (holds || !self.steps.is_empty())
    }

    /// The name of a variable's value in this world.
    pub fn value(&self, world: &World, var: usize) -> &'static str {
        self.vars[var].values[usize::from(world.get(var))]
    }

    /// Returns the verdict that a variable has in this world. `None` if its value is no verdict.
    pub fn verdict_in(&self, world: &World, var: usize) -> Option<Verdict> {
        Verdict::from_name(self.value(world, var))
    }

    /// Returns true if builders, facts and fields may read this input in this world. The input must
    /// exist, and no other controller or user may own it.
    pub fn usable(&self, world: &World, input: usize) -> bool {
        let input = &self.inputs[input];
        input.given.as_ref().is_none_or(|g| world.holds(g))
            && input.var.filter(|_| !input.many).is_none_or(|var| {
                let verdict = self.verdict_in(world, var);
                verdict.is_none_or(Verdict::is_usable)
            })
    }

    /// Returns the state of an object that is left unchanged, because another controller manages it
    /// or a user suspended it. Such states precede all others.
    pub fn set_aside(&self, world: &World) -> Option<StateId> {
        let fits = |state: &State| state.is_set_aside() && world.holds(&state.when);
        self.states.position(fits)
    }

    /// Returns the state in which held resources stay although the object is being deleted.
    pub fn holds_deletion(&self, world: &World) -> Option<StateId> {
        let fits = |state: &State| state.even_deleting && world.holds(&state.when);
        self.states.position(fits)
    }

    /// Returns true if that is known after a reconciliation has evaluated only this many nodes of
    /// its order.
    pub fn knows_set_aside(&self, nodes: usize) -> bool {
        let open = &self.order[nodes..];
        let is_open = |state: &&State| {
            let asked = state.when.vars();
            state.is_set_aside() && asked.iter().any(|var| open.contains(&Node::Var(*var)))
        };
        !self.states.iter().any(|state| is_open(&state))
    }

    /// Returns true if the runtime writes nothing and reports nothing for an existing object.
    pub fn is_silent(&self, class: Class) -> bool {
        match class {
            Class::State(state) => self.states[state].phase == Phase::Ignored,
            Class::Deleting | Class::Refused { .. } | Class::Contradiction => false,
        }
    }

    /// Returns true if the runtime does nothing for an object, and reports that.
    pub fn is_suspended(&self, class: Class) -> bool {
        match class {
            Class::State(state) => self.states[state].phase == Phase::Suspended,
            Class::Deleting | Class::Refused { .. } | Class::Contradiction => false,
        }
    }

    /// Returns the state of a world. `deleting` is true if the object has a deletion timestamp.
    pub fn classify(&self, world: &World, deleting: bool) -> Class {
        if deleting {
            return Class::Deleting;
        }
        if let Some(state) = self.set_aside(world) {
            return Class::State(state);
        }
        if self.nevers.iter().any(|n| world.holds(n)) {
            return Class::Contradiction;
        }
        let refused = self
            .effects
            .iter()
            .position(|e| world.get(e.refused) == 1 && !self.volume && !self.mentions(e.refused));
        if let Some(effect) = refused {
            return Class::Refused { effect };
        }
        let root = |s: &State| s.region.is_none() && world.holds(&s.when);
        let state = self.states.position(root);
        let state = state.or_else(|| self.leading_state(world));
        state.map_or(Class::Contradiction, Class::State)
    }

    /// Returns the state of a region, if no state of the root holds.
    pub fn state_in(&self, region: RegionId, world: &World) -> Option<StateId> {
        let fits = |s: &State| s.region == Some(region) && world.holds(&s.when);
        self.states.position(fits)
    }

    /// Returns the states that an object is in: one, or one of each region, in order of
    /// declaration.
    pub fn current_states(&self, world: &World, class: Class) -> Vec<StateId> {
        let Class::State(state) = class else {
            return Vec::new();
        };
        match self.states[state].region {
            None => vec![state],
            Some(_) => {
                let regions = self.regions.ids();
                regions
                    .filter_map(|one| self.state_in(one, world))
                    .collect()
            }
        }
    }

    /// Returns the transitions between two worlds: that of the root, or one of each region that runs
    /// in both and is in another state.
    pub fn transitions_between(
        &self,
        before: (&World, Class),
        after: (&World, Class),
    ) -> Vec<(StateId, StateId)> {
        let to = self.current_states(after.0, after.1);
        let from = self.current_states(before.0, before.1).into_iter();
        let same_part = |from: StateId| {
            let to = to.iter().copied();
            let part = self.states[from].region;
            to.filter(move |to| self.states[*to].region == part && *to != from)
                .map(move |to| (from, to))
        };
        from.flat_map(same_part).collect()
    }

    /// Returns the states that an object is in, without those of regions that do not count for
    /// `Ready`.
    pub fn counting_states(&self, world: &World, class: Class) -> Vec<StateId> {
        self.only_counting(self.current_states(world, class))
    }

    /// Leaves out the states of regions that do not count for `Ready`, unless none counts.
    fn only_counting(&self, mut states: Vec<StateId>) -> Vec<StateId> {
        let counts = |state: &StateId| {
            let region = self.states[*state].region;
            region.is_none_or(|region| self.regions[region].counts)
        };
        if states.iter().any(counts) {
            states.retain(counts);
        }
        states
    }

    /// Returns the state that stands for all regions: of those that count for `Ready`, the one that
    /// is furthest from its goal. `None` if a region is in no state.
    fn leading_state(&self, world: &World) -> Option<StateId> {
        let states = self
            .regions
            .ids()
            .map(|region| self.state_in(region, world));
        let states: Vec<StateId> = states.collect::<Option<_>>()?;
        // Of several, the first.
        let ranked = self.only_counting(states).into_iter().rev();
        ranked.max_by_key(|state| self.states[*state].distance())
    }

    /// Returns the action of a reconciliation in this world.
    pub fn next(&self, world: &World, deleting: bool) -> Decision {
        if self.classify(world, deleting) == Class::Contradiction {
            return Decision::Rest;
        }
        if deleting {
            return self.next_on_deletion(world);
        }
        if self.is_seized(world) {
            return Decision::Claim;
        }
        let mut effects = 0..self.effects.len();
        match effects.find(|&effect| self.enabled(world, effect, false)) {
            Some(effect) if self.needs_claim(effect) && !self.is_claimed(world) => Decision::Claim,
            Some(effect) => Decision::Effect(effect),
            None => Decision::Rest,
        }
    }

    /// Returns the effects that may run in this world, beside the one that a reconciliation chose:
    /// of each other region, and of the root, the first that is enabled. A region whose write has
    /// to wait does not stop the others.
    pub fn turns(&self, world: &World, chosen: usize) -> Vec<usize> {
        let mut turns = vec![chosen];
        if self.regions.is_empty() {
            return turns;
        }
        let mut parts = vec![self.effects[chosen].region];
        for (number, effect) in self.effects.iter().enumerate() {
            if !parts.contains(&effect.region) && self.enabled(world, number, false) {
                parts.push(effect.region);
                turns.push(number);
            }
        }
        turns
    }

    /// The steps of the teardown one after the other, then the undos; the finalizer goes when nothing is left, or that is given up.
    fn next_on_deletion(&self, world: &World) -> Decision {
        if !self.has_finalizer() || !self.is_claimed(world) {
            return Decision::Rest;
        }
        if !self.is_left(world) || self.abandons(world).is_some() {
            return Decision::Release;
        }
        let step = self.open_step(world).map(|step| self.steps[step].effect);
        let due = step.or_else(|| self.due_undo(world));
        let due = due.filter(|effect| self.enabled(world, *effect, true));
        due.map_or(Decision::Rest, Decision::Effect)
    }

    /// Last acquired, first given back, also where that must wait.
    fn due_undo(&self, world: &World) -> Option<usize> {
        let mut undos = self.effects.iter().rev().filter_map(|e| e.undo);
        undos.find(|undo| self.has_to_free(world, *undo))
    }

    /// Returns true if something is certainly ours, or certainly due in the teardown, although our
    /// finalizer is missing. Another controller or user removed the finalizer, or the environment
    /// brought this about.
    fn is_seized(&self, world: &World) -> bool {
        let taken = |(at, var): (usize, &super::ir::Var)| {
            let value = world.get(at);
            let seen = value < var.answers && self.verdict_in(world, at) != Some(Verdict::Unknown);
            seen && !self.is_free(world, at)
        };
        self.has_finalizer()
            && !self.is_claimed(world)
            && self.set_aside(world).is_none()
            && (self.vars.iter().enumerate().any(taken) || self.is_due(world))
    }

    /// Returns true if an effect may run: it is permitted, and this very write was not refused.
    pub fn enabled(&self, world: &World, effect: usize, deleting: bool) -> bool {
        world.get(self.effects[effect].refused) == 0 && self.permitted(world, effect, deleting)
    }

    /// Returns true if an effect would be enabled if its write had never been refused. If several
    /// effects build one object, the first permitted one decides.
    pub fn permitted(&self, world: &World, effect: usize, deleting: bool) -> bool {
        let mut rivals = self.rivals(effect);
        self.allows(world, effect, deleting)
            && !rivals.any(|rival| self.allows(world, rival, deleting))
    }

    /// The effects that stand before an `apply` and build the same object, or the same set.
    pub fn rivals(&self, effect: usize) -> impl Iterator<Item = usize> {
        let of = &self.effects[effect];
        let builds_the_same = move |other: &usize| {
            let other = &self.effects[*other];
            (other.verb, other.target, other.each) == (Verb::Apply, of.target, of.each)
        };
        (0..effect)
            .filter(builds_the_same)
            .filter(|_| of.verb == Verb::Apply)
    }

    fn allows(&self, world: &World, number: usize, deleting: bool) -> bool {
        let effect = &self.effects[number];
        let sources = effect.from.iter().all(|s| match *s {
            Source::Input(input) => self.inputs[input].many || self.usable(world, input),
            Source::Value(value) => {
                let given = self.values[value].given.as_ref();
                given.is_none_or(|g| world.holds(g))
            }
            Source::This | Source::Request | Source::Fact(_) => true,
        });
        let input = &self.inputs[effect.target];
        // For an unread input, no record is known.
        let noted = self.noted_in(effect.target);
        let noted = noted.and_then(|of| self.inputs[of].given.as_ref());
        let mut given = input.given.iter().chain(noted);
        let target = given.all(|given| world.holds(given));
        // The owner reference of the object contains the uid of its existing owner.
        let writes = matches!(effect.verb, Verb::Apply | Verb::Adopt | Verb::Create);
        let owner = input.owner.filter(|_| writes);
        let owned = owner.is_none_or(|owner| self.usable(world, owner));
        let ready = sources && target && owned;
        ready && self.has_room(world, effect) && self.in_season(world, number, deleting)
    }

    /// Returns true if the target leaves something to do.
    fn has_room(&self, world: &World, effect: &Effect) -> bool {
        // The verdict on the created objects decides if a record is due.
        let shown = self.noted_in(effect.target).unwrap_or(effect.target);
        let input = &self.inputs[shown];
        let target = input.var.and_then(|var| self.verdict_in(world, var));
        let is = |verdict: Verdict| target == Some(verdict);
        match (effect.verb, effect.each) {
            (Verb::Apply, true) => is(Verdict::Behind),
            (Verb::Apply, false) if input.mode == Mode::Part => is(Verdict::Stale),
            (Verb::Apply, false) => is(Verdict::Absent) || is(Verdict::Stale),
            (Verb::Delete, true) => is(Verdict::Surplus),
            (Verb::Create, true) => is(Verdict::Behind),
            (Verb::Create, false) => is(Verdict::Absent),
            (Verb::Note, _) => is(Verdict::New),
            (Verb::Delete, false) if input.noted.is_some() => is(Verdict::Made),
            (Verb::Delete, false) => is(Verdict::Stale) || is(Verdict::Current),
            (Verb::Adopt, _) => is(Verdict::Adoptable),
            (Verb::Call, _) => {
                let unseen = input.mode == Mode::Poll && is(Verdict::Unknown);
                !unseen
                    && effect.sets.first().is_some_and(|first| {
                        first.iter().any(|&(var, value)| world.get(var) != value)
                    })
            }
        }
    }

    /// Returns true if the effect may run in this phase. During life, the author's `when` decides,
    /// unless the object is left unchanged. During deletion, only the teardown and the cleanup run.
    fn in_season(&self, world: &World, number: usize, deleting: bool) -> bool {
        let effect = &self.effects[number];
        let goes = effect.is_undo || effect.is_step;
        if deleting {
            return goes
                && self.holds_deletion(world).is_none()
                && self.is_claimed(world)
                && self.is_due_to_go(world, number);
        }
        self.set_aside(world).is_none()
            && (!goes || effect.when.is_some() || self.volume)
            && effect.when.as_ref().is_none_or(|w| world.holds(w))
    }

    /// Returns true if an effect may acquire something that needs cleanup.
    pub fn acquires(&self, effect: &Effect) -> bool {
        let takes = |&(var, value): &(usize, u8)| {
            self.vars[var]
                .free
                .is_some_and(|free| free >> value & 1 == 0)
        };
        effect
            .sets
            .iter()
            .any(|alternative| alternative.iter().any(takes))
    }

    /// Returns true if an effect releases something that is held here, either at once or because
    /// the environment completes what it began.
    pub(super) fn has_to_free(&self, world: &World, effect: usize) -> bool {
        let sets = self.effects[effect].sets.iter().copied().flatten();
        let mut held = sets.filter(|(var, _)| !self.is_free(world, *var));
        held.any(|&(var, value)| {
            let frees = self.vars[var]
                .free
                .is_some_and(|free| free >> value & 1 == 1);
            frees || self.lets_go(effect, var)
        })
    }

    /// Returns true if an effect starts the release of a fact, although the value that it sets is
    /// not free yet.
    fn lets_go(&self, number: usize, var: usize) -> bool {
        let effect = &self.effects[number];
        let takes = |other: &Effect| {
            let mut sets = other.sets.iter().copied().flatten();
            sets.any(|&(of, value)| {
                let free = self.vars[var].free.unwrap_or(u64::MAX);
                of == var && free >> value & 1 == 0
            })
        };
        let mut acquiring = self.effects.iter().filter(|e| e.undo == Some(number));
        !self.volume && effect.undo.is_none() && (effect.is_step || acquiring.any(takes))
    }

    /// Returns true if nothing is ours according to this variable.
    pub fn is_free(&self, world: &World, var: usize) -> bool {
        self.vars[var]
            .free
            .is_none_or(|free| free >> world.get(var) & 1 == 1)
    }

    /// Returns true if nothing needs cleanup.
    pub fn holds_nothing(&self, world: &World) -> bool {
        (0..self.vars.len()).all(|var| self.is_free(world, var))
    }

    /// Returns true if our finalizer is present, in case it is needed.
    pub fn is_claimed(&self, world: &World) -> bool {
        self.vars
            .iter()
            .position(|v| v.origin == Origin::Claimed)
            .is_none_or(|var| world.get(var) == 1)
    }

    fn mentions(&self, var: usize) -> bool {
        self.states.iter().any(|s| s.when.mentions(var))
    }
}
