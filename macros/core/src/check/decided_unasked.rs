//! A warning: what is told or done rests on a fact that is not asked there. Where its `given` fails, a fact has its first value; a state, a clause of a condition,
//! an effect that runs or an answer of a call that would be another with another answer then says what nobody knows. Decide it in a line above by what keeps the
//! fact from being asked; or write the value that is meant to count there with `else`, also where it is the first.
//!
//! ```text
//! matched: bool from report given report;
//! Unmatched when !matched => Pending wakes self;           // warned: so it is, too, while the router is silent
//! matched: bool from report given report else false;       // that is what silence means
//! Silent when report == Unknown => Pending; Unmatched when !matched => Pending wakes self;
//! ```

use std::collections::BTreeMap;

use crate::errors::{Diagnostic, Sink};
use crate::model::{Condition, ConditionId, EffectId, Guard, Kind, Origin, Pred, StateId, VarId};
use crate::rule::{Rule, Run, Stage};
use crate::space::altered::Altered;
use crate::space::calls::{Answer, CallDrive, Called};
use crate::space::explored::{Explored, clause_of};
use crate::space::witness::{Claim, fact, minimal};
use crate::space::world::World;
use crate::space::{Class, Space};

pub(super) const RULE: Rule = Rule {
    code: "LC014",
    name: "decided_unasked",
    stage: Stage::Graph,
    run: Run::Both(of_resource, of_volume),
};

/// What is told or done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Decision {
    State,
    Condition(ConditionId),
    Effect(EffectId),
    /// By position among the drives.
    Call(usize),
}

/// For a fact, what is decided where it is not asked, and the first case of each.
type Decided = BTreeMap<Decision, Case>;

/// A world in which a fact is not asked, and an answer with which a decision would be another.
#[derive(Clone, Copy, Debug)]
struct Case {
    world: usize,
    answer: usize,
}

fn of_resource(explored: &Explored<'_>, sink: &mut Sink) {
    check(&Look::of(explored.space, &[]), sink);
}

fn of_volume(called: &Called<'_>, sink: &mut Sink) {
    check(&Look::of(called.space, &called.drives), sink);
}

fn check(look: &Look<'_>, sink: &mut Sink) {
    for var in (0..look.space.lifecycle.vars.len()).map(VarId) {
        let declared = &look.space.lifecycle.vars[var.0];
        let is_fact = matches!(declared.origin, Origin::Fact { .. });
        if is_fact && declared.given.iter().any(is_silent) {
            let decided = look.decided(var);
            if !decided.is_empty() {
                sink.push(diagnostic(look, var, &decided));
            }
        }
    }
}

/// Whether the author does not say which value counts where this keeps the fact from being asked.
fn is_silent(guard: &Guard) -> bool {
    guard.otherwise_span.is_none()
}

/// What looks at decisions.
struct Look<'a> {
    space: &'a Space<'a>,
    drives: &'a [CallDrive<'a>],
    /// By variable: the states that ask it.
    states: Vec<Vec<usize>>,
}

