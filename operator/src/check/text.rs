//! Findings for people: code, text, excerpt of the source, notes and help. Beside output that may
//! be stored or compared, it also prints a hint on further information.

use std::io::{self, Write};

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use lifecycle_macros_core::errors::{Diagnostic, Severity};

use super::{CheckOutcome, Checked, explain};

pub(super) fn write(
    all: &[CheckOutcome],
    colours: bool,
    (out, complaints): (&mut impl Write, &mut impl Write),
) -> io::Result<()> {
    let renderer = match colours {
        true => Renderer::styled(),
        false => Renderer::plain(),
    };
    let mut files = Vec::new();
    for looked in all {
        match looked {
            CheckOutcome::At(file) => files.push(file),
            CheckOutcome::Failed(error) => writeln!(complaints, "{}", error.in_one_line())?,
        }
    }
    for file in &files {
        for finding in &file.findings {
            writeln!(out, "{}\n", renderer.render(&[group(file, finding)]))?;
        }
    }
    writeln!(out, "{}", summary(&files))?;
    let findings = files.iter().flat_map(|file| &file.findings);
    match explain::hint(findings) {
        Some(hint) => writeln!(complaints, "{hint}"),
        None => Ok(()),
    }
}

fn group<'a>(file: &'a Checked, finding: &'a Diagnostic) -> Group<'a> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let primary = AnnotationKind::Primary.span(finding.span.byte_range());
    let elsewhere = finding.notes.iter().filter_map(|(span, note)| {
        let span = (*span)?.byte_range();
        Some(AnnotationKind::Context.span(span).label(note))
    });
    let excerpt = Snippet::source(&file.source)
        .path(file.path.to_string_lossy())
        .annotation(primary)
        .annotations(elsewhere);
    let notes = finding.notes.iter().filter(|(span, _)| span.is_none());
    let notes = notes.map(|(_, note)| Level::NOTE.message(note));
    let help = finding.help.iter().map(|help| Level::HELP.message(help));
    level
        .primary_title(&finding.message)
        .id(finding.code)
        .element(excerpt)
        .elements(notes)
        .elements(help)
}

fn summary(files: &[&Checked]) -> String {
    let counted = |count: usize, word: &str| match count {
        1 => format!("1 {word}"),
        _ => format!("{count} {word}s"),
    };
    let total = |severity| files.iter().map(|file| file.count(severity)).sum();
    let lifecycles = files.iter().map(|file| file.lifecycles).sum();
    format!(
        "checked {} in {}: {}, {}",
        counted(lifecycles, "lifecycle"),
        counted(files.len(), "file"),
        counted(total(Severity::Error), "error"),
        counted(total(Severity::Warning), "warning"),
    )
}
