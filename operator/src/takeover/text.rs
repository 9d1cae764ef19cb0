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
    let total = total(of(Severity::Blocks), of(Severity::Unread));
    let _infallible = writeln!(out, "{total}");
    let _infallible = writeln!(
        out,
        "\nWould change, according to `lifecycle-operator plan {part}`"
    );
    out
}

/// Returns the line below the findings: the number of those that block, and of the unread ones.
fn total(blocks: usize, unread: usize) -> String {
    let blocks = match blocks {
        0 if unread > 0 => "No finding blocks the takeover".to_owned(),
        0 => "Nothing blocks the takeover".to_owned(),
        1 => "1 finding blocks the takeover".to_owned(),
        _ => format!("{blocks} findings block the takeover"),
    };
    match unread {
        0 => format!("{blocks}."),
        1 => format!("{blocks}, but 1 check could not be made."),
        _ => format!("{blocks}, but {unread} checks could not be made."),
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_agrees_with_its_numbers() {
        for (blocks, unread, expected) in [
            (0, 0, "Nothing blocks the takeover."),
            (1, 0, "1 finding blocks the takeover."),
            (2, 0, "2 findings block the takeover."),
            (
                0,
                2,
                "No finding blocks the takeover, but 2 checks could not be made.",
            ),
            (
                1,
                1,
                "1 finding blocks the takeover, but 1 check could not be made.",
            ),
        ] {
            assert_eq!(total(blocks, unread), expected);
        }
    }
}
