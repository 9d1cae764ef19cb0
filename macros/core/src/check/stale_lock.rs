//! The lock and the lifecycle disagree. A lock lists the items that a release leaves in a cluster,
//! one per line. They are its finalizer, states, conditions, fields, records, the objects that it
//! owns, and the values of everything that is held. An item that only the lock has was dropped or
//! renamed: objects of the older version still carry it, so `retired` declares its treatment. An
//! item that only the lifecycle has is not protected by any lock: `lifecycle-operator lock FILE.rs`
//! adds it, and the difference shows in a review. The page on changing a declaration explains how
//! to drop, rename and take back.
//!
//! This check runs last, if nothing else is found: a lifecycle is finished first, then locked.
//!
//! ```text
//! condition Hung: Gone Hung             // in the lock, and no longer in `status`: refused
//! retired { condition Hung; }           // it is taken out of every status
//! ```

use crate::ast::LockText;
use crate::errors::{Diagnostic, Sink};
use crate::lock::{self, Lines};
use crate::model::Locked;
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::Space;

pub(crate) const RULE: Rule = Rule {
    code: "LC090",
    name: "stale_lock",
    group: Group::Records,
    severity: Severity::Error,
    stage: Stage::Graph,
    run: Run::Worlds(check),
};

/// The item of the finding that a lock is behind.
pub(crate) const BEHIND: &str = "lock";
/// How many items are named that a lock lacks.
const NAMED: usize = 4;

fn check(space: &Space<'_>, sink: &mut Sink) {
    let Some(locked) = &space.lifecycle.lock else {
        return;
    };
    let LockText::Read(text) = &locked.text else {
        return;
    };
    let Ok(then) = lock::read(text) else {
        return;
    };
    let other = |item: &&String| item.starts_with("resource ") && !locked.lines.contains_key(*item);
    if let Some(other) = then.keys().find(other) {
        sink.push(of_another(locked, other));
        return;
    }
    for item in then.keys() {
        dropped(locked, item)
            .into_iter()
            .for_each(|found| sink.push(found));
    }
    behind(locked, &then)
        .into_iter()
        .for_each(|found| sink.push(found));
}

fn of_another(locked: &Locked, other: &str) -> Diagnostic {
    let message = format!("`{}` is the lock of `{other}`", locked.path);
    let help = "use a separate file for each lifecycle; a renamed resource is a new one, and its operator does not see the objects of the old one";
    RULE.finding(locked.span, other, message).help(help)
}

/// The lock has an item that the lifecycle neither has nor retires.
fn dropped(locked: &Locked, item: &str) -> Option<Diagnostic> {
    let now = &locked.lines;
    let is_retired = |item: &str| now.contains_key(&format!("retired {item}"));
    let path = &locked.path;
    if let Some(before) = item.strip_prefix("retired ") {
        if now.contains_key(item) || now.contains_key(before) {
            return None;
        }
        let message = format!(
            "`{path}` records that `{before}` was retired, but `retired` no longer lists it: what is left of it stays for good"
        );
        let help = format!(
            "write it again; once no cluster has an object that an operator of then has seen, take `{item}` out of `{path}`"
        );
        return Some(RULE.finding(locked.span, item, message).help(help));
    }
    if now.contains_key(item) || is_retired(item) {
        return None;
    }
    let (left, help) = left(item);
    let message = format!("`{path}` has `{item}`, and the lifecycle has it no more: {left}");
    let help = format!(
        "declare in `retired {{ .. }}` what happens to it: {help}; if no release ever had it, remove the line from `{path}`"
    );
    Some(RULE.finding(locked.span, item, message).help(help))
}

/// Returns the consequence of dropping an item, and the line to write.
fn left(item: &str) -> (&'static str, String) {
    let (noun, name) = item.split_once(' ').unwrap_or((item, ""));
    match noun {
        "finalizer" => (
            "no controller removes it, so the deletion of an object that has it never ends",
            "`finalizer;`".to_owned(),
        ),
        "record" => (
            "its annotation stays, and what was recorded there is forgotten",
            format!("`record {name};`, or `record {name} now other;` for one of the same type"),
        ),
        "condition" => (
            "clients that wait for it wait forever, and it stays unchanged where another field manager has written it too",
            format!("`condition {name};`, or `condition {name} now Other;`"),
        ),
        "field" => ("its last value may stay", format!("`field {name};`")),
        "state" => (
            "clients no longer find its name in a reason or a metric",
            format!("`state {name};`, or `state {name} now Other;`"),
        ),
        "value" => (
            "another value must release what was acquired in it, or it is left behind",
            format!("`value {name} now Other;`, or `value {name};`"),
        ),
        _ => (
            "its objects stay, and are no longer managed",
            format!(
                "`{} deleted;`, or `released` for objects that stay for good, or `kept` for what goes with its owner",
                input(item)
            ),
        ),
    }
}

/// An input as it stood in `observe`; in a lock its name stands behind the type, where a method of that name finds it.
fn input(item: &str) -> String {
    let words: Vec<&str> = item.split(' ').collect();
    match words.as_slice() {
        [mode, ty, name, rest @ ..] if !["by", "of"].contains(name) => {
            format!("{name}: {mode} {ty} {}", rest.join(" "))
        }
        _ => format!("old: {item}"),
    }
}

/// Reports items of the lifecycle that the lock lacks or describes differently.
fn behind(locked: &Locked, then: &Lines) -> Option<Diagnostic> {
    let news = locked
        .lines
        .iter()
        .filter_map(|(item, said)| match then.get(item) {
            None => Some(format!("`{item}` is new")),
            Some(before) if before != said => {
                Some(format!("`{item}` was `{before}` and is `{said}`"))
            }
            Some(_) => None,
        });
    let news: Vec<String> = news.collect();
    if news.is_empty() {
        return None;
    }
    let mut said = news[..news.len().min(NAMED)].join(", ");
    if news.len() > NAMED {
        said += &format!(", and {} more", news.len() - NAMED);
    }
    let message = format!(
        "the lock `{}` is outdated, and does not protect this: {said}",
        locked.path
    );
    let help = "run `lifecycle-operator lock FILE.rs` with the file of this lifecycle, and review the difference";
    Some(RULE.finding(locked.span, BEHIND, message).help(help))
}
