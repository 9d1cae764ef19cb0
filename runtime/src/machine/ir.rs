//! The const description of one lifecycle that the macro emits; every generator and driver is ordinary code over it.
//! Plain data: names as written, positions instead of references, source order kept.

mod call;
mod edge;
mod outside;
mod retired;

pub use call::{Call, Code, Precondition, Refusal, RequestField, Rpc, Target, Within};
pub use edge::{Cause, Edge};
pub use outside::{Abandoned, Claim, Promise, Step, Wait};
pub use retired::{Leaves, Retired};

/// One `lifecycle!` block.
#[derive(Debug)]
pub struct Lifecycle {
    /// The resource's type, or the volume's name.
    pub name: &'static str,
    /// What tells it from all others: the module where it is declared, and its name.
    pub path: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// Everything a pass looks at.
    pub inputs: &'static [Input],
    /// Values shared by facts, builders and fields.
    pub values: &'static [Value],
    /// Every finite question: `deleting` and `claimed` (only with a held fact), what inputs bring, declared facts, one refusal an effect.
    pub vars: &'static [Var],
    /// In which order a pass looks and asks: each entry after everything it depends on.
    pub order: &'static [Node],
    /// Worlds that cannot be.
    pub nevers: &'static [Pred],
    /// In order of declaration: the first that fits counts.
    pub states: &'static [State],
    /// In order of declaration: the first that is enabled runs.
    pub effects: &'static [Effect],
    /// What the world outside does by itself.
    pub promises: &'static [Promise],
    /// What is done when the object goes, one after the other.
    pub steps: &'static [Step],
    /// Where what is left then is given up.
    pub abandoned: &'static [Abandoned],
    /// What an older version had and left, but for objects of inputs.
    pub retired: &'static [Retired],
    /// The declared transitions, which are those of a quiet run.
    pub edges: &'static [Edge],
    /// Where nothing but promises that other lifecycles claim leads out.
    pub waits: &'static [Wait],
    /// Conditions of the status, without `Ready`.
    pub conditions: &'static [Condition],
    /// How `Ready` is rolled up.
    pub ready: RollUp,
    /// Where is told what no declared state says; `None`: under names of the language's own.
    pub implicit: Option<Implicit>,
    /// Whether what tools read of any object is told: the generation, and what is going on.
    pub kstatus: bool,
    /// Paths of the object that messages take in: `spec.host`.
    pub texts: &'static [&'static str],
    /// Paths at which the object says how long something is: `spec.interval`.
    pub times: &'static [&'static str],
    /// Fields of the status, beside conditions.
    pub fields: &'static [Field],
    /// Printer columns.
    pub columns: &'static [Column],
    /// Driven by calls of the Container Storage Interface, not by watches.
    pub volume: bool,
    /// What answers each call of a volume.
    pub calls: &'static [Call],
}

impl Lifecycle {
    /// Returns true if a transition from one state to another is declared.
    pub fn leads(&self, from: usize, to: usize) -> bool {
        let mut edges = self.edges.iter();
        edges.any(|edge| (edge.from, edge.to) == (from, to))
    }

    /// Whether it makes values by chance.
    pub fn mints(&self) -> bool {
        self.values.iter().any(|value| value.mint.is_some())
    }

    /// What is created once, by the record of it.
    pub fn noted_in(&self, record: usize) -> Option<usize> {
        let mut inputs = self.inputs.iter();
        inputs.position(|input| input.noted == Some(record))
    }

    /// The inputs that are the members of a group, in the order of the declaration.
    pub fn members(&self, group: usize) -> impl Iterator<Item = usize> {
        let inputs = self.inputs.iter().enumerate();
        let of = move |(_, input): &(usize, &Input)| input.group == Some(group);
        inputs.filter(of).map(|(at, _)| at)
    }

    /// An input, or the members of a group: what has objects.
    pub fn of_objects(&self, input: usize) -> Vec<usize> {
        match self.inputs[input].mode {
            Mode::Group => self.members(input).collect(),
            Mode::Watched
            | Mode::Owned
            | Mode::Shared
            | Mode::Part
            | Mode::Record
            | Mode::Noted
            | Mode::Poll
            | Mode::Probe
            | Mode::Clock => vec![input],
        }
    }

