//! A warning: a decision depends on a fact that is not evaluated there. If its `given` fails, a
//! fact has its first value. Another answer could then change a state, a clause of a condition, an
//! effect that runs or an answer of a call. The decision therefore states something that is
//! unknown. Decide the case in an earlier line by the predicate that keeps the fact from being
//! evaluated. Alternatively, write the intended value with `else`, even if it is the first value.
//!
//! ```text
//! matched: bool from report given report;
//! Unmatched when !matched => Pending wakes self;           // warned: so it is, too, while the router is silent
//! matched: bool from report given report else false;       // that is what silence means
//! Silent when report == Unknown => Pending; Unmatched when !matched => Pending wakes self;
//! ```

mod told;

use std::collections::BTreeMap;

use crate::errors::Sink;
use crate::model::{ConditionId, EffectId, Guard, Kind, Origin, Pred, StateId, VarId};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::altered::Altered;
use crate::space::calls::{Answer, CallDrive, Called};
use crate::space::explored::{Explored, clause_of};
use crate::space::world::World;
use crate::space::{Class, Space};

pub(super) const RULE: Rule = Rule {
    code: "LC014",
    name: "decided_unasked",
    group: Group::Facts,
    severity: Severity::Warning,
    stage: Stage::Graph,
    run: Run::Both(of_resource, of_volume),
};

/// Decision that the lifecycle reports or acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Decision {
    State,
    Condition(ConditionId),
    Effect(EffectId),
    /// Id of the call among the trajectories.
    Call(usize),
}

/// For a fact, the decisions in worlds that do not query it, and the first case of each.
type Decided = BTreeMap<Decision, Case>;

/// A world that does not query a fact, and an answer that would change a decision.
#[derive(Clone, Copy, Debug)]
struct Case {
    world: usize,
    answer: usize,
}

fn of_resource(explored: &Explored<'_>, sink: &mut Sink) {
    check(&DecisionContext::new(explored.space, &[]), sink);
}

fn of_volume(called: &Called<'_>, sink: &mut Sink) {
    check(&DecisionContext::new(called.space, &called.drives), sink);
}

fn check(look: &DecisionContext<'_>, sink: &mut Sink) {
    for var in (0..look.space.lifecycle.vars.len()).map(VarId) {
        let declared = &look.space.lifecycle.vars[var.0];
        let is_fact = matches!(declared.origin, Origin::Fact { .. });
        if is_fact && declared.given.iter().any(is_silent) {
            let decided = look.decided(var);
            if !decided.is_empty() {
                sink.push(told::diagnostic(look, var, &decided));
            }
        }
    }
}

/// Returns true if the author does not declare the value that counts while this guard keeps the
/// fact from being evaluated.
fn is_silent(guard: &Guard) -> bool {
    guard.otherwise_span.is_none()
}

/// Context for the examination of decisions.
struct DecisionContext<'a> {
    space: &'a Space<'a>,
    drives: &'a [CallDrive<'a>],
    /// By variable: the states that ask it.
    states: Vec<Vec<usize>>,
}

