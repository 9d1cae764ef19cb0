//! Writes the exact fixes of findings into the files, one finding after another. A fix is kept only
//! if the file can still be read and the finding is gone. Everything else of a file stays as it is,
//! to the byte.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lifecycle_generate::whole_file;
use lifecycle_macros_core::errors::{Diagnostic, Fix, Severity};
use lifecycle_macros_core::section_at;
use proc_macro2::TokenStream;

use super::{BYTE_ORDER_MARK, CheckOutcome, Checked, Error, Source, check_files, diff};

/// A file that becomes another one.
pub(super) struct Fixed {
    path: PathBuf,
    before: String,
    after: String,
    is_marked: bool,
    /// Codes of the fixed findings, one entry per fix.
    codes: Vec<&'static str>,
}

/// A finding, known again after another one is fixed: by its code and its text.
type Known = (PathBuf, &'static str, String);

/// Fixes all fixable findings. Afterwards `sources` contain the new contents of the files.
pub(super) fn fixed(sources: &mut [Source]) -> Vec<Fixed> {
    let mut all: Vec<Fixed> = sources.iter().filter_map(Fixed::unchanged).collect();
    let mut in_vain: BTreeSet<Known> = BTreeSet::new();
    let mut looked = check_files(sources);
    while let Some((at, found)) = next(&looked, &in_vain) {
        let known = known(sources[at].path(), &found);
        let Some(changed) = changed(&sources[at], &found) else {
            in_vain.insert(known);
            continue;
        };
        let before = std::mem::replace(&mut sources[at], changed);
        let now = check_files(sources);
        if is_better(&looked, &now, (at, &found)) {
            looked = now;
            let path = sources[at].path();
            let fixed = all.iter_mut().filter(|fixed| fixed.path == path);
            fixed.for_each(|fixed| fixed.codes.push(found.code));
        } else {
            sources[at] = before;
            in_vain.insert(known);
        }
    }
    for fixed in &mut all {
        let source = sources.iter().find(|source| source.path() == fixed.path);
        if let Some(Source::Read { text, .. }) = source {
            fixed.after.clone_from(text);
        }
    }
    all.retain(|fixed| fixed.before != fixed.after);
    all
}

/// Prints the pending fixes as a diff.
pub(super) fn show(fixed: &[Fixed], out: &mut impl Write) -> io::Result<()> {
    for one in fixed {
        let path = one.path.display().to_string();
        out.write_all(diff::unified(&path, &one.before, &one.after).as_bytes())?;
    }
    Ok(())
}

/// Writes the files; one that cannot be written is checked as one that cannot be read.
pub(super) fn write(
    fixed: &[Fixed],
    sources: &mut [Source],
    complaints: &mut impl Write,
) -> io::Result<()> {
    for one in fixed {
        let path = &one.path;
        match one.replace() {
            Ok(()) => {
                let (path, codes) = (path.display(), one.codes.join(", "));
                writeln!(complaints, "{path}: fixed {codes}")?;
            }
            Err(error) => {
                let of_file = sources.iter_mut().filter(|source| source.path() == path);
                let error = Arc::new(error);
                of_file.for_each(|source| *source = Source::Failed(Arc::clone(&error)));
            }
        }
    }
    Ok(())
}

impl Fixed {
    fn unchanged(source: &Source) -> Option<Self> {
        match source {
            Source::Read {
                path,
                text,
                is_marked,
                ..
            } => Some(Self {
                path: path.clone(),
                before: text.clone(),
                after: String::new(),
                is_marked: *is_marked,
                codes: Vec::new(),
            }),
            Source::Failed(_) => None,
        }
    }

    /// Replaces the old file by the new one. The old file is complete until then.
    fn replace(&self) -> Result<(), Error> {
        let [before, after] = [&self.before, &self.after].map(|text| self.file_text(text));
        let replaced = whole_file::replace(&self.path, Some(before.as_bytes()), after.as_bytes());
        replaced.map_err(|source| Error::Write {
            path: self.path.clone(),
            source,
        })
    }

    /// The file of this text.
    fn file_text(&self, text: &str) -> String {
        let mark = self.is_marked.then_some(BYTE_ORDER_MARK);
        mark.into_iter().collect::<String>() + text
    }
}

fn files(looked: &[CheckOutcome]) -> impl Iterator<Item = (usize, &Checked)> {
    let files = looked.iter().enumerate();
    files.filter_map(|(at, looked)| match looked {
        CheckOutcome::At(file) => Some((at, file)),
        CheckOutcome::Failed(_) => None,
    })
}

fn known(path: &Path, found: &Diagnostic) -> Known {
    let place = match found.fix {
        // The same name may be wrong in many places.
        Some(Fix::Token(_)) => format!("{:?} ", found.span.byte_range()),
        Some(Fix::Section { .. }) | None => String::new(),
    };
    (path.to_owned(), found.code, place + &found.message)
}

/// Returns the first untried finding that has a fix.
fn next(looked: &[CheckOutcome], in_vain: &BTreeSet<Known>) -> Option<(usize, Diagnostic)> {
    let mut all = files(looked).flat_map(|(at, file)| {
        let fixable = file.findings.iter().filter(|found| found.fix.is_some());
        fixable.map(move |found| (at, file, found))
    });
    let found = all.find(|(_, file, found)| !in_vain.contains(&known(&file.path, found)));
    found.map(|(at, _, found)| (at, found.clone()))
}

/// Returns true if the finding is gone and its file can still be read. A fixed name may reveal
/// findings that were not looked for before. A fixed section must leave fewer errors.
fn is_better(
    before: &[CheckOutcome],
    after: &[CheckOutcome],
    (at, fixed): (usize, &Diagnostic),
) -> bool {
    let errors = |looked: &[CheckOutcome]| -> usize {
        let all = files(looked).flat_map(|(_, file)| &file.findings);
        all.filter(|found| found.severity == Severity::Error)
            .count()
    };
    let here = || files(after).filter(|(of, _)| *of == at);
    // Findings about one name are reported as one: the remaining part of them is reported at
    // another place.
    let is_same = |found: &Diagnostic| {
        let starts = [found, fixed].map(|one| one.span.byte_range().start);
        found.code == fixed.code && starts[0] == starts[1]
    };
    let stays = here().any(|(_, file)| file.is_damaged || file.findings.iter().any(is_same));
    match fixed.fix {
        Some(Fix::Token(_)) => !stays && !breaks(before, after),
        Some(Fix::Section { .. }) | None => !stays && errors(after) < errors(before),
    }
}

/// Returns true if some code can no longer be parsed.
fn breaks(before: &[CheckOutcome], after: &[CheckOutcome]) -> bool {
    let syntax = |looked: &[CheckOutcome]| {
        let all = files(looked).flat_map(|(_, file)| &file.findings);
        all.filter(|found| found.code == "LC000").count()
    };
    syntax(after) > syntax(before)
}

/// The file as one finding wants it.
fn changed(source: &Source, found: &Diagnostic) -> Option<Source> {
    let Source::Read {
        path,
        text,
        is_marked,
        ..
    } = source
    else {
        return None;
    };
    let (place, written) = edit(text, found)?;
    let mut changed = text.clone();
    changed.replace_range(place, &written);
    Some(Source::parse(path.clone(), changed, *is_marked))
}

/// Returns the byte range that a fix replaces, and the new text.
fn edit(text: &str, found: &Diagnostic) -> Option<(Range<usize>, String)> {
    match found.fix.as_ref()? {
        Fix::Token(name) => {
            let place = found.span.byte_range();
            text.get(place.clone())?;
            Some((place, name.clone()))
        }
        Fix::Section {
            keyword,
            whole,
            added,
        } => {
            let file: TokenStream = text.parse().ok()?;
            let place = section_at(file, keyword.byte_range().start)?;
            let there = text.get(place.clone())?;
            let indent = indent(text, place.start);
            match has_comment(there) {
                false => Some((place, laid_out(text, whole, indent))),
                true => Some(before_the_end(
                    text,
                    (place, there),
                    (added.as_ref()?, indent),
                )),
            }
        }
    }
}

/// Returns true if the section may contain a comment. A section of names and arrows has no other
/// text with these characters.
fn has_comment(section: &str) -> bool {
    section.contains("//") || section.contains("/*")
}

/// Lines that are put before a closing brace, at the end of the line that ends before it.
fn before_the_end(
    text: &str,
    (place, there): (Range<usize>, &str),
    (added, indent): (&str, &str),
) -> (Range<usize>, String) {
    let inside = there.strip_suffix('}').unwrap_or(there).trim_end();
    let at = place.start + inside.len();
    let lines = added.lines().map(|line| format!("\n{indent}{line}"));
    let lines: String = lines.collect();
    let end = place.end - 1;
    (at..end, with_line_ends(text, &format!("{lines}\n{indent}")))
}

/// Returns the text before the first word of a line.
fn indent(text: &str, at: usize) -> &str {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let before = &text[line..at];
    &before[..before.len() - before.trim_start().len()]
}

/// Indents the section like the earlier text.
fn laid_out(text: &str, section: &str, indent: &str) -> String {
    with_line_ends(text, &section.replace('\n', &format!("\n{indent}")))
}

/// With the line ends of the file.
fn with_line_ends(text: &str, written: &str) -> String {
    match text.contains("\r\n") {
        true => written.replace('\n', "\r\n"),
        false => written.to_owned(),
    }
}

#[cfg(test)]
mod tests;
