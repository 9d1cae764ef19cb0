//! Teardown of an object that goes: the stage that is not over, the need for the finalizer, and the
//! resources that are given up.

use crate::broken::Rule;
use crate::findings::Findings;
use crate::moves::Move;
use crate::syntax::Step;
use crate::worlds::{Act, Due, Test, Value, World, Worlds};

impl Worlds<'_> {
    pub(crate) fn dues(&self) -> Vec<Due> {
        let due = |step: &Step| {
            let act = self
                .life
                .effects
                .iter()
                .position(|one| one.name == step.effect);
            Due {
                act: act.expect("names were checked before"),
                when: step.when.as_ref().map(|when| self.test(when)),
                until: self.test(&step.until),
            }
        };
        self.life.steps.iter().map(due).collect()
    }

    /// Evaluates a test by the facts that are evaluated. The outcome of our own write is always
    /// known.
    fn try_evaluate(&self, test: &Test, world: &World) -> Option<bool> {
        sure(test, &|var, values| {
            let known = self.vars[var].is_refusal()
                || self.unasked(var, world).is_none()
                || self.forgets(Rule::UnseenBlocks);
            known.then(|| values.contains(&world[var]))
        })
    }

    /// Like `says`, but polls that have not answered count as unknown.
    fn says_surely(&self, test: &Test, world: &World) -> Option<bool> {
        let unknown = self.find_value("Unknown");
        sure(test, &|var, values| {
            let poll = self.life.input(&self.vars[var].name);
            let silent = poll.is_some_and(|poll| poll.own == "poll") && world[var] == unknown;
            let known = self.vars[var].is_refusal() || self.unasked(var, world).is_none();
            (known && !silent).then(|| values.contains(&world[var]))
        })
    }

    /// The number of the step that is not over.
    fn open(&self, world: &World) -> Option<&Due> {
        let is_open = |due: &&Due| self.try_evaluate(&due.until, world) != Some(true);
        if self.forgets(Rule::StepsInOrder) {
            return self.dues.iter().rev().find(is_open);
        }
        self.dues.iter().find(is_open)
    }

    /// The effect of the step that is not over.
    pub(crate) fn open_step(&self, world: &World) -> Option<usize> {
        self.open(world).map(|due| due.act)
    }

    /// Returns true if the teardown has work to do for sure, and our finalizer is not there.
    pub(crate) fn is_due(&self, world: &World) -> bool {
        let unclaimed = self.claimed.is_some_and(|claimed| world[claimed] == 0);
        let mut dues = self.dues.iter();
        unclaimed
            && dues.any(|due| self.try_evaluate(&due.until, world) == Some(false))
            && !self.forgets(Rule::DueIsClaimed)
    }

    /// The effects of the steps that are not over, for sure.
    pub(crate) fn undone(&self, world: &World) -> Vec<String> {
        let is_due = |due: &&Due| self.try_evaluate(&due.until, world) == Some(false);
        let undone = self.dues.iter().filter(is_due);
        undone.map(|due| self.acts[due.act].name.clone()).collect()
    }

    /// Returns true if it is the turn of an effect on deletion.
    pub(crate) fn is_its_turn(&self, act: &Act, world: &World) -> bool {
        let gives_back = act.frees.iter().any(|var| self.is_held(*var, world[*var]));
        match self.open(world) {
            None => act.is_undo && gives_back,
            Some(_) if self.forgets(Rule::StepsBeforeUndoes) && act.is_undo && gives_back => true,
            Some(due) => {
                let mut when = due.when.iter();
                self.acts[due.act].name == act.name
                    && when.all(|when| self.try_evaluate(when, world) == Some(true))
            }
        }
    }

    /// Returns true if the object cannot go yet.
    pub(crate) fn is_left(&self, world: &World) -> bool {
        let mut vars = 0..self.vars.len();
        self.open(world).is_some() || vars.any(|var| self.is_held(var, world[var]))
    }

    /// Returns the move of a teardown, or nothing if the teardown does not decide.
    pub(crate) fn torn_down(&self, world: &World) -> Option<Option<Move>> {
        let abandons = || {
            let mut abandoned = self.abandoned.iter();
            abandoned.any(|when| self.try_evaluate(when, world) == Some(true))
        };
        let waits = self.is_even_deleting(world);
        if self.is_left(world) && !waits && !self.forgets(Rule::Abandons) && abandons() {
            return Some(Some(Move::Release));
        }
        let step = self.open(world)?.act;
        if self.forgets(Rule::StepsBeforeUndoes) {
            return None;
        }
        Some(
            self.enabled(&self.acts[step], world)
                .then_some(Move::Run(step)),
        )
    }

    /// Returns true if an effect may leave work for the teardown.
    pub(crate) fn reopens(&self, act: &Act) -> bool {
        let by = |alternative: &Vec<(usize, Value)>, due: &Due| {
            let set = |var: usize| alternative.iter().find(|(other, _)| *other == var);
            let changed = |var: usize| set(var).is_some() || act.affected.contains(&var);
            let said = sure(&due.until, &|var, values| {
                set(var).map(|(_, value)| values.contains(value))
            });
            tested_vars(&due.until).into_iter().any(changed) && said != Some(true)
        };
        let alternatives = self.alternatives(act);
        let mut pairs = alternatives
            .iter()
            .flat_map(|one| self.dues.iter().map(move |due| (one, due)));
        pairs.any(|(one, due)| by(one, due))
    }

    /// Reports errors in giving up, and stages of the teardown that never run.
    pub(crate) fn torn_down_well(&self, policy: &[Option<Move>], found: &mut Findings) {
        let all: Vec<usize> = (0..self.all.len())
            .filter(|at| self.is_deleting(&self.all[*at]))
            .collect();
        for when in &self.abandoned {
            let holds = |at: &&usize| self.holds(when, &self.all[**at]);
            let unsure = |at: &usize| self.says_surely(when, &self.all[*at]) != Some(true);
            if all.iter().filter(holds).any(unsure) {
                found.report("LC144", "abandoned");
            }
            let left: Vec<&usize> = all
                .iter()
                .filter(|at| self.is_left(&self.all[**at]))
                .collect();
            let given_up = left.iter().filter(|at| holds(at)).count();
            if given_up == 0 || given_up == left.len() {
                found.report("LC145", "abandoned");
            }
        }
        for (due, step) in self.dues.iter().zip(&self.life.steps) {
            let by_silence = |at: &usize| {
                let world = &self.all[*at];
                let said = self.try_evaluate(&due.until, world) == Some(true);
                said && self.says_surely(&due.until, world) != Some(true)
            };
            if all.iter().any(by_silence) {
                found.report("LC144", &self.acts[due.act].name);
            }
            let runs = |at: &usize| {
                self.open_step(&self.all[*at]) == Some(due.act)
                    && policy[*at] == Some(Move::Run(due.act))
            };
            let deletes_kept = |at: &usize| runs(at) && self.is_kept(due, step, &self.all[*at]);
            if all.iter().any(deletes_kept) {
                found.report("LC136", &self.acts[due.act].name);
            }
            let here = |at: &&usize| self.open_step(&self.all[**at]) == Some(due.act);
            let open: Vec<&usize> = all.iter().filter(here).collect();
            let given_up = |at: &&usize| policy[**at] == Some(Move::Release);
            let is_given_up = !open.is_empty() && open.iter().all(given_up);
            if !is_given_up && !all.iter().any(runs) {
                found.report("LC146", &self.acts[due.act].name);
            }
        }
    }
}

