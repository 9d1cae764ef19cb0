//! Findings for programs: one array, in the order of files and places. A file that could not be read is one without a code and a place.

use std::io::{self, Write};

use lifecycle_macros_core::errors::{Diagnostic, Fix, Severity};
use proc_macro2::Span;
use serde_json::{Value, json};

use super::{CheckOutcome, Error, SourcePosition};

pub(super) fn write(files: &[CheckOutcome], out: &mut impl Write) -> io::Result<()> {
    let of_file = |looked: &CheckOutcome| match looked {
        CheckOutcome::At(file) => {
            let path = file.path.to_string_lossy();
            let findings = file.findings.iter();
            findings.map(|found| finding(&path, found)).collect()
        }
        CheckOutcome::Failed(error) => vec![failure(error)],
    };
    let all: Vec<Value> = files.iter().flat_map(of_file).collect();
    writeln!(out, "{:#}", Value::Array(all))
}

fn failure(error: &Error) -> Value {
    json!({
        "file": error.path().to_string_lossy(),
        "code": null,
        "severity": "error",
        "item": "file",
        "message": error.in_one_line(),
        "span": null,
        "notes": [],
        "help": null,
        "fix": null,
    })
}

fn finding(path: &str, found: &Diagnostic) -> Value {
    let note = |(span, note): &(Option<Span>, String)| json!({ "message": note, "span": span.map(span_of) });
    json!({
        "file": path,
        "code": found.code,
        "severity": match found.severity {
            Severity::Error => "error",
            Severity::Warning => "warning",
        },
        "item": found.item,
        "message": found.message,
        "span": span_of(found.span),
        "notes": found.notes.iter().map(note).collect::<Vec<_>>(),
        "help": found.help,
        "fix": found.fix.as_ref().map(|fix| fix_of(found, fix)),
    })
}

/// Returns the edit of `--fix`: a text that replaces the token there, or the section with that
/// keyword.
fn fix_of(found: &Diagnostic, fix: &Fix) -> Value {
    match fix {
        Fix::Token(text) => json!({ "token": span_of(found.span), "text": text }),
        Fix::Section { keyword, whole, .. } => {
            json!({ "section": span_of(*keyword), "text": whole })
        }
    }
}

/// Lines and columns count from 1, columns in characters; the end is one past the last character. Bytes count from 0.
fn span_of(span: Span) -> Value {
    let place = |at: SourcePosition, byte: usize| json!({ "line": at.line, "column": at.column, "byte": byte });
    let bytes = span.byte_range();
    json!({
        "start": place(span.start().into(), bytes.start),
        "end": place(span.end().into(), bytes.end),
    })
}
