//! The lifecycle as it was written: one node for each item, names unresolved, spans and doc comments kept.
//! Knows the grammar and nothing of meaning; `parse` makes it, `model::build` reads it.

mod comes;
mod fragment;
mod group;
mod predicates;
mod region;
mod retired;
mod status;
mod taint;
mod teardown;

use proc_macro2::{Ident, Span};

pub use comes::WriteMode;
pub use fragment::{Fragment, List, Mark, Need};
pub use group::Member;
pub(crate) use group::builder_of;
pub use region::{Place, Region};
pub use retired::{Gone, GoneOf, Leaves, Lock, LockText, Retired};
pub use status::{
    Clause, Column, Condition, ConditionStatus, Field, FieldOf, Implicit, Message, Part, Ready,
};
pub use taint::Taint;
pub use teardown::{Abandoned, Step, Teardown};

/// One `lifecycle!` block.
#[derive(Clone, Debug)]
pub struct Lifecycle {
    pub kind: Kind,
    pub name: Ident,
    pub doc: String,
    pub inputs: Vec<Input>,
    pub values: Vec<Value>,
    pub facts: Vec<Fact>,
    pub derived: Vec<Derived>,
    pub nevers: Vec<Never>,
    pub states: Vec<State>,
    pub effects: Vec<Effect>,
    pub promises: Vec<Promise>,
    pub teardown: Option<Teardown>,
    pub transitions: Option<Transitions>,
    pub properties: Vec<Property>,
    pub conditions: Vec<Condition>,
    pub ready: Option<Ready>,
    pub implicit: Option<Implicit>,
    /// `kstatus;`
    pub kstatus: Option<Span>,
    pub fields: Vec<Field>,
    pub columns: Vec<Column>,
    pub rpc: Option<Rpc>,
    pub allows: Vec<Allow>,
    pub lock: Option<Lock>,
    pub retired: Option<Retired>,
    /// `use fragment;`
    pub uses: Vec<Ident>,
    /// Places at which the items of fragments are inserted among its own items. Empty once the
    /// items are inserted.
    pub marks: Vec<Mark>,
    /// Fragments whose items are inserted among its own items.
    pub fragments: Vec<Fragment>,
    /// Parts with states of their own, which run beside each other.
    pub regions: Vec<Region>,
    pub place: Place,
    pub taint: Taint,
}

/// `allow CODE item "why";`
#[derive(Clone, Debug)]
pub struct Allow {
    /// Of a rule that warns.
    pub code: Ident,
    /// Item that the warning is about, spelled as in the warning.
    pub item: Ident,
}

/// Kind of event that triggers the lifecycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Watches.
    Resource,
    /// Calls of the Container Storage Interface.
    Volume,
}

/// A line of `observe`.
#[derive(Clone, Debug)]
pub struct Input {
    pub name: Ident,
    pub doc: String,
    pub mode: Mode,
    pub many: bool,
    pub ty: syn::Type,
    pub of: Option<Ident>,
    /// `of cloud` of a poll: the provider to query.
    pub provider: Option<Ident>,
    /// `without controller`, and where it was written.
    pub without_controller: Option<Span>,
    pub lookup: Option<(Span, Lookup)>,
    /// `if spec.host`: the object exists only if this path of our object has a value.
    pub only_if: Option<(Span, Path)>,
    /// Interval of the poll, and its location in the source.
    pub every: Option<(Span, Length)>,
    /// Lists in which we own every element, and their locations in the source.
    pub exclusive: Option<(Span, Vec<Path>)>,
    /// `retain`, `retain when ..`: it stays when its owner goes.
    pub retain: Option<Retain>,
    pub given: Option<Pred>,
    /// Set if the input is retired: an older version declared it, and it is observed only for the
    /// objects that this version left.
    pub retired: Option<Leaves>,
    /// The group that it is judged with.
    pub member: Option<Member>,
    /// Set if it stands for another region, whose state is asked: the goals of that region.
    pub goals: Option<Vec<Ident>>,
}

