//! Declared names with their kinds. Reports names that are declared twice.

use std::collections::BTreeMap;

use proc_macro2::{Ident, Span};

use crate::ast;
use crate::check::declared_twice;
use crate::csi;
use crate::errors::Sink;
use crate::model::{ConditionId, EffectId, InputId, Kind, Source, StateId, ValueId, VarId};

/// Names by their place in the source. For a duplicate name, the first declaration counts.
type Table<Id> = BTreeMap<String, Id>;

pub(super) struct Scope {
    pub(super) inputs: Table<InputId>,
    pub(super) values: Table<ValueId>,
    pub(super) states: Table<StateId>,
    pub(super) effects: Table<EffectId>,
    pub(super) conditions: Table<ConditionId>,
    /// Facts that predicates may ask; filled while variables are declared.
    pub(super) facts: Table<VarId>,
    /// Names for predicates, by position in the ast.
    pub(super) derived: Table<usize>,
    /// Regions, in source order.
    regions: Vec<String>,
}

/// A kind of name that can be looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Noun {
    Input,
    State,
    Effect,
    Condition,
    Fact,
}

impl Noun {
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Input => "input",
            Self::State => "state",
            Self::Effect => "effect",
            Self::Condition => "condition",
            Self::Fact => "fact",
        }
    }
}

impl Scope {
    pub(super) fn from_ast(ast: &ast::Lifecycle, sink: &mut Sink) -> Self {
        sources_once(ast, sink);
        methods_once(ast, sink);
        once(ast.promises.iter().map(|p| p.name.clone()), sink);
        once(ast.columns.iter().map(|c| c.name.clone()), sink);
        reserved_states(ast, sink);
        let states = ast.states.iter().map(|s| s.name.clone());
        let effects = ast.effects.iter().map(ast::Effect::name);
        let conditions = ast.conditions.iter().map(|c| c.name.clone());
        once(states.clone(), sink);
        once(effects.clone(), sink);
        once(conditions.clone(), sink);
        Self {
            inputs: inputs(ast),
            values: table(ast.values.iter().map(|v| v.name.clone()), ValueId),
            states: table(states, StateId),
            effects: table(effects, EffectId),
            conditions: table(conditions, ConditionId),
            facts: Table::new(),
            derived: derived(ast),
            regions: ast.regions.iter().map(|r| r.name.to_string()).collect(),
        }
    }

    pub(super) fn source(&self, name: &Ident, kind: Kind) -> Option<Source> {
        let text = name.to_string();
        match text.as_str() {
            "self" if kind == Kind::Resource => return Some(Source::This),
            "request" if kind == Kind::Volume => return Some(Source::Request),
            _ => {}
        }
        let input = self.inputs.get(&text).copied().map(Source::Input);
        input.or_else(|| self.values.get(&text).copied().map(Source::Value))
    }

    /// All names of a kind, in source order.
    pub(super) fn names(&self, noun: Noun) -> Vec<&str> {
        match noun {
            Noun::Input => in_order(&self.inputs),
            Noun::State => in_order(&self.states),
            Noun::Effect => in_order(&self.effects),
            Noun::Condition => in_order(&self.conditions),
            Noun::Fact => {
                let facts = in_order(&self.facts).into_iter();
                let derived = in_order(&self.derived).into_iter();
                facts.chain(derived).chain(self.regions()).collect()
            }
        }
    }

    /// All names that a fact may be `from` or that may wake a state, inputs first, each kind in
    /// source order.
    pub(super) fn sources(&self) -> Vec<&str> {
        let inputs = in_order(&self.inputs).into_iter();
        let values = in_order(&self.values).into_iter();
        inputs.chain(values).chain(self.regions()).collect()
    }

    /// The names of all regions, in source order.
    fn regions(&self) -> impl Iterator<Item = &str> {
        self.regions.iter().map(String::as_str)
    }

    /// Describes the actual kind of a name that is not of the expected kind.
    pub(super) fn instead(&self, name: &str, noun: Noun) -> Option<&'static str> {
        if ["Deleting", "Refused"].contains(&name) && noun == Noun::State {
            Some("an implicit state: its edges are not declared")
        } else if ["any", "all", "every"].contains(&name) && noun == Noun::State {
            Some("written `_` where every state is meant: `_ -> Failed`")
        } else if ["deleting", "claimed"].contains(&name) && noun == Noun::Fact {
            Some("never written: every effect is off while the object is being deleted")
        } else if self.derived.contains_key(name) {
            Some("decided by other facts: name those")
        } else if self.facts.contains_key(name) && noun != Noun::Input {
            Some("a fact")
        } else if self.inputs.contains_key(name) {
            Some("an input that brings no fact: declare a fact `from` it")
        } else if self.values.contains_key(name) {
            Some("a `let`, which is not finite: declare a fact `from` it")
        } else if self.states.contains_key(name) {
            Some("a state")
        } else if self.effects.contains_key(name) {
            Some("an effect")
        } else if self.conditions.contains_key(name) {
            Some("a condition")
        } else if self.facts.contains_key(name) {
            Some("a fact")
        } else {
            None
        }
    }
}