    /// Whether an effect writes objects of an input: it is its target, or a member of it.
    pub fn writes(&self, effect: &Effect, input: usize) -> bool {
        effect.target == input || self.inputs[input].group == Some(effect.target)
    }

    /// The verdict on an input, or on the group that it is judged with.
    pub fn verdict(&self, input: usize) -> Option<usize> {
        let judged = self.inputs[input].group.unwrap_or(input);
        self.inputs[judged].var
    }

    /// Whether an input keeps a minted value.
    pub fn keeps(&self, input: usize, value: usize) -> bool {
        let mint = self.values[value].mint.as_ref();
        mint.is_some_and(|mint| mint.keeper == input)
    }
}

/// Something a pass looks at: a watch, an index back to the object, an RBAC rule.
#[derive(Debug)]
pub struct Input {
    /// As declared.
    pub name: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// What we may do with it.
    pub mode: Mode,
    /// Any number of objects instead of at most one.
    pub many: bool,
    /// The kind as written: `Service`, a polled type.
    pub kind: &'static str,
    /// How it is found.
    pub lookup: Lookup,
    /// How long after a poll it is asked again.
    pub every: Option<Length>,
    /// Of a poll: the provider that is asked, and called by the effects on this input.
    pub provider: Option<&'static str>,
    /// Looked at only where this holds.
    pub given: Option<Pred>,
    /// The built-in fact it brings.
    pub var: Option<usize>,
    /// The input that owns it; the object itself if `None`.
    pub owner: Option<usize>,
    /// Whether the owner of what is owned is its controller as well.
    pub controller: bool,
    /// Lists of which we own every element: `spec.ports`.
    pub exclusive: &'static [&'static str],
    /// Of what is owned: where this holds it has no owner reference, and stays when its owner goes.
    pub retain: Option<Pred>,
    /// An older version had it: nothing reads it, and this becomes of its objects.
    pub retired: Option<Leaves>,
    /// Of what is created once: the input that says what was made.
    pub noted: Option<usize>,
    /// The group that it is judged with.
    pub group: Option<usize>,
    /// Of a member of a group: its builder may want none.
    pub optional: bool,
}

/// A length of time: as it is declared, or as the object says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// Which of [`Lifecycle::times`] says it, if one does.
    pub said: Option<usize>,
    /// Milliseconds: what is declared, or what counts where the object says nothing that can be read.
    pub otherwise: u64,
    /// Milliseconds: it is never less.
    pub least: u64,
}

/// What we may do with an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only read.
    Watched,
    /// Ours, with an owner reference.
    Owned,
    /// Made by several of our objects together, an owner reference each.
    Shared,
    /// An object of another controller or user, of which we own some fields.
    Part,
    /// An annotation of the object that records what cannot be observed.
    Record,
    /// The same of what was made of another input.
    Noted,
    /// Asked of something outside Kubernetes from time to time.
    Poll,
    /// Local, asked in the pass.
    Probe,
    /// What time it is.
    Clock,
    /// Several objects of ours that are judged as one: its members are inputs of their own.
    Group,
}

impl Mode {
    /// Whether it is an object of the cluster, or a set of them.
    pub const fn is_object(self) -> bool {
        match self {
            Self::Watched | Self::Owned | Self::Shared | Self::Part => true,
            Self::Record | Self::Noted | Self::Poll | Self::Probe | Self::Clock | Self::Group => {
                false
            }
        }
    }
}

/// How an input is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// By its name, read from this path of the object (`spec.class_name`).
    Name(&'static str),
    /// By a set of names.
    Names,
    /// By a set of references.
    Refs,
    /// By these labels, in this order.
    Labels(&'static [&'static str]),
    /// By an owner reference to the object.
    Owner,
    /// Everything in the object's namespace.
    Namespace,
    /// By a reference that a method computes.
    Ref,
    /// By a path of theirs that equals one of ours.
    Equal,
    /// A poll, probe or record: by its key.
    Key,
}

