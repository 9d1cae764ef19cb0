//! The sink of diagnostics: collects through all stages, orders by position, panics if it is dropped unread.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use proc_macro2::{Ident, Span, TokenStream};
use quote::quote_spanned;

/// Severity of a finding, which decides if the build stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The lifecycle is refused.
    Error,
    /// The lifecycle is accepted; rustc shows a deprecation warning, which `#[allow]` silences.
    Warning,
}

/// One finding.
#[derive(Clone, Debug)]
pub struct Diagnostic {
    /// Stable code, `LC011`: users search for it.
    pub code: &'static str,
    /// Severity, which decides if the finding stops the build.
    pub severity: Severity,
    /// The named thing that is guilty, as users wrote it: a fact, state, effect, condition, edge `A -> B`, or the lifecycle.
    pub item: String,
    /// The smallest guilty token.
    pub span: Span,
    /// Message in lower case, without a full stop, with names in backticks and a witness if there
    /// is one.
    pub message: String,
    /// Related places in the source, each with its description.
    pub notes: Vec<(Option<Span>, String)>,
    /// Replacement to write.
    pub help: Option<String>,
    /// The same for a program, where it is exact.
    pub fix: Option<Fix>,
    /// Common subject of several findings with one cause: a name that nothing declares.
    pub(crate) about: Option<String>,
}

/// Replacement for existing text.
#[derive(Clone, Debug)]
pub enum Fix {
    /// This, for the guilty token.
    Token(String),
    /// A section with its braces, by its keyword.
    Section {
        /// Location of the keyword.
        keyword: Span,
        /// The corrected section, from its keyword to its closing brace.
        whole: String,
        /// Lines whose insertion before the existing closing brace suffices.
        added: Option<String>,
    },
}

impl Diagnostic {
    /// A finding without notes; a rule makes its own (`Rule::finding`).
    pub(crate) fn new(
        (code, severity): (&'static str, Severity),
        span: Span,
        item: impl Into<String>,
        message: impl Into<String>,
    ) -> Self {
        Self {
            code,
            severity,
            item: item.into(),
            span,
            message: message.into(),
            notes: Vec::new(),
            help: None,
            fix: None,
            about: None,
        }
    }

    /// Adds a help text.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds an exact replacement.
    #[must_use]
    pub fn fix(mut self, fix: Fix) -> Self {
        self.fix = Some(fix);
        self
    }

    /// Adds the name that was probably meant, if one is near, for the guilty token.
    #[must_use]
    pub(crate) fn suggest_name(mut self, near: Option<String>) -> Self {
        self.fix = near.map(Fix::Token);
        self
    }

    /// Sets the subject of the finding, so that it is reported once.
    #[must_use]
    pub(crate) fn dedup_key(mut self, about: String) -> Self {
        self.about = Some(about);
        self
    }

    /// Adds a sentence, at another place or at none.
    #[must_use]
    pub fn note(mut self, span: impl Into<Option<Span>>, note: impl Into<String>) -> Self {
        self.notes.push((span.into(), note.into()));
        self
    }
}

/// Item that mentions a name: `state` and `NoClass`.
#[derive(Clone)]
pub(crate) struct Item {
    pub(crate) noun: &'static str,
    pub(crate) name: String,
}

impl Item {
    pub(crate) fn new(noun: &'static str, name: &Ident) -> Self {
        Self {
            noun,
            name: name.to_string(),
        }
    }

    /// A place without a name of its own: `transitions`, `ready`, a `never`.
    pub(crate) fn section(noun: &'static str) -> Self {
        Self {
            noun,
            name: String::new(),
        }
    }

    /// The item that a finding names.
    pub(crate) fn name(&self) -> &str {
        if self.name.is_empty() {
            self.noun
        } else {
            &self.name
        }
    }
}

impl fmt::Display for Item {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.name.is_empty() {
            write!(f, "`{}`", self.noun)
        } else {
            write!(f, "{} `{}`", self.noun, self.name)
        }
    }
}

/// Collects the findings of all stages.
#[derive(Debug, Default)]
pub struct Sink {
    found: Vec<Diagnostic>,
    read: bool,
}

