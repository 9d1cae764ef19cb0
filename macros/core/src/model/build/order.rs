//! The order in which everything is observed and evaluated, and the error about circular
//! dependencies.
//!
//! Follows everything that an answer needs at run time: `from`, `given`, lookups, and the builders
//! that decide between Stale and Current. In a `from`, a name means the observed object without our
//! verdict on it. The lookup alone decides if the object exists and if we may read it.

use std::collections::BTreeSet;

use proc_macro2::Span;

use crate::check::{circular_fact, too_many_worlds};
use crate::errors::Diagnostic;
use crate::model::{
    Effect, Input, InputId, Lifecycle, Lookup, Mode, Node, Origin, Path, Pred, Source, State, Use,
    ValueId, VarId, Verb,
};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    Open,
    Done,
}

/// Needs of a node.
type Needs = Vec<Need>;

/// One thing that a node needs.
#[derive(Clone, Copy)]
struct Need {
    node: Node,
    /// Location of the need in the source, or the name of the item that has the need by its nature.
    span: Span,
    /// True if the need is written, so that its author can remove it: in a `from`, a `given`, a
    /// `when`, a lookup.
    is_written: bool,
}

impl Need {
    fn written(node: Node, span: Span) -> Self {
        Self {
            node,
            span,
            is_written: true,
        }
    }

    fn implied(node: Node, span: Span) -> Self {
        Self {
            node,
            span,
            is_written: false,
        }
    }
}

/// Upper bound on a chain of declarations in which each needs the next. Every traversal of
/// dependencies recurses along it.
const LONGEST_CHAIN: usize = 128;
/// How many variables a lifecycle may have: worlds are enumerated one variable after the other.
const MOST_VARIABLES: usize = 2_048;

/// Order of nodes by their needs.
pub(super) struct Order {
    /// Every variable after those that it needs; source order where nothing else decides.
    pub(super) vars: Vec<VarId>,
    /// Nodes in order, each after everything that it needs, including inputs and values.
    pub(super) nodes: Vec<Node>,
    /// Circular dependencies, each name in one circle only.
    pub(super) circles: Vec<Diagnostic>,
    /// Chain that is too long to follow. If it is set, nothing else may examine the lifecycle.
    pub(super) too_long: Option<Diagnostic>,
}

pub(super) fn compute_order(lifecycle: &Lifecycle) -> Order {
    let vars = (0..lifecycle.vars.len()).map(|at| Node::Var(VarId(at)));
    let values = (0..lifecycle.values.len()).map(|at| Node::Value(ValueId(at)));
    let inputs = (0..lifecycle.inputs.len()).map(|at| Node::Input(InputId(at)));
    let all = vars.chain(values).chain(inputs);
    let mut walk = Walk::through(lifecycle, all);
    // A circle has no length of its own: the number of nodes bounds it.
    let in_circles = !walk.circles.is_empty() && walk.marks.len() > LONGEST_CHAIN;
    let variables = lifecycle.vars.len();
    let too_long = match (walk.longest, variables > MOST_VARIABLES) {
        (Some(node), _) => {
            let (name, span) = (walk.name(node), walk.span(node));
            Some(too_many_worlds::chain(span, &name, LONGEST_CHAIN))
        }
        (None, true) => {
            let limit = MOST_VARIABLES;
            Some(too_many_worlds::variables(lifecycle, variables, limit))
        }
        (None, false) if in_circles => walk.circles.pop(),
        (None, false) => None,
    };
    let vars = walk.order.iter().filter_map(|node| match node {
        Node::Var(var) => Some(*var),
        Node::Input(_) | Node::Value(_) => None,
    });
    let vars: Vec<VarId> = vars.collect();
    Order {
        nodes: nodes(lifecycle, &vars),
        vars,
        circles: walk.circles,
        too_long,
    }
}

