//! The lifecycle as rules and generators see it: names resolved, defaults filled, source order kept, every node with its span. Built once by `model::build`; they only read it.

pub(crate) mod build;
mod calls;
mod decided;
mod fragment;
pub mod frames;
mod locked;
mod minted;
mod region;
mod sources;
mod teardown;
mod values;
mod verdict;
pub mod visibility;

pub use calls::{Call, Meaning, Precondition, Refusal, Target, Within};
pub use fragment::Fragment;
pub(crate) use fragment::has_methods;
pub use locked::Locked;
pub use minted::Mint;
pub use region::{AskedRegion, Region};
pub use teardown::{Abandoned, Step};
pub use values::ValueSet;
pub use verdict::Verdict;

pub use crate::ast::{
    Claim, ConditionStatus, Gone, GoneOf, Kind, Leaves, LockText, Message, Mode, Part, Path, Verb,
};

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span};

use crate::csi;

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => { $(
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub struct $name(pub usize);
    )* };
}
ids! {
    /// Position in [`Lifecycle::inputs`].
    InputId,
    /// Position in [`Lifecycle::values`].
    ValueId,
    /// Position in [`Lifecycle::vars`].
    VarId,
    /// Position in [`Lifecycle::states`].
    StateId,
    /// Position in [`Lifecycle::effects`].
    EffectId,
    /// Position in [`Lifecycle::conditions`].
    ConditionId,
    /// Position in [`Lifecycle::regions`].
    RegionId,
}

/// One `lifecycle!` block.
#[derive(Clone, Debug)]
pub struct Lifecycle {
    pub kind: Kind,
    /// The type of the resource, or the name of the volume.
    pub name: Ident,
    pub doc: String,
    pub inputs: Vec<Input>,
    pub values: Vec<Value>,
    /// Every finite question in a fixed order. First come `deleting` and `claimed` (only with a
    /// held fact or a teardown, and not in a volume). Then follow built-in facts of inputs,
    /// declared facts, and one refusal for each effect.
    pub vars: Vec<Var>,
    /// Evaluation order of `vars`: each follows everything that its `given` queries. Stable: source
    /// order breaks ties.
    pub order: Vec<VarId>,
    /// Order in which a reconcile observes and evaluates: inputs, shared values and variables, each
    /// after everything that it depends on.
    pub nodes: Vec<Node>,
    pub nevers: Vec<Never>,
    pub states: Vec<State>,
    /// In a region that is checked by itself: the states of the root, in which it rests.
    pub closed: Vec<State>,
    /// Name of the region, if it is checked by itself.
    pub region: Option<Ident>,
    /// In a root that is checked by itself: the state in which the regions run.
    pub open: Option<StateId>,
    /// True for a region that is checked by itself and whose state another region asks.
    pub is_asked: bool,
    /// Regions, which are side by side where no state of the root holds.
    pub regions: Vec<Region>,
    pub effects: Vec<Effect>,
    pub promises: Vec<Promise>,
    /// Stages of the teardown, which run one after the other when the object is deleted.
    pub steps: Vec<Step>,
    /// Predicates under which the remainder of a deletion is given up.
    pub abandoned: Vec<Abandoned>,
    pub transitions: Option<Transitions>,
    pub properties: Vec<Property>,
    pub conditions: Vec<Condition>,
    pub ready: Option<Ready>,
    pub implicit: Option<Implicit>,
    /// True if the status has the fields that generic tools read from any object.
    pub kstatus: bool,
    pub fields: Vec<Field>,
    pub columns: Vec<Column>,
    /// Meaning of each precondition of the Container Storage Interface. Only in a volume.
    pub preconditions: Vec<Precondition>,
    /// Answer to each call of the interface. Only in a volume.
    pub calls: Vec<Call>,
    /// Fragments whose items are inserted among its own items.
    pub fragments: Vec<Fragment>,
    /// Lock of the previous releases, with which the lifecycle is compared.
    pub lock: Option<Locked>,
    /// Items of an older version, except for inputs that are observed.
    pub retired: Vec<Gone>,
    /// Names for predicates. They occur only here: each use of a name is replaced by its predicate.
    pub names: Vec<Named>,
}

/// A name for a predicate.
#[derive(Clone, Debug)]
pub struct Named {
    pub name: Ident,
    /// The variables that it queries.
    pub asks: BTreeSet<VarId>,
    /// True if anything mentions it.
    pub asked: bool,
}

