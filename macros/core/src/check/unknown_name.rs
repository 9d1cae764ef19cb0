//! Nothing declares a name, a value or a section. The text names the expected kind, and suggests
//! the nearest name.
//!
//! ```text
//! states { NoClass when clas == Absent => Error wakes self; }   // unknown fact `clas`; did you mean `class`?
//! ```

use proc_macro2::{Ident, Span};

use crate::csi;
use crate::errors::{Diagnostic, Item};
use crate::model::Verdict;
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC001",
    name: "unknown_name",
    group: Group::Syntax,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

pub(crate) fn diagnostic(
    name: &Ident,
    kind: &str,
    place: &Item,
    near: Option<String>,
    instead: Option<&str>,
) -> Diagnostic {
    let what = match instead {
        Some(_) => format!("`{name}` is not the name of {}", with_article(kind)),
        None => format!("unknown {kind} `{name}`"),
    };
    let message = format!("{place}: {what}{}", suggestion(near.clone()));
    let found = RULE
        .finding(name.span(), place.name(), message)
        .suggest_name(near);
    let found = found.dedup_key(format!("{kind} {name}"));
    match instead {
        Some(instead) => found.help(format!("`{name}` is {instead}")),
        None => found,
    }
}

/// The effects that there are, where none resembles the name.
pub(crate) fn with_effects(found: Diagnostic, known: &[&str]) -> Diagnostic {
    const MOST: usize = 8;
    match known.is_empty() || known.len() > MOST {
        true => found,
        false => found.help(format!("the effects are {}", listed(known))),
    }
}

pub(crate) fn section(name: &Ident, known: &[&str]) -> Diagnostic {
    let near = nearest(&name.to_string(), known.iter().copied());
    RULE.finding(
        name.span(),
        name.to_string(),
        format!("unknown section `{name}`{}", suggestion(near.clone())),
    )
    .suggest_name(near)
    .help(format!("the sections are {}", listed(known)))
}

pub(crate) fn request_field(
    field: &Ident,
    place: &Item,
    near: Option<String>,
    known: &[&str],
) -> Diagnostic {
    let message = format!(
        "{place}: no call finds anything by `{field}` of its request{}",
        suggestion(near.clone())
    );
    RULE.finding(field.span(), place.name(), message)
        .suggest_name(near)
        .help(format!(
            "`request` has {}; of everything else in it, declare a fact `from request`",
            listed(known)
        ))
}

/// Reports a field of the request that no call carries, or that no fact may read.
pub(crate) fn read_field(field: &Ident, place: &Item) -> Diagnostic {
    let text = field.to_string();
    let known: Vec<&str> = csi::RequestField::ALL
        .iter()
        .map(|one| one.name())
        .collect();
    let meant = match text.as_str() {
        "secrets" => Some("nothing reads the secrets of a request"),
        "volume_capability" | "volume_capabilities" => Some("it is called `capabilities`"),
        "accessibility_requirements" => Some("it is read as `requisite` and `preferred`"),
        _ => None,
    };
    let near = nearest(&text, known.iter().copied()).filter(|_| meant.is_none());
    let message = format!(
        "{place}: no fact reads `{field}` of a request{}",
        suggestion(near)
    );
    let listed = format!("`request` has {}", listed(&known));
    let help = match meant {
        Some(meant) => format!("{meant}; {listed}"),
        None => listed,
    };
    RULE.finding(field.span(), place.name(), message).help(help)
}

pub(crate) fn value(value: &Ident, fact: &Ident, place: &Item, known: &[String]) -> Diagnostic {
    let near = nearest(&value.to_string(), known.iter().map(String::as_str));
    RULE.finding(
        value.span(),
        place.name(),
        format!(
            "{place}: `{value}` is not a value of `{fact}`{}",
            suggestion(near.clone())
        ),
    )
    .suggest_name(near)
    .help(
        ours(&value.to_string(), fact, known)
            .unwrap_or_else(|| format!("`{fact}` is one of {}", listed(known))),
    )
}

