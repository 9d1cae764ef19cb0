//! Resolves effects and promises, and fills the `sets` that need not be written.

use proc_macro2::Ident;

use super::Builder;
use super::scope::Noun;
use crate::ast::{self, WriteMode};
use crate::check::misfit_clause;
use crate::errors::Item;
use crate::model::{
    Assign, Effect, EffectId, InputId, Key, Kind, Promise, RegionId, Source, Use, VarId, Verb,
    Verdict,
};

impl Builder<'_> {
    pub(super) fn effects(&mut self) -> Vec<Effect> {
        let ast = self.ast;
        let mut effects: Vec<Effect> = Vec::new();
        for (at, effect) in ast.effects.iter().enumerate() {
            effects.extend(self.one_effect(EffectId(at), effect));
        }
        let undos: Vec<_> = effects.iter().filter_map(|effect| effect.undo).collect();
        for (undo, _) in undos {
            if let Some(effect) = effects.get_mut(undo.0) {
                effect.is_undo = true;
            }
        }
        let steps = ast.teardown.iter().flat_map(|teardown| &teardown.steps);
        for step in steps {
            let mut effects = effects.iter_mut();
            if let Some(effect) = effects.find(|effect| effect.name == step.effect) {
                effect.is_step = true;
            }
        }
        effects
    }

    /// `None` if it writes nothing that is known.
    fn one_effect(&mut self, id: EffectId, effect: &ast::Effect) -> Option<Effect> {
        let name = effect.name();
        let place = Item::new("effect", &name);
        let target = self.input_id(&effect.target, &place);
        let from = self.uses(&effect.from, &place);
        let when = effect.when.as_ref().map(|w| self.pred_or_true(w, &place));
        let written = effect.sets.as_ref().map(|sets| self.sets(sets, &place));
        let undo = effect.undo.as_ref();
        let undo = undo.and_then(|u| Some((self.effect(u, &place)?, u.span())));
        let key = effect.key.as_ref().map(|path| self.key(path, &place));
        let target = target?;
        misfit_clause::each(effect, &self.ast.inputs[target.0], self.sink);
        let from = self.with_owner(effect, target, from);
        Some(Effect {
            name,
            doc: effect.doc.clone(),
            verb: effect.verb,
            each: effect.each.is_some(),
            target,
            target_span: effect.target.span(),
            keeps: effect.verb == Verb::Adopt && effect.without_retain.is_none(),
            from,
            when,
            sets_written: written.is_some(),
            sets: written.unwrap_or_else(|| self.default_sets(effect)),
            undo,
            is_undo: false,
            is_step: false,
            key,
            refused: self.refusal_of(id),
            region: effect.region.map(RegionId),
        })
    }

    /// Adds the owner to the arguments of an effect that builds an object owned by another object.
    /// The object is built only if its owner exists, because an owner reference carries its uid.
    fn with_owner(&self, effect: &ast::Effect, target: InputId, mut from: Vec<Use>) -> Vec<Use> {
        let owner = self.ast.inputs[target.0].of.as_ref();
        let builds = matches!(effect.verb, Verb::Apply | Verb::Create);
        let (Some(name), Kind::Resource, true) = (owner, self.ast.kind, builds) else {
            return from;
        };
        if let Some(id) = self.scope.inputs.get(&name.to_string()) {
            let source = Source::Input(*id);
            if from.iter().all(|one| one.source != source) {
                let name = name.clone();
                from.push(Use { source, name });
            }
        }
        from
    }

    pub(super) fn refusal_of(&self, effect: EffectId) -> VarId {
        VarId(self.vars.len() - self.ast.effects.len() + effect.0)
    }

    fn key(&mut self, path: &ast::Path, place: &Item) -> Key {
        let input = self.path(path, place).and_then(|one| match one.source {
            Source::Input(input) => Some(input),
            Source::This
            | Source::Request
            | Source::Field(_)
            | Source::Value(_)
            | Source::Fact(_) => None,
        });
        Key {
            path: path.clone(),
            input,
        }
    }

    /// Returns the values that an effect establishes if it declares none. A `call` has no default.
    fn default_sets(&self, effect: &ast::Effect) -> Vec<Vec<Assign>> {
        use Verdict::{
            Absent, Current, Draining, Foreign, Gone, Made, New, Stale, Surplus, Terminating,
        };
        let Some(&var) = self.scope.facts.get(&self.shown_by(effect).to_string()) else {
            return Vec::new();
        };
        let is_set = |name: &Ident| {
            let mut inputs = self.ast.inputs.iter();
            inputs.any(|input| input.name == *name && input.many)
        };
        let is_once = self.ast.comes(&effect.target) == WriteMode::Once;
        let mut inputs = self.ast.inputs.iter();
        let is_optional =
            inputs.any(|input| input.name == effect.target && input.only_if.is_some());
        let values: &[Verdict] = match (effect.verb, effect.each.is_some()) {
            // It is deleted where it is not wanted.
            (Verb::Apply, false) if is_optional => &[Current, Terminating],
            (Verb::Apply, false) => &[Current],
            (Verb::Apply, true) => &[Surplus, Draining, Foreign, Current],
            (Verb::Delete, false) if is_once => &[Terminating, Gone],
            (Verb::Delete, false) => &[Terminating, Absent],
            (Verb::Delete, true) => &[Draining, Foreign, Current],
            (Verb::Adopt, _) => &[Stale, Current],
            (Verb::Create, _) => &[New],
            // A missing member is made next, and recorded after that.
            (Verb::Note, _) if is_set(self.shown_by(effect)) => {
                &[Surplus, Draining, Foreign, Current]
            }
            (Verb::Note, _) => &[Terminating, Made],
            (Verb::Call, _) => &[],
        };
        let known = &self.vars[var.0];
        let positions = values.iter().filter_map(|value| known.position(*value));
        let span = effect.target.span();
        positions
            .map(|value| vec![Assign { var, value, span }])
            .collect()
    }

    /// Returns the input with the verdict that shows the result of an effect. The result of a
    /// record shows in the created input.
    fn shown_by<'b>(&'b self, effect: &'b ast::Effect) -> &'b Ident {
        let mut inputs = self.ast.inputs.iter();
        let record = inputs.find(|i| i.mode == ast::Mode::Noted && i.name == effect.target);
        record
            .and_then(|record| record.of.as_ref())
            .unwrap_or(&effect.target)
    }

    pub(super) fn effect(&mut self, name: &Ident, place: &Item) -> Option<EffectId> {
        let found = self.scope.effects.get(&name.to_string()).copied();
        self.found(found, name, Noun::Effect, place)
    }

    pub(super) fn promises(&mut self) -> Vec<Promise> {
        let ast = self.ast;
        let mut promises = Vec::new();
        for promise in &ast.promises {
            let place = Item::new("promise", &promise.name);
            promises.push(Promise {
                name: promise.name.clone(),
                doc: promise.doc.clone(),
                claim: promise.claim.clone(),
                when: self.pred_or_true(&promise.when, &place),
                sets: self.sets(&promise.sets, &place),
            });
        }
        promises
    }
}
