//! Every world of a lifecycle with its state and its enabled effects. Enumerates along the order of
//! `given`; knows nothing of moves.

mod enumerated;
mod room;

use indexmap::IndexSet;

use crate::broken::Rule;
use crate::held::{acquires, free, gives_back};
use crate::needs::needed;
use crate::reach::Reach;
use crate::syntax::{Effect, Life, Pred, State};
use crate::values::{is_there, values};
use room::room;

/// More worlds than this are not checked.
pub(crate) const LIMIT: usize = 32_768;

const GONE: [&str; 7] = [
    "Absent",
    "Unnamed",
    "Unknown",
    "Terminating",
    "Foreign",
    "Adoptable",
    "Gone",
];

/// A value by its number; `UNSET` while a world is being built.
pub(crate) type Value = u8;
const UNSET: Value = Value::MAX;

/// One value for each variable.
pub(crate) type World = Vec<Value>;

/// A predicate over numbers.
#[derive(Clone, Debug)]
pub(crate) enum Test {
    And(Box<Test>, Box<Test>),
    Or(Box<Test>, Box<Test>),
    Not(Box<Test>),
    Is(usize, Vec<Value>),
    /// The effect with this number is enabled, were it not refused.
    Enabled(usize),
}

#[derive(Debug, Default)]
pub(crate) struct Var {
    pub(crate) name: String,
    pub(crate) answers: Vec<Value>,
    pub(crate) chain: Vec<(Test, Value)>,
    pub(crate) held: bool,
    pub(crate) free: Vec<Value>,
    /// Values that leave it unknown if something is held.
    pub(crate) unseen: Vec<Value>,
}

impl Var {
    pub(crate) fn is_refusal(&self) -> bool {
        self.name.starts_with('?')
    }

    /// The one value that it may have, or any.
    pub(crate) fn values<'a>(&'a self, only: &'a Option<Value>) -> &'a [Value] {
        match only {
            Some(_) => only.as_slice(),
            None => &self.answers,
        }
    }
}

/// An effect with its names looked up.
#[derive(Debug, Default)]
pub(crate) struct Act {
    pub(crate) name: String,
    pub(crate) verb: String,
    pub(crate) own: String,
    pub(crate) each: bool,
    pub(crate) on: Option<usize>,
    pub(crate) from: Vec<usize>,
    pub(crate) tests: Vec<Test>,
    pub(crate) when: Option<Test>,
    pub(crate) sets: Vec<Vec<(usize, Value)>>,
    pub(crate) affected: Vec<usize>,
    /// Those of them of which it alters the wish alone.
    pub(crate) wishes: Vec<usize>,
    pub(crate) acquires: bool,
    /// True if the object is claimed before.
    pub(crate) claims: bool,
    pub(crate) is_undo: bool,
    pub(crate) is_step: bool,
    pub(crate) undo: Option<String>,
    pub(crate) frees: Vec<usize>,
    pub(crate) refused: usize,
    /// Values of the target that permit the write. A call compares the values that it sets instead.
    room: Vec<Value>,
}

/// A step with its names looked up.
#[derive(Debug)]
pub(crate) struct Due {
    pub(crate) act: usize,
    pub(crate) when: Option<Test>,
    pub(crate) until: Test,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum NodePlace {
    Deleting,
    Refused,
    State(usize),
}

pub(crate) struct Worlds<'a> {
    pub(crate) life: &'a Life,
    pub(crate) reach: &'a Reach<'a>,
    pub(crate) wrong: Option<Rule>,
    words: Vec<String>,
    /// Values with which an input cannot be passed to a builder.
    gone: Vec<Value>,
    pub(crate) vars: Vec<Var>,
    pub(crate) order: Vec<usize>,
    pub(crate) acts: Vec<Act>,
    pub(crate) dues: Vec<Due>,
    pub(crate) abandoned: Vec<Test>,
    pub(crate) nevers: Vec<Test>,
    pub(crate) state_tests: Vec<Test>,
    mentioned: Vec<bool>,
    pub(crate) deleting: Option<usize>,
    pub(crate) claimed: Option<usize>,
    pub(crate) all: IndexSet<World>,
    pub(crate) states: Vec<Option<NodePlace>>,
}

