//! Groups of rules, by topic: each is one page of the documentation, `docs/rules/<page>.md`. Knows
//! no rule.

/// Topic of a rule. The first ones are those that an author meets first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    Syntax,
    Facts,
    States,
    Status,
    Effects,
    Liveness,
    Regions,
    Properties,
    Deletion,
    Ownership,
    Records,
    Calls,
    /// Mistakes that rustc finds, through the emitted types. No [`Rule`](super::Rule) has it.
    Rustc,
}

impl Group {
    pub const ALL: [Self; 13] = [
        Self::Syntax,
        Self::Facts,
        Self::States,
        Self::Status,
        Self::Effects,
        Self::Liveness,
        Self::Regions,
        Self::Properties,
        Self::Deletion,
        Self::Ownership,
        Self::Records,
        Self::Calls,
        Self::Rustc,
    ];

    /// Returns the name of the page, without its extension.
    pub const fn page(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::Facts => "facts",
            Self::States => "states",
            Self::Status => "status",
            Self::Effects => "effects",
            Self::Liveness => "liveness",
            Self::Regions => "regions",
            Self::Properties => "properties",
            Self::Deletion => "deletion",
            Self::Ownership => "ownership",
            Self::Records => "records",
            Self::Calls => "calls",
            Self::Rustc => "rustc",
        }
    }

    pub const fn title(self) -> &'static str {
        match self {
            Self::Syntax => "Syntax, names and fragments",
            Self::Facts => "Inputs and facts",
            Self::States => "States, phases and wakes",
            Self::Status => "Conditions, reasons and columns",
            Self::Effects => "Effects and edges",
            Self::Liveness => "Liveness, promises and waiting",
            Self::Regions => "Regions",
            Self::Properties => "Properties and impossible worlds",
            Self::Deletion => "Deletion, held facts and teardown",
            Self::Ownership => "Ownership and minted values",
            Self::Records => "Records, objects made once, and the lock",
            Self::Calls => "Calls of a volume",
            Self::Rustc => "Found by rustc",
        }
    }

    /// Returns the first paragraph of the page, as Markdown.
    pub const fn about(self) -> &'static str {
        match self {
            Self::Syntax => {
                "The compiler does not understand the text, or a name in it. It reports most of \
                 these first, so the list may get longer once they are mended. Fragments and \
                 groups, with which declarations share items, have their checks here, too."
            }
            Self::Facts => {
                "An operator decides by facts, and facts read inputs. These checks find an input \
                 that is missing or that nothing reads, an answer that nobody can compute, and \
                 more combinations of answers than the compiler can go through."
            }
            Self::States => {
                "Every world, that is, every combination of answers, belongs to exactly one \
                 state. A state has a phase, and it may name in `wakes` the only changes that can \
                 help. These checks compare both with the worlds of the state."
            }
            Self::Status => {
                "The status is all that users and their tools see. These checks find a condition \
                 without a value, a roll-up that contradicts the phase, and a name that the API \
                 server rejects."
            }
            Self::Effects => {
                "An effect writes one object or makes one call, and `transitions` lists the edges \
                 between states. These checks find an effect that never runs or that claims too \
                 much, and edges that differ from those that effects and promises cause."
            }
            Self::Liveness => {
                "An object must settle: every run comes to an end if the environment keeps its \
                 promises. These checks find a run that stops too early or never, a promise that \
                 does not count, and a wait or a poll without a sensible limit."
            }
            Self::Regions => {
                "Regions are parts of one lifecycle that go on side by side, each with its own \
                 states. These checks find what would tie two regions together, so that each can \
                 be checked by itself, and a region whose failure nobody would see."
            }
            Self::Properties => {
                "The section `properties` states what the author claims of the whole lifecycle, \
                 and `never` what cannot happen in the environment. These checks find a claim \
                 that does not hold, with the path to it, and one that says nothing."
            }
            Self::Deletion => {
                "A finalizer keeps a deleted object until everything `held` is released, by an \
                 `undo` or by the stages of a `teardown`. These checks find a deletion that \
                 cannot end, and one that ends too early and leaves something behind."
            }
            Self::Ownership => {
                "An object may outlive its owner (`retain`), be taken over (`adopt`), or keep a \
                 value that is made once by chance (`mint`). These checks find an object that is \
                 left behind or taken without consent, and a value that is lost, never renewed, \
                 or renewed without end."
            }
            Self::Records => {
                "Some things cannot be observed again: the key of a call, an object that was made \
                 once, and items that an older version declared. A `record` or the lock remembers \
                 them. These checks find what would be forgotten, overwritten, or left in the \
                 cluster."
            }
            Self::Calls => {
                "A volume has no status: its answers to the calls of the Container Storage \
                 Interface are all that callers see. These checks find a call without an answer, \
                 without an end, or without the call that undoes it."
            }
            Self::Rustc => {
                "Three mistakes are in the methods that you write and not in the declaration. The \
                 generated types make rustc find them, so its message has no code of this list."
            }
        }
    }
}
