//! Takes a lifecycle with regions apart, and puts it together. The checker reads the root and each
//! region as a lifecycle of its own; everything that runs reads the union of them all.
//! Knows no worlds.

pub(crate) mod asked;
pub(crate) mod scope;

use proc_macro2::Ident;

use crate::ast::{
    Effect, Input, Lifecycle, Mode, Place, Pred, Ready, Region, State, Step, Teardown, Transitions,
    Verb,
};
use crate::noted;

/// The goal of the root: the regions run.
pub(crate) const REGIONS: &str = "Regions";

impl Lifecycle {
    /// Returns the root by itself. It is in a goal if none of its states holds.
    pub(crate) fn root(&self) -> Self {
        let mut root = self.clone();
        root.regions = Vec::new();
        root.lock = None;
        root.allows = Vec::new();
        (root.fields, root.columns) = (Vec::new(), Vec::new());
        root.states.push(State {
            name: Ident::new(REGIONS, self.name.span()),
            doc: String::new(),
            goal: true,
            when: Pred::always(self.name.span()),
            phase: Some(Ident::new("Ready", self.name.span())),
            even_deleting: None,
            wakes: None,
            overdue: None,
            region: None,
        });
        root.place.is_root = true;
        root.only_own_conditions();
        root.teardown = self.teardown_of(&[]);
        root
    }

    /// Returns a region by itself, with everything that the root declares. The states of the root
    /// are those in which it rests.
    pub(crate) fn part(&self, number: usize) -> Self {
        let region = &self.regions[number];
        let mut part = self.clone();
        // Findings about the whole part point at it.
        part.name = region.name.clone();
        part.regions = Vec::new();
        part.lock = None;
        part.retired = None;
        part.inputs.retain(|input| input.retired.is_none());
        part.allows = Vec::new();
        (part.fields, part.columns) = (Vec::new(), Vec::new());
        let mut own = region.part.clone();
        part.place = Place {
            closed: std::mem::replace(&mut part.states, std::mem::take(&mut own.states)),
            region: Some(region.name.clone()),
            is_asked: self.is_asked(number),
            ..Place::default()
        };
        for asked in asked::regions_of(&region.part, &self.regions) {
            let other = &self.regions[asked];
            part.inputs.insert(0, asked::input(other));
            part.facts.insert(0, asked::fact(other));
        }
        part.transitions = own.transitions.take();
        part.properties = std::mem::take(&mut own.properties);
        part.conditions = std::mem::take(&mut own.conditions);
        part.add_items(own, number);
        part.only_own_conditions();
        part.ready = Some(part.ready_of(region));
        part.teardown = self.teardown_of(&[number]);
        part
    }

    /// Adds what a region observes, asks and does.
    fn add_items(&mut self, own: Self, region: usize) {
        self.inputs.extend(own.inputs);
        self.values.extend(own.values);
        self.facts.extend(own.facts);
        self.derived.extend(own.derived);
        self.nevers.extend(own.nevers);
        self.promises.extend(own.promises);
        self.effects
            .extend(own.effects.into_iter().map(|effect| Effect {
                region: Some(region),
                ..effect
            }));
    }

    /// Returns true if another region asks the state of this one.
    fn is_asked(&self, number: usize) -> bool {
        let asked = asked::asked_by_each(self);
        asked.iter().any(|asked| asked.contains(&number))
    }

    /// Returns the union of the root and of all regions, as it runs. A region writes only where no
    /// state of the root holds, and each question for the state of another region is answered by
    /// the facts of that one.
    pub(crate) fn whole(&self) -> Self {
        let mut whole = self.clone();
        let regions = std::mem::take(&mut whole.regions);
        let closed = self.closed();
        for (number, region) in regions.iter().enumerate() {
            let mut own = region.part.clone();
            for pred in own.predicates_mut() {
                pred.replace(&|asked| asked::answer(asked, &regions));
            }
            for state in &mut own.states {
                asked::replace_wakes(state, &regions);
                state.region = Some(number);
            }
            for effect in &mut own.effects {
                if let Some(closed) = &closed {
                    self.close(effect, closed);
                }
            }
            whole.states.append(&mut own.states);
            whole.properties.append(&mut own.properties);
            whole.conditions.append(&mut own.conditions);
            whole.fields.append(&mut own.fields);
            whole.columns.append(&mut own.columns);
            whole.transitions = joined(whole.transitions, own.transitions.take());
            whole.add_items(own, number);
        }
        whole.regions = regions;
        whole
    }