impl Worlds<'_> {
    /// Returns true if a stage of the teardown deletes an object there that must stay.
    fn is_kept(&self, due: &Due, step: &Step, world: &World) -> bool {
        let life = self.life;
        let Some(effect) = life.effect(&step.effect).filter(|one| one.verb == "delete") else {
            return false;
        };
        let Some(input) = life.input(&effect.on) else {
            return false;
        };
        if input.retained {
            let policy = input.retain.as_ref();
            return policy.is_none_or(|policy| self.holds(&self.test(policy), world));
        }
        let mut effects = life.effects.iter();
        let adopts = effects.any(|one| one.verb == "adopt" && one.on == effect.on && !one.lets_go);
        let mut asks = due.when.iter().flat_map(tested_vars);
        let tells = asks.any(|var| {
            let name = &self.vars[var].name;
            life.fact(name).is_some() && self.reach.reads[name].contains(&effect.on)
        });
        adopts && !tells
    }
}

/// Returns the result of a test if only some answers are known.
fn sure(test: &Test, known: &dyn Fn(usize, &Vec<Value>) -> Option<bool>) -> Option<bool> {
    match test {
        Test::And(left, right) => match (sure(left, known), sure(right, known)) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (one, other) => one.and(other),
        },
        Test::Or(left, right) => match (sure(left, known), sure(right, known)) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (one, other) => one.and(other),
        },
        Test::Not(inner) => sure(inner, known).map(|said| !said),
        Test::Is(var, values) => known(*var, values),
        Test::Enabled(_) => None,
    }
}

fn tested_vars(test: &Test) -> Vec<usize> {
    match test {
        Test::And(left, right) | Test::Or(left, right) => {
            let mut all = tested_vars(left);
            all.extend(tested_vars(right));
            all
        }
        Test::Not(inner) => tested_vars(inner),
        Test::Is(var, _) => vec![*var],
        Test::Enabled(_) => Vec::new(),
    }
}
