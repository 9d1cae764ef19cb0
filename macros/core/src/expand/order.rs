//! In which order a pass looks and asks: inputs, shared values and facts, each after everything it depends on.

use crate::model::{
    InputId, Lifecycle, Lookup, Origin, Path, Pred, PredKind, Source, Use, ValueId, VarId, Verb,
};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Node {
    Input(InputId),
    Value(ValueId),
    Var(VarId),
}

/// All nodes; source order where nothing else decides.
pub(crate) fn order(model: &Lifecycle) -> Vec<Node> {
    let mut sorted = Sorted {
        model,
        done: Vec::new(),
        open: Vec::new(),
    };
    // First of all, who manages the object: if another controller does, what cannot be read of the rest is ignored.
    ignored(model).for_each(|node| sorted.visit(node));
    for (n, input) in model.inputs.iter().enumerate() {
        sorted.visit(Node::Input(InputId(n)));
        input
            .var
            .into_iter()
            .for_each(|var| sorted.visit(Node::Var(var)));
    }
    (0..model.values.len()).for_each(|n| sorted.visit(Node::Value(ValueId(n))));
    model
        .order
        .iter()
        .for_each(|&var| sorted.visit(Node::Var(var)));
    sorted.done
}

struct Sorted<'a> {
    model: &'a Lifecycle,
    done: Vec<Node>,
    open: Vec<Node>,
}

impl Sorted<'_> {
    /// A builder may read its own target, so a node that is still open is left to its first visit.
    fn visit(&mut self, node: Node) {
        if self.done.contains(&node) || self.open.contains(&node) {
            return;
        }
        self.open.push(node);
        for needed in needs(self.model, node) {
            self.visit(needed);
        }
        self.open.pop();
        self.done.push(node);
    }
}

fn needs(model: &Lifecycle, node: Node) -> Vec<Node> {
    match node {
        Node::Input(input) => {
            let input = &model.inputs[input.0];
            let given = input.given.iter().flat_map(asked);
            given
                .chain(looked_up_through(model, &input.lookup))
                .collect()
        }
        Node::Value(value) => {
            let value = &model.values[value.0];
            value
                .given
                .iter()
                .flat_map(asked)
                .chain(sources(model, &value.from))
                .collect()
        }
        Node::Var(var) => {
            let guards = model.vars[var.0].given.iter().flat_map(|g| asked(&g.pred));
            guards
                .chain(answered_from(model, &model.vars[var.0].origin))
                .collect()
        }
    }
}

fn answered_from(model: &Lifecycle, origin: &Origin) -> Vec<Node> {
    match origin {
        Origin::Fact { from, .. } => sources(model, from),
        Origin::Deleting | Origin::Claimed => Vec::new(),
        Origin::Input(input) => {
            let builders = model
                .effects
                .iter()
                .filter(|e| e.target == *input && e.verb == Verb::Apply);
            let built_from = builders.flat_map(|e| sources(model, &e.from));
            let owner = model.inputs[input.0].of.into_iter();
            std::iter::once(Node::Input(*input))
                .chain(owner.flat_map(|owner| input_nodes(model, owner)))
                .chain(built_from)
                .collect()
        }
        Origin::Refused(effect) => {
            let effect = &model.effects[effect.0];
            let target = Use {
                source: Source::Input(effect.target),
                name: effect.name.clone(),
            };
            let set = effect.sets.iter().flatten().map(|a| Node::Var(a.var));
            let when = effect.when.iter().flat_map(asked).chain(ignored(model));
            sources(model, &effect.from)
                .into_iter()
                .chain(sources(model, &[target]))
                .chain(set)
                .chain(when)
                .collect()
        }
    }
}

/// What decides whether another controller manages the object.
fn ignored(model: &Lifecycle) -> impl Iterator<Item = Node> {
    let states = model.states.iter().filter(|state| state.is_ignored());
    states.flat_map(|state| asked(&state.when))
}

fn looked_up_through(model: &Lifecycle, lookup: &Lookup) -> Vec<Node> {
    let path = |path: &Path| {
        let first = path.parts.first();
        let input = model
            .inputs
            .iter()
            .position(|i| first.is_some_and(|f| i.name == *f));
        input
            .into_iter()
            .flat_map(|i| input_nodes(model, InputId(i)))
            .collect::<Vec<_>>()
    };
    match lookup {
        Lookup::None | Lookup::Owner | Lookup::Namespace => Vec::new(),
        Lookup::Name { path: p, .. } | Lookup::Equal { ours: p, .. } => path(p),
        Lookup::Key { path: p, input } => input
            .as_ref()
            .map_or_else(|| path(p), |i| sources(model, std::slice::from_ref(i))),
        Lookup::Names { of: from } | Lookup::Refs { of: from } | Lookup::Ref { from } => {
            sources(model, from)
        }
        Lookup::Labels { pairs } => pairs.iter().flat_map(|(_, p)| path(p)).collect(),
    }
}

fn sources(model: &Lifecycle, from: &[Use]) -> Vec<Node> {
    from.iter()
        .flat_map(|u| match u.source {
            Source::Input(input) => input_nodes(model, input),
            Source::Value(value) => vec![Node::Value(value)],
            Source::Fact(fact) => vec![Node::Var(fact)],
            Source::This | Source::Request => Vec::new(),
        })
        .collect()
}

/// An input with the built-in fact that says whether it may be read.
fn input_nodes(model: &Lifecycle, input: InputId) -> Vec<Node> {
    std::iter::once(Node::Input(input))
        .chain(model.inputs[input.0].var.map(Node::Var))
        .collect()
}

fn asked(pred: &Pred) -> Vec<Node> {
    match &pred.kind {
        PredKind::Is { var, .. } => vec![Node::Var(*var)],
        PredKind::All(of) | PredKind::Any(of) => of.iter().flat_map(asked).collect(),
        PredKind::Not(p) => asked(p),
    }
}
