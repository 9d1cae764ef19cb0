//! A warning: the API server rejects a reason, the type of a condition or the name of an event. The
//! whole status is rejected with it, and the object reports nothing at all.
//!
//! | what | how it is written |
//! | --- | --- |
//! | a reason | letters, digits, `_`, `,` and `:`, first a letter, last none of `,` and `:`; at most 1,024 |
//! | the type of a condition | letters, digits, `-`, `_` and `.`, first and last a letter or a digit; at most 316 |
//! | the name of an event | not empty, at most 128 bytes |
//!
//! If no reason is written, the name of the condition serves as the reason.
//!
//! ```text
//! False "name taken" when service == Foreign;      // warned: a reason has no blanks
//! False "NameTaken" "name taken" when service == Foreign;
//! ```

use proc_macro2::Span;

use crate::errors::{Diagnostic, Sink};
use crate::model::{Clause, Condition, ConditionStatus};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC164",
    name: "misspelt_reason",
    group: Group::Status,
    severity: Severity::Warning,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

const LONGEST_REASON: usize = 1_024;
const LONGEST_TYPE: usize = 316;
const LONGEST_EVENT: usize = 128;

fn check(context: &Context<'_>, sink: &mut Sink) {
    let lifecycle = context.lifecycle;
    for condition in &lifecycle.conditions {
        sink_all(of_condition(condition), sink);
    }
    if let Some(ready) = &lifecycle.ready
        && let Some(reason) = ready.reason.as_deref().filter(|reason| !is_reason(reason))
    {
        sink.push(refused("ready", ready.span, reason));
    }
    if let Some(implicit) = &lifecycle.implicit
        && !is_reason(&implicit.reason)
    {
        let condition = &lifecycle.conditions[implicit.condition.0].name;
        sink.push(refused("implicit", condition.span(), &implicit.reason));
    }
}

fn sink_all(found: Option<Diagnostic>, sink: &mut Sink) {
    found.into_iter().for_each(|found| sink.push(found));
}

/// The first thing that is wrong with one.
fn of_condition(condition: &Condition) -> Option<Diagnostic> {
    let (text, span) = (condition.name.to_string(), condition.name.span());
    let written = condition.clauses.iter().any(Clause::is_written);
    if written && !is_type(&text) {
        let message = format!("the API server refuses `{text}` as the type of a condition");
        let help = "write letters and digits, in between also `_`, at most 316";
        return Some(RULE.finding(span, text, message).help(help));
    }
    let mut clauses = condition.clauses.iter();
    clauses.find_map(|clause| {
        let reason = match (&clause.reason, clause.is_written()) {
            (Some(reason), _) => Some(reason.as_str()),
            (None, true) => Some(text.as_str()),
            (None, false) => None,
        };
        if let Some(reason) = reason.filter(|reason| !is_reason(reason)) {
            return Some(refused(&text, clause.span, reason));
        }
        let event = clause.event.as_ref()?;
        (event.is_empty() || event.len() > LONGEST_EVENT).then(|| {
            let message = format!(
                "the API server refuses the name of the event of `{text}`: it has {} bytes",
                event.len()
            );
            let help = "write one to 128 bytes";
            RULE.finding(clause.span, text.clone(), message).help(help)
        })
    })
}

fn refused(item: &str, span: Span, reason: &str) -> Diagnostic {
    let shown: String = reason.chars().take(60).collect();
    let message = format!(
        "the API server refuses the reason {shown:?} of `{item}`, and with it the whole status"
    );
    let words: String = reason
        .split(|c: char| !c.is_ascii_alphanumeric())
        .map(capitalized)
        .collect();
    let help = if is_reason(&words) {
        format!("write one word, {words:?}, and a sentence as the message behind it")
    } else {
        "write one word of letters and digits that begins with a letter, and a sentence as the message behind it".to_owned()
    };
    RULE.finding(span, item, message).help(help)
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|first| first.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}

/// `^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$`
fn is_reason(text: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "_,:".contains(c);
    text.len() <= LONGEST_REASON
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
        && text.chars().all(part)
        && !text.ends_with([',', ':'])
}

fn is_type(text: &str) -> bool {
    let end = |c: char| c.is_ascii_alphanumeric();
    let part = |c: char| end(c) || "-_.".contains(c);
    let ends = text.starts_with(end) && text.ends_with(end);
    text.len() <= LONGEST_TYPE && ends && text.chars().all(part)
}

impl Clause {
    /// Returns true if the clause writes a condition.
    fn is_written(&self) -> bool {
        match self.status {
            ConditionStatus::True | ConditionStatus::False | ConditionStatus::Unknown => true,
            ConditionStatus::Absent | ConditionStatus::Omit => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_one_word() {
        for good in ["A", "a1", "Name_Taken", "a:b", "a,b", &"a".repeat(1_024)] {
            assert!(is_reason(good), "{good}");
        }
        for bad in [
            "",
            "1a",
            "_a",
            "a b",
            "a:",
            "a,",
            "a-b",
            "Grün",
            &"a".repeat(1_025),
        ] {
            assert!(!is_reason(bad), "{bad}");
        }
    }

    #[test]
    fn a_type_begins_and_ends_with_a_letter_or_a_digit() {
        assert!(is_type("Ready") && is_type("A_b") && is_type("1"));
        assert!(!is_type("Ready_") && !is_type("_Ready") && !is_type("Bereit_für") && !is_type(""));
    }
}
