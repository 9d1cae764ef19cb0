//! The const description of one lifecycle that the macro emits; every generator and driver is ordinary code over it.
//! Plain data: names as written, positions instead of references, source order kept.

mod call;
mod edge;
mod id;
mod outside;
mod region;
mod retired;
mod state;

pub use call::{Call, Code, Precondition, Refusal, RequestField, Rpc, Target, Within};
pub use edge::{Cause, Edge};
pub use id::{Id, RegionId, StateId, Table};
pub use outside::{Abandoned, Claim, Promise, Step, Wait};
pub use region::Region;
pub use retired::{Leaves, Retired};
pub use state::{Phase, State};

/// One `lifecycle!` block.
#[derive(Debug)]
pub struct Lifecycle {
    /// The resource's type, or the volume's name.
    pub name: &'static str,
    /// Path that distinguishes it from all others: the module of its declaration, and its name.
    pub path: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// Inputs of a reconciliation.
    pub inputs: &'static [Input],
    /// Values shared by facts, builders and fields.
    pub values: &'static [Value],
    /// All finite variables: `deleting` and `claimed` (only with a held fact), variables of inputs,
    /// declared facts, and one refusal per effect.
    pub vars: &'static [Var],
    /// Evaluation order of a reconciliation: each entry follows everything it depends on.
    pub order: &'static [Node],
    /// Worlds that cannot be.
    pub nevers: &'static [Pred],
    /// In order of declaration, those of the root first: the first that fits counts. Of a region,
    /// the first that fits there.
    pub states: Table<StateId, State>,
    /// Parts with states of their own.
    pub regions: Table<RegionId, Region>,
    /// In order of declaration: the first that is enabled runs.
    pub effects: &'static [Effect],
    /// Changes that the environment makes by itself.
    pub promises: &'static [Promise],
    /// Stages of the teardown when the object goes, in order.
    pub steps: &'static [Step],
    /// Conditions under which remaining resources are abandoned.
    pub abandoned: &'static [Abandoned],
    /// Leftovers of an older version, except objects of inputs.
    pub retired: &'static [Retired],
    /// The declared transitions, which are those of a quiet run.
    pub edges: &'static [Edge],
    /// States from which only promises that other lifecycles claim lead out.
    pub waits: &'static [Wait],
    /// Conditions of the status, without `Ready`.
    pub conditions: &'static [Condition],
    /// How `Ready` is rolled up.
    pub ready: RollUp,
    /// Condition that reports everything that no declared state expresses; `None`: under built-in
    /// names of the language.
    pub implicit: Option<Implicit>,
    /// True if the status has the fields that tools read of any object: the generation, and the
    /// progress.
    pub kstatus: bool,
    /// Paths of the object that messages take in: `spec.host`.
    pub texts: &'static [&'static str],
    /// Paths at which the object specifies a duration: `spec.interval`.
    pub times: &'static [&'static str],
    /// Fields of the status, beside conditions.
    pub fields: &'static [Field],
    /// Printer columns.
    pub columns: &'static [Column],
    /// True if calls of the Container Storage Interface trigger it, not watches.
    pub volume: bool,
    /// Answers to the calls of a volume.
    pub calls: &'static [Call],
}

impl Lifecycle {
    /// Returns true if a transition from one state to another is declared.
    pub fn leads(&self, from: StateId, to: StateId) -> bool {
        let mut edges = self.edges.iter();
        edges.any(|edge| (edge.from, edge.to) == (from, to))
    }

    /// Returns true if it mints random values.
    pub fn mints(&self) -> bool {
        self.values.iter().any(|value| value.mint.is_some())
    }

    /// Returns the input that is created once, by the record of it.
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

    /// Returns an input, or the members of a group, which have objects.
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

    /// Returns true if an effect writes objects of an input: the input is its target, or a member
    /// of it.
    pub fn writes(&self, effect: &Effect, input: usize) -> bool {
        effect.target == input || self.inputs[input].group == Some(effect.target)
    }

    /// The verdict on an input, or on the group that it is judged with.
    pub fn verdict(&self, input: usize) -> Option<usize> {
        let judged = self.inputs[input].group.unwrap_or(input);
        self.inputs[judged].var
    }

    /// Returns true if an input keeps a minted value.
    pub fn keeps(&self, input: usize, value: usize) -> bool {
        let mint = self.values[value].mint.as_ref();
        mint.is_some_and(|mint| mint.keeper == input)
    }
}

/// Input of a reconciliation: a watch, an index back to the object, an RBAC rule.
#[derive(Debug)]
pub struct Input {
    /// As declared.
    pub name: &'static str,
    /// Its doc comment.
    pub doc: &'static str,
    /// Access mode of the input.
    pub mode: Mode,
    /// Any number of objects instead of at most one.
    pub many: bool,
    /// The kind as written: `Service`, a polled type.
    pub kind: &'static str,
    /// How it is found.
    pub lookup: Lookup,
    /// Path of our object that has a value where this object is wanted: `spec.host`.
    pub only_if: Option<&'static str>,
    /// Interval of a poll.
    pub every: Option<Length>,
    /// For a poll, the provider that is queried, and called by the effects on this input.
    pub provider: Option<&'static str>,
    /// Condition under which the input is read.
    pub given: Option<Pred>,
    /// The built-in fact it brings.
    pub var: Option<usize>,
    /// The input that owns it; the object itself if `None`.
    pub owner: Option<usize>,
    /// True if the owner of an owned object is also its controller.
    pub controller: bool,
    /// Lists whose elements are all ours: `spec.ports`.
    pub exclusive: &'static [&'static str],
    /// For an owned object, the condition under which it has no owner reference and outlives its
    /// owner.
    pub retain: Option<Pred>,
    /// An older version had it: nothing reads it, and this becomes of its objects.
    pub retired: Option<Leaves>,
    /// For objects that are created once, the input that records their creation.
    pub noted: Option<usize>,
    /// The group that it is judged with.
    pub group: Option<usize>,
    /// Of a member of a group: its builder may want none.
    pub optional: bool,
}

