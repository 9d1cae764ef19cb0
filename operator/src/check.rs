//! Checks every `lifecycle!` of Rust source files without rustc, for editors and hooks.
//! Knows how findings are written; what is wrong with a lifecycle is decided elsewhere.

mod json;
mod text;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use lifecycle_macros_core::errors::{Diagnostic, Severity};
use proc_macro2::{LexError, TokenStream};
use thiserror::Error;

use crate::args;
use lifecycle_runtime::cause;

/// How a check ended, worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No errors; there may be warnings.
    Clean = 0,
    /// At least one lifecycle is refused.
    Errors = 1,
    /// At least one file could not be read; the others were checked.
    Unreadable = 2,
}

/// A file with what was found in it.
struct Checked {
    path: PathBuf,
    source: String,
    lifecycles: usize,
    findings: Vec<Diagnostic>,
}

/// Why a file could not be checked.
#[derive(Debug, Error)]
enum Error {
    #[error("{} cannot be read", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("{} is no Rust source at line {}, column {}: brackets or quotes do not match", path.display(), at.line, at.column)]
    Tokens { path: PathBuf, at: SourcePosition },
}

/// A place in a file: line and column count from 1, columns in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct SourcePosition {
    line: usize,
    column: usize,
}

impl From<proc_macro2::LineColumn> for SourcePosition {
    fn from(at: proc_macro2::LineColumn) -> Self {
        Self {
            line: at.line,
            column: at.column + 1,
        }
    }
}

/// Checks files and writes what was found to `out`, and files that could not be read to `complaints`.
///
/// # Errors
/// If `out` or `complaints` cannot be written to.
pub fn run(
    options: &args::Check,
    out: &mut impl Write,
    complaints: &mut impl Write,
) -> io::Result<Verdict> {
    let (mut checked, mut verdict) = (Vec::new(), Verdict::Clean);
    for path in &options.files {
        match check(path) {
            Ok(file) => {
                verdict = verdict.max(file.verdict());
                checked.push(file);
            }
            Err(error) => {
                verdict = Verdict::Unreadable;
                writeln!(complaints, "{}", cause::in_one_line(&error))?;
            }
        }
    }
    match options.output {
        args::Output::Text => text::write(&checked, io::stdout().is_terminal(), out)?,
        args::Output::Json => json::write(&checked, out)?,
    }
    Ok(verdict)
}

fn check(path: &Path) -> Result<Checked, Error> {
    let read = |source| Error::Read {
        path: path.to_owned(),
        source,
    };
    let source = std::fs::read_to_string(path).map_err(read)?;
    // A byte order mark would shift every place by its length.
    let source = source
        .strip_prefix('\u{feff}')
        .unwrap_or(&source)
        .to_owned();
    let tokens: TokenStream = source.parse().map_err(|error: LexError| Error::Tokens {
        path: path.to_owned(),
        at: error.span().start().into(),
    })?;
    let bodies = lifecycle_macros_core::find(tokens);
    let lifecycles = bodies.len();
    let findings = bodies
        .into_iter()
        .flat_map(|body| lifecycle_macros_core::check(body).diagnostics)
        .collect();
    Ok(Checked {
        path: path.to_owned(),
        source,
        lifecycles,
        findings,
    })
}

impl Checked {
    fn verdict(&self) -> Verdict {
        match self.count(Severity::Error) {
            0 => Verdict::Clean,
            _ => Verdict::Errors,
        }
    }

    fn count(&self, severity: Severity) -> usize {
        let of_severity = self.findings.iter().filter(|f| f.severity == severity);
        of_severity.count()
    }
}

#[cfg(test)]
mod tests;
