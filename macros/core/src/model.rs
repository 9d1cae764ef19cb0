//! The lifecycle as rules and generators see it: names resolved, defaults filled, source order kept, every node with its span. Built once by `model::build`; they only read it.

pub(crate) mod build;
mod calls;
mod decided;
mod fragment;
pub mod frames;
mod locked;
mod minted;
mod sources;
mod teardown;
mod values;
pub mod visibility;

pub use calls::{Call, Meaning, Precondition, Refusal, Target, Within};
pub use fragment::Fragment;
pub(crate) use fragment::asks;
pub use locked::Locked;
pub use minted::Mint;
pub use teardown::{Abandoned, Step};
pub use values::ValueSet;

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
    /// Every finite question, in this order: `deleting` and `claimed` (only with a held fact or a teardown, and not in a volume), what inputs bring, declared facts, one refusal an effect.
    pub vars: Vec<Var>,
    /// Evaluation order of `vars`: each after everything that its `given` asks. Stable: source order where nothing else decides.
    pub order: Vec<VarId>,
    /// In which order a pass looks and asks: inputs, shared values and variables, each after everything that it depends on.
    pub nodes: Vec<Node>,
    pub nevers: Vec<Never>,
    pub states: Vec<State>,
    pub effects: Vec<Effect>,
    pub promises: Vec<Promise>,
    /// What is done when the object goes, one after the other.
    pub steps: Vec<Step>,
    /// Where what is left then is given up.
    pub abandoned: Vec<Abandoned>,
    pub transitions: Option<Transitions>,
    pub properties: Vec<Property>,
    pub conditions: Vec<Condition>,
    pub ready: Option<Ready>,
    pub implicit: Option<Implicit>,
    /// Whether what tools read of any object is told.
    pub kstatus: bool,
    pub fields: Vec<Field>,
    pub columns: Vec<Column>,
    /// What the preconditions of the Container Storage Interface mean; of a volume.
    pub preconditions: Vec<Precondition>,
    /// What answers each call of the interface; of a volume.
    pub calls: Vec<Call>,
    /// Whose items stand among its own.
    pub fragments: Vec<Fragment>,
    /// What it is compared with, of the releases before.
    pub lock: Option<Locked>,
    /// What an older version had, but for inputs that are looked at.
    pub retired: Vec<Gone>,
    /// Names for predicates. They stand nowhere but here: where one is asked stands what it means.
    pub names: Vec<Named>,
}

/// A name for a predicate.
#[derive(Clone, Debug)]
pub struct Named {
    pub name: Ident,
    /// The variables that it asks.
    pub asks: BTreeSet<VarId>,
    /// Whether anything mentions it.
    pub asked: bool,
}

/// Something that is known at some point of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Node {
    /// What an input finds: objects, and whether they are there and ours to read.
    Input(InputId),
    /// A shared value.
    Value(ValueId),
    /// The answer to a question; of an object that we write, the verdict on it.
    Var(VarId),
}

/// What a pure method may be given.
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
    /// `of name`: who owns what is `owned` or `shared`; the object itself if absent.
    pub of: Option<InputId>,
    /// `of cloud` of a poll: who is asked.
    pub provider: Option<Ident>,
    /// Whether the owner of what is `owned` is its controller as well.
    pub controller: bool,
    pub lookup: Lookup,
    /// How long after a poll it is asked again.
    pub every: Option<Length>,
    /// `exclusive path, ..`: lists of which we own every element.
    pub exclusive: Vec<Path>,
    /// Where this holds it is written without an owner reference, and stays when its owner goes; of a bare `retain` it holds always.
    pub retain: Option<Pred>,
    pub given: Option<Pred>,
    /// Of what is created once: the input that says what was made.
    pub noted: Option<InputId>,
    /// The built-in fact, where this kind of input brings one.
    pub var: Option<VarId>,
    /// An older version had it: nothing reads it, and it is only looked at for what that left.
    pub retired: Option<Leaves>,
    /// The group that it is judged with.
    pub group: Option<InputId>,
    /// Of a member: its builder may want none.
    pub optional: bool,
}

impl Lifecycle {
    /// The members of a group, in the order in which they are written.
    pub fn members(&self, group: InputId) -> impl Iterator<Item = (InputId, &Input)> {
        let inputs = self.inputs.iter().enumerate();
        let of = move |(_, input): &(usize, &Input)| input.group == Some(group);
        inputs.filter(of).map(|(at, input)| (InputId(at), input))
    }
}