/// Something that becomes known during a reconcile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// Result of an input: its objects, their existence, and the permission to read them as ours.
    Input(InputId),
    /// A shared value.
    Value(ValueId),
    /// The answer to a question; of an object that we write, the verdict on it.
    Var(VarId),
}

/// Argument that a pure method may receive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Source {
    /// The object itself; every method gets it, `from self` is allowed and means nothing more.
    This,
    /// The request of a volume call.
    Request,
    /// One field of it; only facts read one.
    Field(csi::RequestField),
    Input(InputId),
    Value(ValueId),
    /// The answer of a fact; only status fields may be computed from one.
    Fact(VarId),
}

/// A source with the place where it was written.
#[derive(Clone, Debug)]
pub struct Use {
    pub source: Source,
    pub name: Ident,
}

#[derive(Clone, Debug)]
pub struct Input {
    pub name: Ident,
    pub doc: String,
    pub mode: Mode,
    /// `[Type]`: any number of objects.
    pub many: bool,
    pub ty: syn::Type,
    /// `of name`: owner of an `owned` or `shared` object; the object itself if absent.
    pub of: Option<InputId>,
    /// `of cloud` of a poll: the provider to query.
    pub provider: Option<Ident>,
    /// True if the owner of an `owned` object is also its controller.
    pub controller: bool,
    pub lookup: Lookup,
    /// `if path`: the object exists only if this path of our object has a value.
    pub only_if: Option<Path>,
    /// Interval between two polls.
    pub every: Option<Length>,
    /// `exclusive path, ..`: lists in which we own every element.
    pub exclusive: Vec<Path>,
    /// Predicate under which the object is written without an owner reference and stays when its
    /// owner is deleted. For a bare `retain` it always holds.
    pub retain: Option<Pred>,
    pub given: Option<Pred>,
    /// For an object that is created once: the input that records the creation.
    pub noted: Option<InputId>,
    /// The built-in fact, where this kind of input brings one.
    pub var: Option<VarId>,
    /// Set if the input is retired: nothing reads it, and it is observed only for the objects that
    /// an older version left.
    pub retired: Option<Leaves>,
    /// The group that it is judged with.
    pub group: Option<InputId>,
    /// Of a member: its builder may want none.
    pub optional: bool,
    /// Set if it stands for another region, whose state is asked.
    pub region: Option<AskedRegion>,
}

impl Lifecycle {
    /// Returns the states, and those of the root in which a region rests.
    pub fn all_states(&self) -> impl Iterator<Item = &State> {
        self.states.iter().chain(&self.closed)
    }

    /// Returns the members of a group, in the order of declaration.
    pub fn members(&self, group: InputId) -> impl Iterator<Item = (InputId, &Input)> {
        let inputs = self.inputs.iter().enumerate();
        let of = move |(_, input): &(usize, &Input)| input.group == Some(group);
        inputs.filter(of).map(|(at, input)| (InputId(at), input))
    }
}

/// A duration: declared, or read from the object.
#[derive(Clone, Debug)]
pub struct Length {
    /// Location in the source, if it is written.
    pub span: Option<Span>,
    /// Path in the object that holds the length.
    pub path: Option<Path>,
    /// Milliseconds: the declared duration, or the default if the object holds no readable value.
    pub otherwise: u64,
    /// Milliseconds: it is never less.
    pub least: u64,
}

#[derive(Clone, Debug)]
pub enum Lookup {
    /// Nothing is written: for a `record`, and for an input without a key.
    None,
    /// `by name path` or `by name path?`; the path begins with `meta`, `spec`, `request` or an input.
    Name { path: Path, optional: bool },
    /// `by names of a, b`: one method that returns an ordered set of names.
    Names { of: Vec<Use> },
    /// `by refs of a, b`: one method that returns an ordered set of references, which may lead to other namespaces.
    Refs { of: Vec<Use> },
    /// `by labels { KEY = path, .. }`; the key is a path to a `&str` constant in the author's scope.
    Labels { pairs: Vec<(Path, Path)> },
    /// `by owner`: everything with an owner reference to the object.
    Owner,
    /// `by namespace`: everything of the kind in the object's namespace.
    Namespace,
    /// `by ref` or `by ref from a, b`: one method that returns `Option<ObjectRef>`.
    Ref { from: Vec<Use> },
    /// `by theirs = ours`: objects of the kind in the namespace whose path equals ours.
    Equal { theirs: Path, ours: Path },
    /// `by a, b` of a poll or probe: the keys of the query. At least one.
    Keys(Vec<PollKey>),
}

