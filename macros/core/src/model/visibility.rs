//! What a call can see: a fact is visible if the request carries, and the process has, everything that it is read from.
//! What is asked of a request that does not carry it has the first value of its fact, which is the harmless one.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};

use crate::csi::{Demands, RequestField, Rpc};
use crate::model::frames::{Dependency, Frames};
use crate::model::{
    InputId, Lifecycle, Lookup, Mode, Origin, Path, Pred, PredKind, Source, Use, ValueId, ValueSet,
    VarId, Verb,
};

/// The eyes of one call.
#[derive(Clone, Copy, Debug)]
pub struct Visibility<'a> {
    lifecycle: &'a Lifecycle,
    frames: &'a Frames,
    demands: &'static Demands,
}

/// Something that is asked and cannot be seen.
#[derive(Clone, Debug)]
pub struct Blind {
    pub var: VarId,
    /// Where it is asked.
    pub span: Span,
    pub why: Unseen,
}

/// Why something cannot be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// The request has no such field.
    Field(String),
    /// The request does not say what this fact reads of it.
    Unsaid(RequestField),
    /// The request carries no capability and no context, which this fact or input is taken from.
    Content(String),
    /// The call is not to the node, where this input is probed.
    Probe(InputId),
}

impl<'a> Visibility<'a> {
    /// What a call can see of a lifecycle.
    pub fn of(lifecycle: &'a Lifecycle, frames: &'a Frames, rpc: Rpc) -> Self {
        Self {
            lifecycle,
            frames,
            demands: rpc.demands(),
        }
    }

    /// Whether a variable has its first value in every such call: it is asked of the request alone, and the request does not say.
    pub fn is_fixed(&self, var: VarId) -> bool {
        let reads = self.frames.reads(var);
        let unsaid = |place: &Dependency| match place {
            Dependency::Request => !self.demands.describes,
            Dependency::Field(field) => !self.demands.says(*field),
            Dependency::This | Dependency::Input(_) | Dependency::Value(_) => false,
            Dependency::Path(_) => false,
        };
        let of_request = |place: &Dependency| {
            matches!(
                place,
                Dependency::Request | Dependency::Field(_) | Dependency::Value(_)
            )
        };
        reads.iter().any(unsaid) && reads.iter().all(of_request)
    }

    /// What a predicate asks and the call cannot see, each with the reason.
    pub fn unseen(&self, pred: &Pred) -> Vec<Blind> {
        let mut found: Vec<Blind> = Vec::new();
        self.look(pred, &mut |var, values, span| {
            let known = found.iter().any(|other| other.var == var);
            if !known
                && !self.is_fixed(var)
                && let Err(why) = self.var(var, values)
            {
                found.push(Blind { var, span, why });
            }
        });
        found
    }

    /// Whether an input can be looked up.
    pub fn finds(&self, input: InputId) -> bool {
        self.input(input).is_ok()
    }

    /// Whether a variable can be answered; otherwise it has its first value.
    pub fn answers(&self, var: VarId) -> bool {
        let all = ValueSet(u64::MAX);
        self.var(var, all).is_ok()
    }

    fn look(&self, pred: &Pred, visit: &mut impl FnMut(VarId, ValueSet, Span)) {
        match &pred.kind {
            PredKind::Is { var, values } => visit(*var, *values, pred.span),
            PredKind::All(parts) | PredKind::Any(parts) => {
                parts.iter().for_each(|part| self.look(part, visit));
            }
            PredKind::Not(part) => self.look(part, visit),
        }
    }

    /// Whether it can be told whether a variable has one of these values.
    fn var(&self, id: VarId, values: ValueSet) -> Result<(), Unseen> {
        let var = &self.lifecycle.vars[id.0];
        match &var.origin {
            Origin::Input(input) => {
                self.input(*input)?;
                if self.compares(id, values) {
                    self.builders(*input)?;
                }
            }
            Origin::Fact { from, .. } => {
                for one in from {
                    match one.source {
                        Source::Request if !self.demands.describes => {
                            return Err(Unseen::Content(var.name.to_string()));
                        }
                        Source::Field(field) if !self.demands.says(field) => {
                            return Err(Unseen::Unsaid(field));
                        }
                        Source::This | Source::Request | Source::Field(_) => {}
                        Source::Input(_) | Source::Value(_) | Source::Fact(_) => {}
                    }
                }
                self.uses(from)?;
                for guard in &var.given {
                    self.given(&guard.pred)?;
                }
            }
            Origin::Refused(_) | Origin::Deleting | Origin::Claimed => {}
        }
        Ok(())
    }

