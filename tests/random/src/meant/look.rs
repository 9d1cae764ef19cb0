//! Meaning of a declaration in one world: the state, the step, and the reported status.

use lifecycle_runtime::machine::ir::{
    ConditionStatus, Effect, FieldOf, Lifecycle, Origin, Phase, Source,
};
use lifecycle_runtime::machine::policy::{Class, Decision};
use lifecycle_runtime::machine::project::{MessageParts, Projected};
use lifecycle_runtime::machine::world::World;

use super::Aspect;

/// A condition: its type, its status and its reason.
type Row = (&'static str, ConditionStatus, String);

/// Meaning of a declaration in one world, by name.
#[derive(Debug, PartialEq)]
pub(super) struct WorldMeaning {
    state: (&'static str, bool),
    step: &'static str,
    asked: Vec<bool>,
    planned: Vec<bool>,
    left: (bool, Option<&'static str>, Option<&'static str>),
    conditions: Vec<Row>,
    ready: Option<Row>,
    sentences: Vec<(String, String)>,
    phase: &'static str,
    is_phase_told: bool,
    overdue: Option<(Option<&'static str>, u64, u64)>,
    wakes: Option<Vec<String>>,
    goal: bool,
    promised: Vec<bool>,
}

impl WorldMeaning {
    pub(super) fn differences(&self, other: &Self) -> Vec<Aspect> {
        if self == other {
            return Vec::new();
        }
        let told = self.is_phase_told || other.is_phase_told;
        let all = [
            (Aspect::State, self.state != other.state),
            (Aspect::Step, self.step != other.step),
            (Aspect::Asked, self.asked != other.asked),
            (Aspect::Planned, self.planned != other.planned),
            (Aspect::Left, self.left != other.left),
            (Aspect::Condition, self.conditions != other.conditions),
            (Aspect::Ready, self.ready != other.ready),
            (Aspect::Sentence, self.sentences != other.sentences),
            (Aspect::Fields, told && self.phase != other.phase),
            (Aspect::Phase, self.phase != other.phase),
            (Aspect::Overdue, self.overdue != other.overdue),
            (Aspect::Wakes, self.wakes != other.wakes),
            (Aspect::Goal, self.goal != other.goal),
            (Aspect::Promises, self.promised != other.promised),
        ];
        let unlike = all.into_iter().filter(|(_, unlike)| *unlike);
        unlike.map(|(aspect, _)| aspect).collect()
    }
}

/// A description with its parts in an order that no change of order changes.
pub(super) struct View {
    ir: &'static Lifecycle,
    sentences: Vec<Option<String>>,
    texts: Vec<Option<String>>,
    vars: Vec<usize>,
    rivals: Vec<usize>,
    promises: Vec<usize>,
    is_phase_told: bool,
}

fn by_name<T>(all: &[T], name: impl Fn(&T) -> &'static str) -> Vec<usize> {
    let mut places: Vec<usize> = (0..all.len()).collect();
    places.sort_by_key(|at| name(&all[*at]));
    places
}

impl View {
    pub(super) fn new(ir: &'static Lifecycle) -> Self {
        let says = |var: &lifecycle_runtime::machine::ir::Var| match var.origin {
            Origin::Fact => Some(format!("{} is said", var.name)),
            Origin::Refused(_) => Some(format!("{} is refused", var.name)),
            Origin::Input(_) | Origin::Deleting | Origin::Claimed => None,
        };
        let has_rivals = |at: &usize| {
            let of = &ir.effects[*at];
            let same = |other: &&Effect| {
                (other.verb, other.target, other.each) == (of.verb, of.target, of.each)
            };
            ir.effects.iter().filter(same).count() > 1
        };
        let effects = by_name(ir.effects, |effect| effect.name).into_iter();
        let mut fields = ir.fields.iter();
        let mut vars = by_name(ir.vars, |var| var.name);
        vars.retain(|var| !matches!(ir.vars[*var].origin, Origin::Refused(_)));
        Self {
            ir,
            sentences: ir.vars.iter().map(says).collect(),
            texts: ir
                .texts
                .iter()
                .map(|text| Some((*text).to_owned()))
                .collect(),
            vars,
            rivals: effects.filter(has_rivals).collect(),
            promises: by_name(ir.promises, |promise| promise.name),
            is_phase_told: ir.kstatus || fields.any(|f| matches!(f.what, FieldOf::Phase)),
        }
    }

    pub(super) fn inspect(&self, world: &World) -> WorldMeaning {
        let ir = self.ir;
        let mut vars = ir.vars.iter().enumerate();
        let deleting = vars.any(|(at, v)| v.origin == Origin::Deleting && world.get(at) == 1);
        let (class, next) = (ir.classify(world, deleting), ir.next(world, deleting));
        let state = match class {
            Class::State(state) => Some(&ir.states[state]),
            Class::Deleting | Class::Refused { .. } | Class::Contradiction => None,
        };
        let (conditions, ready, sentences) = self.render_conditions(world, class);
        let waits = |state: &&lifecycle_runtime::machine::ir::State| {
            state.phase == Phase::Pending && state.wakes.is_none() && next == Decision::Rest
        };
        let wakes = state.and_then(|state| state.wakes);
        let open = ir.open_step(world).filter(|_| deleting);
        WorldMeaning {
            state: (class.name(ir), state.is_some()),
            step: match next {
                Decision::Claim => "(claim)",
                Decision::Release => "(release)",
                Decision::Rest => "(rest)",
                Decision::Effect(effect) => ir.effects[effect].name,
            },
            asked: self.queried_flags(world),
            planned: self.planned(world),
            left: (
                deleting && ir.is_left(world),
                ir.abandons(world).filter(|_| deleting).map(|one| one.why),
                open.map(|step| ir.effects[ir.steps[step].effect].name),
            ),
            conditions,
            ready,
            sentences,
            phase: ir.phase(class).as_str(),
            is_phase_told: self.is_phase_told,
            overdue: state.filter(waits).map(|state| {
                let length = state.overdue;
                let said = length.said.map(|time| ir.times[time]);
                (said, length.otherwise, length.least)
            }),
            wakes: wakes.map(|wakes| self.named(wakes)),
            goal: state.is_some_and(|state| state.goal),
            promised: {
                let promises = self.promises.iter();
                promises
                    .map(|at| world.holds(&ir.promises[*at].when))
                    .collect()
            },
        }
    }

    /// Evaluates for each item if it is observed, computed, evaluated, kept or made anew.
    fn queried_flags(&self, world: &World) -> Vec<bool> {
        let ir = self.ir;
        let holds = |pred: &Option<_>| pred.as_ref().is_none_or(|pred| world.holds(pred));
        let vars = self.vars.iter().map(|var| &ir.vars[*var]);
        let inputs = ir.inputs.iter();
        let values = ir.values.iter();
        let mints = values.clone().filter_map(|value| value.mint.as_ref());
        let all = inputs.clone().map(|input| holds(&input.given));
        let all = all.chain(inputs.map(|input| holds(&input.retain)));
        let all = all.chain(values.map(|value| holds(&value.given)));
        let all = all.chain(mints.map(|mint| holds(&mint.until)));
        let asked = vars.map(|var| var.given.iter().all(|guard| world.holds(&guard.pred)));
        all.chain(asked).collect()
    }

    /// Returns, for each effect that builds the same object, whether it may run if the object
    /// existed and were stale.
    fn planned(&self, world: &World) -> Vec<bool> {
        let ir = self.ir;
        let may = |at: &usize| {
            let effect = &ir.effects[*at];
            let mut there = world.clone();
            if let Some(var) = ir.inputs[effect.target].var {
                let stale = ir.vars[var].values.iter().position(|v| *v == "Stale");
                let stale = stale.and_then(|stale| u8::try_from(stale).ok());
                stale.into_iter().for_each(|stale| there.set(var, stale));
            }
            effect.when.as_ref().is_none_or(|when| there.holds(when))
        };
        self.rivals.iter().map(may).collect()
    }

    fn render_conditions(
        &self,
        world: &World,
        class: Class,
    ) -> (Vec<Row>, Option<Row>, Vec<(String, String)>) {
        let ir = self.ir;
        let said = MessageParts {
            sentences: &self.sentences,
            texts: &self.texts,
        };
        let told: Vec<Projected> = if ir.is_silent(class) {
            Vec::new()
        } else if ir.is_suspended(class) {
            let anew = ir.conditions_while_suspended(world, said).into_iter();
            anew.filter_map(|(_, told)| told).collect()
        } else {
            ir.conditions(world, said)
        };
        let row = |told: &Projected| (told.name, told.status, told.reason.clone());
        let is_ready = |told: &&Projected| told.name == "Ready" && !ir.ready.from.is_empty();
        let declared = told.iter().filter(|told| !is_ready(told));
        // In other classes, it reports that the object is being deleted or was refused.
        let ready = told.iter().find(is_ready);
        let ready = ready.filter(|_| matches!(class, Class::State(_)));
        let sentences = declared.clone().chain(ready);
        (
            declared.map(row).collect(),
            ready.map(row),
            sentences
                .map(|told| (told.message.clone(), told.event.clone()))
                .collect(),
        )
    }

    fn named(&self, sources: &[Source]) -> Vec<String> {
        let mut names: Vec<String> = sources.iter().map(|s| format!("{s:?}")).collect();
        names.sort();
        names
    }
}
