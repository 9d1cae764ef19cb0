//! Findings of the oracle, and the order of its search. Knows no rule: findings are codes and
//! names.

use std::collections::{BTreeMap, BTreeSet};

/// A code and the thing that it names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// `LC011`.
    pub code: String,
    /// The state, effect, fact or edge that it names.
    pub item: String,
}

/// The stage that finds a code. A stage with an error is the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
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
    /// Returns the stage that finds a code.
    pub fn for_code(code: &str) -> Self {
        match code {
            "LC066" | "LC131" => Self::Circles,
            "LC015" | "LC017" | "LC041" | "LC044" | "LC064" | "LC081" | "LC083" | "LC103"
            | "LC118" | "LC121" | "LC132" | "LC133" | "LC134" | "LC135" | "LC141" | "LC142"
            | "LC147" | "LC151" | "LC152" | "LC153" | "LC160" | "LC161" | "LC162" | "LC164"
            | "LC165" | "LC167" | "LC168" | "LC179" => Self::Declarations,
            "LC091" | "LC011" | "LC154" => Self::Worlds,
            _ => Self::Graph,
        }
    }
}

/// Warnings do not end a check.
pub fn is_warning(code: &str) -> bool {
    [
        "LC004", "LC014", "LC054", "LC064", "LC087", "LC097", "LC102", "LC132", "LC133", "LC135",
        "LC147", "LC158", "LC160", "LC161", "LC162", "LC163", "LC164", "LC165", "LC166", "LC167",
        "LC168", "LC169", "LC175", "LC179",
    ]
    .contains(&code)
}

/// Warnings that are frequent in random lifecycles: a lifecycle with no other finding counts as
/// clean.
pub const FREQUENT_WARNINGS: [&str; 10] = [
    "LC004", "LC014", "LC097", "LC132", "LC133", "LC135", "LC162", "LC163", "LC165", "LC167",
];

/// Collects findings without their order.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Every finding once.
    pub all: BTreeSet<Finding>,
    /// Findings that may as well name another member of a group: each such name with the
    /// representative of the group.
    pub same: BTreeMap<Finding, Finding>,
}

impl Findings {
    pub(crate) fn report(&mut self, code: &str, item: impl Into<String>) {
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

    /// Removes the findings that the author allows. An `allow` without a finding is reported if the
    /// check ran to its end.
    pub(crate) fn allow(&mut self, allows: &[(String, String)]) {
        let ended = !self.has_errors();
        for (code, item) in allows {
            let finding = Finding {
                code: code.clone(),
                item: item.clone(),
            };
            if !self.all.remove(&finding) && ended {
                self.report("LC004", item);
            }
        }
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.all.iter().any(|finding| !is_warning(&finding.code))
    }
}

/// Results of the moves and worlds that an author writes down.
#[derive(Debug, Default)]
pub struct Outline {
    /// The edges that effects and promises cause between declared states.
    pub caused: BTreeSet<(String, String)>,
    /// States that only promises claimed by other lifecycles lead out of. Each state comes with the
    /// promises that are due together there, the fewest.
    pub waits: BTreeSet<(String, Vec<String>)>,
    /// The clauses of conditions that never apply.
    pub idle: BTreeSet<(String, usize)>,
}
