//! What the oracle answers: findings by stage, the size of the lifecycle and the edges that it causes.
//! Runs the stages; a later one runs only where the earlier ones found no error.

use std::collections::{BTreeMap, BTreeSet};

use crate::oracle::broken::Rule;
use crate::oracle::calls;
use crate::oracle::circles::circles;
use crate::oracle::declarations::{alone, declarations};
use crate::oracle::graph::{Graph, Outline};
use crate::oracle::names::names;
use crate::oracle::reach::Reach;
use crate::oracle::syntax::{Life, parse};
use crate::oracle::worlds::{LIMIT, Worlds};

/// A code and the thing that it names.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    pub(crate) code: String,
    pub(crate) item: String,
}

/// The stage in which a code is found; a stage with an error is the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Stage {
    Names,
    Circles,
    Declarations,
    Worlds,
    Graph,
}

impl Stage {
    pub(crate) fn of(code: &str) -> Self {
        match code {
            "LC000" | "LC001" | "LC002" | "LC003" | "LC005" | "LC006" | "LC018" | "LC045"
            | "LC047" | "LC050" | "LC055" | "LC060" | "LC070" => Self::Names,
            "LC066" => Self::Circles,
            "LC015" | "LC017" | "LC041" | "LC044" | "LC064" | "LC081" | "LC083" => {
                Self::Declarations
            }
            "LC091" | "LC011" => Self::Worlds,
            _ => Self::Graph,
        }
    }
}

/// Warnings do not end a check.
pub(crate) fn is_warning(code: &str) -> bool {
    ["LC054", "LC064", "LC087"].contains(&code)
}

/// Takes findings and forgets the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) all: BTreeSet<Finding>,
    /// Findings that could as well name another member of a group: each such name with the one that stands for the group.
    pub(crate) same: BTreeMap<Finding, Finding>,
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

    pub(crate) fn has_errors(&self) -> bool {
        self.all.iter().any(|finding| !is_warning(&finding.code))
    }
}

#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// What kept the text from being read at all.
    pub(crate) broken: Option<String>,
    pub(crate) found: Found,
    pub(crate) worlds: usize,
    pub(crate) outline: Outline,
}

impl Answer {
    /// The stage that ended the check.
    pub(crate) fn last(&self) -> Stage {
        let errors = self
            .found
            .all
            .iter()
            .filter(|finding| !is_warning(&finding.code));
        errors
            .map(|finding| Stage::of(&finding.code))
            .min()
            .unwrap_or(Stage::Graph)
    }
}

/// Decides every check of a resource; `wrong` leaves out one rule of the language.
pub(crate) fn answer(text: &str, wrong: Option<Rule>) -> Answer {
    let mut answer = Answer::default();
    match parse(text) {
        Ok(life) => decide(&life, wrong, &mut answer),
        Err(broken) => answer.broken = Some(broken.0),
    }
    answer
}

fn decide(life: &Life, wrong: Option<Rule>, answer: &mut Answer) {
    let found = &mut answer.found;
    names(life, found);
    alone(life, found);
    if found.has_errors() {
        return;
    }
    circles(life, found);
    if found.has_errors() {
        return;
    }
    let reach = Reach::new(life);
    declarations(life, &reach, found);
    calls::declared(life, found);
    if found.has_errors() {
        return;
    }
    let Some(worlds) = Worlds::new(life, &reach, LIMIT, wrong) else {
        found.say("LC091", &life.name);
        return;
    };
    answer.worlds = worlds.all.len();
    if worlds.states.iter().any(Option::is_none) {
        found.say("LC011", &life.name);
        return;
    }
    if life.volume {
        Graph::new(&worlds).worlds(found);
        return calls::driven(&worlds, found);
    }
    answer.outline = Graph::new(&worlds).check(found);
}

/// Whether a lifecycle whose names are right has at least one world and at most so many.
pub(crate) fn fits(text: &str, limit: usize) -> bool {
    let Ok(life) = parse(text) else { return false };
    let mut found = Found::default();
    names(&life, &mut found);
    alone(&life, &mut found);
    if !found.has_errors() {
        circles(&life, &mut found);
    }
    let reach = (!found.has_errors()).then(|| Reach::new(&life));
    let worlds = reach
        .as_ref()
        .and_then(|reach| Worlds::new(&life, reach, limit, None));
    worlds.is_some_and(|worlds| !worlds.all.is_empty())
}
