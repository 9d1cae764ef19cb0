//! The locks of lifecycles: their paths, their contents, and how they are written. Other code
//! decides the items of a lock, and which of them may go.

use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};

use lifecycle_generate::whole_file;
use lifecycle_macros_core::errors::{Diagnostic, Severity};
use lifecycle_macros_core::{LockText, check_locked, is_behind, lock as locks};
use proc_macro2::TokenStream;

use super::{CheckOutcome, Checked, Error, Source, Verdict, named, text as shown};
use crate::args;

/// Result of writing one lock.
enum Written {
    Current(PathBuf),
    Anew(PathBuf),
    Behind(PathBuf),
    /// It would lose an item, or the lifecycle has errors.
    Refused(Vec<Diagnostic>),
    Failed(Error),
}

/// Writes the locks of all lifecycles that name one, or reports the outdated ones.
///
/// # Errors
/// If `out` or `complaints` cannot be written to.
pub fn lock(
    options: &args::Lock,
    out: &mut impl Write,
    complaints: &mut impl Write,
) -> io::Result<Verdict> {
    let sources = named::sources(&options.paths);
    let found = sources.iter().filter_map(Source::found);
    let fragments: Vec<_> = found.flat_map(|found| found.fragments.clone()).collect();
    let (mut worst, mut locks) = (Verdict::Clean, 0);
    for source in sources {
        let all = of_file(&source, &fragments, options.check);
        locks += all.len();
        let mut findings = Vec::new();
        for written in all {
            worst = worst.max(written.verdict());
            match written {
                Written::Refused(of_one) => findings.extend(of_one),
                Written::Current(_)
                | Written::Anew(_)
                | Written::Behind(_)
                | Written::Failed(_) => written.print_status((&mut *out, &mut *complaints))?,
            }
        }
        worst = worst.max(unwritten(source, findings, (&mut *out, &mut *complaints))?);
    }
    if locks == 0 && worst == Verdict::Clean {
        writeln!(
            complaints,
            "no lifecycle of these files has a lock: write `lock \"name.lock\";` below its first line"
        )?;
        return Ok(Verdict::Errors);
    }
    Ok(worst)
}

/// Reads the lock that a lifecycle of this file names.
pub(super) fn text(file: &Path, body: &TokenStream) -> LockText {
    let Some(path) = path(file, body) else {
        return LockText::Unread;
    };
    match std::fs::read_to_string(path) {
        Ok(text) => LockText::Read(text),
        Err(why) => LockText::Unreadable(why.to_string()),
    }
}

fn path(file: &Path, body: &TokenStream) -> Option<PathBuf> {
    let (path, _) = locks::named(body)?;
    Some(file.parent().unwrap_or(Path::new("")).join(path))
}

fn of_file(source: &Source, fragments: &[TokenStream], check: bool) -> Vec<Written> {
    let bodies = source
        .found()
        .into_iter()
        .flat_map(|found| &found.lifecycles);
    let with_lock = bodies.filter_map(|body| Some((body, path(source.path(), body)?)));
    let written = with_lock.map(|(body, path)| write_lock(body, fragments, (path, check)));
    written.collect()
}

fn write_lock(
    body: &TokenStream,
    fragments: &[TokenStream],
    (path, check): (PathBuf, bool),
) -> Written {
    let before = match std::fs::read_to_string(&path) {
        Ok(text) => Some(text),
        Err(why) if why.kind() == io::ErrorKind::NotFound => None,
        Err(source) => return Written::Failed(Error::Read { path, source }),
    };
    let there = before.clone().unwrap_or_default();
    let checked = check_locked(body.clone(), fragments, LockText::Read(there));
    let stops = |found: &Diagnostic| found.severity == Severity::Error && !is_behind(found);
    let stopping: Vec<_> = checked.diagnostics.into_iter().filter(stops).collect();
    let Some(ast) = checked.ast.filter(|_| stopping.is_empty()) else {
        return Written::Refused(stopping);
    };
    let now = locks::text(&ast);
    if before.as_ref() == Some(&now) {
        return Written::Current(path);
    }
    if check {
        return Written::Behind(path);
    }
    let before = before.as_deref().map(str::as_bytes);
    match whole_file::replace(&path, before, now.as_bytes()) {
        Ok(()) => Written::Anew(path),
        Err(source) => Written::Failed(Error::Write { path, source }),
    }
}

/// Reports the reasons why locks of a file are not written, and the unreadable parts of the file.
fn unwritten(
    source: Source,
    mut findings: Vec<Diagnostic>,
    streams: (&mut impl Write, &mut impl Write),
) -> io::Result<Verdict> {
    let looked = match source {
        Source::Failed(error) => {
            let (_, complaints) = streams;
            writeln!(complaints, "{}", error.in_one_line())?;
            return Ok(Verdict::Unreadable);
        }
        Source::Read {
            path, text, found, ..
        } => {
            let is_damaged = found.is_err();
            let lifecycles = found.as_ref().map_or(0, |found| found.lifecycles.len());
            findings.extend(found.err().map(|damage| *damage));
            if findings.is_empty() {
                return Ok(Verdict::Clean);
            }
            CheckOutcome::At(Checked {
                path,
                source: text,
                lifecycles,
                is_damaged,
                findings,
            })
        }
    };
    let verdict = looked.verdict();
    shown::write(&[looked], io::stdout().is_terminal(), streams)?;
    Ok(verdict)
}

impl Written {
    fn verdict(&self) -> Verdict {
        match self {
            Self::Current(_) | Self::Anew(_) => Verdict::Clean,
            Self::Behind(_) | Self::Refused(_) => Verdict::Errors,
            Self::Failed(_) => Verdict::Unreadable,
        }
    }

    fn print_status(
        &self,
        (out, complaints): (&mut impl Write, &mut impl Write),
    ) -> io::Result<()> {
        match self {
            Self::Current(path) => writeln!(out, "{} is current", path.display()),
            Self::Anew(path) => writeln!(out, "{} is written", path.display()),
            Self::Behind(path) => writeln!(out, "{} is behind", path.display()),
            Self::Failed(error) => writeln!(complaints, "{}", error.in_one_line()),
            Self::Refused(_) => Ok(()),
        }
    }
}
