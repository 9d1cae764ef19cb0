//! Declarations and mentions of names in the parts of a lifecycle with regions.

use std::collections::BTreeMap;

use proc_macro2::Ident;

use crate::ast::{Effect, From, Input, Lifecycle, Lookup, Path, Pred, PropertyOf};

/// The parts that declare the names of a lifecycle: `None` is the root.
pub(crate) struct Owners {
    names: BTreeMap<String, Option<usize>>,
    states: BTreeMap<String, Option<usize>>,
    effects: BTreeMap<String, Option<usize>>,
}

impl Owners {
    pub(crate) fn new(lifecycle: &Lifecycle) -> Self {
        let mut all = Self {
            names: BTreeMap::new(),
            states: BTreeMap::new(),
            effects: BTreeMap::new(),
        };
        all.add(lifecycle, None);
        for (number, region) in lifecycle.regions.iter().enumerate() {
            all.add(&region.part, Some(number));
        }
        all
    }

    /// Of a name that is declared twice the first counts; the other is reported.
    fn add(&mut self, part: &Lifecycle, owner: Option<usize>) {
        let inputs = part.inputs.iter().map(|one| &one.name);
        let values = part.values.iter().map(|one| &one.name);
        let facts = part.facts.iter().map(|one| &one.name);
        let derived = part.derived.iter().map(|one| &one.name);
        for name in inputs.chain(values).chain(facts).chain(derived) {
            self.names.entry(name.to_string()).or_insert(owner);
        }
        for state in &part.states {
            self.states.entry(state.name.to_string()).or_insert(owner);
        }
        for effect in part.effects.iter().map(Effect::name) {
            self.effects.entry(effect.to_string()).or_insert(owner);
        }
    }

    /// Returns the part that declares an input, a value or a fact.
    pub(crate) fn of_name(&self, name: &Ident) -> Option<Option<usize>> {
        self.names.get(&name.to_string()).copied()
    }

    /// Returns the part that declares a state.
    pub(crate) fn of_state(&self, name: &Ident) -> Option<Option<usize>> {
        self.states.get(&name.to_string()).copied()
    }

    /// Returns the part that declares an effect.
    pub(crate) fn of_effect(&self, name: &Ident) -> Option<Option<usize>> {
        self.effects.get(&name.to_string()).copied()
    }
}

/// The names that a part mentions.
#[derive(Default)]
pub(crate) struct Mentions {
    /// Inputs, values and facts that predicates query, and that wake a state.
    pub(crate) asked: Vec<Ident>,
    /// Inputs and values that are read otherwise.
    pub(crate) read: Vec<Ident>,
    /// Inputs that are written, and facts that a write or a promise sets.
    pub(crate) written: Vec<Ident>,
    pub(crate) states: Vec<Ident>,
    pub(crate) effects: Vec<Ident>,
}

impl Mentions {
    /// Collects everything that a part mentions, except for its teardown, its roll-up and its
    /// fields: those are about the lifecycle as a whole.
    pub(crate) fn collect(part: &Lifecycle) -> Self {
        let mut all = Self::default();
        for pred in part.predicates() {
            all.pred(&pred);
        }
        for input in &part.inputs {
            all.input(input);
        }
        for value in &part.values {
            all.read.extend(value.from.iter().cloned());
            all.written
                .extend(value.mint.iter().map(|mint| mint.keeper.clone()));
        }
        for fact in &part.facts {
            all.read.extend(fact.from.iter().cloned());
        }
        for state in &part.states {
            let wakes = state.wakes.iter().flatten();
            all.asked.extend(wakes.cloned());
        }
        for effect in &part.effects {
            all.effect(effect);
        }
        let sets = part.promises.iter().flat_map(|promise| &promise.sets);
        let facts = sets.flatten().map(|assign| assign.fact.clone());
        all.written.extend(facts);
        for edge in part.transitions.iter().flat_map(|all| &all.edges) {
            match &edge.from {
                From::States(states) => all.states.extend(states.iter().cloned()),
                From::Anywhere => {}
            }
            all.states.extend(edge.to.iter().cloned());
        }
        for property in &part.properties {
            all.property(&property.what);
        }
        all
    }

    fn pred(&mut self, pred: &Pred) {
        self.asked
            .extend(pred.referenced_facts().into_iter().cloned());
        self.effects
            .extend(pred.referenced_effects().into_iter().cloned());
    }

    fn input(&mut self, input: &Input) {
        self.read.extend(input.of.iter().cloned());
        let Some((_, lookup)) = &input.lookup else {
            return;
        };
        let root = |path: &Path| path.root().clone();
        match lookup {
            Lookup::Name { path, .. } => self.read.push(root(path)),
            Lookup::Names { of } | Lookup::Refs { of } | Lookup::Ref { from: of } => {
                self.read.extend(of.iter().cloned());
            }
            Lookup::Labels { pairs } => self.read.extend(pairs.iter().map(|(_, path)| root(path))),
            Lookup::Equal { ours, .. } => self.read.push(root(ours)),
            Lookup::Keys { paths } => self.read.extend(paths.iter().map(root)),
            Lookup::Owner | Lookup::Namespace => {}
        }
    }

    fn effect(&mut self, effect: &Effect) {
        self.written.push(effect.target.clone());
        self.read.extend(effect.from.iter().cloned());
        self.read
            .extend(effect.key.iter().map(|key| key.root().clone()));
        let sets = effect.sets.iter().flatten().flatten();
        self.written.extend(sets.map(|assign| assign.fact.clone()));
        self.effects.extend(effect.undo.iter().cloned());
    }

    fn property(&mut self, what: &PropertyOf) {
        match what {
            PropertyOf::Always { states, .. } => self.states.extend(states.iter().cloned()),
            PropertyOf::Never { effect, .. } => self.effects.push(effect.clone()),
            PropertyOf::Before { first, then } => {
                self.effects.extend([first.clone(), then.clone()]);
            }
            PropertyOf::Reaches { to, from, .. } => {
                self.states.extend(to.iter().chain(from).cloned());
            }
        }
    }
}