    /// Returns the lifecycle with regions that ask nothing of each other.
    pub(crate) fn without_questions(&self) -> Self {
        let mut alone = self.clone();
        let regions = self.regions.as_slice();
        for region in &mut alone.regions {
            for pred in region.part.predicates_mut() {
                pred.replace(&|asked| {
                    asked::is_about(asked, regions).then(|| Pred::always(asked.span))
                });
            }
        }
        alone
    }

    /// Returns the predicate under which the regions rest, if there is one.
    pub(crate) fn closed(&self) -> Option<Pred> {
        let whens = self.states.iter().map(|state| state.when.clone());
        let whens: Vec<Pred> = whens.collect();
        (!whens.is_empty()).then(|| Pred::any_of(whens, self.name.span()))
    }

    /// Lets an effect of a region run only where the regions run. One that runs only during a
    /// deletion is left as it is, and so is the record of what was created.
    fn close(&self, effect: &mut Effect, closed: &Pred) {
        if effect.verb == Verb::Note || effect.when.is_none() && self.is_for_deletions(effect) {
            return;
        }
        let span = effect
            .when
            .as_ref()
            .map_or(effect.target.span(), |when| when.span);
        let open = closed.clone().moved_to(span).negated();
        let parts = effect.when.take().into_iter().chain([open]);
        effect.when = Some(Pred::all_of(parts.collect(), span));
    }

    /// Returns true if the effect is a stage of the teardown, or an undo.
    pub(crate) fn is_for_deletions(&self, effect: &Effect) -> bool {
        let name = effect.name();
        let steps = self.teardown.iter().flat_map(|teardown| &teardown.steps);
        let parts = self.regions.iter().map(|region| &region.part);
        let mut effects = parts.chain([self]).flat_map(|part| &part.effects);
        steps.into_iter().any(|step| step.effect == name)
            || effects.any(|other| other.undo.as_ref() == Some(&name))
    }

    /// Returns the roll-up of a region by itself: of its conditions that count, else of all of them.
    /// So its conditions agree with the phases of its states, and say when it fails.
    fn ready_of(&self, region: &Region) -> Ready {
        let counting = self.ready.clone().filter(|ready| !ready.from.is_empty());
        let all = || Ready {
            reason: None,
            message: None,
            from: self.conditions.iter().map(|one| one.name.clone()).collect(),
            span: region.name.span(),
        };
        counting.unwrap_or_else(all)
    }

    /// Leaves out of the roll-up what is reported elsewhere.
    fn only_own_conditions(&mut self) {
        let own: Vec<Ident> = self.conditions.iter().map(|one| one.name.clone()).collect();
        if let Some(ready) = &mut self.ready {
            ready.from.retain(|name| own.contains(name));
        }
        let implicit = self.implicit.take();
        self.implicit = implicit.filter(|implicit| own.contains(&implicit.condition));
    }

    /// Returns the stages of the teardown that concern the root and these regions.
    fn teardown_of(&self, regions: &[usize]) -> Option<Teardown> {
        let mut teardown = self.teardown.clone()?;
        let owners = scope::Owners::new(self);
        let is_here = |name: &Ident| match owners.of_effect(name) {
            Some(Some(region)) => regions.contains(&region),
            Some(None) | None => true,
        };
        let knows = |pred: &Pred| {
            let mut facts = pred.referenced_facts().into_iter();
            facts.all(|name| match owners.of_name(name) {
                Some(Some(region)) => regions.contains(&region),
                Some(None) | None => true,
            }) && pred.referenced_effects().into_iter().all(is_here)
        };
        let concerns = |step: &Step| {
            let mut preds = step.when.iter().chain([&step.until]);
            is_here(&step.effect) && preds.all(knows)
        };
        teardown.steps.retain(concerns);
        teardown.abandoned.retain(|one| knows(&one.when));
        (!teardown.steps.is_empty()).then_some(teardown)
    }
}

/// Adds what the language adds to a lifecycle, in the root and in each region.
pub(crate) fn add_notes(lifecycle: &mut Lifecycle) {
    noted::add(lifecycle);
    for region in &mut lifecycle.regions {
        noted::add(&mut region.part);
    }
}

fn joined(one: Option<Transitions>, other: Option<Transitions>) -> Option<Transitions> {
    match (one, other) {
        (Some(mut one), Some(other)) => {
            one.edges.extend(other.edges);
            Some(one)
        }
        (one, other) => one.or(other),
    }
}

/// Returns the inputs of a region whose changes may change its state.
fn observed(region: &Region) -> impl Iterator<Item = &Input> {
    let inputs = region.part.inputs.iter();
    inputs.filter(|input| input.member.is_none() && input.mode != Mode::Noted)
}
