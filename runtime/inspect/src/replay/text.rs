//! Differences between a recording and a version, as text for people.

use std::fmt::Write;

use crate::replay::told::{Difference, ReplayReport, Then, Undeclared};
use crate::text::counted;

/// Returns the result as text: the decisions that differ, and the limits of the comparison.
pub fn text(held: &ReplayReport) -> String {
    let mut out = String::new();
    for difference in &held.differences {
        write_difference(difference, &mut out);
    }
    undeclared(&held.undeclared, "this version does not declare", &mut out);
    undeclared(
        &held.ruled_out,
        "it was ruled out when it was recorded",
        &mut out,
    );
    let _infallible = writeln!(out, "{}", summary(held));
    let lists = [
        (
            "Taken as recorded, for the file does not have what decides it",
            &held.as_recorded,
        ),
        ("Not replayed", &held.not_held),
        ("To know", &held.notes),
    ];
    for (heading, lines) in lists.into_iter().filter(|(_, lines)| !lines.is_empty()) {
        let _infallible = writeln!(out, "{heading}:");
        for line in lines {
            let _infallible = writeln!(out, "  {line}");
        }
    }
    for flaw in &held.flaws {
        let _infallible = writeln!(out, "Line {} cannot be read: {}", flaw.line, flaw.why);
    }
    out
}

fn write_difference(difference: &Difference, out: &mut String) {
    let again = match difference.again {
        0 => String::new(),
        again => format!(
            ", and in {}",
            counted(again, "more reconciliation", "more reconciliations")
        ),
    };
    let (object, at) = (&difference.object, &difference.at);
    let _infallible = writeln!(out, "{object}, {at}{again}");
    for fact in &difference.facts {
        let _infallible = writeln!(
            out,
            "    {}: {} -> {}{}",
            fact.fact,
            fact.then,
            fact.now,
            because(&fact.says)
        );
    }
    for (what, then) in [("state", &difference.state), ("does", &difference.next)] {
        if let Some(Then { then, now, why }) = then {
            let why = because(why);
            let _infallible = writeln!(out, "    {what}: {then} -> {now}{why}");
        }
    }
    out.push('\n');
}

fn because(why: &str) -> String {
    match why {
        "" => String::new(),
        why => format!(" ({})", why.replace('\n', "; ")),
    }
}

fn undeclared(all: &[Undeclared], what: &str, out: &mut String) {
    for Undeclared { object, at, why } in all {
        let _infallible = writeln!(out, "{object}, {at}\n    {what}: {why}\n");
    }
}

fn summary(held: &ReplayReport) -> String {
    let passes = counted(held.passes, "pass", "passes");
    let objects = counted(held.objects, "object", "objects");
    let other: usize = held.differences.iter().map(|one| 1 + one.again).sum();
    let said = match (other, held.undeclared.is_empty()) {
        (0, true) => "this version decides the same".to_owned(),
        (0, false) => "this version decides the same, and does not allow what followed".to_owned(),
        (other, _) => format!("this version decides otherwise in {other} of them"),
    };
    format!("{passes} of {objects} replayed: {said}.")
}
