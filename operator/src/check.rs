//! Checks every `lifecycle!` of Rust source files without rustc, for editors and hooks. It only
//! writes the findings; the checker is elsewhere.

mod diff;
mod explain;
mod fix;
mod json;
mod locks;
mod named;
mod text;

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use lifecycle_generate::whole_file;
use lifecycle_macros_core::errors::{Diagnostic, Severity};
use lifecycle_macros_core::{Crowded, MacroBodies, check_locked};
use lifecycle_runtime::cause;
use thiserror::Error;

use crate::args;
pub use locks::lock;

/// How a check ended, worst last.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// No errors; there may be warnings.
    Clean = 0,
    /// At least one lifecycle is refused.
    Errors = 1,
    /// At least one file could not be read, or is no Rust, or nothing is declared where it should be; the others were checked.
    Unreadable = 2,
}

impl From<Verdict> for ExitCode {
    fn from(verdict: Verdict) -> Self {
        Self::from(verdict as u8)
    }
}

/// Result of checking one file.
enum CheckOutcome {
    At(Checked),
    /// It could not be read.
    Failed(Arc<Error>),
}

/// File with its findings.
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
    #[error("{} cannot be written", path.display())]
    Write {
        path: PathBuf,
        source: whole_file::Error,
    },
    #[error("{} declares nothing: a `lifecycle! {{ .. }}` or `fragment! {{ .. }}` was expected in it", path.display())]
    NothingInFile { path: PathBuf },
    #[error("{} declares nothing: a `lifecycle! {{ .. }}` or `fragment! {{ .. }}` was expected in one of its `.rs` files; hidden folders and `target` are not looked into", path.display())]
    NothingInFolder { path: PathBuf },
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

/// Checks files and writes the findings to `out`. For people, it reports unreadable files on
/// `complaints`; for programs, it reports them in `out` too.
///
/// # Errors
/// If `out` or `complaints` cannot be written to.
pub fn run(
    options: &args::Check,
    out: &mut impl Write,
    complaints: &mut impl Write,
) -> io::Result<Verdict> {
    if let Some(code) = &options.explain {
        return explain::explain(code, out, complaints);
    }
    let mut sources = named::sources(&options.paths);
    let mut stands = Verdict::Clean;
    if options.fix && options.dry_run {
        // A fix that is only shown leaves the finding in place.
        stands = verdict(&check_files(&sources));
        fix::show(&fix::fixed(&mut sources), out)?;
    } else if options.fix {
        let fixed = fix::fixed(&mut sources);
        fix::write(&fixed, &mut sources, complaints)?;
    }
    let looked = check_files(&sources);
    match options.output {
        args::Output::Text => {
            text::write(&looked, io::stdout().is_terminal(), (out, complaints))?;
        }
        args::Output::Json => json::write(&looked, out)?,
    }
    Ok(verdict(&looked).max(stands))
}

/// The worst of all files.
fn verdict(looked: &[CheckOutcome]) -> Verdict {
    let verdicts = looked.iter().map(CheckOutcome::verdict);
    verdicts.max().unwrap_or(Verdict::Clean)
}

/// A file before anything in it is checked.
enum Source {
    Read {
        path: PathBuf,
        text: String,
        /// It begins with a byte order mark, which the text has not.
        is_marked: bool,
        /// Declarations of the file, or the place where it is damaged.
        found: Result<MacroBodies, Box<Diagnostic>>,
    },
    Failed(Arc<Error>),
}

/// Byte order mark that some editors put at the start of a file. It would shift every position by
/// its length.
const BYTE_ORDER_MARK: char = '\u{feff}';

impl Source {
    fn read(path: &Path) -> Self {
        let path = path.to_owned();
        match std::fs::read_to_string(&path) {
            Ok(text) => match text.strip_prefix(BYTE_ORDER_MARK) {
                Some(text) => Self::parse(path, text.to_owned(), true),
                None => Self::parse(path, text, false),
            },
            Err(source) => Self::Failed(Arc::new(Error::Read { path, source })),
        }
    }

    fn parse(path: PathBuf, text: String, is_marked: bool) -> Self {
        Self::Read {
            path,
            is_marked,
            found: lifecycle_macros_core::find_in(&text),
            text,
        }
    }

    fn path(&self) -> &Path {
        match self {
            Self::Read { path, .. } => path,
            Self::Failed(error) => error.path(),
        }
    }

    fn found(&self) -> Option<&MacroBodies> {
        match self {
            Self::Read { found, .. } => found.as_ref().ok(),
            Self::Failed(_) => None,
        }
    }
}

/// Checks each file with the fragments of all files. A finding in a fragment is reported in the
/// file that declares the fragment.
fn check_files(sources: &[Source]) -> Vec<CheckOutcome> {
    let found = || sources.iter().filter_map(Source::found);
    let fragments: Vec<_> = found().flat_map(|found| found.fragments.clone()).collect();
    let mut findings: Vec<Vec<Diagnostic>> = vec![Vec::new(); sources.len()];
    for (at, source) in sources.iter().enumerate() {
        let Some(found) = source.found() else {
            continue;
        };
        let of_fragments = found.fragments.iter().cloned();
        let of_fragments =
            of_fragments.flat_map(|body| lifecycle_macros_core::check_fragment(body).diagnostics);
        let of_lifecycles = found.lifecycles.iter().cloned();
        let of_lifecycles = of_lifecycles.flat_map(|body| {
            let lock = locks::text(source.path(), &body);
            let checked = check_locked(body, &fragments, lock);
            lifecycle_macros_core::errors::deduplicate(checked.diagnostics)
        });
        let crowded = found.crowded.iter().map(Crowded::finding);
        for finding in of_fragments.chain(of_lifecycles).chain(crowded) {
            let file = finding.span.file();
            let home = sources.iter().position(|source| is_of(source, &file));
            findings[home.unwrap_or(at)].push(finding);
        }
    }
    let looked = sources.iter().zip(findings);
    looked
        .map(|(source, findings)| match source {
            Source::Read {
                path, text, found, ..
            } => CheckOutcome::At(checked((path.as_path(), text.as_str()), found, findings)),
            Source::Failed(error) => CheckOutcome::Failed(Arc::clone(error)),
        })
        .collect()
}

/// Returns true if the file was read under this name.
fn is_of(source: &Source, file: &str) -> bool {
    let bodies = source.found().into_iter();
    let mut bodies = bodies.flat_map(|found| found.lifecycles.iter().chain(&found.fragments));
    let tokens = bodies.find_map(|body| body.clone().into_iter().next());
    tokens.is_some_and(|token| token.span().file() == file)
}

fn checked(
    (path, source): (&Path, &str),
    found: &Result<MacroBodies, Box<Diagnostic>>,
    mut findings: Vec<Diagnostic>,
) -> Checked {
    let (lifecycles, damage) = match found {
        Ok(found) => (found.lifecycles.len(), None),
        Err(damage) => (0, Some(Diagnostic::clone(damage))),
    };
    let is_damaged = damage.is_some();
    findings.extend(damage);
    Checked {
        path: path.to_owned(),
        source: source.to_owned(),
        lifecycles,
        is_damaged,
        findings,
    }
}

impl CheckOutcome {
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
            Self::Read { path, .. }
            | Self::Write { path, .. }
            | Self::NothingInFile { path }
            | Self::NothingInFolder { path } => path,
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
