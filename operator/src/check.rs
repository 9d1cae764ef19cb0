//! Checks every `lifecycle!` of Rust source files without rustc, for editors and hooks.
//! Knows how findings are written; what is wrong with a lifecycle is decided elsewhere.

mod json;
mod text;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use lifecycle_macros_core::errors::{Diagnostic, Severity};
use lifecycle_runtime::cause;
use thiserror::Error;

use crate::args;

/// How a check ended, worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No errors; there may be warnings.
    Clean = 0,
    /// At least one lifecycle is refused.
    Errors = 1,
    /// At least one file could not be read, or is no Rust; the others were checked.
    Unreadable = 2,
}

/// What became of one file.
enum Looked {
    At(Checked),
    /// It could not be read.
    Failed(Error),
}

/// A file with what was found in it.
struct Checked {
    path: PathBuf,
    source: String,
    lifecycles: usize,
    /// Brackets or quotes do not match, so that nothing was looked for.
    is_damaged: bool,
    findings: Vec<Diagnostic>,
}

/// Why a file could not be checked.
#[derive(Debug, Error)]
enum Error {
    #[error("{} cannot be read", path.display())]
    Read { path: PathBuf, source: io::Error },
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

/// Checks files and writes what was found to `out`; to people it complains of files that could not be read on `complaints`, programs are told of them in `out` too.
///
/// # Errors
/// If `out` or `complaints` cannot be written to.
pub fn run(
    options: &args::Check,
    out: &mut impl Write,
    complaints: &mut impl Write,
) -> io::Result<Verdict> {
    let looked: Vec<Looked> = options.files.iter().map(|path| look(path)).collect();
    match options.output {
        args::Output::Text => {
            text::write(&looked, io::stdout().is_terminal(), (out, complaints))?;
        }
        args::Output::Json => json::write(&looked, out)?,
    }
    let verdicts = looked.iter().map(Looked::verdict);
    Ok(verdicts.max().unwrap_or(Verdict::Clean))
}

fn look(path: &Path) -> Looked {
    let source = match std::fs::read_to_string(path) {
        Ok(source) => source,
        Err(source) => {
            let path = path.to_owned();
            return Looked::Failed(Error::Read { path, source });
        }
    };
    // A byte order mark would shift every place by its length.
    let source = source.strip_prefix('\u{feff}').unwrap_or(&source);
    let found = lifecycle_macros_core::find_in(source);
    let (bodies, damage) = match found {
        Ok(bodies) => (bodies, None),
        Err(damage) => (Vec::new(), Some(*damage)),
    };
    let (lifecycles, is_damaged) = (bodies.len(), damage.is_some());
    let of_bodies = bodies
        .into_iter()
        .flat_map(|body| lifecycle_macros_core::check(body).diagnostics);
    Looked::At(Checked {
        path: path.to_owned(),
        source: source.to_owned(),
        lifecycles,
        is_damaged,
        findings: damage.into_iter().chain(of_bodies).collect(),
    })
}

impl Looked {
    fn verdict(&self) -> Verdict {
        match self {
            Self::At(file) => file.verdict(),
            Self::Failed(_) => Verdict::Unreadable,
        }
    }
}

impl Error {
    fn path(&self) -> &Path {
        match self {
            Self::Read { path, .. } => path,
        }
    }

    fn in_one_line(&self) -> String {
        cause::in_one_line(self)
    }
}

impl Checked {
    fn verdict(&self) -> Verdict {
        match self.count(Severity::Error) {
            _ if self.is_damaged => Verdict::Unreadable,
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
