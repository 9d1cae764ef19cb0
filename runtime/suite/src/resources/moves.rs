//! Moves of the environment on a cluster: the generic moves of the exploration, and faults of one
//! request. Plain data, so that a run can be written down and replayed.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Something that another controller or user does, or that time brings.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Move {
    /// Creates a fixture.
    Create(String),
    /// Puts a fixture in the place of another variant of it.
    Replace(String),
    /// Deletes the object at a path that is not ours.
    Delete(String),
    /// Creates an object of another user at the path of ours.
    Seize(String),
    /// Creates an object of another controller at the path of ours.
    Control(String),
    /// Edits a field of an object that is ours: the n-th by its managed fields.
    Edit(String, usize, Edit),
    /// Adds an element of another user to a list whose elements are all ours: the n-th such list.
    Intrude(String, usize),
    /// Deletes an object of ours.
    Vanish(String),
    /// Deletes an object of ours that another user keeps from being removed.
    Linger(String),
    /// Releases an object that was kept from being removed.
    Loosen(String),
    /// Clears the status of an object.
    Smudge(String),
    /// Keeps a promise: the n-th function of that name.
    Keep(String, usize),
    /// Keeps all promises until none is left.
    Fair,
    /// Makes the system that polls and calls query stop answering.
    Down,
    /// It answers again.
    Up,
    /// Changes something outside Kubernetes by hand.
    Perturb(String),
    /// Ends the process and starts it anew.
    Restart,
    /// Lets time pass until an answer that depends on the clock expires.
    Tick,
}

/// Edit of one of our fields by another controller or user, through an update or through a forced
/// apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edit {
    /// Gives it another value.
    Change,
    /// Takes it away.
    Remove,
    /// Owns it instead of us, as it is.
    Own,
    /// Gives it another value, by an apply.
    ChangeByApply,
    /// Applies it, and then no more.
    RemoveByApply,
    /// Takes over ownership of the unchanged field, as a manager that applied it.
    OwnByApply,
}

impl Edit {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Change,
        Self::Own,
        Self::Remove,
        Self::ChangeByApply,
        Self::OwnByApply,
        Self::RemoveByApply,
    ];

    /// Returns a short description of the edit.
    pub fn kind_name(self) -> &'static str {
        match self {
            Self::Change => "edit: change",
            Self::Remove => "edit: remove",
            Self::Own => "edit: own",
            Self::ChangeByApply => "edit: change by apply",
            Self::RemoveByApply => "edit: remove by apply",
            Self::OwnByApply => "edit: own by apply",
        }
    }
}

/// Fault at one write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// On the line to the server, in the words of [`crate::faults`]: `crash-after`, `503`, `lag/5s`.
    Line(String),
    /// Another user performs the move before the write arrives.
    Before(Move),
    /// After the write took effect and before its answer arrives, something happens.
    After(Move),
    /// Another process takes the Lease while ours cannot reach it.
    LoseLease,
}

impl Fault {
    /// Its kind in one word, as coverage names it.
    pub fn kind_name(&self) -> &str {
        match self {
            Self::Line(what) => what.split(['=', '/']).next().unwrap_or(what),
            Self::Before(m) | Self::After(m) => m.kind_name(),
            Self::LoseLease => "lost lease",
        }
    }

    /// Returns its move that outlasts the fault, if there is one.
    pub(crate) fn operation(&self) -> Option<&Move> {
        match self {
            Self::Before(m) | Self::After(m) => Some(m),
            Self::Line(_) | Self::LoseLease => None,
        }
    }
}

impl Move {
    /// The promise that it keeps.
    pub(crate) fn promise(&self) -> Option<&str> {
        if let Self::Keep(name, _) = self {
            return Some(name);
        }
        None
    }

    /// Its kind in one word.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Create(_) => "create",
            Self::Replace(_) => "replace",
            Self::Delete(_) => "delete",
            Self::Seize(_) => "foreign takeover",
            Self::Control(_) => "foreign controller",
            Self::Edit(_, _, edit) => edit.kind_name(),
            Self::Intrude(..) => "intrusion",
            Self::Vanish(_) => "delete owned",
            Self::Linger(_) => "lingering deletion",
            Self::Loosen(_) => "loosen",
            Self::Smudge(_) => "smudged status",
            Self::Keep(..) => "promise",
            Self::Fair => "all promises",
            Self::Down => "poll down",
            Self::Up => "poll up",
            Self::Perturb(_) => "meddle",
            Self::Restart => "restart",
            Self::Tick => "time",
        }
    }
}

impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let word = self.kind_name();
        match self {
            Self::Create(what) | Self::Replace(what) | Self::Perturb(what) => {
                write!(f, "{word} {what}")
            }
            Self::Delete(path)
            | Self::Seize(path)
            | Self::Control(path)
            | Self::Vanish(path)
            | Self::Linger(path)
            | Self::Loosen(path)
            | Self::Smudge(path) => write!(f, "{word} {}", short(path)),
            Self::Edit(path, n, _) => write!(f, "{word} place {n} of {}", short(path)),
            Self::Intrude(path, n) => write!(f, "{word} into list {n} of {}", short(path)),
            Self::Keep(name, _) => write!(f, "{word} {name}"),
            Self::Fair | Self::Down | Self::Up | Self::Restart | Self::Tick => f.write_str(word),
        }
    }
}

/// The last two parts of a path: `services/a`.
fn short(path: &str) -> &str {
    let mut slashes = path.rmatch_indices('/').skip(1);
    slashes.next().map_or(path, |(at, _)| &path[at + 1..])
}

/// A fault, at the n-th write of the last part of a run, counted from 1.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Planned {
    /// Index of the lifecycle: 0 for the one under test, or the n-th beside it, counted from 1.
    #[serde(default, skip_serializing_if = "is_own")]
    pub of: usize,
    /// Ordinal number of the write.
    pub at: usize,
    /// Fault to inject.
    pub fault: Fault,
}

fn is_own(of: &usize) -> bool {
    *of == 0
}

/// One recorded run: its moves and faults, in order. The first `calm` moves are not disturbed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Schedule {
    /// Moves of the run. Each move begins after the previous one has settled.
    pub moves: Vec<Move>,
    /// How many of them come before the faults.
    pub calm: usize,
    /// Faults that follow the calm moves.
    #[serde(default)]
    pub faults: Vec<Planned>,
    /// True if the operator writes only as holder of a Lease.
    #[serde(default)]
    pub lease: bool,
}

impl Schedule {
    /// Nothing goes wrong.
    pub(crate) fn quiet(moves: Vec<Move>) -> Self {
        Self {
            calm: moves.len(),
            moves,
            ..Self::default()
        }
    }

    /// One undisturbed move from where the others lead.
    pub(crate) fn step(moves: Vec<Move>) -> Self {
        Self {
            calm: moves.len().saturating_sub(1),
            moves,
            ..Self::default()
        }
    }

    /// How many moves are done before something goes wrong.
    pub(crate) fn armed_at(&self) -> usize {
        self.calm.min(self.moves.len().saturating_sub(1))
    }

    /// Returns true if the only fault is one refused write.
    pub(crate) fn is_one_refusal(&self) -> bool {
        matches!(self.faults.as_slice(), [one] if matches!(&one.fault, Fault::Line(what) if what == "422"))
    }

    /// Returns true if a new process continues after the calm moves. Otherwise one process runs
    /// from the start.
    pub(crate) fn goes_on(&self) -> bool {
        match self.faults.as_slice() {
            [] => self.calm < self.moves.len(),
            [_] => true,
            [_, _, ..] => false,
        }
    }

    /// Returns the moves of users in the middle of the schedule whose effect outlasts it.
    pub(crate) fn lasting(&self) -> impl Iterator<Item = Move> + '_ {
        let operations = self.faults.iter().filter_map(|p| p.fault.operation());
        operations.filter(|m| m.is_lasting()).cloned()
    }
}

impl Move {
    /// Returns true if this move may change the world that results once everything has settled
    /// again.
    fn is_lasting(&self) -> bool {
        !matches!(self, Self::Restart | Self::Smudge(_))
    }
}

impl fmt::Display for Schedule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (n, m) in self.moves.iter().enumerate() {
            let before = if n == 0 { "" } else { ", " };
            write!(f, "{before}{m}")?;
        }
        for planned in &self.faults {
            let at = match planned.of {
                0 => planned.at.to_string(),
                of => format!("{} of number {of} beside it", planned.at),
            };
            match &planned.fault {
                Fault::Before(m) => write!(f, "; before write {at}: {m}")?,
                Fault::After(m) => write!(f, "; after write {at}: {m}")?,
                Fault::Line(what) => write!(f, "; write {at}: {what}")?,
                Fault::LoseLease => write!(f, "; write {at}: lost lease")?,
            }
        }
        if self.lease {
            f.write_str("; with a Lease")?;
        }
        Ok(())
    }
}
