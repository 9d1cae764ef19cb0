//! Resolves inputs and values: their lookups, their owners, and the conditions of their
//! observation.

use proc_macro2::Ident;

use super::Builder;
use super::scope::Noun;
use crate::ast::{self, WriteMode};
use crate::check::unobserved_source;
use crate::errors::Item;
use crate::model::{
    AskedRegion, Input, InputId, Kind, Lookup, Mode, Path, PollKey, Pred, PredKind, Source, Use,
    Value, VarId, Verdict,
};

impl Builder<'_> {
    pub(super) fn inputs(&mut self) -> Vec<Input> {
        let ast = self.ast;
        let mut inputs: Vec<Input> = ast.inputs.iter().map(|input| self.input(input)).collect();
        // A member is looked up where its group is.
        for at in 0..inputs.len() {
            if let Some(group) = inputs[at].group {
                inputs[at].given = inputs[group.0].given.clone();
            }
        }
        inputs
    }

    fn input(&mut self, input: &ast::Input) -> Input {
        let place = Item::new("input", &input.name);
        let has_fact = domain(input, WriteMode::Applied).is_some();
        let var = self.scope.facts.get(&input.name.to_string()).copied();
        Input {
            name: input.name.clone(),
            doc: input.doc.clone(),
            mode: input.mode,
            many: input.many,
            ty: input.ty.clone(),
            of: self.owner(input, &place),
            provider: input.provider.clone(),
            controller: input.mode == Mode::Owned && input.without_controller.is_none(),
            lookup: match &input.lookup {
                Some((_, lookup)) => self.lookup(lookup, &place),
                None => Lookup::None,
            },
            only_if: input.only_if.as_ref().map(|(_, path)| path.clone()),
            every: input
                .every
                .as_ref()
                .map(|(_, length)| super::length(length)),
            exclusive: input
                .exclusive
                .iter()
                .flat_map(|(_, lists)| lists.clone())
                .collect(),
            retain: input
                .retain
                .as_ref()
                .map(|retain| self.policy(retain, &place)),
            given: input.given.as_ref().map(|g| self.pred_or_true(g, &place)),
            noted: self.noted(input),
            var: var.filter(|_| has_fact),
            retired: input.retired,
            group: self.group(input),
            optional: input.member.as_ref().is_some_and(|m| m.optional.is_some()),
            region: var.and_then(|state| self.region(input, state)),
        }
    }

    /// Returns what an input says of another region, if it stands for one.
    fn region(&self, input: &ast::Input, state: VarId) -> Option<AskedRegion> {
        let goals = input.goals.as_ref()?;
        let values = self.vars[state.0].values.iter().enumerate();
        let goals = values.filter(|(_, value)| goals.iter().any(|goal| goal == value));
        let goals = goals.map(|(position, _)| position).collect();
        Some(AskedRegion { state, goals })
    }

    /// The group of a member, which is always declared.
    fn group(&self, input: &ast::Input) -> Option<InputId> {
        let of = &input.member.as_ref()?.of;
        let is_it = |other: &ast::Input| other.mode == Mode::Group && other.name == *of;
        self.ast.inputs.iter().position(is_it).map(InputId)
    }

    /// Returns the owner of an input. The record of another input has no owner.
    fn owner(&mut self, input: &ast::Input, place: &Item) -> Option<InputId> {
        let of = self.input_id(input.of.as_ref()?, place);
        of.filter(|_| input.mode != Mode::Noted)
    }

    /// Returns the record of the created objects of an input, if they are created once.
    fn noted(&self, input: &ast::Input) -> Option<InputId> {
        let is_once = self.ast.comes(&input.name) == WriteMode::Once;
        let mut inputs = self.ast.inputs.iter();
        let of_it = |record: &ast::Input| {
            record.mode == Mode::Noted && record.of.as_ref() == Some(&input.name)
        };
        is_once
            .then(|| inputs.position(of_it))
            .flatten()
            .map(InputId)
    }

    fn policy(&mut self, retain: &ast::Retain, place: &Item) -> Pred {
        let always = || Pred {
            kind: PredKind::All(Vec::new()),
            span: retain.span,
        };
        let when = retain.when.as_ref();
        when.map_or_else(always, |when| self.pred_or_true(when, place))
    }

    pub(super) fn input_id(&mut self, name: &Ident, place: &Item) -> Option<InputId> {
        let found = self.scope.inputs.get(&name.to_string()).copied();
        self.found(found, name, Noun::Input, place)
    }

    fn lookup(&mut self, lookup: &ast::Lookup, place: &Item) -> Lookup {
        match lookup {
            ast::Lookup::Name { path, optional } => {
                self.path(path, place);
                Lookup::Name {
                    path: path.clone(),
                    optional: *optional,
                }
            }
            ast::Lookup::Names { of } => Lookup::Names {
                of: self.uses(of, place),
            },
            ast::Lookup::Refs { of } => Lookup::Refs {
                of: self.uses(of, place),
            },
            ast::Lookup::Labels { pairs } => {
                for (_, path) in pairs {
                    self.path(path, place);
                }
                Lookup::Labels {
                    pairs: pairs.clone(),
                }
            }
            ast::Lookup::Owner => Lookup::Owner,
            ast::Lookup::Namespace => Lookup::Namespace,
            ast::Lookup::Ref { from } => Lookup::Ref {
                from: self.uses(from, place),
            },
            ast::Lookup::Equal { theirs, ours } => {
                self.path(ours, place);
                Lookup::Equal {
                    theirs: theirs.clone(),
                    ours: ours.clone(),
                }
            }
            ast::Lookup::Keys { paths } => {
                let key = |path: &Path| PollKey {
                    path: path.clone(),
                    input: self.path(path, place),
                };
                Lookup::Keys(paths.iter().map(key).collect())
            }
        }
    }

    /// Returns the input that a path begins with, if there is one. The object and the request have
    /// paths too. The result of a `let` has no fields to look up by.
    pub(super) fn path(&mut self, path: &Path, place: &Item) -> Option<Use> {
        let root = path.root();
        if root == "request" && self.ast.kind == Kind::Volume {
            self.request_path(path, place);
            return None;
        }
        let of_object = root == "meta" || root == "spec";
        if of_object && self.ast.kind == Kind::Resource {
            return None;
        }
        let name = root.clone();
        match self.source(root, place)? {
            source @ Source::Input(_) => Some(Use { source, name }),
            Source::This
            | Source::Request
            | Source::Field(_)
            | Source::Value(_)
            | Source::Fact(_) => {
                let help = "a path begins with `meta`, `spec` or an input; through a `let`, look up `by ref from ..`, `by names of ..` or `by refs of ..`";
                let found = unobserved_source::diagnostic(root, place, None, Some(help));
                self.sink.push(found);
                self.complete = false;
                None
            }
        }
    }

    pub(super) fn values(&mut self) -> Vec<Value> {
        let ast = self.ast;
        ast.values.iter().map(|v| self.shared_value(v)).collect()
    }

    fn shared_value(&mut self, value: &ast::Value) -> Value {
        let place = Item::new("value", &value.name);
        let (keeper, mint) = self.mint(value, &place).unzip();
        let from = self.uses(&value.from, &place);
        Value {
            name: value.name.clone(),
            doc: value.doc.clone(),
            ty: value.ty.clone(),
            from: keeper.into_iter().chain(from).collect(),
            given: value.given.as_ref().map(|g| self.pred_or_true(g, &place)),
            mint,
        }
    }
}