/// Explains the declarations that give the verdict on an object of ours this value.
fn ours(value: &str, fact: &Ident, known: &[String]) -> Option<String> {
    let has = |verdict: Verdict| known.iter().any(|one| one == verdict.as_str());
    let verdict = Verdict::from_name(value).filter(|_| has(Verdict::Foreign));
    match verdict? {
        Verdict::Adoptable => Some(format!(
            "nothing adopts `{fact}`, so any object that is not ours is `Foreign`: write `adopt {fact} when ..;` in `effects`"
        )),
        Verdict::New | Verdict::Made | Verdict::Gone => Some(format!(
            "nothing creates `{fact}` once, so that it is {}: write `create {fact} when ..;` in `effects`",
            listed(known)
        )),
        Verdict::Stale | Verdict::Current if has(Verdict::Made) => Some(format!(
            "`{fact}` is created once and compared with nothing: it is {}",
            listed(known)
        )),
        Verdict::Absent
        | Verdict::Unnamed
        | Verdict::Present
        | Verdict::Unknown
        | Verdict::Known
        | Verdict::Terminating
        | Verdict::Stale
        | Verdict::Behind
        | Verdict::Surplus
        | Verdict::Draining
        | Verdict::Foreign
        | Verdict::Current => None,
    }
}

/// A value of an `else` alone, nearly spelled as an answer.
pub(crate) fn unasked_value(value: &Ident, fact: &Ident, near: &str) -> Diagnostic {
    let message = format!(
        "fact `{fact}`: `{value}` is not one of its answers, and nothing reads it{}",
        suggestion(Some(near.to_owned()))
    );
    let found = RULE.finding(value.span(), fact.to_string(), message);
    found.suggest_name(Some(near.to_owned())).help(
        "an `else` may have a value of its own, but a state, a clause or an effect must then use it by name",
    )
}

/// A fact without a value; in an `any(..)` or `all(..)` that stands behind the brackets.
pub(crate) fn needs_value(
    fact: &Ident,
    place: &Item,
    known: &[String],
    is_each: bool,
) -> Diagnostic {
    let last = known.last().map_or("..", String::as_str);
    RULE.finding(
        fact.span(),
        place.name(),
        format!("{place}: `{fact}` needs a value: {}", listed(known)),
    )
    .help(if is_each {
        format!(
            "after the brackets comes a value that all facts in them have: `any({fact}, ..) == {last}`"
        )
    } else {
        format!("write `{fact} == {last}`, or which of them is meant")
    })
}

/// The name that was probably meant: the first of those that differ least, if that is little.
pub(crate) fn nearest<'a>(name: &str, known: impl Iterator<Item = &'a str>) -> Option<String> {
    let name = name.to_lowercase();
    let length = name.chars().count();
    let limit = (length / 3).max(1);
    known
        .map(|one| (one.to_lowercase(), one))
        // Names of other lengths differ by as many letters at least.
        .filter(|(lower, _)| lower.chars().count().abs_diff(length) <= limit)
        .map(|(lower, one)| (strsim::damerau_levenshtein(&name, &lower), one))
        .filter(|(distance, _)| *distance <= limit)
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, one)| one.to_owned())
}

/// An unknown word, and the known one that it resembles.
pub(crate) type Respelling = (Span, String);

/// Suggestions for a whole lifecycle. Each compares an unknown name with all known ones, so where thousands are unknown of thousands,
/// which is one mistake made often, only the first are made.
pub(crate) struct Suggestions {
    /// How many names may still be compared.
    left: usize,
}

impl Suggestions {
    /// Bound on the comparisons, above which the search takes too long.
    pub(crate) const MOST: usize = 100_000;

    pub(crate) fn new() -> Self {
        Self { left: Self::MOST }
    }

    /// Like [`nearest`], within the remaining number of comparisons.
    pub(crate) fn nearest<'a>(
        &mut self,
        name: &str,
        known: impl ExactSizeIterator<Item = &'a str>,
    ) -> Option<String> {
        self.left = self.left.checked_sub(known.len())?;
        nearest(name, known)
    }
}

/// Text behind an unknown name.
pub(crate) fn suggestion(near: Option<String>) -> String {
    near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"))
}

fn listed<T: AsRef<str>>(names: &[T]) -> String {
    let quoted: Vec<String> = names.iter().map(|n| format!("`{}`", n.as_ref())).collect();
    quoted.join(", ")
}

fn with_article(noun: &str) -> String {
    let vowel = noun.starts_with(['a', 'e', 'i', 'o', 'u']);
    format!("{} {noun}", if vowel { "an" } else { "a" })
}
