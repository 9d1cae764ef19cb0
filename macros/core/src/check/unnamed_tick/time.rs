//! The changes of a world that the passing of time alone can cause.

use std::collections::BTreeSet;
use std::ops::ControlFlow;

use crate::model::frames::Dependency;
use crate::model::{EffectId, InputId, Origin, Pred, Source, Use, VarId, Verb};
use crate::space::world::World;
use crate::space::{Class, Reader, Space};

/// A fact that reads the clock.
struct TimedFact {
    var: VarId,
    /// True if time makes it true, and never false again.
    is_one_way: bool,
}

/// The changes that the passing of time can cause.
pub(super) struct Time<'a> {
    space: &'a Space<'a>,
    clock: InputId,
    /// The variables that depend on the time.
    readers: Vec<Reader>,
    /// The facts that read the clock.
    timed: Vec<TimedFact>,
}

impl<'a> Time<'a> {
    pub(super) fn new(space: &'a Space<'a>, clock: InputId) -> Self {
        let vars = space.lifecycle.vars.iter().enumerate();
        let timed = vars.filter_map(|(at, var)| match &var.origin {
            Origin::Fact { from, boolean, .. } => {
                let mut from = from.iter();
                let is_timed = from.any(|one| one.source == Source::Input(clock));
                is_timed.then_some(TimedFact {
                    var: VarId(at),
                    is_one_way: *boolean,
                })
            }
            Origin::Input(_) | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => None,
        });
        Self {
            space,
            clock,
            readers: space.readers(&BTreeSet::from([Dependency::Input(clock)])),
            timed: timed.collect(),
        }
    }

    /// Returns a fact with which the passing of time leads from a world to a goal, or to a world
    /// with something to do, and that world. A fact that the state asks explains best.
    pub(super) fn goes_on(&self, world: usize, asked: &BTreeSet<VarId>) -> Option<(VarId, usize)> {
        let space = self.space;
        let before = space.worlds.get(world);
        let change = space.changed(before, &self.readers);
        let mut on = None;
        let _ = space.worlds.walk(&change, &mut |end, after| {
            let found = end.and_then(|end| {
                let end = end as usize;
                let fact = self
                    .leads_on(world, end)
                    .then(|| self.cause(before, after, asked))??;
                Some((fact, end))
            });
            let explains = found.is_some_and(|(fact, _)| asked.contains(&fact));
            if explains || on.is_none() {
                on = found.or(on);
            }
            match explains {
                true => ControlFlow::Break(()),
                false => ControlFlow::Continue(()),
            }
        });
        on
    }

    /// Returns true if there is something to do in another world, or if it is a goal.
    fn leads_on(&self, from: usize, to: usize) -> bool {
        let space = self.space;
        let class = space.classes[to];
        let is_goal = matches!(class, Class::State(state) if space.lifecycle.states[state.0].goal);
        class != space.classes[from] && (is_goal || !space.is_at_rest(to))
    }

    /// Returns the fact through which time can cause a change of the world, if it can. Only facts
    /// read the time. One that goes one way does not go back, and an object is compared anew only
    /// if the time chooses its builder, or decides what it builds.
    fn cause(&self, before: World<'_>, after: World<'_>, asked: &BTreeSet<VarId>) -> Option<VarId> {
        let changes = |var: VarId| before.value(var) != after.value(var);
        let goes_back = |fact: &TimedFact| {
            let var = fact.var;
            let is_asked = before.is_asked(var) && after.is_asked(var);
            fact.is_one_way && is_asked && changes(var) && after.value(var) == 0
        };
        let mut compared = self.readers.iter().filter(|one| one.is_only_compared);
        let timed = self.timed.iter().map(|fact| fact.var);
        let fact = timed
            .filter(|var| changes(*var))
            .min_by_key(|var| !asked.contains(var));
        let is_possible = !self.timed.iter().any(goes_back)
            && compared.all(|one| !changes(one.var) || self.decides(one.var, before, after));
        fact.filter(|_| is_possible)
    }

    /// Returns true if the time may decide about the comparison of an object.
    fn decides(&self, var: VarId, before: World<'_>, after: World<'_>) -> bool {
        let lifecycle = self.space.lifecycle;
        let Origin::Input(input) = lifecycle.vars[var.0].origin else {
            return true;
        };
        let retain = lifecycle.inputs[input.0].retain.as_ref();
        if retain.is_some_and(|retain| before.holds(retain) != after.holds(retain)) {
            return true;
        }
        match (self.builder(input, before), self.builder(input, after)) {
            (Some(one), Some(other)) if one == other => {
                let from = &lifecycle.effects[one.0].from;
                self.changes(from, before, after)
            }
            (Some(_) | None, _) => true,
        }
    }

    /// Returns true if the time may change one of these arguments: the object that is found, or
    /// whether something is known or made anew.
    fn changes(&self, from: &[Use], before: World<'_>, after: World<'_>) -> bool {
        let lifecycle = self.space.lifecycle;
        let turns = |pred: &Pred| before.holds(pred) != after.holds(pred);
        let looks = |id: InputId| {
            let (input, clock) = (&lifecycle.inputs[id.0], Dependency::Input(self.clock));
            let is_moved = self.space.frames.looked_up(id).contains(&clock);
            is_moved || input.given.as_ref().is_some_and(turns)
        };
        from.iter().any(|one| match one.source {
            Source::Input(input) => {
                let mut members = lifecycle.members(input);
                looks(input) || members.any(|(member, _)| looks(member))
            }
            Source::Value(value) => {
                let value = &lifecycle.values[value.0];
                let until = value.mint.as_ref().and_then(|mint| mint.until.as_ref());
                value.given.as_ref().is_some_and(turns)
                    || until.is_some_and(turns)
                    || self.changes(&value.from, before, after)
            }
            Source::This | Source::Request | Source::Field(_) | Source::Fact(_) => false,
        })
    }

    /// Returns the effect that builds an object in a world.
    fn builder(&self, input: InputId, world: World<'_>) -> Option<EffectId> {
        let effects = self.space.lifecycle.effects.iter().enumerate();
        let mut builds = effects.filter(|(_, effect)| {
            effect.target == input && effect.verb == Verb::Apply && !effect.each
        });
        let builds = builds.find(|(at, effect)| {
            let is_meant = effect.when.as_ref().is_none_or(|when| world.holds(when));
            is_meant && self.space.permissions.can_build(EffectId(*at), world)
        });
        builds.map(|(at, _)| EffectId(at))
    }
}