/// A value shared by facts, builders and fields; or one that is minted, for the builder of what keeps it.
#[derive(Debug)]
pub struct Value {
    /// As declared.
    pub name: &'static str,
    /// Computed only where this holds.
    pub given: Option<Pred>,
    /// Made once, and read back.
    pub mint: Option<Mint>,
}

/// Where a value is kept, and until when.
#[derive(Debug)]
pub struct Mint {
    /// The input that keeps it.
    pub keeper: usize,
    /// Made anew where this holds.
    pub until: Option<Pred>,
}

/// A finite question.
#[derive(Debug)]
pub struct Var {
    /// As declared; of a refusal the name of its effect.
    pub name: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// Where its answer comes from.
    pub origin: Origin,
    /// All values by name: first those that an answer may have, then those that only an `else` gives.
    pub values: &'static [&'static str],
    /// How many of `values` an answer may have.
    pub answers: u8,
    /// When it is asked; all must hold, the first that fails decides the value.
    pub given: &'static [Guard],
    /// The values that mean that nothing is ours, a bit each; `None` unless `held`.
    pub free: Option<u64>,
    /// Its method is told what time it is, and says until when its answer holds.
    pub timed: bool,
    /// The inputs that the answer is computed from, through values, lookups and `given`.
    pub reads: &'static [usize],
}

/// Where an answer comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// What an input brings.
    Input(usize),
    /// A method of the author.
    Fact,
    /// The memory of the last answer to this effect's write.
    Refused(usize),
    /// The object has a deletion timestamp.
    Deleting,
    /// Our finalizer is on the object.
    Claimed,
}

/// One `given .. else ..`.
#[derive(Debug)]
pub struct Guard {
    /// What must hold.
    pub pred: Pred,
    /// The value if it does not.
    pub otherwise: u8,
}

/// What is looked at or asked next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Node {
    /// Look an input up.
    Input(usize),
    /// Compute a shared value.
    Value(usize),
    /// Answer a question.
    Var(usize),
}

/// A predicate over a world.
#[derive(Clone, Debug)]
pub enum Pred {
    /// The variable has one of these values, a bit each.
    Is(usize, u64),
    /// Every one holds.
    All(&'static [Pred]),
    /// At least one holds.
    Any(&'static [Pred]),
    /// It does not hold.
    Not(&'static Pred),
}

/// A named region of worlds.
#[derive(Debug)]
pub struct State {
    /// As declared.
    pub name: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// The lifecycle wants to be here.
    pub goal: bool,
    /// The region; the states above are left out by order.
    pub when: Pred,
    /// What users see.
    pub phase: Phase,
    /// Of a suspended state: what is held is not given back meanwhile.
    pub even_deleting: bool,
    /// Only a change of these helps; `None`: it moves by itself.
    pub wakes: Option<&'static [Source]>,
    /// After how long it has taken too long.
    pub overdue: Length,
}

/// What users see of a state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// On its way.
    Pending,
    /// As wanted.
    Ready,
    /// Somebody must act.
    Error,
    /// Somebody asked us to leave the object alone for a while: nothing but that is told, and nothing else is done.
    Suspended,
    /// Another controller manages the object: nothing is written and nothing is told.
    Ignored,
}

impl Phase {
    /// As declarations and statuses spell it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Pending => "Pending",
            Self::Ready => "Ready",
            Self::Error => "Error",
            Self::Suspended => "Suspended",
            Self::Ignored => "Ignored",
        }
    }
}

/// What a method or a `wakes` names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The object itself.
    This,
    /// The request of a volume call.
    Request,
    /// An input.
    Input(usize),
    /// A shared value.
    Value(usize),
    /// The answer of a fact.
    Fact(usize),
}

