//! What may happen to a cluster from outside: the generic moves of the exploration, and faults of one request. Plain data, so that a run can be written down and replayed.

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
    /// Makes an object of another user where ours is or would be.
    Seize(String),
    /// Makes an object of another controller where ours is or would be.
    Control(String),
    /// Edits a place of an object that is ours: the n-th by its managed fields.
    Edit(String, usize, Edit),
    /// Adds an element of another user to a list of which we own every element: the n-th such list.
    Intrude(String, usize),
    /// Deletes an object of ours.
    Vanish(String),
    /// Deletes an object of ours that somebody holds back.
    Linger(String),
    /// Lets go of an object that was held back.
    Loosen(String),
    /// Clears the status of an object.
    Smudge(String),
    /// Keeps a promise: the n-th function of that name.
    Keep(String, usize),
    /// Keeps all promises until none is left.
    Fair,
    /// What polls and calls ask stops answering.
    Down,
    /// It answers again.
    Up,
    /// Changes something outside Kubernetes by hand.
    Perturb(String),
    /// Ends the process and starts it anew.
    Restart,
    /// Lets time pass until an answer expires that was made from the clock.
    Tick,
}

/// What somebody does to a place that is ours, through an update or through a forced apply.
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
    /// Owns it instead of us, as it is, as whoever applied it.
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

    /// What it does, in a few words.
    pub fn word(self) -> &'static str {
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

/// What goes wrong at one write.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// On the line to the server, in the words of [`crate::faults`]: `crash-after`, `503`, `lag/5s`.
    Line(String),
    /// Before the write arrives, somebody is faster.
    Before(Move),
    /// After the write took effect and before its answer arrives, something happens.
    After(Move),
    /// Another process takes the Lease while ours cannot reach it.
    LoseLease,
}

impl Fault {
    /// Its kind in one word, as coverage names it.
    pub fn word(&self) -> &str {
        match self {
            Self::Line(what) => what.split(['=', '/']).next().unwrap_or(what),
            Self::Before(m) | Self::After(m) => m.word(),
            Self::LoseLease => "lost lease",
        }
    }

    /// What it does that outlasts it, if anything.
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
    pub fn word(&self) -> &'static str {
        match self {
            Self::Create(_) => "create",
            Self::Replace(_) => "replace",
            Self::Delete(_) => "delete",
            Self::Seize(_) => "foreign takeover",
            Self::Control(_) => "foreign controller",
            Self::Edit(_, _, edit) => edit.word(),
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
        let word = self.word();
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
    /// Of which lifecycle: of the one whose suite it is, or of the n-th beside it, counted from 1.
    #[serde(default, skip_serializing_if = "is_own")]
    pub of: usize,
    /// Which write.
    pub at: usize,
    /// What happens to it.
    pub fault: Fault,
}

fn is_own(of: &usize) -> bool {
    *of == 0
}

/// One run, written down: what happens in which order. The first `calm` moves are not disturbed.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Schedule {
    /// What is done, each after the one before has come to rest.
    pub moves: Vec<Move>,
    /// How many of them come before the faults.
    pub calm: usize,
    /// What goes wrong after that.
    #[serde(default)]
    pub faults: Vec<Planned>,
    /// Whether the operator writes only as holder of a Lease.
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

    /// Whether all that goes wrong is that one write is refused.
    pub(crate) fn is_one_refusal(&self) -> bool {
        matches!(self.faults.as_slice(), [one] if matches!(&one.fault, Fault::Line(what) if what == "422"))
    }

    /// Whether a new process goes on where the calm moves end; if not, one process lives from the start.
    pub(crate) fn goes_on(&self) -> bool {
        match self.faults.as_slice() {
            [] => self.calm < self.moves.len(),
            [_] => true,
            [_, _, ..] => false,
        }
    }

    /// What somebody does in its middle that outlasts it.
    pub(crate) fn lasting(&self) -> impl Iterator<Item = Move> + '_ {
        let operations = self.faults.iter().filter_map(|p| p.fault.operation());
        operations.filter(|m| m.lasts()).cloned()
    }
}

impl Move {
    /// Whether the world may be another one for it when all is at rest again.
    fn lasts(&self) -> bool {
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