    /// Whether these values tell what is as wanted from what is not, which takes the builder to know.
    fn compares(&self, var: VarId, values: ValueSet) -> bool {
        let named = |name: &str| {
            let mut all = self.lifecycle.vars[var.0].values.iter();
            let value = all.position(|value| value == name);
            value.is_some_and(|value| values.contains(value))
        };
        ["Behind", "Surplus"].into_iter().any(named) || named("Stale") != named("Current")
    }

    fn builders(&self, input: InputId) -> Result<(), Unseen> {
        let effects = self.lifecycle.effects.iter();
        let mut builders = effects.filter(|e| e.target == input && e.verb == Verb::Apply);
        builders.try_for_each(|effect| {
            self.whole(&effect.from, &effect.name)?;
            self.uses(&effect.from)
        })
    }

    fn uses(&self, uses: &[Use]) -> Result<(), Unseen> {
        uses.iter().try_for_each(|one| match one.source {
            Source::This | Source::Request | Source::Field(_) => Ok(()),
            Source::Input(input) => self.input(input),
            Source::Value(value) => self.value(value),
            Source::Fact(var) => self.var(var, ValueSet::default()),
        })
    }

    fn value(&self, id: ValueId) -> Result<(), Unseen> {
        let value = &self.lifecycle.values[id.0];
        self.whole(&value.from, &value.name)?;
        self.uses(&value.from)?;
        value.given.iter().try_for_each(|given| self.given(given))
    }

    fn input(&self, id: InputId) -> Result<(), Unseen> {
        let input = &self.lifecycle.inputs[id.0];
        if input.mode == Mode::Probe && !self.demands.on_node {
            return Err(Unseen::Probe(id));
        }
        match &input.lookup {
            Lookup::Names { of: from } | Lookup::Refs { of: from } | Lookup::Ref { from } => {
                self.whole(from, &input.name)?;
                self.uses(from)?;
            }
            Lookup::Name { path, .. } => self.path(path)?,
            Lookup::Keys(keys) => keys.iter().try_for_each(|key| match &key.input {
                Some(input) => self.uses(std::slice::from_ref(input)),
                None => self.path(&key.path),
            })?,
            Lookup::Equal { ours, .. } => self.path(ours)?,
            Lookup::Labels { pairs } => {
                pairs.iter().try_for_each(|(_, path)| self.path(path))?;
            }
            Lookup::None | Lookup::Owner | Lookup::Namespace => {}
        }
        input.given.iter().try_for_each(|given| self.given(given))
    }

    fn path(&self, path: &Path) -> Result<(), Unseen> {
        match path.parts.as_slice() {
            [root, field, ..] if root == "request" => {
                let field = field.to_string();
                if self.demands.carries(&field) {
                    return Ok(());
                }
                Err(Unseen::Field(field))
            }
            [root, ..] => {
                let mut inputs = self.lifecycle.inputs.iter();
                let found = inputs.position(|input| input.name == *root);
                found.map_or(Ok(()), |input| self.input(InputId(input)))
            }
            [] => Ok(()),
        }
    }

    /// What a method takes from the whole request.
    fn whole(&self, uses: &[Use], name: &Ident) -> Result<(), Unseen> {
        let reads = uses.iter().any(|one| one.source == Source::Request);
        if reads && !self.demands.describes {
            return Err(Unseen::Content(name.to_string()));
        }
        Ok(())
    }

    /// What decides whether something is asked at all: facts of the request count with the value that they have where the request does not say.
    fn given(&self, pred: &Pred) -> Result<(), Unseen> {
        let mut result = Ok(());
        let mut seen = BTreeSet::new();
        self.look(pred, &mut |var, values, _| {
            let new = seen.insert(var);
            if result.is_ok() && (new || self.compares(var, values)) && !self.of_request(var) {
                result = self.var(var, values);
            }
        });
        result
    }

    fn of_request(&self, var: VarId) -> bool {
        match &self.lifecycle.vars[var.0].origin {
            Origin::Fact { from, .. } => self.is_fixed(var) || from.iter().any(is_of_request),
            Origin::Input(_) | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => false,
        }
    }
}

fn is_of_request(one: &Use) -> bool {
    matches!(one.source, Source::Request | Source::Field(_))
}