impl<'a> Worlds<'a> {
    /// `None`: there are more than `limit`.
    pub(crate) fn new(
        life: &'a Life,
        reach: &'a Reach<'a>,
        limit: usize,
        wrong: Option<Rule>,
    ) -> Option<Self> {
        let mut worlds = Self {
            life,
            reach,
            wrong,
            words: vec!["false".to_owned(), "true".to_owned()],
            gone: Vec::new(),
            vars: Vec::new(),
            order: Vec::new(),
            acts: Vec::new(),
            dues: Vec::new(),
            abandoned: Vec::new(),
            nevers: Vec::new(),
            state_tests: Vec::new(),
            mentioned: Vec::new(),
            deleting: None,
            claimed: None,
            all: IndexSet::new(),
            states: Vec::new(),
        };
        worlds.declare();
        worlds.gone = GONE.iter().map(|word| worlds.find_value(word)).collect();
        worlds.fill_guards();
        worlds.acts = life
            .effects
            .iter()
            .map(|effect| worlds.act(effect))
            .collect();
        worlds.dues = worlds.dues();
        worlds.abandoned = life
            .abandoned
            .iter()
            .map(|when| worlds.test(when))
            .collect();
        for at in 0..worlds.acts.len() {
            worlds.acts[at].claims |= worlds.reopens(&worlds.acts[at]);
        }
        let ruled_out = life.ruled_out();
        worlds.nevers = ruled_out.iter().map(|never| worlds.test(never)).collect();
        worlds.state_tests = life
            .states
            .iter()
            .map(|state| worlds.test(&state.when))
            .collect();
        let mentioned = |var: &Var| {
            life.volume
                || life
                    .states
                    .iter()
                    .any(|state| state.when.atoms().contains(&var.name))
        };
        worlds.mentioned = worlds.vars.iter().map(mentioned).collect();
        worlds.sort_vars();
        worlds.fill(limit)?;
        worlds.states = worlds
            .all
            .iter()
            .map(|world| worlds.classify(world))
            .collect();
        Some(worlds)
    }

    pub(crate) fn forgets(&self, rule: Rule) -> bool {
        self.wrong == Some(rule)
    }

    /// The number of a word that is a value.
    fn value(&mut self, word: &str) -> Value {
        let known = self.words.iter().position(|other| other == word);
        let number = known.unwrap_or_else(|| {
            self.words.push(word.to_owned());
            self.words.len() - 1
        });
        Value::try_from(number).expect("a lifecycle has fewer than 255 values")
    }

    /// Returns the id of a word that may be no value of any variable.
    pub(crate) fn find_value(&self, word: &str) -> Value {
        let known = self.words.iter().position(|other| other == word);
        known
            .and_then(|number| Value::try_from(number).ok())
            .unwrap_or(UNSET)
    }

    /// A value as it is written.
    pub(crate) fn spell(&self, value: Value) -> String {
        self.words
            .get(usize::from(value))
            .cloned()
            .unwrap_or_default()
    }

    pub(crate) fn var(&self, name: &str) -> Option<usize> {
        self.vars.iter().position(|var| var.name == name)
    }

    fn declare(&mut self) {
        let life = self.life;
        if (life.teardown || life.facts.iter().any(|fact| fact.held)) && !life.volume {
            for name in ["deleting", "claimed"] {
                self.vars.push(Var {
                    name: name.to_owned(),
                    answers: vec![0, 1],
                    ..Var::default()
                });
            }
            (self.deleting, self.claimed) = (Some(0), Some(1));
        }
        let inputs = life.inputs.iter().map(|input| input.name.clone());
        let facts = life.facts.iter().map(|fact| fact.name.clone());
        let refusals = life
            .effects
            .iter()
            .map(|effect| format!("?{}", effect.name));
        for name in inputs.chain(facts).chain(refusals) {
            let Some((answers, others)) = values(life, &name) else {
                continue;
            };
            let answers: Vec<Value> = answers.iter().map(|word| self.value(word)).collect();
            let mut unseen: Vec<Value> = others.iter().map(|word| self.value(word)).collect();
            unseen.retain(|value| !answers.contains(value) || *value == self.find_value("Unknown"));
            unseen.extend(
                answers
                    .iter()
                    .filter(|value| **value == self.find_value("Unknown")),
            );
            let fact = life.fact(&name);
            let free = fact.map(free).unwrap_or_default();
            let free = free.iter().map(|word| self.value(word)).collect();
            self.vars.push(Var {
                name,
                answers,
                chain: Vec::new(),
                held: fact.is_some_and(|fact| fact.held),
                free,
                unseen,
            });
        }
    }

