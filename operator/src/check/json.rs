//! Findings for programs: one array, in the order of files and places.

use std::io::{self, Write};

use lifecycle_macros_core::errors::{Diagnostic, Severity};
use proc_macro2::Span;
use serde_json::{Value, json};

use super::{Checked, SourcePosition};

pub(super) fn write(files: &[Checked], out: &mut impl Write) -> io::Result<()> {
    let of_file = |file: &Checked| {
        let path = file.path.to_string_lossy().into_owned();
        let findings = file.findings.iter();
        findings
            .map(move |found| finding(&path, found))
            .collect::<Vec<_>>()
    };
    let all: Vec<Value> = files.iter().flat_map(of_file).collect();
    writeln!(out, "{:#}", Value::Array(all))
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
    })
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