fn in_order<Id: Ord>(table: &Table<Id>) -> Vec<&str> {
    let mut names: Vec<(&String, &Id)> = table.iter().collect();
    names.sort_by_key(|(_, id)| *id);
    names.into_iter().map(|(name, _)| name.as_str()).collect()
}

fn table<Id>(names: impl Iterator<Item = Ident>, id: fn(usize) -> Id) -> Table<Id> {
    let mut table = Table::new();
    for (at, name) in names.enumerate() {
        table.entry(name.to_string()).or_insert_with(|| id(at));
    }
    table
}

/// Returns the inputs by name. Retired inputs are left out, because nothing may name them.
fn inputs(ast: &ast::Lifecycle) -> Table<InputId> {
    let mut table = table(ast.inputs.iter().map(|i| i.name.clone()), InputId);
    for retired in ast.inputs.iter().filter(|input| input.retired.is_some()) {
        table.remove(&retired.name.to_string());
    }
    table
}

/// A name that something else has counts as that.
fn derived(ast: &ast::Lifecycle) -> Table<usize> {
    let mut table = table(ast.derived.iter().map(|d| d.name.clone()), |at| at);
    let inputs = ast.inputs.iter().map(|i| &i.name);
    let values = ast.values.iter().map(|v| &v.name);
    let facts = ast.facts.iter().map(|f| &f.name);
    for name in inputs.chain(values).chain(facts) {
        table.remove(&name.to_string());
    }
    table
}

/// Reports every name but the first of its kind.
fn once(names: impl Iterator<Item = Ident>, sink: &mut Sink) {
    let mut first: BTreeMap<String, Span> = BTreeMap::new();
    for name in names {
        match first.get(&name.to_string()) {
            Some(&at) => sink.push(declared_twice::diagnostic(&name, at)),
            None => {
                first.insert(name.to_string(), name.span());
            }
        }
    }
}

/// Inputs, values and facts are one kind of name: predicates and `from` mix them.
fn sources_once(ast: &ast::Lifecycle, sink: &mut Sink) {
    // What stands for a region has the name of the fact about its state.
    let inputs = ast.inputs.iter().filter(|i| i.goals.is_none());
    let inputs = inputs.map(|i| &i.name);
    let values = ast.values.iter().map(|v| &v.name);
    let facts = ast.facts.iter().map(|f| &f.name);
    let derived = ast.derived.iter().map(|d| &d.name);
    let mut names: Vec<&Ident> = inputs.chain(values).chain(facts).chain(derived).collect();
    names.sort_by_key(|name| (name.span().start().line, name.span().start().column));
    for name in &names {
        if declared_twice::is_reserved(name) {
            sink.push(declared_twice::reserved(name));
        }
    }
    once(names.into_iter().cloned(), sink);
}

/// Facts, values, builders and fields become methods of one trait. Facts and values are compared above, effects with one another too.
fn methods_once(ast: &ast::Lifecycle, sink: &mut Sink) {
    let facts = ast.facts.iter().map(|f| f.name.clone());
    let mut methods: Vec<Ident> = facts
        .chain(ast.values.iter().map(|v| v.name.clone()))
        .chain(ast.inputs.iter().filter_map(input_method))
        .collect();
    let mut add = |names: Vec<Ident>, sink: &mut Sink| {
        for name in &names {
            if let Some(first) = methods.iter().find(|method| *method == name) {
                sink.push(declared_twice::diagnostic(name, first.span()));
            }
        }
        methods.extend(names);
    };
    let builders = ast.effects.iter().flat_map(|one| ast.builders(one));
    add(builders.collect(), sink);
    let fields = ast.fields.iter().filter(|field| match field.what {
        ast::FieldOf::Method { .. } => true,
        ast::FieldOf::Phase | ast::FieldOf::Reason | ast::FieldOf::Message => false,
    });
    add(fields.map(|f| f.name.clone()).collect(), sink);
    let calls = ast.rpc.iter().flat_map(|rpc| &rpc.calls);
    let mut created = calls.filter(|call| call.name == csi::Rpc::CreateVolume.name());
    if let Some(call) = created.next() {
        let reply = Ident::new(csi::REPLY_OF_CREATE, call.name.span());
        if let Some(method) = methods.iter().find(|method| **method == reply) {
            sink.push(declared_twice::diagnostic(method, reply.span()));
        }
    }
    once(ast.fields.iter().map(|f| f.name.clone()), sink);
}

/// The method that finds or polls an input, where it has one.
pub(crate) fn input_method(input: &ast::Input) -> Option<Ident> {
    if matches!(input.mode, ast::Mode::Poll | ast::Mode::Probe) {
        let word = input.mode.method_prefix();
        return Some(Ident::new(
            &format!("{word}_{}", ast::bare(&input.name)),
            input.name.span(),
        ));
    }
    let (_, lookup) = input.lookup.as_ref()?;
    let method = matches!(
        lookup,
        ast::Lookup::Names { .. } | ast::Lookup::Refs { .. } | ast::Lookup::Ref { .. }
    );
    method.then(|| input.name.clone())
}

fn reserved_states(ast: &ast::Lifecycle, sink: &mut Sink) {
    for state in &ast.states {
        if ["Deleting", "Refused"]
            .iter()
            .any(|name| state.name == name)
        {
            sink.push(declared_twice::reserved(&state.name));
        }
    }
}