    /// Fills in the conditions under which each variable is evaluated.
    fn fill_guards(&mut self) {
        let life = self.life;
        for at in 0..self.vars.len() {
            let (name, first) = (self.vars[at].name.clone(), self.vars[at].answers[0]);
            let mut chain = Vec::new();
            if let Some(effect) = life
                .effects
                .iter()
                .position(|effect| name == format!("?{}", effect.name))
            {
                chain.push((Test::Enabled(effect), 0));
            } else if let Some(given) = life.input(&name).and_then(|input| input.given.as_ref()) {
                chain.push((self.test(given), first));
            } else if let Some(fact) = life.fact(&name) {
                for (given, other) in &fact.chain {
                    chain.push((
                        self.test(given),
                        other.as_ref().map_or(first, |word| self.find_value(word)),
                    ));
                }
            }
            self.vars[at].chain = chain;
        }
    }

    pub(crate) fn test(&self, pred: &Pred) -> Test {
        match pred {
            Pred::And(left, right) => {
                Test::And(Box::new(self.test(left)), Box::new(self.test(right)))
            }
            Pred::Or(left, right) => {
                Test::Or(Box::new(self.test(left)), Box::new(self.test(right)))
            }
            Pred::Not(inner) => Test::Not(Box::new(self.test(inner))),
            Pred::Is(name, asked) => {
                let var = self.var(name).expect("names were checked before");
                let there = || {
                    self.words
                        .iter()
                        .filter(|word| is_there(word))
                        .map(|word| self.find_value(word))
                        .collect()
                };
                let values = asked
                    .as_ref()
                    .map(|asked| asked.iter().map(|word| self.find_value(word)).collect());
                Test::Is(var, values.unwrap_or_else(there))
            }
        }
    }

    fn act(&self, effect: &Effect) -> Act {
        let life = self.life;
        let input = life.input(&effect.on).expect("targets were checked before");
        let single = |name: &&String| life.input(name).is_some_and(|input| !input.many);
        let shown = life
            .input(life.verdict_input(effect))
            .filter(|one| one.name != input.name);
        let looked = [Some(input), shown].into_iter().flatten();
        let looked = looked.filter_map(|one| one.given.as_ref());
        let mut tests: Vec<Test> = looked.map(|given| self.test(given)).collect();
        let values = effect.from.iter().filter_map(|name| life.value(name));
        if !self.forgets(Rule::Inputs) {
            tests.extend(
                values
                    .filter_map(|value| value.given.as_ref())
                    .map(|given| self.test(given)),
            );
        }
        let assign = |assign: &Vec<(String, String)>| {
            assign
                .iter()
                .map(|(fact, word)| {
                    (
                        self.var(fact).expect("checked before"),
                        self.find_value(word),
                    )
                })
                .collect()
        };
        let sets: Vec<Vec<(usize, Value)>> = effect.sets.iter().map(assign).collect();
        Act {
            name: effect.name.clone(),
            verb: effect.verb.clone(),
            own: input.own.clone(),
            each: effect.each,
            on: self.var(life.verdict_input(effect)),
            from: effect
                .from
                .iter()
                .chain(
                    input
                        .of
                        .iter()
                        .filter(|_| ["apply", "adopt", "create"].contains(&effect.verb.as_str())),
                )
                .filter(single)
                .filter_map(|name| self.var(name))
                .collect(),
            tests,
            when: effect.when.as_ref().map(|when| self.test(when)),
            affected: self
                .reach
                .affected(effect)
                .iter()
                .filter_map(|name| self.var(name))
                .collect(),
            wishes: (0..self.vars.len())
                .filter(|var| self.reach.wishes(&self.vars[*var].name, effect))
                .collect(),
            acquires: acquires(life, effect),
            claims: acquires(life, effect),
            is_undo: life
                .effects
                .iter()
                .any(|other| other.undo.as_ref() == Some(&effect.name)),
            undo: effect.undo.clone(),
            is_step: life.steps.iter().any(|step| step.effect == effect.name),
            frees: gives_back(life, effect)
                .iter()
                .filter_map(|fact| self.var(fact))
                .collect(),
            refused: self
                .var(&format!("?{}", effect.name))
                .expect("every effect has a refusal"),
            sets,
            room: room(effect, &input.own, life.creates(&effect.on))
                .iter()
                .map(|word| self.find_value(word))
                .collect(),
        }
    }

