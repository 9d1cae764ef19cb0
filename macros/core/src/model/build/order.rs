//! The order in which everything is looked at and asked, and the error about what depends on itself.
//!
//! Follows everything that an answer needs at run time: `from`, `given`, lookups, and the builders that decide between Stale and Current.
//! In a `from` a name means the object as it was found, without our verdict on it: whether it is there and ours to read is known as soon as it is found.

use std::collections::BTreeSet;

use proc_macro2::Span;

use crate::check::circular_fact;
use crate::errors::Diagnostic;
use crate::model::{
    Effect, Input, InputId, Lifecycle, Lookup, Node, Origin, Path, Pred, Source, Use, VarId, Verb,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}

/// What a node needs, and where that was written.
type Needs = Vec<(Node, Span)>;

/// In which order a lifecycle is evaluated.
pub(super) struct Order {
    /// Every variable after those that it needs; source order where nothing else decides.
    pub(super) vars: Vec<VarId>,
    /// Everything after what it needs, inputs and values too; what decides whose the object is comes first.
    pub(super) nodes: Vec<Node>,
}

/// Otherwise every circle, each name in one of them only.
pub(super) fn of(lifecycle: &Lifecycle) -> Result<Order, Vec<Diagnostic>> {
    let vars = (0..lifecycle.vars.len()).map(|at| Node::Var(VarId(at)));
    let values = (0..lifecycle.values.len()).map(|at| Node::Value(crate::model::ValueId(at)));
    let inputs = (0..lifecycle.inputs.len()).map(|at| Node::Input(InputId(at)));
    let walked = walk(
        lifecycle,
        vars.clone().chain(values.clone()).chain(inputs.clone()),
    )?;
    let is_var = |node: &Node| match node {
        Node::Var(var) => Some(*var),
        Node::Input(_) | Node::Value(_) => None,
    };
    // What cannot be read of an object that is another controller's is ignored, so that is asked first of all.
    let ignored = lifecycle.states.iter().filter(|state| state.is_ignored());
    let ignored = ignored.flat_map(|state| state.when.vars()).map(Node::Var);
    let brought = |node: Node| match node {
        Node::Input(input) => lifecycle.inputs[input.0].var.map(Node::Var),
        Node::Value(_) | Node::Var(_) => None,
    };
    let inputs = inputs.flat_map(|input| std::iter::once(input).chain(brought(input)));
    let answered = walked.iter().filter_map(is_var).map(Node::Var);
    let nodes = walk(
        lifecycle,
        ignored.chain(inputs).chain(values).chain(answered),
    )?;
    Ok(Order {
        vars: walked.iter().filter_map(is_var).collect(),
        nodes,
    })
}

/// Visits what is given in this order, each after what it needs.
fn walk(
    lifecycle: &Lifecycle,
    all: impl Iterator<Item = Node>,
) -> Result<Vec<Node>, Vec<Diagnostic>> {
    let count = lifecycle.inputs.len() + lifecycle.values.len() + lifecycle.vars.len();
    let mut walk = Walk {
        lifecycle,
        marks: vec![Mark::New; count],
        path: Vec::new(),
        order: Vec::new(),
        circular: BTreeSet::new(),
        circles: Vec::new(),
    };
    all.for_each(|node| walk.visit(node));
    if walk.circles.is_empty() {
        Ok(walk.order)
    } else {
        Err(walk.circles)
    }
}

struct Walk<'a> {
    lifecycle: &'a Lifecycle,
    marks: Vec<Mark>,
    /// From the first node to the one that is being visited, each with the place where it is needed.
    path: Vec<(Node, Span)>,
    order: Vec<Node>,
    /// What is part of a circle that was reported.
    circular: BTreeSet<Node>,
    circles: Vec<Diagnostic>,
}