impl Sink {
    /// Takes one finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Takes a finding, if there is one.
    pub(crate) fn extend(&mut self, found: impl IntoIterator<Item = Diagnostic>) {
        self.found.extend(found);
    }

    /// Takes the findings of another sink, without those that are known already.
    pub(crate) fn absorb(&mut self, other: Self) {
        for one in other.finish() {
            let same = |known: &Diagnostic| {
                (known.code, &known.item, &known.message) == (one.code, &one.item, &one.message)
            };
            if !self.found.iter().any(same) {
                self.found.push(one);
            }
        }
    }

    /// Returns true if an error was found. Warnings do not count.
    pub fn has_errors(&self) -> bool {
        self.found.iter().any(|d| d.severity == Severity::Error)
    }

    /// Returns the items of all findings that match the predicate, each item once.
    pub(crate) fn items_of(&self, which: impl Fn(&Diagnostic) -> bool) -> Vec<String> {
        let found = self.found.iter().filter(|found| which(found));
        let items: BTreeSet<&str> = found.map(|found| found.item.as_str()).collect();
        items.into_iter().map(str::to_owned).collect()
    }

    /// Removes the findings that match a predicate, and returns their number.
    pub(crate) fn take_away(&mut self, which: impl Fn(&Diagnostic) -> bool) -> usize {
        let before = self.found.len();
        self.found.retain(|found| !which(found));
        before - self.found.len()
    }

    /// All findings, by position and then by code; the sink counts as read.
    pub fn finish(mut self) -> Vec<Diagnostic> {
        self.read = true;
        let mut found = std::mem::take(&mut self.found);
        found.sort_by_key(|d| (d.span.start().line, d.span.start().column, d.code));
        found
    }
}

impl Drop for Sink {
    fn drop(&mut self) {
        assert!(
            self.read || self.found.is_empty() || std::thread::panicking(),
            "findings were dropped unread: {:?}",
            self.found
        );
    }
}

/// Returns the findings as users see them: of all findings about one misspelt name, the first, with
/// the number of the others.
pub fn deduplicate(found: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut first: BTreeMap<(&'static str, String), (usize, Vec<usize>)> = BTreeMap::new();
    let mut told: Vec<Diagnostic> = Vec::new();
    for one in found {
        let Some(about) = one.about.clone() else {
            told.push(one);
            continue;
        };
        match first.entry((one.code, about)) {
            Entry::Vacant(entry) => {
                entry.insert((told.len(), Vec::new()));
                told.push(one);
            }
            Entry::Occupied(mut entry) => entry.get_mut().1.push(one.span.start().line),
        }
    }
    for (at, lines) in first.into_values().filter(|(_, lines)| !lines.is_empty()) {
        let shown: Vec<String> = lines.iter().take(4).map(ToString::to_string).collect();
        let places = if lines.len() == 1 { "place" } else { "places" };
        let more = if lines.len() > shown.len() {
            ", .."
        } else {
            ""
        };
        let note = format!(
            "so it is written in {} more {places}, in line {}{more}",
            lines.len(),
            shown.join(", ")
        );
        told[at].notes.push((None, note));
    }
    told
}

/// Findings as rustc shows them. A stable macro cannot warn, so a warning is the use of a deprecated name: `#[allow(deprecated)]` silences it.
pub(crate) fn to_tokens(found: &[Diagnostic]) -> TokenStream {
    found.iter().map(one_to_tokens).collect()
}

fn one_to_tokens(found: &Diagnostic) -> TokenStream {
    let (span, text) = (found.span, found.to_string());
    match found.severity {
        Severity::Error => quote_spanned!(span=> ::core::compile_error! { #text }),
        Severity::Warning => {
            let name = Ident::new(found.code, span);
            quote_spanned! {span=>
                const _: () = {
                    #[deprecated(note = #text)]
                    const #name: () = ();
                    #name
                };
            }
        }
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code, self.message)?;
        for (span, note) in &self.notes {
            write!(f, "\nnote: {note}")?;
            // `compile_error!` shows one place only, so that of a note becomes words.
            if let Some(span) = span {
                write!(f, ", in line {}", span.start().line)?;
            }
        }
        self.help
            .iter()
            .try_for_each(|help| write!(f, "\nhelp: {help}"))
    }
}