/// Returns the order in which a reconcile observes and evaluates. Unless dependencies decide
/// otherwise, inputs with their verdicts come first.
fn nodes(lifecycle: &Lifecycle, vars: &[VarId]) -> Vec<Node> {
    // Unreadable fields do not matter in an object that we leave alone. Therefore the facts that
    // decide this, and before them its owner, are evaluated first.
    let asked_by = |wanted: fn(&State) -> bool| {
        let states = lifecycle.all_states().filter(move |state| wanted(state));
        states.flat_map(|state| state.when.vars()).map(Node::Var)
    };
    let set_aside = asked_by(State::is_ignored).chain(asked_by(State::is_suspended));
    let inputs = lifecycle.inputs.iter().enumerate().flat_map(|(at, input)| {
        let found = Node::Input(InputId(at));
        std::iter::once(found).chain(input.var.map(Node::Var))
    });
    let values = (0..lifecycle.values.len()).map(|at| Node::Value(ValueId(at)));
    let vars = vars.iter().copied().map(Node::Var);
    let all = set_aside.chain(inputs).chain(values).chain(vars);
    Walk::through(lifecycle, all).order
}

/// The polls without which these variables cannot be answered.
pub(crate) fn polls_behind(
    lifecycle: &Lifecycle,
    vars: impl IntoIterator<Item = VarId>,
) -> BTreeSet<InputId> {
    let needed = Walk::through(lifecycle, vars.into_iter().map(Node::Var)).order;
    let polls = needed.into_iter().filter_map(|node| match node {
        Node::Input(input) if lifecycle.inputs[input.0].mode == Mode::Poll => Some(input),
        Node::Input(_) | Node::Value(_) | Node::Var(_) => None,
    });
    polls.collect()
}

/// Everything without which these variables cannot be answered, themselves included.
pub(crate) fn behind(
    lifecycle: &Lifecycle,
    vars: impl IntoIterator<Item = VarId>,
) -> BTreeSet<Node> {
    let walk = Walk::through(lifecycle, vars.into_iter().map(Node::Var));
    walk.order.into_iter().collect()
}

struct Walk<'a> {
    lifecycle: &'a Lifecycle,
    marks: Vec<Mark>,
    /// How many others each that is done needs, one after the other.
    lengths: Vec<usize>,
    /// From the first node to the one that is being visited.
    path: Vec<Step>,
    order: Vec<Node>,
    /// Nodes of the circles that were reported.
    circular: BTreeSet<Node>,
    circles: Vec<Diagnostic>,
    /// The first node with a chain that is too long.
    longest: Option<Node>,
}

/// A node during its visit, with its needs and the number of those already followed.
struct Step {
    node: Node,
    needs: Needs,
    followed: usize,
}

impl<'a> Walk<'a> {
    /// Visits all nodes in this order, each after its needs.
    fn through(lifecycle: &'a Lifecycle, all: impl Iterator<Item = Node>) -> Self {
        let count = lifecycle.inputs.len() + lifecycle.values.len() + lifecycle.vars.len();
        let mut walk = Self {
            lifecycle,
            marks: vec![Mark::New; count],
            lengths: vec![0; count],
            path: Vec::new(),
            order: Vec::new(),
            circular: BTreeSet::new(),
            circles: Vec::new(),
            longest: None,
        };
        all.for_each(|node| walk.from(node));
        walk
    }

    /// Follows everything that a node needs, on a path of its own: a chain may be as long as the lifecycle.
    fn from(&mut self, node: Node) {
        self.enter(node);
        while let Some(step) = self.path.last_mut() {
            let next = step.needs.get(step.followed).map(|need| need.node);
            step.followed += 1;
            match next {
                Some(next) if self.marks[self.index(next)] == Mark::Open => self.report(next),
                Some(next) => self.enter(next),
                None => self.leave(),
            }
        }
    }

    fn enter(&mut self, node: Node) {
        let at = self.index(node);
        if self.marks[at] == Mark::New {
            self.marks[at] = Mark::Open;
            let needs = self.needs(node);
            self.path.push(Step {
                node,
                needs,
                followed: 0,
            });
        }
    }

    fn leave(&mut self) {
        let Some(Step { node, needs, .. }) = self.path.pop() else {
            return;
        };
        let lengths = needs.iter().map(|need| self.lengths[self.index(need.node)]);
        let length = lengths.max().map_or(0, |longest| longest + 1);
        let at = self.index(node);
        self.marks[at] = Mark::Done;
        self.lengths[at] = length;
        if length > LONGEST_CHAIN && self.circles.is_empty() {
            self.longest.get_or_insert(node);
        }
        self.order.push(node);
    }