/// A length of time: as it is declared, or as the object says.
#[derive(Clone, Debug)]
pub struct Length {
    /// Where it is written, if it is.
    pub span: Option<Span>,
    /// Where the object says it.
    pub path: Option<Path>,
    /// Milliseconds: what is declared, or what counts where the object says nothing that can be read.
    pub otherwise: u64,
    /// Milliseconds: it is never less.
    pub least: u64,
}

#[derive(Clone, Debug)]
pub enum Lookup {
    /// Nothing written: `record`, and what needs no key.
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
    /// `by a, b` of a poll or probe: what it asks about. At least one.
    Keys(Vec<PollKey>),
}

/// One key of a poll or probe: an input, or a path of one, of the object or of the request.
#[derive(Clone, Debug)]
pub struct PollKey {
    pub path: Path,
    pub input: Option<Use>,
}

impl PollKey {
    /// The input that is the key as a whole; not one whose field is.
    pub fn whole(&self) -> Option<&Use> {
        self.input.as_ref().filter(|_| self.path.parts.len() == 1)
    }
}

/// `let`: a value shared by facts, builders and fields; `mint`: one that is made once, and read back from what keeps it.
#[derive(Clone, Debug)]
pub struct Value {
    pub name: Ident,
    pub doc: String,
    pub ty: syn::Type,
    /// Of a minted value first what keeps it, then what it is made from.
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
    /// Where each value is declared; none of those that come with an input.
    pub spans: Vec<Span>,
    /// How many of `values` an answer may have.
    pub answers: usize,
    /// When it is asked. Empty: always. All must hold; the first that fails decides the value.
    pub given: Vec<Guard>,
    pub held: Option<Held>,
}

#[derive(Clone, Debug)]
pub enum Origin {
    /// Brought by an input.
    Input(InputId),
    /// Declared; `boolean` if its domain was written `bool`, `counts` if it asks each member of the one set in `from`.
    Fact {
        from: Vec<Use>,
        boolean: bool,
        counts: bool,
    },
    /// `refused(effect)`: asked only where the effect would be enabled.
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
    /// Where `else` was written.
    pub otherwise_span: Option<Span>,
}

/// Which values of a held fact mean that nothing is ours.
#[derive(Clone, Copy, Debug)]
pub struct Held {
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
    /// It follows from what the language itself means.
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
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Pending,
    Ready,
    Error,
    /// Somebody asked us to do nothing for a while: that is told, and nothing else is done.
    Suspended,
    /// Another controller manages the object: nothing is done and nothing is told.
    Ignored,
}

impl State {
    /// Whether another controller manages an object that is in it.
    pub fn is_ignored(&self) -> bool {
        self.phase == Some(Phase::Ignored)
    }

    /// Whether somebody asked us to leave an object that is in it alone.
    pub fn is_suspended(&self) -> bool {
        self.phase == Some(Phase::Suspended)
    }

    /// Whether no effect is enabled in it, whatever there is to do.
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
    /// Of an `adopt`: what it takes over stays when its owner goes.
    pub keeps: bool,
    pub from: Vec<Use>,
    pub when: Option<Pred>,
    /// The alternatives; defaults filled.
    pub sets: Vec<Vec<Assign>>,
    /// Whether `sets` was written.
    pub sets_written: bool,
    pub undo: Option<(EffectId, Span)>,
    /// Whether some effect names this one as its `undo`.
    pub is_undo: bool,
    /// Whether it is a step of the teardown.
    pub is_step: bool,
    pub key: Option<Key>,
    /// The refusal of this effect.
    pub refused: VarId,
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
    /// The lifecycle that keeps it, if that is said.
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
    /// Whether an edge is declared, by itself or from every state.
    pub fn declares(&self, from: StateId, to: StateId) -> bool {
        self.edges.iter().any(|e| (e.from, e.to) == (from, to)) || self.is_entered_anywhere(to)
    }

    /// Whether a state is declared to be entered from every state.
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

/// What an author claims of all worlds or of all quiet runs.
#[derive(Clone, Debug)]
pub struct Property {
    pub what: PropertyOf,
    /// As findings name it: `drain before unmake`.
    pub name: String,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum PropertyOf {
    /// It holds in every world of these states, or in every world at all; or in those of them in which a quiet run may end.
    Always {
        pred: Pred,
        scope: Vec<Scope>,
        at_rest: bool,
    },
    /// The effect is enabled in no world in which the predicate holds.
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
    /// Where nothing is unmet.
    pub reason: Option<String>,
    pub message: Option<Message>,
    pub from: Vec<ConditionId>,
    pub span: Span,
}

/// What no declared state says is told by this condition, as False.
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