/// `retain` with the policy that decides, if it is not always so.
#[derive(Clone, Debug)]
pub struct Retain {
    pub span: Span,
    pub when: Option<Pred>,
}

/// A duration: a literal, or a value that the object holds.
#[derive(Clone, Debug)]
pub struct Length {
    /// Location in the source.
    pub span: Span,
    /// Path in the object that holds the length.
    pub path: Option<Path>,
    /// Milliseconds: the literal, or the default if the object holds no readable value.
    pub otherwise: u64,
    /// Lower bound in milliseconds on the value in the object.
    pub least: Option<u64>,
}

/// Relation of this operator to an input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    Watched,
    Owned,
    Shared,
    Part,
    Record,
    /// `record of other`: which objects of an input were created.
    Noted,
    Poll,
    Probe,
    /// The current time.
    Clock,
    /// Several owned objects that are judged as one. Its members are inputs of their own, and
    /// follow it.
    Group,
}

impl Mode {
    /// Returns the keyword before the type. It is empty for an input that is only watched.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Watched => "",
            Self::Owned => "owned",
            Self::Shared => "shared",
            Self::Part => "part",
            Self::Record => "record",
            Self::Noted => "record of",
            Self::Poll => "poll",
            Self::Probe => "probe",
            Self::Clock => "clock",
            Self::Group => "owned",
        }
    }

    /// Returns the prefix of the name of the method that queries a polled or probed input.
    pub fn method_prefix(self) -> &'static str {
        match self {
            Self::Probe => "probe",
            Self::Watched
            | Self::Owned
            | Self::Shared
            | Self::Part
            | Self::Record
            | Self::Noted
            | Self::Poll
            | Self::Clock
            | Self::Group => "poll",
        }
    }
}

/// A dotted path: `spec.class_name`, `meta.name`, `request.volume_id`.
#[derive(Clone, Debug)]
pub struct Path {
    /// At least one.
    pub parts: Vec<Ident>,
}

impl Path {
    /// Returns the first part, which determines the input that is read.
    pub fn root(&self) -> &Ident {
        &self.parts[0]
    }
}

impl std::fmt::Display for Path {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (at, part) in self.parts.iter().enumerate() {
            if at > 0 {
                f.write_str(".")?;
            }
            write!(f, "{part}")?;
        }
        Ok(())
    }
}

/// How an input is found.
#[derive(Clone, Debug)]
pub enum Lookup {
    Name { path: Path, optional: bool },
    Names { of: Vec<Ident> },
    Refs { of: Vec<Ident> },
    Labels { pairs: Vec<(Path, Path)> },
    Owner,
    Namespace,
    Ref { from: Vec<Ident> },
    Equal { theirs: Path, ours: Path },
    Keys { paths: Vec<Path> },
}

/// `let name: Type from names`, or `mint name: Type in keeper from names`.
#[derive(Clone, Debug)]
pub struct Value {
    pub name: Ident,
    pub doc: String,
    pub ty: syn::Type,
    pub from: Vec<Ident>,
    pub given: Option<Pred>,
    pub mint: Option<Mint>,
}

/// Clause that makes a value a kept one: `in secret until due`.
#[derive(Clone, Debug)]
pub struct Mint {
    /// The input that keeps it.
    pub keeper: Ident,
    /// Predicate under which the value is made anew.
    pub until: Option<Pred>,
    pub span: Span,
}

/// A finite question.
#[derive(Clone, Debug)]
pub struct Fact {
    pub name: Ident,
    pub doc: String,
    /// Location of the keyword `held`, if it is written.
    pub held: Option<Span>,
    /// Location of the keyword `count`: the fact is evaluated for each member of the one set in
    /// `from`.
    pub count: Option<Span>,
    pub domain: Domain,
    /// `request.readonly` in its `from`: the fields of the request that it reads directly.
    pub of_request: Vec<Path>,
    pub from: Vec<Ident>,
    pub given: Vec<Given>,
}

