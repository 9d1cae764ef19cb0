//! Adds to a finding in a fragment the lifecycle that it concerns, and to a place in another file
//! the fragment that contains it.

use proc_macro2::{LineColumn, Span};

use crate::ast::{Fragment, Lifecycle};
use crate::errors::Diagnostic;

/// Location of a fragment in the source.
struct Region<'a> {
    name: String,
    fragment: &'a Fragment,
    file: String,
    from: LineColumn,
    to: LineColumn,
}

/// Returns the findings of a lifecycle, with notes on those in fragments.
pub(crate) fn locate(found: Vec<Diagnostic>, ast: &Lifecycle) -> Vec<Diagnostic> {
    let regions: Vec<Region<'_>> = ast
        .fragments
        .iter()
        .filter_map(Region::from_fragment)
        .collect();
    if regions.is_empty() {
        return found;
    }
    let all = found.into_iter();
    all.map(|mut found| {
        let file = found.span.file();
        for (span, note) in &mut found.notes {
            if let Some(at) = span.filter(|at| at.file() != file) {
                let line = at.start().line;
                *note = match regions.iter().find(|region| region.holds(at)) {
                    Some(region) => format!("{note}, in line {line} of fragment `{}`", region.name),
                    None => format!("{note}, in line {line} of lifecycle `{}`", ast.name),
                };
                *span = None;
            }
        }
        match regions.iter().find(|region| region.holds(found.span)) {
            Some(region) => {
                let used = &region.fragment.used;
                let note = format!("in lifecycle `{}`, which uses fragment `{used}`", ast.name);
                found.note(None, note)
            }
            None => found,
        }
    })
    .collect()
}

impl<'a> Region<'a> {
    fn from_fragment(fragment: &'a Fragment) -> Option<Self> {
        let mut tokens = fragment.tokens.clone().into_iter();
        let first = tokens.next()?.span();
        let last = tokens.last().map_or(first, |token| token.span());
        Some(Self {
            name: fragment.part.name.to_string(),
            fragment,
            file: first.file(),
            from: first.start(),
            to: last.end(),
        })
    }

    fn holds(&self, span: Span) -> bool {
        self.from <= span.start() && span.end() <= self.to && span.file() == self.file
    }
}
