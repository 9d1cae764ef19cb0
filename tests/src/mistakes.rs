//! Seeded bugs in the code that runs a lifecycle, and in the code of its author. Every tool that
//! finds bugs is tried on each of them, and `table` checks the results against the documentation.
//! This module knows no lifecycle.

mod author;
mod declared;
mod line;
mod need;
pub mod suite;
pub mod table;

use std::sync::Arc;

use kube::Client;
use lifecycle_runtime::lifecycle::Machine;
use lifecycle_runtime::machine::ir::Lifecycle;

use need::Need;

/// Kind of seeded bug.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mistake {
    /// Of the driver: the order of a reconciliation.
    Order,
    /// Of the driver: the planned operations.
    Planning,
    /// Of the driver: the claim.
    Claim,
    /// Of the driver: when all is given back.
    Release,
    /// Of the driver: the undo of what is owned outside the cluster.
    Undo,
    /// Of the driver: the record of created objects.
    Note,
    /// Of the driver: waiting for its own write.
    Fence,
    /// Of the driver: the memory of refusals.
    Refusals,
    /// Of the driver: conditions.
    Projection,
    /// Of the driver: the permission of the author.
    Permission,
    /// Of the driver: the leftovers of an older version.
    Leftovers,
    /// On the line: a first write.
    Creation,
    /// On the line: the owner of the written object.
    Identity,
    /// On the line: the owner of the observed object.
    Adoption,
    /// On the line: the managers of fields.
    Takeover,
    /// On the line: each write again.
    Twice,
    /// On the line: after a failure.
    Breakdown,
    /// On the line: a deletion.
    Reach,
    /// On the line: no status.
    Silence,
    /// On the line: a wrong status.
    Falsehood,
    /// On the line: changes are not seen.
    Deafness,
    /// On the line: nothing is seen after the list.
    Blindness,
    /// On the line: the Lease.
    Lease,
    /// Of the author: a builder.
    Builder,
    /// Of the author: a field of the status.
    Field,
    /// Of the author: a call.
    Idle,
    /// Of the author: a decision by the status.
    Memory,
}

/// Properties of a seeded bug.
struct Row {
    mistake: Mistake,
    /// In the table.
    name: &'static str,
    /// To be shown.
    need: Need,
    what: &'static str,
}

const fn row(mistake: Mistake, name: &'static str, need: Need, what: &'static str) -> Row {
    Row {
        mistake,
        name,
        need,
        what,
    }
}

/// Each, in the order of the table.
const ALL: [Row; 27] = [
    row(
        Mistake::Order,
        "order",
        Need::SharedValue,
        "shared values are computed before what they are made of is looked up",
    ),
    row(
        Mistake::Planning,
        "planning",
        Need::TwoBuilders,
        "of several effects that build one object, the plan is always that of the last",
    ),
    row(
        Mistake::Claim,
        "claim",
        Need::Held,
        "what is held is not known to be held, so nothing is claimed",
    ),
    row(
        Mistake::Release,
        "release",
        Need::HeldInSeveralWays,
        "one value of what is held counts as given back",
    ),
    row(
        Mistake::Undo,
        "undo",
        Need::Undo,
        "what was acquired last is not given back",
    ),
    row(
        Mistake::Note,
        "note",
        Need::Creation,
        "what was made is not noted",
    ),
    row(
        Mistake::Fence,
        "fence",
        Need::Object,
        "what was just written need not be seen before the next pass",
    ),
    row(
        Mistake::Refusals,
        "refusals",
        Need::Object,
        "what is to be made is another one each time, so no refusal is remembered",
    ),
    row(
        Mistake::Projection,
        "projection",
        Need::Condition,
        "the first clause of each condition says the opposite",
    ),
    row(
        Mistake::Permission,
        "permission",
        Need::Permission,
        "no permission of the author counts",
    ),
    row(
        Mistake::Leftovers,
        "leftovers",
        Need::Retired,
        "finalizers, records and conditions that an older version left are not taken away",
    ),
    row(
        Mistake::Creation,
        "creation",
        Need::Object,
        "a first write does not insist on creating",
    ),
    row(
        Mistake::Identity,
        "identity",
        Need::Object,
        "a later write does not name the object that was seen",
    ),
    row(
        Mistake::Adoption,
        "adoption",
        Need::Object,
        "whatever has the right name counts as ours",
    ),
    row(
        Mistake::Takeover,
        "takeover",
        Need::Object,
        "who manages which field is believed to be as it was seen first",
    ),
    row(
        Mistake::Twice,
        "twice",
        Need::Nothing,
        "each write is sent twice",
    ),
    row(
        Mistake::Breakdown,
        "breakdown",
        Need::Nothing,
        "after one error of the server every write fails",
    ),
    row(
        Mistake::Reach,
        "reach",
        Need::Deletion,
        "a deletion takes all objects of the kind",
    ),
    row(
        Mistake::Silence,
        "silence",
        Need::Nothing,
        "no status is sent",
    ),
    row(
        Mistake::Falsehood,
        "falsehood",
        Need::Condition,
        "every condition that is sent is True",
    ),
    row(
        Mistake::Deafness,
        "deafness",
        Need::Watched,
        "nobody is woken when what is only watched changes",
    ),
    row(
        Mistake::Blindness,
        "blindness",
        Need::Watched,
        "of what is only watched the first list alone is seen",
    ),
    row(
        Mistake::Lease,
        "lease",
        Need::Nothing,
        "a Lease that cannot be renewed counts as renewed",
    ),
    row(
        Mistake::Builder,
        "builder",
        Need::Object,
        "a builder never says the same",
    ),
    row(
        Mistake::Field,
        "field",
        Need::Field,
        "a field of the status never says the same",
    ),
    row(
        Mistake::Idle,
        "idle",
        Need::UndoByCall,
        "a call that gives back does nothing, and says that it did",
    ),
    row(
        Mistake::Memory,
        "memory",
        Need::Condition,
        "a fact is decided by the status",
    ),
];