/// Duration, as declared or as the object specifies it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// Position in [`Lifecycle::times`] of the path that specifies it, if there is one.
    pub said: Option<usize>,
    /// Milliseconds: the declared value, or the default if the object specifies no readable one.
    pub otherwise: u64,
    /// Milliseconds: it is never less.
    pub least: u64,
}

/// Access mode of an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Only read.
    Watched,
    /// Our object, with an owner reference.
    Owned,
    /// Made by several of our objects together, an owner reference each.
    Shared,
    /// An object of another controller or user, of which we own some fields.
    Part,
    /// An annotation of the object that records data that cannot be observed.
    Record,
    /// An annotation of the object that records the objects created for another input.
    Noted,
    /// A periodic query to a system outside Kubernetes.
    Poll,
    /// A local query during the reconciliation.
    Probe,
    /// Current time.
    Clock,
    /// Several objects of ours with a joint verdict. The members are separate inputs.
    Group,
}

impl Mode {
    /// Returns true if it is an object of the cluster, or a set of them.
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
    /// By a path of the other object that equals one of ours.
    Equal,
    /// A poll, probe or record: by its key.
    Key,
}

/// Value shared by facts, builders and fields, or a minted value for the builder of its keeper.
#[derive(Debug)]
pub struct Value {
    /// As declared.
    pub name: &'static str,
    /// Computed only where this holds.
    pub given: Option<Pred>,
    /// Made once, and read back.
    pub mint: Option<Mint>,
}

/// Place that keeps a value, and the time until which it is kept.
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
    /// Origin of its answer.
    pub origin: Origin,
    /// All values by name: first those that an answer may have, then those that only an `else` gives.
    pub values: &'static [&'static str],
    /// How many of `values` an answer may have.
    pub answers: u8,
    /// Guards of its evaluation. All must hold, and the first that fails decides the value.
    pub given: &'static [Guard],
    /// Values that mean that nothing is ours, one bit each. `None` unless `held`.
    pub free: Option<u64>,
    /// True if its method receives the current time and returns how long its answer holds.
    pub timed: bool,
    /// The inputs that the answer is computed from, through values, lookups and `given`.
    pub reads: &'static [usize],
}

/// Origin of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// Built-in fact of an input.
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
    /// Predicate that must hold.
    pub pred: Pred,
    /// The value if it does not.
    pub otherwise: u8,
}

/// Item that is observed or evaluated next.
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

/// Argument that a method or a `wakes` names.
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
    /// Kind of write.
    pub verb: Verb,
    /// One member of a set.
    pub each: bool,
    /// The input that is written.
    pub target: usize,
    /// Arguments of its builder.
    pub from: &'static [Source],
    /// The author's permission.
    pub when: Option<Pred>,
    /// Result that it establishes: alternatives of (variable, value).
    pub sets: &'static [&'static [(usize, u8)]],
    /// Every variable that it may change, refusals aside: those that are computed from its target.
    pub affects: &'static [usize],
    /// Effect that releases the resource that this one acquires.
    pub undo: Option<usize>,
    /// Some effect names this one as its undo.
    pub is_undo: bool,
    /// It is a step of the teardown.
    pub is_step: bool,
    /// Variable that reports the refusal of this write.
    pub refused: usize,
    /// For an adoption, true if the adopted object outlives its owner.
    pub keeps: bool,
    /// `None` for an effect of the root.
    pub region: Option<RegionId>,
}

/// Kind of write of an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Server-side apply.
    Apply,
    /// Delete.
    Delete,
    /// A mutation outside Kubernetes.
    Call,
    /// Adopts an existing object without an owner.
    Adopt,
    /// Creates an object that neither exists nor is recorded.
    Create,
    /// Records the created objects.
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

/// Status that a clause of a condition reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Says {
    /// It holds.
    True,
    /// The condition does not hold, and someone must act.
    False,
    /// Not known yet.
    Unknown,
    /// The condition is not written, and is unmet.
    Absent,
    /// The condition is not written and not required.
    Omit,
}

impl Says {
    /// Returns the status to write, if one is written.
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
    /// Positions of the conditions, in order. Empty means that there is no `Ready`.
    pub from: &'static [usize],
    /// Reason when all are met.
    pub reason: &'static str,
    /// Message when all are met.
    pub message: &'static [Part],
}

/// A part of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// As it was written.
    Text(&'static str),
    /// Text of the object at one of [`Lifecycle::texts`].
    Path(usize),
}

/// Condition that reports everything that no declared state expresses: an unreadable input, a
/// refused write, an impossible world, a blocked deletion.
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
    /// The condition does not hold, and someone must act.
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
    /// Content of the field.
    pub what: FieldOf,
}

/// Content of a field of the status.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FieldOf {
    /// Return value of the author's method.
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
    /// Path of the value in the object.
    pub json_path: Option<&'static str>,
}
