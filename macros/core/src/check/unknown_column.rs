//! A warning: a `column` shows a field of the status or a condition that the lifecycle does not
//! write, so it stays empty for ever; or its path is invalid. The compiler knows nothing about
//! fields outside the status.
//!
//! ```text
//! field last_backup: Option<String> from job;
//! column Backup ".status.lastBackupTime";                                      // warned: the field is called `lastBackup`
//! column Backup ".status.lastBackup";
//! column Ready ".status.conditions[?(@.type=='Ready')].status";
//! ```

use crate::errors::{Diagnostic, Sink};
use crate::model::{Column, Lifecycle};
use crate::rule::{Context, Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC165",
    name: "unknown_column",
    group: Group::Status,
    severity: Severity::Warning,
    stage: Stage::Declaration,
    run: Run::Check(check),
};

fn check(context: &Context<'_>, sink: &mut Sink) {
    let columns = context.lifecycle.columns.iter();
    columns
        .filter_map(|column| wrong(context.lifecycle, column))
        .for_each(|found| sink.push(found));
}

fn wrong(lifecycle: &Lifecycle, column: &Column) -> Option<Diagnostic> {
    let (path, name) = (column.json_path.as_deref()?, &column.name);
    let found = |message: String, help: String| {
        Some(
            RULE.finding(name.span(), name.to_string(), message)
                .help(help),
        )
    };
    if !path.starts_with('.') {
        let message = format!("the API server refuses the path `{path}` of column `{name}`");
        return found(message, format!("a path begins with a dot: `.{path}`"));
    }
    let field = first_of(path.strip_prefix(".status.")?);
    if field == "conditions" {
        let asked = condition(path)?;
        let known = conditions(lifecycle);
        if known.iter().any(|one| one == asked) {
            return None;
        }
        let message =
            format!("column `{name}` shows the condition `{asked}`, which is not written");
        return found(message, format!("written are {}", list(&known)));
    }
    let known = fields(lifecycle);
    if known.iter().any(|one| letters(one) == letters(field)) {
        return None;
    }
    let message = format!("column `{name}` shows `status.{field}`, which is not written");
    found(message, format!("written are {}", list(&known)))
}

/// Up to where the first part of a path ends.
fn first_of(path: &str) -> &str {
    path.split(['.', '[']).next().unwrap_or_default()
}

/// Returns the condition type in a filter `[?(@.type=='Ready')]`, if the path has this form.
fn condition(path: &str) -> Option<&str> {
    let (_, behind) = path.split_once("@.type==")?;
    let behind = behind.trim_start_matches(['\\', '"', '\'']);
    behind.split(['\\', '"', '\'']).next()
}

fn conditions(lifecycle: &Lifecycle) -> Vec<String> {
    let declared = lifecycle.conditions.iter().map(|one| one.name.to_string());
    let ready = lifecycle.ready.iter().map(|_| "Ready".to_owned());
    let of_tools = ["Reconciling", "Stalled"].map(str::to_owned);
    let of_tools = of_tools.into_iter().filter(|_| lifecycle.kstatus);
    declared.chain(ready).chain(of_tools).collect()
}

/// As documents spell them.
fn fields(lifecycle: &Lifecycle) -> Vec<String> {
    let declared = lifecycle
        .fields
        .iter()
        .map(|one| camel(&one.name.to_string()));
    let of_tools = lifecycle.kstatus.then(|| "observedGeneration".to_owned());
    declared
        .chain(of_tools)
        .chain(["conditions".to_owned()])
        .collect()
}

/// How serde mostly spells a name.
fn camel(name: &str) -> String {
    let mut words = name.split('_');
    let mut text = words.next().unwrap_or_default().to_owned();
    for word in words {
        let mut rest = word.chars();
        text.extend(rest.next().map(|first| first.to_ascii_uppercase()));
        text.push_str(rest.as_str());
    }
    text
}

/// Returns the name without the differences in spelling that do not count.
fn letters(name: &str) -> String {
    let letters = name.chars().filter(|c| *c != '_');
    letters.map(|c| c.to_ascii_lowercase()).collect()
}

fn list(names: &[String]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    quoted.join(", ")
}