    /// Circles that share a name are one mistake.
    fn report(&mut self, node: Node) {
        let start = self.path.iter().position(|step| step.node == node);
        // Each with the edge that leads on from it.
        let needed = |step: &Step| Need {
            node: step.node,
            ..step.needs[step.followed - 1]
        };
        let circle: Needs = self.path[start.unwrap_or(0)..].iter().map(needed).collect();
        let nodes = circle.iter().map(|need| need.node);
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

    /// Returns a path back to its start. It begins with a declared fact, if it contains one.
    fn circle(&self, mut circle: Needs) -> Diagnostic {
        let fact = circle.iter().position(|need| self.is_fact(need.node));
        circle.rotate_left(fact.unwrap_or(0));
        let mut names: Vec<String> = circle.iter().map(|need| self.name(need.node)).collect();
        names.dedup();
        if names.len() > 1 && names.first() == names.last() {
            names.pop();
        }
        let written = circle.iter().find(|need| need.is_written);
        circular_fact::diagnostic(&names, written.unwrap_or(&circle[0]).span)
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

    fn span(&self, node: Node) -> Span {
        match node {
            Node::Input(input) => self.lifecycle.inputs[input.0].name.span(),
            Node::Value(value) => self.lifecycle.values[value.0].name.span(),
            Node::Var(var) => self.lifecycle.vars[var.0].name.span(),
        }
    }

    fn needs(&self, node: Node) -> Needs {
        let mut needs = Vec::new();
        match node {
            Node::Input(input) => self.fetch(&self.lifecycle.inputs[input.0], &mut needs),
            Node::Value(value) => {
                let value = &self.lifecycle.values[value.0];
                let until = value.mint.as_ref().and_then(|mint| mint.until.as_ref());
                add_given(value.given.as_ref(), &mut needs);
                add_given(until, &mut needs);
                used(&value.from, &mut needs);
            }
            Node::Var(var) => self.answer(var, &mut needs),
        }
        needs
    }

    fn fetch(&self, input: &Input, needs: &mut Needs) {
        add_given(input.given.as_ref(), needs);
        // The owner of an object decides if we may read it as ours.
        needs.extend(
            input
                .of
                .map(|owner| Need::implied(Node::Input(owner), input.name.span())),
        );
        let record = input.noted.map(Node::Input);
        needs.extend(record.map(|record| Need::implied(record, input.name.span())));
        match &input.lookup {
            Lookup::Names { of } | Lookup::Refs { of } => used(of, needs),
            Lookup::Ref { from } => used(from, needs),
            Lookup::Keys(keys) => keys
                .iter()
                .for_each(|key| used(key.input.as_slice(), needs)),
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
            needs.push(Need::written(Node::Input(InputId(at)), path.root().span()));
        }
    }

    fn answer(&self, id: VarId, needs: &mut Needs) {
        let var = &self.lifecycle.vars[id.0];
        for guard in &var.given {
            add_given(Some(&guard.pred), needs);
        }
        match &var.origin {
            Origin::Fact { from, .. } => used(from, needs),
            Origin::Input(input) => {
                needs.push(Need::implied(Node::Input(*input), var.name.span()));
                let members = self.lifecycle.members(*input);
                let member = |(at, _)| Need::implied(Node::Input(at), var.name.span());
                needs.extend(members.map(member));
                let owner = self.lifecycle.inputs[input.0].of;
                let own = |owner| Need::implied(Node::Input(owner), var.name.span());
                needs.extend(owner.map(own));
                // The comparison covers the presence of an owner reference.
                add_given(self.lifecycle.inputs[input.0].retain.as_ref(), needs);
                let effects = self.lifecycle.effects.iter();
                let record = self.lifecycle.inputs[input.0].noted;
                let noted = |record| Need::implied(Node::Input(record), var.name.span());
                needs.extend(record.map(noted));
                let builds = |e: &&Effect| matches!(e.verb, Verb::Apply | Verb::Create);
                for effect in effects.filter(|e| e.target == *input && builds(e)) {
                    used(&effect.from, needs);
                    if effect.is_one_of_several(self.lifecycle) {
                        self.permission(effect, needs);
                    }
                }
            }
            Origin::Refused(effect) => {
                // Where something did not resolve, an effect may have been left out.
                if let Some(effect) = self.lifecycle.effects.get(effect.0) {
                    self.refusal(effect, needs);
                }
                // `when !refused(x)` in `x` itself: an effect that is refused is not enabled anyway.
                needs.retain(|need| need.node != Node::Var(id));
            }
            Origin::Deleting | Origin::Claimed => {}
        }
    }

    /// Adds the needs of a remembered refusal: the inputs that decide if the effect would run, and
    /// its arguments.
    fn refusal(&self, effect: &Effect, needs: &mut Needs) {
        used(&effect.from, needs);
        if let Some(key) = &effect.key {
            self.rooted(&key.path, needs);
        }
        self.enabled(effect, needs);
        let rivals = effect.rivals(self.lifecycle);
        rivals.for_each(|rival| self.enabled(&self.lifecycle.effects[rival.0], needs));
    }

    /// Adds the needs of the choice between several effects that build one object. They are the
    /// author's permissions, as far as they depend on more than the verdict on the object.
    fn permission(&self, effect: &Effect, needs: &mut Needs) {
        let own = self.lifecycle.inputs[effect.target.0].var.map(Node::Var);
        let mut more = Needs::new();
        add_given(effect.when.as_ref(), &mut more);
        more.retain(|need| Some(need.node) != own);
        needs.extend(more);
    }

    /// Adds the needs of the decision if it is the effect's turn during a deletion.
    fn torn_down(&self, effect: &Effect, needs: &mut Needs) {
        if !effect.is_step && !effect.is_undo {
            return;
        }
        for step in &self.lifecycle.steps {
            add_given(Some(&step.until), needs);
            // Where something did not resolve, an effect may have been left out.
            let done = self.lifecycle.effects.get(step.effect.0);
            if done.is_some_and(|done| done.name == effect.name) {
                add_given(step.when.as_ref(), needs);
            }
        }
    }

    /// Collects everything that decides if an effect would run.
    fn enabled(&self, effect: &Effect, needs: &mut Needs) {
        add_given(effect.when.as_ref(), needs);
        let set_aside = self.lifecycle.all_states().filter(|s| s.is_set_aside());
        set_aside.for_each(|state| add_given(Some(&state.when), needs));
        self.torn_down(effect, needs);
        let target = &self.lifecycle.inputs[effect.target.0];
        add_given(target.given.as_ref(), needs);
        let noted = self.lifecycle.noted_in(effect.target);
        let noted = noted.map(|of| &self.lifecycle.inputs[of.0]);
        add_given(noted.and_then(|of| of.given.as_ref()), needs);
        let noted = noted.and_then(|of| of.var);
        needs.extend(noted.map(|var| Need::implied(Node::Var(var), effect.name.span())));
        for one in &effect.from {
            if let Source::Value(value) = one.source {
                add_given(self.lifecycle.values[value.0].given.as_ref(), needs);
            }
        }
        let inputs = effect.from.iter().filter_map(|one| match one.source {
            Source::Input(input) => Some(input),
            Source::This
            | Source::Request
            | Source::Field(_)
            | Source::Value(_)
            | Source::Fact(_) => None,
        });
        let inputs = inputs.chain(effect.owner(self.lifecycle));
        let inputs = inputs.filter_map(|input| self.lifecycle.inputs[input.0].var);
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
        needs.extend(vars.map(|var| Need::implied(Node::Var(var), effect.name.span())));
    }
}

fn add_given(given: Option<&Pred>, needs: &mut Needs) {
    if let Some(given) = given {
        let vars = given.vars();
        let vars = vars.into_iter();
        needs.extend(vars.map(|var| Need::written(Node::Var(var), given.span)));
    }
}

fn used(uses: &[Use], needs: &mut Needs) {
    for one in uses {
        let node = match one.source {
            Source::Input(input) => Node::Input(input),
            Source::Value(value) => Node::Value(value),
            Source::Fact(var) => Node::Var(var),
            Source::This | Source::Request | Source::Field(_) => continue,
        };
        needs.push(Need::written(node, one.name.span()));
    }
}
