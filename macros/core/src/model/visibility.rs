//! Visibility of facts to a call: a fact is visible if the request and the process have all of its
//! sources. A fact whose source is missing from the request has its first value, which is the
//! harmless one.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};

use crate::csi::{Demands, RequestField, Rpc};
use crate::model::frames::{Dependency, Frames};
use crate::model::{
    InputId, Lifecycle, Lookup, Mode, Origin, Path, Pred, PredKind, Source, Use, ValueId, ValueSet,
    VarId, Verb, Verdict,
};

/// The eyes of one call.
#[derive(Clone, Copy, Debug)]
pub struct Visibility<'a> {
    lifecycle: &'a Lifecycle,
    frames: &'a Frames,
    demands: &'static Demands,
}

/// A fact or input that is evaluated but not visible.
#[derive(Clone, Debug)]
pub struct Blind {
    pub var: VarId,
    /// Location of the read in the source.
    pub span: Span,
    pub why: Unseen,
}

/// Why something cannot be seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unseen {
    /// The request has no such field.
    Field(String),
    /// The request lacks the field that this fact reads.
    Unsaid(RequestField),
    /// The request carries no capability and no context, which this fact or input is taken from.
    Content(String),
    /// The call is not to the node, where this input is probed.
    Probe(InputId),
}

impl<'a> Visibility<'a> {
    /// Returns the visibility of a lifecycle for a call.
    pub fn new(lifecycle: &'a Lifecycle, frames: &'a Frames, rpc: Rpc) -> Self {
        Self {
            lifecycle,
            frames,
            demands: rpc.demands(),
        }
    }

    /// Returns true if a variable has its first value in every such call. It is evaluated from the
    /// request alone, and the request does not carry it.
    pub fn is_fixed(&self, var: VarId) -> bool {
        let reads = self.frames.reads(var);
        let unsaid = |place: &Dependency| match place {
            Dependency::Request => !self.demands.describes,
            Dependency::Field(field) => !self.demands.has_field(*field),
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

    /// Returns the variables that a predicate reads and the call cannot see, each with the reason.
    pub fn unseen(&self, pred: &Pred) -> Vec<Blind> {
        let mut found: Vec<Blind> = Vec::new();
        self.visit_vars(pred, &mut |var, values, span| {
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

    /// Returns true if an input can be looked up.
    pub fn finds(&self, input: InputId) -> bool {
        self.input(input).is_ok()
    }

    /// Returns true if a variable can be answered. Otherwise it has its first value.
    pub fn answers(&self, var: VarId) -> bool {
        let all = ValueSet(u64::MAX);
        self.var(var, all).is_ok()
    }

    fn visit_vars(&self, pred: &Pred, visit: &mut impl FnMut(VarId, ValueSet, Span)) {
        match &pred.kind {
            PredKind::Is { var, values } => visit(*var, *values, pred.span),
            PredKind::All(parts) | PredKind::Any(parts) => {
                parts.iter().for_each(|part| self.visit_vars(part, visit));
            }
            PredKind::Not(part) => self.visit_vars(part, visit),
        }
    }

    /// Checks if the call can decide that a variable has one of these values.
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
                        Source::Field(field) if !self.demands.has_field(field) => {
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

    /// Returns true if these values distinguish a current object from another one, which requires
    /// the builder.
    fn compares(&self, var: VarId, values: ValueSet) -> bool {
        let has = |verdict: Verdict| {
            let value = self.lifecycle.vars[var.0].position(verdict);
            value.is_some_and(|value| values.contains(value))
        };
        [Verdict::Behind, Verdict::Surplus].into_iter().any(has)
            || has(Verdict::Stale) != has(Verdict::Current)
    }

    fn builders(&self, input: InputId) -> Result<(), Unseen> {
        let effects = self.lifecycle.effects.iter();
        let mut builders = effects.filter(|e| e.target == input && e.verb == Verb::Apply);
        builders.try_for_each(|effect| {
            self.check_request(&effect.from, &effect.name)?;
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
        self.check_request(&value.from, &value.name)?;
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
                self.check_request(from, &input.name)?;
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

    /// Checks a method that reads the whole request.
    fn check_request(&self, uses: &[Use], name: &Ident) -> Result<(), Unseen> {
        let reads = uses.iter().any(|one| one.source == Source::Request);
        if reads && !self.demands.describes {
            return Err(Unseen::Content(name.to_string()));
        }
        Ok(())
    }

    /// Checks a predicate that decides if something is evaluated at all. Facts of the request count
    /// with the value that they have if the request does not carry them.
    fn given(&self, pred: &Pred) -> Result<(), Unseen> {
        let mut result = Ok(());
        let mut seen = BTreeSet::new();
        self.visit_vars(pred, &mut |var, values, _| {
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