/// `name = pred`: a name for a predicate.
#[derive(Clone, Debug)]
pub struct Derived {
    pub name: Ident,
    pub pred: Pred,
}

/// The answers of a fact.
#[derive(Clone, Debug)]
pub enum Domain {
    Bool,
    /// Values left of the bar and, if a bar is written, right of it.
    Values {
        left: Vec<Ident>,
        right: Option<Vec<Ident>>,
    },
}

/// `given pred else Value`.
#[derive(Clone, Debug)]
pub struct Given {
    pub pred: Pred,
    pub otherwise: Option<Ident>,
}

/// A world that cannot be.
#[derive(Clone, Debug)]
pub struct Never {
    pub pred: Pred,
    pub span: Span,
}

/// A line of `states`.
#[derive(Clone, Debug)]
pub struct State {
    pub name: Ident,
    pub doc: String,
    pub goal: bool,
    pub when: Pred,
    pub phase: Option<Ident>,
    /// Location of `even deleting`, if it is written. With it, every held object stays during a
    /// deletion too.
    pub even_deleting: Option<Span>,
    pub wakes: Option<Vec<Ident>>,
    pub overdue: Option<Length>,
    /// In a union of regions: the region that declares it.
    pub region: Option<usize>,
}

/// A line of `effects`.
#[derive(Clone, Debug)]
pub struct Effect {
    pub name: Option<Ident>,
    pub doc: String,
    pub verb: Verb,
    /// The word `each`.
    pub each: Option<Span>,
    pub target: Ident,
    /// `without retain`, of an `adopt`.
    pub without_retain: Option<Span>,
    pub from: Vec<Ident>,
    pub when: Option<Pred>,
    pub sets: Option<Vec<Vec<Assign>>>,
    pub undo: Option<Ident>,
    pub key: Option<Path>,
    /// In a union of regions, and in a region by itself: the region that declares it.
    pub region: Option<usize>,
}

impl Effect {
    /// The written name, or verb and target with the span of the target.
    pub fn name(&self) -> Ident {
        match &self.name {
            Some(name) => name.clone(),
            None => Ident::new(
                &format!("{}_{}", self.verb.keyword(), bare(&self.target)),
                self.target.span(),
            ),
        }
    }
}

/// An identifier without `r#`.
pub(crate) fn bare(ident: &Ident) -> String {
    let text = ident.to_string();
    text.strip_prefix("r#").unwrap_or(&text).to_owned()
}

/// Operation that an effect performs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Apply,
    Delete,
    Call,
    /// Adopts an existing object.
    Adopt,
    /// Creates an object once, if it neither exists nor is recorded.
    Create,
    /// Records a created object. No user writes this verb: it comes with a `create`.
    Note,
}

impl Verb {
    /// As it is written.
    pub fn keyword(self) -> &'static str {
        match self {
            Self::Apply => "apply",
            Self::Delete => "delete",
            Self::Call => "call",
            Self::Adopt => "adopt",
            Self::Create => "create",
            Self::Note => "note",
        }
    }
}

/// `fact = Value`.
#[derive(Clone, Debug)]
pub struct Assign {
    pub fact: Ident,
    pub value: Ident,
}

/// A line of `promises`.
#[derive(Clone, Debug)]
pub struct Promise {
    pub name: Ident,
    pub doc: String,
    pub claim: Option<Claim>,
    pub when: Pred,
    pub sets: Vec<Vec<Assign>>,
}

/// `claimed by Site in Starting | Ready`: the lifecycle that keeps a promise, and the states in
/// which it has kept it.
#[derive(Clone, Debug)]
pub struct Claim {
    pub keeper: syn::Type,
    pub states: Vec<Ident>,
}

/// The whole section `transitions`.
#[derive(Clone, Debug)]
pub struct Transitions {
    pub span: Span,
    pub edges: Vec<Edge>,
}