impl<'a> DecisionContext<'a> {
    fn new(space: &'a Space<'a>, drives: &'a [CallDrive<'a>]) -> Self {
        let mut states = vec![Vec::new(); space.lifecycle.vars.len()];
        for (at, state) in space.lifecycle.states.iter().enumerate() {
            for var in state.when.vars() {
                states[var.0].push(at);
            }
        }
        Self {
            space,
            drives,
            states,
        }
    }

    /// Returns the decisions that depend on a fact in worlds in which it is not evaluated and no
    /// `else` declares its value.
    fn decided(&self, var: VarId) -> Decided {
        let mut open = self.decisions(var);
        let mut decided = Decided::new();
        for index in self.space.worlds.indexes() {
            if open.is_empty() {
                break;
            }
            let world = self.space.worlds.get(index);
            if world.is_asked(var) || self.unsaid(var, world).is_none() {
                continue;
            }
            let mut altered = Altered::from_world(world);
            open.retain(|decision| {
                let answer = self.another(var, *decision, index, &mut altered);
                let case = answer.map(|answer| Case {
                    world: index,
                    answer,
                });
                decided.extend(case.map(|case| (*decision, case)));
                case.is_none()
            });
        }
        decided
    }

    /// Returns the guard that keeps the fact from being evaluated, if it has no `else`.
    fn unsaid(&self, var: VarId, world: World<'_>) -> Option<&'a Guard> {
        let mut given = self.space.lifecycle.vars[var.0].given.iter();
        given
            .find(|guard| !world.holds(&guard.pred))
            .filter(|guard| is_silent(guard))
    }

    /// The decisions that a fact may have a part in.
    fn decisions(&self, var: VarId) -> Vec<Decision> {
        let lifecycle = self.space.lifecycle;
        let asks = |pred: &Pred| pred.vars().contains(&var);
        let mut decisions = Vec::new();
        if !self.is_volume() && !self.states[var.0].is_empty() {
            decisions.push(Decision::State);
        }
        for (at, condition) in lifecycle.conditions.iter().enumerate() {
            let mut clauses = condition.clauses.iter();
            if clauses.any(|clause| clause.when.as_ref().is_some_and(asks)) {
                decisions.push(Decision::Condition(ConditionId(at)));
            }
        }
        let permits = |effect: &EffectId| self.space.permissions.depends_on(*effect, var);
        let effects = (0..lifecycle.effects.len()).map(EffectId);
        decisions.extend(effects.filter(permits).map(Decision::Effect));
        decisions.extend((0..self.drives.len()).map(Decision::Call));
        decisions
    }

    /// Returns an answer that would change the decision.
    fn another(
        &self,
        var: VarId,
        decision: Decision,
        index: usize,
        altered: &mut Altered,
    ) -> Option<usize> {
        let counts = self.space.worlds.get(index).value(var);
        let mut answers = 0..self.space.lifecycle.vars[var.0].answers;
        answers.find(|answer| {
            *answer != counts
                && altered.with_value(var, *answer, |other| {
                    self.differs(var, decision, index, other)
                })
        })
    }

    fn differs(&self, var: VarId, decision: Decision, index: usize, other: World<'_>) -> bool {
        let space = self.space;
        let (world, class) = (space.worlds.get(index), space.classes[index]);
        match decision {
            Decision::State => self.is_another(var, class, world, other),
            Decision::Condition(id) => {
                let condition = &space.lifecycle.conditions[id.0];
                space.reports_condition(class, id)
                    && clause_of(condition, world) != clause_of(condition, other)
            }
            Decision::Effect(effect) => {
                self.runs(effect, index) && !space.permissions.enabled(effect, other)
            }
            Decision::Call(at) => {
                let drive = &self.drives[at];
                let answer = drive.answers[index];
                let is_told = !matches!(answer, Answer::Run(_) | Answer::Wait);
                is_told && drive.meets(index) && drive.answer_in(space, other) != answer
            }
        }
    }

    /// Returns true if the state differs. It differs if, among the states down to the one that
    /// counts, at least one matches in only one of the two worlds.
    fn is_another(&self, var: VarId, class: Class, world: World<'_>, other: World<'_>) -> bool {
        let Class::State(StateId(counts)) = class else {
            return false;
        };
        let mut asking = self.states[var.0].iter().filter(|state| **state <= counts);
        asking.any(|state| {
            let when = &self.space.lifecycle.states[*state].when;
            world.holds(when) != other.holds(when)
        })
    }

    fn is_volume(&self) -> bool {
        self.space.lifecycle.kind == Kind::Volume
    }

    /// Returns true if an effect runs in a world. In a volume, any call counts.
    fn runs(&self, effect: EffectId, index: usize) -> bool {
        let mut drives = self.drives.iter();
        match self.is_volume() {
            false => self.space.choices[index].effect() == Some(effect),
            true => drives
                .any(|drive| drive.meets(index) && drive.answers[index] == Answer::Run(effect)),
        }
    }
}