impl Walk<'_> {
    fn visit(&mut self, node: Node) {
        let at = self.index(node);
        if self.marks[at] == Mark::Done {
            return;
        }
        self.marks[at] = Mark::Open;
        for (next, span) in self.needs(node) {
            self.path.push((node, span));
            if self.marks[self.index(next)] == Mark::Open {
                self.report(next);
            } else {
                self.visit(next);
            }
            self.path.pop();
        }
        self.marks[at] = Mark::Done;
        self.order.push(node);
    }

    /// Circles that share a name are one mistake.
    fn report(&mut self, node: Node) {
        let start = self.path.iter().position(|(n, _)| *n == node);
        let circle = self.path[start.unwrap_or(0)..].to_vec();
        let nodes = circle.iter().map(|(node, _)| *node);
        if nodes.clone().any(|node| self.circular.contains(&node)) {
            return;
        }
        self.circular.extend(nodes);
        self.circles.push(self.circle(circle));
    }

    fn index(&self, node: Node) -> usize {
        let (inputs, values) = (self.lifecycle.inputs.len(), self.lifecycle.values.len());
        match node {
            Node::Input(input) => input.0,
            Node::Value(value) => inputs + value.0,
            Node::Var(var) => inputs + values + var.0,
        }
    }

    /// A path back to its start; begins with a name that the user declared as a fact where there is one.
    fn circle(&self, mut circle: Needs) -> Diagnostic {
        let fact = circle.iter().position(|(n, _)| self.is_fact(*n));
        circle.rotate_left(fact.unwrap_or(0));
        let mut names: Vec<String> = circle.iter().map(|(n, _)| self.name(*n)).collect();
        names.dedup();
        if names.len() > 1 && names.first() == names.last() {
            names.pop();
        }
        circular_fact::diagnostic(&names, circle[0].1)
    }

    fn is_fact(&self, node: Node) -> bool {
        match node {
            Node::Var(var) => match self.lifecycle.vars[var.0].origin {
                Origin::Fact { .. } => true,
                Origin::Input(_) | Origin::Refused(_) | Origin::Deleting | Origin::Claimed => false,
            },
            Node::Input(_) | Node::Value(_) => false,
        }
    }

    fn name(&self, node: Node) -> String {
        match node {
            Node::Input(input) => self.lifecycle.inputs[input.0].name.to_string(),
            Node::Value(value) => self.lifecycle.values[value.0].name.to_string(),
            Node::Var(var) => {
                let var = &self.lifecycle.vars[var.0];
                match var.origin {
                    Origin::Refused(_) => format!("refused({})", var.name),
                    Origin::Input(_) | Origin::Fact { .. } | Origin::Deleting | Origin::Claimed => {
                        var.name.to_string()
                    }
                }
            }
        }
    }

    fn needs(&self, node: Node) -> Needs {
        let mut needs = Vec::new();
        match node {
            Node::Input(input) => self.fetch(&self.lifecycle.inputs[input.0], &mut needs),
            Node::Value(value) => {
                let value = &self.lifecycle.values[value.0];
                asked(value.given.as_ref(), &mut needs);
                used(&value.from, &mut needs);
            }
            Node::Var(var) => self.answer(var, &mut needs),
        }
        needs
    }

    fn fetch(&self, input: &Input, needs: &mut Needs) {
        asked(input.given.as_ref(), needs);
        // Whose an object is tells whether it is ours to read.
        needs.extend(
            input
                .of
                .map(|owner| (Node::Input(owner), input.name.span())),
        );
        match &input.lookup {
            Lookup::Names { of } | Lookup::Refs { of } => used(of, needs),
            Lookup::Ref { from } => used(from, needs),
            Lookup::Key { input, .. } => used(input.as_slice(), needs),
            Lookup::Name { path, .. } => self.rooted(path, needs),
            Lookup::Equal { ours, .. } => self.rooted(ours, needs),
            Lookup::Labels { pairs } => {
                for (_, path) in pairs {
                    self.rooted(path, needs);
                }
            }
            Lookup::None | Lookup::Owner | Lookup::Namespace => {}
        }
    }

    fn rooted(&self, path: &Path, needs: &mut Needs) {
        let mut inputs = self.lifecycle.inputs.iter();
        if let Some(at) = inputs.position(|input| input.name == *path.root()) {
            needs.push((Node::Input(InputId(at)), path.root().span()));
        }
    }

    fn answer(&self, id: VarId, needs: &mut Needs) {
        let var = &self.lifecycle.vars[id.0];
        for guard in &var.given {
            asked(Some(&guard.pred), needs);
        }
        match &var.origin {
            Origin::Fact { from, .. } => used(from, needs),
            Origin::Input(input) => {
                needs.push((Node::Input(*input), var.name.span()));
                let owner = self.lifecycle.inputs[input.0].of;
                needs.extend(owner.map(|owner| (Node::Input(owner), var.name.span())));
                let effects = self.lifecycle.effects.iter();
                for effect in effects.filter(|e| e.target == *input && e.verb == Verb::Apply) {
                    used(&effect.from, needs);
                    if effect.is_one_of_several(self.lifecycle) {
                        self.permission(effect, needs);
                    }
                }
            }
            Origin::Refused(effect) => {
                let effect = &self.lifecycle.effects[effect.0];
                used(&effect.from, needs);
                if let Some(key) = &effect.key {
                    self.rooted(&key.path, needs);
                }
                self.enabled(effect, needs);
                let rivals = effect.rivals(self.lifecycle);
                rivals.for_each(|rival| self.enabled(&self.lifecycle.effects[rival.0], needs));
                // `when !refused(x)` in `x` itself: an effect that is refused is not enabled anyway.
                needs.retain(|(node, _)| *node != Node::Var(id));
            }
            Origin::Deleting | Origin::Claimed => {}
        }
    }

    /// What decides which of several effects builds an object: the author's permissions, as far as they ask for more than the verdict on it.
    fn permission(&self, effect: &Effect, needs: &mut Needs) {
        let own = self.lifecycle.inputs[effect.target.0].var.map(Node::Var);
        let mut more = Needs::new();
        asked(effect.when.as_ref(), &mut more);
        more.retain(|(node, _)| Some(*node) != own);
        needs.extend(more);
    }

    /// Everything that decides whether an effect would run.
    fn enabled(&self, effect: &Effect, needs: &mut Needs) {
        asked(effect.when.as_ref(), needs);
        let ignored = self.lifecycle.states.iter().filter(|s| s.is_ignored());
        ignored.for_each(|state| asked(Some(&state.when), needs));
        let target = &self.lifecycle.inputs[effect.target.0];
        asked(target.given.as_ref(), needs);
        for one in &effect.from {
            if let Source::Value(value) = one.source {
                asked(self.lifecycle.values[value.0].given.as_ref(), needs);
            }
        }
        let inputs = effect.from.iter().filter_map(|one| match one.source {
            Source::Input(input) => self.lifecycle.inputs[input.0].var,
            Source::This | Source::Request | Source::Value(_) | Source::Fact(_) => None,
        });
        let sets = effect.sets.iter().flatten().map(|assign| assign.var);
        let standing = self
            .lifecycle
            .vars
            .iter()
            .enumerate()
            .filter(|(_, var)| match var.origin {
                Origin::Deleting | Origin::Claimed => true,
                Origin::Input(_) | Origin::Refused(_) | Origin::Fact { .. } => false,
            });
        let standing = standing.map(|(at, _)| VarId(at));
        let vars = inputs.chain(target.var).chain(sets).chain(standing);
        needs.extend(vars.map(|var| (Node::Var(var), effect.name.span())));
    }
}

fn asked(given: Option<&Pred>, needs: &mut Needs) {
    if let Some(given) = given {
        let vars = given.vars();
        needs.extend(vars.into_iter().map(|var| (Node::Var(var), given.span)));
    }
}

fn used(uses: &[Use], needs: &mut Needs) {
    for one in uses {
        let node = match one.source {
            Source::Input(input) => Node::Input(input),
            Source::Value(value) => Node::Value(value),
            Source::Fact(var) => Node::Var(var),
            Source::This | Source::Request => continue,
        };
        needs.push((node, one.name.span()));
    }
}