impl<'a> Look<'a> {
    fn of(space: &'a Space<'a>, drives: &'a [CallDrive<'a>]) -> Self {
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

    /// What a fact decides where it is not asked and nobody says what counts then.
    fn decided(&self, var: VarId) -> Decided {
        let mut open = self.decisions(var);
        let mut decided = Decided::new();
        for index in self.space.worlds.indexes() {
            if open.is_empty() {
                break;
            }
            let world = self.space.worlds.get(index);
            if world.asked(var) || self.unsaid(var, world).is_none() {
                continue;
            }
            let mut altered = Altered::of(world);
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

    /// What keeps it from being asked, if no `else` stands behind it.
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
        let permits = |effect: &EffectId| self.space.permissions.asks(*effect, var);
        let effects = (0..lifecycle.effects.len()).map(EffectId);
        decisions.extend(effects.filter(permits).map(Decision::Effect));
        decisions.extend((0..self.drives.len()).map(Decision::Call));
        decisions
    }

    /// An answer with which the decision would be another.
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
                && altered.with(var, *answer, |other| {
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
                self.is_told(class) && clause_of(condition, world) != clause_of(condition, other)
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

    /// Whether the state is another: of those down to the one that counts, one fits here and not there, or there and not here.
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

    /// Whether an effect runs there, of a volume in any call.
    fn runs(&self, effect: EffectId, index: usize) -> bool {
        let mut drives = self.drives.iter();
        match self.is_volume() {
            false => self.space.choices[index].effect() == Some(effect),
            true => drives
                .any(|drive| drive.meets(index) && drive.answers[index] == Answer::Run(effect)),
        }
    }

    fn is_told(&self, class: Class) -> bool {
        match class {
            Class::Deleting => false,
            Class::State(StateId(state)) => !self.space.lifecycle.states[state].is_ignored(),
            Class::Refused | Class::Nowhere => true,
        }
    }
}

fn diagnostic(look: &Look<'_>, var: VarId, decided: &Decided) -> Diagnostic {
    let (space, declared) = (look.space, &look.space.lifecycle.vars[var.0]);
    let (first, case) = decided.iter().next().expect("something is decided");
    let bad = |world: usize| {
        let at = space.worlds.get(world);
        !at.asked(var)
            && look.unsaid(var, at).is_some()
            && look
                .another(var, *first, world, &mut Altered::of(at))
                .is_some()
    };
    let world = space.worlds.get(case.world);
    let guard = look.unsaid(var, world).expect("it is not asked there");
    let claim = Claim {
        about: space.worlds.indexes().collect(),
        bad: &bad,
        expected: guard.pred.vars(),
    };
    let said = fact(space.lifecycle, var, world.value(var));
    let message = format!(
        "with `{}` fact `{}` is not asked and counts as `{said}`, which decides {}",
        minimal(space, &claim, case.world),
        declared.name,
        told(look, *first, var, *case),
    );
    let help = format!(
        "write `else {}` behind that `given` if this is what counts there, or decide it above by what `given` asks",
        declared.values[world.value(var)]
    );
    let found = RULE.warning(declared.name.span(), declared.name.to_string(), message);
    let others: Vec<String> = decided
        .iter()
        .skip(1)
        .map(|(decision, case)| told(look, *decision, var, *case))
        .collect();
    let found = match others.is_empty() {
        true => found,
        false => found.note(None, format!("it decides so, too: {}", others.join("; "))),
    };
    found
        .note(guard.pred.span, "this is what keeps it from being asked")
        .help(help)
}

/// What is decided, and what it would be instead.
fn told(look: &Look<'_>, decision: Decision, var: VarId, case: Case) -> String {
    let space = look.space;
    let (lifecycle, world) = (space.lifecycle, space.worlds.get(case.world));
    let other = fact(lifecycle, var, case.answer);
    let mut altered = Altered::of(world);
    altered.with(var, case.answer, |there| match decision {
        Decision::State => format!(
            "state `{}` (with `{other}` it would be `{}`)",
            space.class_name(space.classes[case.world]),
            space.class_name(space.classify(there))
        ),
        Decision::Condition(id) => {
            let condition = &lifecycle.conditions[id.0];
            format!(
                "that condition `{}` says {} (with `{other}` it would say {})",
                condition.name,
                said(condition, world),
                said(condition, there)
            )
        }
        Decision::Effect(effect) => format!(
            "that effect `{}` runs (with `{other}` it would not)",
            lifecycle.effects[effect.0].name
        ),
        Decision::Call(at) => {
            let drive = &look.drives[at];
            format!(
                "that `{}` {} (with `{other}` it would {})",
                drive.call.name,
                does(look, drive.answers[case.world], true),
                does(look, drive.answer_in(space, there), false)
            )
        }
    })
}

/// What a condition says: `False "NoPod"`, or which clause that is.
fn said(condition: &Condition, world: World<'_>) -> String {
    let Some(at) = clause_of(condition, world) else {
        return "nothing".to_owned();
    };
    let clause = &condition.clauses[at];
    let reason = clause
        .reason
        .as_deref()
        .map(|reason| format!(" {reason:?}"));
    let said = format!("{:?}{}", clause.status, reason.unwrap_or_default());
    format!("`{said}` by clause {}", at + 1)
}

fn does(look: &Look<'_>, answer: Answer, is_so: bool) -> String {
    let s = if is_so { "s" } else { "" };
    match answer {
        Answer::Precondition(_, code) => format!("answer{s} {}", code.name()),
        Answer::Done => format!("answer{s} OK"),
        Answer::Refusal(at) => format!("give{s} refusal {}", at + 1),
        Answer::Run(effect) => {
            let effect = &look.space.lifecycle.effects[effect.0];
            format!("run{s} `{}`", effect.name)
        }
        Answer::Wait => format!("wait{s}"),
    }
}