    /// Sorts the variables, each after those that decide if it is evaluated.
    fn sort_vars(&mut self) {
        let life = self.life;
        let mut order: Vec<usize> = Vec::new();
        while order.len() < self.vars.len() {
            let ready = |at: &usize| {
                let name = &self.vars[*at].name;
                let asks: Vec<String> =
                    match (name.strip_prefix('?'), life.input(name), life.fact(name)) {
                        (Some(effect), ..) => needed(life, effect).into_iter().collect(),
                        (_, Some(input), _) => input.given.iter().flat_map(Pred::atoms).collect(),
                        (.., Some(fact)) => fact
                            .chain
                            .iter()
                            .flat_map(|(given, _)| given.atoms())
                            .collect(),
                        (None, None, None) => Vec::new(),
                    };
                asks.iter()
                    .filter_map(|name| self.var(name))
                    .all(|var| order.contains(&var))
            };
            let next = (0..self.vars.len())
                .filter(|at| !order.contains(at))
                .find(ready);
            order.push(next.expect("circles were refused before"));
        }
        self.order = order;
    }

    /// Returns the `else` value of a variable that is not evaluated.
    pub(crate) fn unasked(&self, var: usize, world: &World) -> Option<Value> {
        let mut fails = self.vars[var]
            .chain
            .iter()
            .filter(|(given, _)| !self.holds(given, world));
        let decides = if self.forgets(Rule::FirstElse) {
            fails.next_back()
        } else {
            fails.next()
        };
        decides.map(|(_, other)| *other)
    }

    pub(crate) fn allowed(&self, world: &World) -> bool {
        self.forgets(Rule::Never) || !self.nevers.iter().any(|never| self.holds(never, world))
    }

    /// Returns true if the value of the variable means that something is ours.
    pub(crate) fn is_held(&self, var: usize, value: Value) -> bool {
        self.vars[var].held && !self.vars[var].free.contains(&value)
    }

    /// Returns true if the value of the variable certainly means that something is ours.
    pub(crate) fn is_taken(&self, var: usize, value: Value) -> bool {
        self.is_held(var, value) && !self.vars[var].unseen.contains(&value)
    }

    /// Returns true if the world is possible. Only our own effects acquire: without our claim a
    /// held fact is free or not observed.
    fn possible(&self, world: &World) -> bool {
        let (Some(deleting), Some(claimed)) = (self.deleting, self.claimed) else {
            return true;
        };
        if world[claimed] == 1 {
            return true;
        }
        let seized = self.is_seized(world) && !self.forgets(Rule::OnlyWeAcquire);
        world[deleting] == 0 && !seized
    }

    /// Returns true if something is certainly ours and our finalizer is gone. The claim then
    /// precedes every proved move.
    pub(crate) fn is_seized(&self, world: &World) -> bool {
        let ours = |var: usize| self.is_taken(var, world[var]);
        self.claimed.is_some_and(|claimed| world[claimed] == 0) && (0..self.vars.len()).any(ours)
    }

    /// Returns true if another controller manages the object.
    pub(crate) fn is_ignored(&self, world: &World) -> bool {
        self.is_in(world, State::is_ignored)
    }

    /// Returns true if a user suspended the object.
    pub(crate) fn is_suspended(&self, world: &World) -> bool {
        self.is_in(world, State::is_suspended)
    }