/// Returns the values of the built-in fact of an input, which depend on how the input becomes ours.
pub(crate) fn domain(input: &ast::Input, comes: WriteMode) -> Option<&'static [Verdict]> {
    use Verdict::{
        Absent, Adoptable, Behind, Current, Draining, Foreign, Gone, Known, Made, New, Present,
        Stale, Surplus, Terminating, Unknown, Unnamed,
    };
    const MANY: &[Verdict] = &[Behind, Surplus, Draining, Foreign, Current];
    const MANY_ONCE: &[Verdict] = &[New, Behind, Surplus, Draining, Foreign, Current];
    const ONCE: &[Verdict] = &[Absent, Foreign, Terminating, New, Made, Gone];
    let optional = matches!(
        input.lookup,
        Some((_, ast::Lookup::Name { optional: true, .. }))
    );
    // A member is judged with its group.
    if input.retired.is_some() || input.member.is_some() {
        return None;
    }
    match (input.mode, input.many) {
        (Mode::Owned, true) if comes == WriteMode::Once => Some(MANY_ONCE),
        (Mode::Owned, false) if comes == WriteMode::Once => Some(ONCE),
        (Mode::Owned | Mode::Shared, true) | (Mode::Group, _) => Some(MANY),
        (_, true) | (Mode::Noted | Mode::Probe | Mode::Clock, false) => None,
        (Mode::Owned, false) if comes == WriteMode::Adopted => {
            Some(&[Absent, Foreign, Adoptable, Terminating, Stale, Current])
        }
        (Mode::Owned, false) => Some(&[Absent, Foreign, Terminating, Stale, Current]),
        (Mode::Shared, false) => Some(&[Absent, Terminating, Stale, Current]),
        (Mode::Part | Mode::Record, false) => Some(&[Absent, Stale, Current]),
        (Mode::Poll, false) => Some(&[Unknown, Known]),
        (Mode::Watched, false) if optional => Some(&[Unnamed, Absent, Present]),
        (Mode::Watched, false) => Some(&[Absent, Present]),
    }
}