/// One write.
#[derive(Debug)]
pub struct Effect {
    /// As declared, or verb and input.
    pub name: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// What kind of write.
    pub verb: Verb,
    /// One member of a set.
    pub each: bool,
    /// The input that is written.
    pub target: usize,
    /// What its builder needs.
    pub from: &'static [Source],
    /// The author's permission.
    pub when: Option<Pred>,
    /// What it establishes: alternatives of (variable, value).
    pub sets: &'static [&'static [(usize, u8)]],
    /// Every variable that it may change, refusals aside: those that are computed from its target.
    pub affects: &'static [usize],
    /// The effect that gives back what this one acquires.
    pub undo: Option<usize>,
    /// Some effect names this one as its undo.
    pub is_undo: bool,
    /// It is a step of the teardown.
    pub is_step: bool,
    /// The variable that says that this write was refused.
    pub refused: usize,
    /// Of an adoption: what it takes over stays when its owner goes.
    pub keeps: bool,
}

/// What kind of write an effect is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Server-side apply.
    Apply,
    /// Delete.
    Delete,
    /// A mutation outside Kubernetes.
    Call,
    /// Makes ours what is there and belongs to nobody.
    Adopt,
    /// Makes what is neither there nor noted.
    Create,
    /// Notes what was made.
    Note,
}

/// A Kubernetes condition: a total function of the facts.
#[derive(Debug)]
pub struct Condition {
    /// Its type.
    pub name: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// The first that fits counts.
    pub clauses: &'static [Clause],
}

/// One line of a condition.
#[derive(Clone, Debug)]
pub struct Clause {
    /// Its value, or that nothing is written.
    pub says: Says,
    /// CamelCase word; where nothing is written and something is unmet, that of the roll-up.
    pub reason: &'static str,
    /// `None`: the sentences of the facts that decide it.
    pub message: Option<&'static [Part]>,
    /// The reason of the event of a change into it; `None`: the reason.
    pub event: Option<&'static str>,
    /// `None`: `otherwise`.
    pub when: Option<Pred>,
}

/// What a clause says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// It holds.
    True,
    /// It does not hold, and somebody must act.
    False,
    /// Not known yet.
    Unknown,
    /// The condition is not written, and is unmet.
    Absent,
    /// The condition is not written, and is not asked for.
    Omit,
}

impl Says {
    /// What is written, if anything is.
    pub const fn status(self) -> Option<ConditionStatus> {
        match self {
            Self::True => Some(ConditionStatus::True),
            Self::False => Some(ConditionStatus::False),
            Self::Unknown => Some(ConditionStatus::Unknown),
            Self::Absent | Self::Omit => None,
        }
    }
}

/// How `Ready` follows from conditions.
#[derive(Debug)]
pub struct RollUp {
    /// Positions of the conditions, in order; empty: there is no `Ready`.
    pub from: &'static [usize],
    /// Where all are met.
    pub reason: &'static str,
    /// Where all are met.
    pub message: &'static [Part],
}

/// A part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// As it was written.
    Text(&'static str),
    /// What the object says at one of [`Lifecycle::texts`].
    Path(usize),
}

/// Where is told what no declared state says: an input that cannot be read, a refused write, a world that cannot be, a deletion that is held up.
#[derive(Debug)]
pub struct Implicit {
    /// The condition that is then False.
    pub condition: usize,
    /// Its reason.
    pub reason: &'static str,
}

/// Status of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConditionStatus {
    /// It holds.
    True,
    /// It does not hold, and somebody must act.
    False,
    /// Not known yet.
    Unknown,
}

impl ConditionStatus {
    /// As the Kubernetes API spells it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::True => "True",
            Self::False => "False",
            Self::Unknown => "Unknown",
        }
    }
}

/// A field of the status.
#[derive(Debug)]
pub struct Field {
    /// In the status, camelCase.
    pub name: &'static str,
    /// What it holds.
    pub what: FieldOf,
}

/// What a field of the status holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldOf {
    /// What the author's method returns.
    Method {
        /// While the method cannot run, the last reported value stays.
        last_reported: bool,
    },
    /// The phase of the state.
    Phase,
    /// The reason of the roll-up.
    Reason,
    /// The message of the roll-up.
    Message,
}

/// A printer column.
#[derive(Debug)]
pub struct Column {
    /// Its heading.
    pub name: &'static str,
    /// Where it is found in the object.
    pub json_path: Option<&'static str>,
}