/// One key of a poll or probe: an input, or a path of one, of the object or of the request.
#[derive(Clone, Debug)]
pub struct PollKey {
    pub path: Path,
    pub input: Option<Use>,
}

impl PollKey {
    /// Returns the input if it is the key as a whole, and `None` if the key is one of its fields.
    pub fn as_input(&self) -> Option<&Use> {
        self.input.as_ref().filter(|_| self.path.parts.len() == 1)
    }
}

/// `let`: a value shared by facts, builders and fields; `mint`: one that is made once, and read
/// back from its keeper.
#[derive(Clone, Debug)]
pub struct Value {
    pub name: Ident,
    pub doc: String,
    pub ty: syn::Type,
    /// Sources of the value. For a minted value, the keeper comes first, followed by the sources
    /// that it is made from.
    pub from: Vec<Use>,
    pub given: Option<Pred>,
    pub mint: Option<Mint>,
}

/// A finite question.
#[derive(Clone, Debug)]
pub struct Var {
    /// As written; of a refusal the name of its effect.
    pub name: Ident,
    pub doc: String,
    pub origin: Origin,
    /// All values by name, `false` and `true` for a bool. First those that an answer may have, then those that only an `else` gives.
    pub values: Vec<String>,
    /// Location of each value in the source. Empty for values that come with an input.
    pub spans: Vec<Span>,
    /// How many of `values` an answer may have.
    pub answers: usize,
    /// Conditions of the evaluation. If empty, it is always evaluated. All must hold; the first
    /// that fails decides the value.
    pub given: Vec<Guard>,
    pub held: Option<FreeValues>,
}

#[derive(Clone, Debug)]
pub enum Origin {
    /// Brought by an input.
    Input(InputId),
    /// Declared. `boolean` is set if its domain is written `bool`, `counts` if it is evaluated for
    /// each member of the one set in `from`.
    Fact {
        from: Vec<Use>,
        boolean: bool,
        counts: bool,
    },
    /// `refused(effect)`: evaluated only if the effect would be enabled.
    Refused(EffectId),
    /// The object has a deletion timestamp.
    Deleting,
    /// Our finalizer is on the object.
    Claimed,
}

#[derive(Clone, Debug)]
pub struct Guard {
    pub pred: Pred,
    /// Index into the values of the variable.
    pub otherwise: usize,
    /// Location of `else` in the source.
    pub otherwise_span: Option<Span>,
}