/// `from | from -> to | to`.
#[derive(Clone, Debug)]
pub struct Edge {
    pub from: From,
    pub to: Vec<Ident>,
}

/// Source of an edge.
#[derive(Clone, Debug)]
pub enum From {
    States(Vec<Ident>),
    /// `_`: in every state.
    Anywhere,
}

/// A line of `properties`.
#[derive(Clone, Debug)]
pub struct Property {
    pub what: PropertyOf,
    /// Of the whole line, without its `;`.
    pub span: Span,
}

/// Claim of an author.
#[derive(Clone, Debug)]
pub enum PropertyOf {
    /// `always pred in A, B at rest`.
    Always {
        pred: Pred,
        /// Empty: in every world.
        states: Vec<Ident>,
        /// Location of the keywords `at rest`.
        at_rest: Option<Span>,
    },
    /// `never effect while pred`.
    Never { effect: Ident, pred: Pred },
    /// `first before then`.
    Before { first: Ident, then: Ident },
    /// `reaches A | B from C, D`.
    Reaches {
        /// The word `reaches`.
        word: Span,
        to: Vec<Ident>,
        from: Vec<Ident>,
    },
}

/// The section `rpc` of a volume.
#[derive(Clone, Debug)]
pub struct Rpc {
    pub span: Span,
    pub preconditions: Vec<Precondition>,
    pub calls: Vec<Call>,
}

/// Meaning of a precondition of the Container Storage Interface in this lifecycle.
#[derive(Clone, Debug)]
pub struct Precondition {
    pub name: Ident,
    pub meaning: Meaning,
}

/// When a precondition applies.
#[derive(Clone, Debug)]
pub enum Meaning {
    When(Pred),
    /// Why it never does.
    Never(String),
}

/// One call and the clauses that answer it.
#[derive(Clone, Debug)]
pub struct Call {
    pub name: Ident,
    pub doc: String,
    /// A bare name may also be a state.
    pub target: Option<Pred>,
    pub by: Vec<Ident>,
    pub within: Option<Within>,
    pub refusals: Vec<Refusal>,
}

/// `within time else CODE`.
#[derive(Clone, Debug)]
pub struct Within {
    /// Milliseconds.
    pub time: u64,
    pub code: Ident,
}

/// `pred => CODE "why"`.
#[derive(Clone, Debug)]
pub struct Refusal {
    pub when: Pred,
    pub code: Ident,
    pub why: Option<String>,
}

/// A predicate over facts; never empty.
#[derive(Clone, Debug)]
pub struct Pred {
    pub kind: PredKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum PredKind {
    /// A bare name: true, Present or Known.
    There(Ident),
    /// `==` has one value, `in` has several.
    Is {
        fact: Ident,
        values: Vec<Ident>,
    },
    /// `refused(effect)`.
    Refused(Ident),
    All(Vec<Pred>),
    Any(Vec<Pred>),
    Not(Box<Pred>),
}

impl Pred {
    /// Returns the facts that the predicate queries as written, each as often as it is named.
    pub(crate) fn referenced_facts(&self) -> Vec<&Ident> {
        match &self.kind {
            PredKind::There(fact) | PredKind::Is { fact, .. } => vec![fact],
            PredKind::Refused(_) => Vec::new(),
            PredKind::All(parts) | PredKind::Any(parts) => {
                parts.iter().flat_map(Self::referenced_facts).collect()
            }
            PredKind::Not(part) => part.referenced_facts(),
        }
    }

    /// Returns true if the predicate, as it is written, queries the outcome of one of our own
    /// writes.
    pub(crate) fn asks_for_refusal(&self) -> bool {
        match &self.kind {
            PredKind::Refused(_) => true,
            PredKind::There(_) | PredKind::Is { .. } => false,
            PredKind::All(parts) | PredKind::Any(parts) => parts.iter().any(Self::asks_for_refusal),
            PredKind::Not(part) => part.asks_for_refusal(),
        }
    }
}
