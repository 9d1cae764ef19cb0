//! What the oracle can find, and in which order it looks.
//! Knows no rule: findings are codes and names.

use std::collections::{BTreeMap, BTreeSet};

/// A code and the thing that it names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// `LC011`.
    pub code: String,
    /// The state, effect, fact or edge that it names.
    pub item: String,
}

/// The stage in which a code is found; a stage with an error is the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Of one declaration at a time.
    Names,
    /// Of facts that depend on themselves.
    Circles,
    /// Of declarations that all make sense.
    Declarations,
    /// Of all worlds.
    Worlds,
    /// Of the moves between worlds.
    Graph,
}

impl Stage {
    /// Where a code is found.
    pub fn of(code: &str) -> Self {
        match code {
            "LC000" | "LC001" | "LC002" | "LC003" | "LC005" | "LC006" | "LC018" | "LC032"
            | "LC045" | "LC047" | "LC050" | "LC055" | "LC060" | "LC070" | "LC100" | "LC105"
            | "LC110" | "LC111" | "LC112" | "LC113" | "LC115" | "LC116" | "LC117" | "LC119"
            | "LC120" | "LC122" | "LC130" | "LC140" | "LC150" | "LC155" | "LC156" | "LC157"
            | "LC180" => Self::Names,
            "LC066" | "LC131" => Self::Circles,
            "LC015" | "LC017" | "LC041" | "LC044" | "LC064" | "LC081" | "LC083" | "LC103"
            | "LC118" | "LC121" | "LC132" | "LC133" | "LC134" | "LC135" | "LC141" | "LC142"
            | "LC147" | "LC151" | "LC152" | "LC153" | "LC160" | "LC161" | "LC162" | "LC164"
            | "LC165" | "LC167" | "LC168" => Self::Declarations,
            "LC091" | "LC011" | "LC154" => Self::Worlds,
            _ => Self::Graph,
        }
    }
}

/// Warnings do not end a check.
pub fn is_warning(code: &str) -> bool {
    [
        "LC004", "LC014", "LC054", "LC064", "LC087", "LC097", "LC132", "LC133", "LC135", "LC147",
        "LC158", "LC160", "LC161", "LC162", "LC163", "LC164", "LC165", "LC166", "LC167", "LC168",
        "LC169", "LC175",
    ]
    .contains(&code)
}

/// Warnings of which random lifecycles show many: without others, one counts as clean.
pub const FREQUENT_WARNINGS: [&str; 10] = [
    "LC004", "LC014", "LC097", "LC132", "LC133", "LC135", "LC162", "LC163", "LC165", "LC167",
];

/// Takes findings and forgets the order in which they came.
#[derive(Debug, Default)]
pub struct Found {
    /// Every finding once.
    pub all: BTreeSet<Finding>,
    /// Findings that could as well name another member of a group: each such name with the one that stands for the group.
    pub same: BTreeMap<Finding, Finding>,
}

impl Found {
    pub(crate) fn say(&mut self, code: &str, item: impl Into<String>) {
        self.all.insert(Finding {
            code: code.to_owned(),
            item: item.into(),
        });
    }

    /// A finding about a group, where it does not matter which member is named.
    pub(crate) fn say_one_of(&mut self, code: &str, first: String, group: BTreeSet<String>) {
        let finding = |item| Finding {
            code: code.to_owned(),
            item,
        };
        for member in group {
            self.same.insert(finding(member), finding(first.clone()));
        }
        self.all.insert(finding(first));
    }

    /// Takes away what the author allows; an `allow` of nothing is found where the check came to its end.
    pub(crate) fn allow(&mut self, allows: &[(String, String)]) {
        let ended = !self.has_errors();
        for (code, item) in allows {
            let finding = Finding {
                code: code.clone(),
                item: item.clone(),
            };
            if !self.all.remove(&finding) && ended {
                self.say("LC004", item);
            }
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.all.iter().any(|finding| !is_warning(&finding.code))
    }
}

/// What the moves and worlds show that an author writes down.
#[derive(Debug, Default)]
pub struct Outline {
    /// The edges that effects and promises cause between declared states.
    pub caused: BTreeSet<(String, String)>,
    /// Where nothing but promises that others claim leads out: the state, and those that are due there together, the fewest.
    pub waits: BTreeSet<(String, Vec<String>)>,
    /// The clauses of conditions that never apply.
    pub idle: BTreeSet<(String, usize)>,
}
