//! Findings as text for people: two lines each. The first line is complete without the second.

use std::fmt::Write;

use super::finding::{Finding, Severity};

/// The first part, up to the plan of this part of the operator.
pub(crate) fn text(findings: &[Finding], part: &str) -> String {
    let mut out = "In the way\n".to_owned();
    for finding in findings {
        let (object, found) = (&finding.object, &finding.found);
        let _infallible = writeln!(
            out,
            "  {} {object}: {found}",
            severity_label(finding.severity)
        );
        if !finding.todo.is_empty() {
            let _infallible = writeln!(out, "         do: {}", finding.todo);
        }
    }
    let of = |severity| {
        findings
            .iter()
            .filter(|one| one.severity == severity)
            .count()
    };
    let _infallible = match (of(Severity::Blocks), of(Severity::Unread)) {
        (0, 0) => writeln!(out, "Nothing blocks."),
        (1, 0) => writeln!(out, "1 blocks."),
        (blocks, 0) => writeln!(out, "{blocks} block."),
        (blocks, unread) => writeln!(out, "{blocks} block, and {unread} cannot be read."),
    };
    let _infallible = writeln!(
        out,
        "\nWould change, according to `lifecycle-operator plan {part}`"
    );
    out
}

/// Returns the second part, for a failed plan.
pub(crate) fn unplanned(why: &str) -> String {
    format!("  unread {why}\n")
}

fn severity_label(severity: Severity) -> &'static str {
    match severity {
        Severity::Blocks => "blocks",
        Severity::Unread => "unread",
        Severity::Note => "note  ",
    }
}