/// Values of a held fact that mean that nothing is ours.
#[derive(Clone, Copy, Debug)]
pub struct FreeValues {
    pub free: ValueSet,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Pred {
    pub kind: PredKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum PredKind {
    Is { var: VarId, values: ValueSet },
    All(Vec<Pred>),
    Any(Vec<Pred>),
    Not(Box<Pred>),
}

#[derive(Clone, Debug)]
pub struct Never {
    pub pred: Pred,
    pub span: Span,
    /// True if it follows from the language itself.
    pub is_implied: bool,
}

#[derive(Clone, Debug)]
pub struct State {
    pub name: Ident,
    pub doc: String,
    pub goal: bool,
    pub when: Pred,
    pub phase: Option<Phase>,
    /// Of a `Suspended` state: a deletion waits there, too.
    pub even_deleting: bool,
    /// `None`: it moves by itself. The object itself is [`Source::This`].
    pub wakes: Option<Vec<Use>>,
    /// After how long it has taken too long; ten minutes where nothing is written.
    pub overdue: Length,
    /// `None` for a state of the root.
    pub region: Option<RegionId>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Pending,
    Ready,
    Error,
    /// A user suspended the object: its status is still written, and nothing else is done.
    Suspended,
    /// Another controller manages the object: nothing is done and no status is written.
    Ignored,
}

impl State {
    /// Returns true if another controller manages an object in this state.
    pub fn is_ignored(&self) -> bool {
        self.phase == Some(Phase::Ignored)
    }

    /// Returns true if a user requested that this operator leave an object in this state alone.
    pub fn is_suspended(&self) -> bool {
        self.phase == Some(Phase::Suspended)
    }

    /// Returns true if no effect is enabled in this state, regardless of the work to do.
    pub fn is_set_aside(&self) -> bool {
        self.is_ignored() || self.is_suspended()
    }
}

#[derive(Clone, Debug)]
pub struct Effect {
    /// As written, or made of verb and target (`apply_service`) with the span of the target.
    pub name: Ident,
    pub doc: String,
    pub verb: Verb,
    pub each: bool,
    pub target: InputId,
    pub target_span: Span,
    /// For an `adopt`: true if the adopted object stays when its owner is deleted.
    pub keeps: bool,
    pub from: Vec<Use>,
    pub when: Option<Pred>,
    /// The alternatives; defaults filled.
    pub sets: Vec<Vec<Assign>>,
    /// True if `sets` is written.
    pub sets_written: bool,
    pub undo: Option<(EffectId, Span)>,
    /// True if some effect names this one as its `undo`.
    pub is_undo: bool,
    /// True if it is a stage of the teardown.
    pub is_step: bool,
    pub key: Option<Key>,
    /// The refusal of this effect.
    pub refused: VarId,
    /// `None` for an effect of the root.
    pub region: Option<RegionId>,
}

#[derive(Clone, Debug)]
pub struct Key {
    pub path: Path,
    /// The input that the path begins with, if it is one (a record).
    pub input: Option<InputId>,
}

#[derive(Clone, Debug)]
pub struct Assign {
    pub var: VarId,
    pub value: usize,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Promise {
    pub name: Ident,
    pub doc: String,
    /// The lifecycle that keeps it, if declared.
    pub claim: Option<Claim>,
    pub when: Pred,
    pub sets: Vec<Vec<Assign>>,
}

#[derive(Clone, Debug)]
pub struct Transitions {
    pub span: Span,
    pub edges: Vec<Edge>,
    /// `_ -> State`: from every state.
    pub anywhere: Vec<Anywhere>,
}

impl Transitions {
    /// Returns true if an edge is declared, by itself or from every state.
    pub fn declares(&self, from: StateId, to: StateId) -> bool {
        self.edges.iter().any(|e| (e.from, e.to) == (from, to)) || self.is_entered_anywhere(to)
    }

    /// Returns true if a state is declared to be entered from every state.
    pub fn is_entered_anywhere(&self, state: StateId) -> bool {
        self.anywhere.iter().any(|one| one.to == state)
    }
}

/// A state that may be entered from every state.
#[derive(Clone, Debug)]
pub struct Anywhere {
    pub to: StateId,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Edge {
    pub from: StateId,
    pub to: StateId,
    /// The smallest place that names this edge: its target, or its source where several lead to one target.
    pub span: Span,
}

/// Claim of an author about all worlds or all quiet runs.
#[derive(Clone, Debug)]
pub struct Property {
    pub what: PropertyOf,
    /// As findings name it: `drain before unmake`.
    pub name: String,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum PropertyOf {
    /// The predicate holds in every world, or in every world of these states. With `at_rest`, it
    /// holds in those worlds in which a quiet run may end.
    Always {
        pred: Pred,
        scope: Vec<Scope>,
        at_rest: bool,
    },
    /// No world in which the predicate holds enables the effect.
    Never { effect: EffectId, pred: Pred },
    /// Once `then` has run, `first` runs no more in the same quiet run.
    Before { first: EffectId, then: EffectId },
    /// Each quiet run from each world of the latter comes to a world of the former.
    Reaches {
        to: Vec<StateId>,
        from: Vec<StateId>,
    },
}

/// A state, declared or implicit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Scope {
    State(StateId),
    Deleting,
    Refused,
}

#[derive(Clone, Debug)]
pub struct Condition {
    pub name: Ident,
    pub doc: String,
    pub clauses: Vec<Clause>,
}

#[derive(Clone, Debug)]
pub struct Clause {
    pub status: ConditionStatus,
    /// As written; `None` on a True clause means the name of the condition.
    pub reason: Option<String>,
    /// `None`: the sentences of the facts that decide it.
    pub message: Option<Message>,
    pub event: Option<String>,
    /// `None`: `otherwise`.
    pub when: Option<Pred>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Ready {
    /// Reason of the roll-up if nothing is unmet.
    pub reason: Option<String>,
    pub message: Option<Message>,
    pub from: Vec<ConditionId>,
    pub span: Span,
}

/// Condition that reports everything that no declared state reports, as False.
#[derive(Clone, Debug)]
pub struct Implicit {
    pub condition: ConditionId,
    pub reason: String,
}

#[derive(Clone, Debug)]
pub struct Field {
    pub name: Ident,
    pub doc: String,
    pub what: FieldOf,
}

#[derive(Clone, Debug)]
pub enum FieldOf {
    /// One method of the author.
    Method {
        ty: Box<syn::Type>,
        from: Vec<Use>,
        last_reported: bool,
    },
    Phase,
    Reason,
    Message,
}

#[derive(Clone, Debug)]
pub struct Column {
    pub name: Ident,
    pub json_path: Option<String>,
}