    /// Returns true if the deletion of the object waits for a user.
    pub(crate) fn is_even_deleting(&self, world: &World) -> bool {
        self.is_in(world, |state| state.even) && !self.forgets(Rule::SuspendedEvenDeleting)
    }

    fn is_in(&self, world: &World, wanted: impl Fn(&State) -> bool) -> bool {
        let mut states = self.life.states.iter().zip(&self.state_tests);
        states.any(|(state, test)| wanted(state) && self.holds(test, world))
    }

    pub(crate) fn holds(&self, test: &Test, world: &World) -> bool {
        match test {
            Test::And(left, right) => self.holds(left, world) && self.holds(right, world),
            Test::Or(left, right) => self.holds(left, world) || self.holds(right, world),
            Test::Not(inner) => !self.holds(inner, world),
            Test::Is(var, values) => values.contains(&world[*var]),
            Test::Enabled(act) => self.would_run(&self.acts[*act], world),
        }
    }

    pub(crate) fn is_deleting(&self, world: &World) -> bool {
        self.deleting.is_some_and(|deleting| world[deleting] == 1)
    }

    pub(crate) fn enabled(&self, act: &Act, world: &World) -> bool {
        (world[act.refused] == 0 || self.forgets(Rule::RefusedIsOff)) && self.would_run(act, world)
    }

    /// The guard in full, but for the refusal.
    pub(crate) fn would_run(&self, act: &Act, world: &World) -> bool {
        let builds_the_same = |other: &&Act| {
            act.verb == "apply"
                && other.verb == "apply"
                && (other.on, other.each) == (act.on, act.each)
        };
        let before = self.acts.iter().take_while(|other| other.name != act.name);
        let mut rivals = before.filter(builds_the_same);
        let outdone = rivals.any(|rival| self.is_permitted(rival, world));
        self.is_permitted(act, world) && (!outdone || self.forgets(Rule::FirstBuilder))
    }

    fn is_permitted(&self, act: &Act, world: &World) -> bool {
        let missing = act.from.iter().any(|var| self.gone.contains(&world[*var]));
        if missing && !self.forgets(Rule::Inputs) {
            return false;
        }
        if !act.tests.iter().all(|test| self.holds(test, world)) || !self.has_room(act, world) {
            return false;
        }
        if (act.is_undo || act.is_step) && self.is_deleting(world) {
            return self.is_its_turn(act, world)
                && !self.is_even_deleting(world)
                && self.claimed.is_none_or(|claimed| world[claimed] == 1);
        }
        if !self.forgets(Rule::IgnoredIsOff) && self.is_ignored(world) {
            return false;
        }
        if !self.forgets(Rule::SuspendedIsOff) && self.is_suspended(world) {
            return false;
        }
        let off = self.is_deleting(world) && !self.forgets(Rule::OffWhenDeleting);
        let only_undoes = (act.is_undo || act.is_step)
            && act.when.is_none()
            && !self.life.volume
            && !self.forgets(Rule::UndoOnlyOnDeletion);
        !off && !only_undoes && act.when.as_ref().is_none_or(|when| self.holds(when, world))
    }

    /// Returns true if the builder of an effect can run there.
    pub(crate) fn has_arguments(&self, act: &Act, world: &World) -> bool {
        let missing = act.from.iter().any(|var| self.gone.contains(&world[*var]));
        !missing && act.tests.iter().all(|test| self.holds(test, world))
    }

    /// The state of a world: the implicit ones, then the first that fits.
    pub(crate) fn classify(&self, world: &World) -> Option<NodePlace> {
        if self.is_deleting(world) {
            return Some(NodePlace::Deleting);
        }
        let refused =
            |var: usize| self.vars[var].is_refusal() && world[var] == 1 && !self.mentioned[var];
        if (0..self.vars.len()).any(refused) && !self.forgets(Rule::RefusedFirst) {
            return Some(NodePlace::Refused);
        }
        let mut fitting =
            (0..self.state_tests.len()).filter(|at| self.holds(&self.state_tests[*at], world));
        let first = if self.forgets(Rule::FirstState) {
            fitting.next_back()
        } else {
            fitting.next()
        };
        first.map(NodePlace::State)
    }
}