impl Mistake {
    /// Each of them, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        ALL.iter().map(|row| row.mistake)
    }

    /// As the table calls it.
    pub fn name(self) -> &'static str {
        self.row().name
    }

    /// Returns the description of the seeded bug.
    pub fn description(self) -> &'static str {
        self.row().what
    }

    fn row(self) -> &'static Row {
        let found = ALL.iter().find(|row| row.mistake == self);
        found.expect("each mistake has a row")
    }

    /// Returns true if the bug lies between a process and its server, so that it may as well be a
    /// bug of the server.
    pub fn is_on_the_line(self) -> bool {
        match self {
            Self::Creation
            | Self::Identity
            | Self::Adoption
            | Self::Takeover
            | Self::Twice
            | Self::Breakdown
            | Self::Reach
            | Self::Silence
            | Self::Falsehood
            | Self::Deafness
            | Self::Blindness
            | Self::Fence => true,
            Self::Order
            | Self::Planning
            | Self::Claim
            | Self::Release
            | Self::Undo
            | Self::Note
            | Self::Refusals
            | Self::Projection
            | Self::Permission
            | Self::Leftovers
            | Self::Lease
            | Self::Builder
            | Self::Field
            | Self::Idle
            | Self::Memory => false,
        }
    }

    /// Returns the reason why it cannot be seeded into a lifecycle, if there is one.
    pub fn absence(self, ir: &Lifecycle) -> Option<&'static str> {
        let need = self.row().need;
        (!need.is_met(ir)).then(|| need.absence())
    }

    /// Returns the machine that runs in place of a lifecycle's own.
    pub fn machine(self, machine: Arc<dyn Machine>) -> Arc<dyn Machine> {
        match self {
            Self::Order => declared::changed(self, declared::order, machine),
            Self::Claim => declared::changed(self, declared::claim, machine),
            Self::Release => declared::changed(self, declared::release, machine),
            Self::Undo => declared::changed(self, declared::undo, machine),
            Self::Note => declared::changed(self, declared::note, machine),
            Self::Projection => declared::changed(self, declared::projection, machine),
            Self::Permission => declared::changed(self, declared::permission, machine),
            Self::Leftovers => declared::changed(self, declared::leftovers, machine),
            Self::Planning => declared::of_the_last(machine),
            Self::Refusals => author::refused_is_another(machine),
            Self::Builder => author::never_the_same(machine),
            Self::Field => author::field_never_the_same(machine),
            Self::Idle => author::idle_undo(machine),
            Self::Memory => author::by_the_status(machine),
            Self::Fence
            | Self::Creation
            | Self::Identity
            | Self::Adoption
            | Self::Takeover
            | Self::Twice
            | Self::Breakdown
            | Self::Reach
            | Self::Silence
            | Self::Falsehood
            | Self::Deafness
            | Self::Blindness
            | Self::Lease => machine,
        }
    }

    /// How a process reaches its server; `subject` is the kind of its lifecycle.
    pub fn line(self, subject: &str, client: Client) -> Client {
        match self {
            Self::Fence => line::fence(client),
            Self::Creation => line::creation(client),
            Self::Identity => line::identity(client),
            Self::Adoption => line::adoption(client),
            Self::Takeover => line::takeover(client),
            Self::Twice => line::twice(client),
            Self::Breakdown => line::breakdown(client),
            Self::Reach => line::reach(client),
            Self::Silence => line::silence(client),
            Self::Falsehood => line::falsehood(client),
            Self::Deafness => line::deafness(subject, client),
            Self::Blindness => line::blindness(subject, client),
            Self::Lease => line::lease(client),
            Self::Order
            | Self::Planning
            | Self::Claim
            | Self::Release
            | Self::Undo
            | Self::Note
            | Self::Refusals
            | Self::Projection
            | Self::Permission
            | Self::Leftovers
            | Self::Builder
            | Self::Field
            | Self::Idle
            | Self::Memory => client,
        }
    }
}
