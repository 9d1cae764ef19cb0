//! Puts the checker's answer beside the oracle's, and makes a lifecycle small on which the two differ.

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

use lifecycle_macros_core::model::StateId;
use lifecycle_macros_core::space::summary::Summary;
use lifecycle_macros_core::{check_fragment, check_with, find};
use lifecycle_oracle::answer::{Answer, answer};
use lifecycle_oracle::broken::Rule;
use lifecycle_oracle::findings::{Finding, Stage, is_warning};
use proc_macro2::TokenStream;

/// Findings of only one of the two, up to the first stage in which either found an error.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Disagreement {
    pub(crate) stage: Stage,
    pub(crate) only_checker: BTreeSet<Finding>,
    pub(crate) only_oracle: BTreeSet<Finding>,
}

impl Disagreement {
    /// Returns the codes of the findings, which distinguish kinds of disagreement.
    pub(crate) fn key(&self) -> String {
        let codes = |all: &BTreeSet<Finding>| {
            let codes: BTreeSet<&str> = all.iter().map(|finding| finding.code.as_str()).collect();
            codes.into_iter().collect::<Vec<_>>().join(" ")
        };
        format!(
            "only the checker: [{}], only the oracle: [{}]",
            codes(&self.only_checker),
            codes(&self.only_oracle)
        )
    }
}

impl Display for Disagreement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let all = |all: &BTreeSet<Finding>| {
            let lines = all
                .iter()
                .map(|finding| format!("    {} {}", finding.code, finding.item));
            lines.collect::<Vec<_>>().join("\n")
        };
        writeln!(f, "stage {:?}", self.stage)?;
        writeln!(f, "only the checker:\n{}", all(&self.only_checker))?;
        writeln!(f, "only the oracle:\n{}", all(&self.only_oracle))
    }
}

/// Returns the findings of the checker. If it explored the worlds, their number and the edges that
/// they cause count as findings too.
pub(crate) fn checked(text: &str) -> BTreeSet<Finding> {
    let tokens: TokenStream = text.parse().expect("the text consists of Rust tokens");
    let mut found = find(tokens);
    let body = found.lifecycles.pop().expect("the text has a lifecycle");
    let checked = check_with(body, &found.fragments);
    let of_fragments = found.fragments.into_iter();
    let of_fragments = of_fragments.flat_map(|body| check_fragment(body).diagnostics);
    let findings = checked.diagnostics.into_iter().chain(of_fragments);
    let mut all: BTreeSet<Finding> = findings.flat_map(|one| each(one.code, &one.item)).collect();
    if let (Some(model), Some(shown)) = (&checked.model, checked.shown) {
        let summary = Summary::explore(model).expect("its worlds were explored before");
        let name = |state: &StateId| &model.states[state.0].name;
        all.extend(
            summary
                .edges
                .keys()
                .map(|(from, to)| edge(name(from), name(to))),
        );
        all.insert(finding("worlds", summary.worlds.to_string()));
        // Without claims of other lifecycles, nothing waits for others.
        if model.promises.iter().any(|promise| promise.claim.is_some()) {
            let waits = shown.waits.into_iter();
            all.extend(waits.map(|(state, due)| {
                let due = due.iter().map(|one| model.promises[*one].name.to_string());
                wait(name(&state), due.collect())
            }));
        }
    }
    all
}

/// The oracle's answer in the same shape.
fn oracle_findings(oracle: &Answer) -> BTreeSet<Finding> {
    let mut all = oracle.found.all.clone();
    if oracle.last() == Stage::Graph {
        all.extend(
            oracle
                .outline
                .caused
                .iter()
                .map(|(from, to)| edge(from, to)),
        );
        let waits = oracle.outline.waits.iter();
        all.extend(waits.map(|(state, due)| wait(state, due.clone())));
        all.insert(finding("worlds", oracle.worlds.to_string()));
    }
    all
}

fn finding(code: &str, item: String) -> Finding {
    Finding {
        code: code.to_owned(),
        item,
    }
}

/// All edges of one kind are one finding of the checker, and each is one of the oracle.
fn each(code: &'static str, items: &str) -> Vec<Finding> {
    let of_edges = ["LC030", "LC031"].contains(&code);
    let one = |item: &str| finding(code, item.to_owned());
    if of_edges {
        items.split(", ").map(one).collect()
    } else {
        vec![one(items)]
    }
}

fn edge(from: impl Display, to: impl Display) -> Finding {
    finding("edge", format!("{from} -> {to}"))
}

fn wait(state: impl Display, due: Vec<String>) -> Finding {
    finding("waits", format!("{state} for {}", due.join(", ")))
}

/// The stage that ended a check with these findings.
fn last(all: &BTreeSet<Finding>) -> Stage {
    let errors = all.iter().filter(|finding| !is_warning(&finding.code));
    errors
        .map(|finding| Stage::for_code(&finding.code))
        .min()
        .unwrap_or(Stage::Graph)
}

/// Compares the two; `wrong` makes the oracle forget a rule.
pub(crate) fn disagreement(text: &str, wrong: Option<Rule>) -> Option<Disagreement> {
    differ(&checked(text), &answer(text, wrong))
}

/// Compares two answers stage by stage, and ignores everything after an error.
pub(crate) fn differ(checker: &BTreeSet<Finding>, oracle: &Answer) -> Option<Disagreement> {
    // The core refused it while it read it for the oracle, which has no answer of its own.
    if oracle.refused {
        return None;
    }
    let stage = last(checker).min(oracle.last());
    let counts = |finding: &Finding| Stage::for_code(&finding.code) <= stage;
    let stands_for = |finding: &Finding| oracle.found.same.get(finding).unwrap_or(finding).clone();
    let mut checker: BTreeSet<Finding> = checker.iter().map(stands_for).collect();
    let mut oracle = oracle_findings(oracle);
    checker.retain(counts);
    oracle.retain(counts);
    let only_checker: BTreeSet<Finding> = checker.difference(&oracle).cloned().collect();
    let only_oracle: BTreeSet<Finding> = oracle.difference(&checker).cloned().collect();
    let agree = only_checker.is_empty() && only_oracle.is_empty();
    (!agree).then_some(Disagreement {
        stage,
        only_checker,
        only_oracle,
    })
}

/// Drops lines, several at once first, as long as the two still differ in the same way.
pub(crate) fn smallest(text: &str, differ: &Disagreement, wrong: Option<Rule>) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    loop {
        let before = lines.len();
        for count in [8, 4, 2, 1] {
            for at in (0..lines.len()).rev() {
                if at >= lines.len() {
                    continue;
                }
                let mut fewer = lines.clone();
                fewer.drain(at..(at + count).min(lines.len()));
                if still_differs(&fewer, differ, wrong) {
                    lines = fewer;
                }
            }
        }
        if lines.len() == before {
            return lines.join("\n");
        }
    }
}

fn still_differs(lines: &[&str], differ: &Disagreement, wrong: Option<Rule>) -> bool {
    let text = lines.join("\n");
    let readable = text.parse::<TokenStream>().is_ok() && !answer(&text, None).refused;
    readable && disagreement(&text, wrong).is_some_and(|other| other.key() == differ.key())
}
