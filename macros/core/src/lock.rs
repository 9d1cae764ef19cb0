//! The lock of a lifecycle: everything that it leaves in a cluster, one item per line, sorted.
//! Pure: the caller reads and writes the file.

use std::collections::BTreeMap;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;

use crate::ast::{
    Condition, ConditionStatus, Domain, Gone, GoneOf, Input, Kind, Lifecycle, Lookup, Mode, Pred,
    Retain, bare,
};

/// Words that may come first in a line.
const WORDS: [&str; 11] = [
    "condition",
    "field",
    "finalizer",
    "owned",
    "part",
    "record",
    "resource",
    "retired",
    "shared",
    "state",
    "value",
];
/// Separator between an item and its description.
const MARK: &str = ": ";

/// Description of each item: nothing, its type, its phase, its reasons.
pub type Lines = BTreeMap<String, String>;

/// The file that a lifecycle names as its lock, and where it does: found without parsing it.
pub fn named(body: &TokenStream) -> Option<(String, Span)> {
    let tokens: Vec<TokenTree> = body.clone().into_iter().collect();
    tokens.windows(3).find_map(|three| {
        let [
            TokenTree::Ident(word),
            TokenTree::Literal(path),
            TokenTree::Punct(end),
        ] = three
        else {
            return None;
        };
        if word != "lock" || end.as_char() != ';' {
            return None;
        }
        let syn::Lit::Str(text) = syn::Lit::new(path.clone()) else {
            return None;
        };
        Some((text.value(), path.span()))
    })
}

/// The lock as it is written, with the items of all regions.
pub fn text(ast: &Lifecycle) -> String {
    let whole = (!ast.regions.is_empty()).then(|| ast.without_questions().whole());
    let ast = whole.as_ref().unwrap_or(ast);
    let mut text = format!(
        "# What `{}` leaves in a cluster. Written by `lifecycle-operator lock`, read by the compiler.\n",
        ast.name
    );
    for (item, said) in lines(ast) {
        text += &item;
        if !said.is_empty() {
            text += MARK;
            text += &said;
        }
        text.push('\n');
    }
    text
}

/// A lock that was written.
///
/// # Errors
/// The number of the first line that is no item, and the line.
pub(crate) fn read(text: &str) -> Result<Lines, (usize, String)> {
    let mut lines = Lines::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let first = line.split([' ', ':']).next().unwrap_or_default();
        if !WORDS.contains(&first) {
            return Err((at + 1, line.to_owned()));
        }
        let (item, said) = line.split_once(MARK).unwrap_or((line, ""));
        lines.insert(item.to_owned(), said.to_owned());
    }
    Ok(lines)
}

/// Returns the items that a lifecycle leaves in a cluster.
pub(crate) fn lines(ast: &Lifecycle) -> Lines {
    let mut lines = Lines::from([(format!("resource {}", bare(&ast.name)), String::new())]);
    let holds = ast.facts.iter().any(|fact| fact.held.is_some());
    if ast.kind == Kind::Resource && (holds || ast.teardown.is_some()) {
        lines.insert("finalizer".to_owned(), String::new());
    }
    lines.extend(ast.inputs.iter().filter_map(input));
    for fact in ast.facts.iter().filter(|fact| fact.held.is_some()) {
        if let Domain::Values { left, right } = &fact.domain {
            let mut add = |values: &[proc_macro2::Ident], said: &str| {
                let named = values
                    .iter()
                    .map(|value| format!("value {}.{value}", fact.name));
                lines.extend(named.map(|item| (item, said.to_owned())));
            };
            add(left, "free");
            add(right.as_deref().unwrap_or_default(), "held");
        }
    }
    for state in &ast.states {
        let phase = state.phase.as_ref().map(ToString::to_string);
        lines.insert(format!("state {}", state.name), phase.unwrap_or_default());
    }
    lines.extend(conditions(ast));
    let fields = ast.fields.iter();
    lines.extend(fields.map(|field| (format!("field {}", bare(&field.name)), String::new())));
    let gone = ast.retired.iter().flat_map(|retired| &retired.lines);
    lines.extend(gone.map(retired));
    lines
}

fn conditions(ast: &Lifecycle) -> Lines {
    let reasons = |condition: &Condition| {
        let own = condition.name.to_string();
        let written = condition
            .clauses
            .iter()
            .filter(|clause| match clause.status {
                ConditionStatus::True | ConditionStatus::False | ConditionStatus::Unknown => true,
                ConditionStatus::Absent | ConditionStatus::Omit => false,
            });
        let mut reasons: Vec<String> = written
            .map(|clause| clause.reason.clone().unwrap_or_else(|| own.clone()))
            .collect();
        let implicit = ast
            .implicit
            .iter()
            .filter(|i| i.condition == condition.name);
        reasons.extend(implicit.map(|implicit| implicit.reason.clone()));
        reasons.sort();
        reasons.dedup();
        reasons.join(" ")
    };
    let declared = ast.conditions.iter();
    let declared = declared.map(|one| (format!("condition {}", one.name), reasons(one)));
    let ready = ast.ready.iter().map(|ready| {
        let reason = ready.reason.clone().unwrap_or_else(|| "Ready".to_owned());
        ("condition Ready".to_owned(), reason)
    });
    let told = ast.kstatus.iter().flat_map(|_| ["Reconciling", "Stalled"]);
    let told = told.map(|name| (format!("condition {name}"), String::new()));
    declared.chain(ready).chain(told).collect()
}

fn retired(gone: &Gone) -> (String, String) {
    let said = match (&gone.what, &gone.now) {
        (GoneOf::Kept(_), _) => "kept".to_owned(),
        (_, Some(now)) => format!("now {now}"),
        (_, None) => String::new(),
    };
    (format!("retired {}", named_by(&gone.what)), said)
}

/// The item of the older version, as its lock called it.
pub(crate) fn named_by(gone: &GoneOf) -> String {
    match gone {
        GoneOf::Finalizer(None) => "finalizer".to_owned(),
        GoneOf::Finalizer(Some(name)) => format!("finalizer {name:?}"),
        GoneOf::Record(name) => format!("record {}", bare(name)),
        GoneOf::Annotation(key) => format!("record {key:?}"),
        GoneOf::Condition(name) => format!("condition {name}"),
        GoneOf::Field(name) => format!("field {}", bare(name)),
        GoneOf::State(name) => format!("state {name}"),
        GoneOf::Value(fact, value) => format!("value {fact}.{value}"),
        GoneOf::Kept(input) => input_key(input),
    }
}

/// Returns the line of an input if its objects or annotations are ours.
fn input(input: &Input) -> Option<(String, String)> {
    if let Some(leaves) = input.retired {
        let item = format!("retired {}", input_key(input));
        return Some((item, leaves.keyword().to_owned()));
    }
    match input.mode {
        Mode::Record => {
            let ty = spelled(&input.ty);
            Some((format!("record {}", bare(&input.name)), ty))
        }
        Mode::Owned | Mode::Shared | Mode::Part => {
            let retain = input.retain.as_ref().map(retained);
            Some((input_key(input), retain.unwrap_or_default()))
        }
        // It is an annotation as any other record.
        Mode::Noted => Some((format!("record {}", bare(&input.name)), "Noted".to_owned())),
        // A group leaves its members.
        Mode::Watched | Mode::Poll | Mode::Probe | Mode::Clock | Mode::Group => None,
    }
}

fn retained(retain: &Retain) -> String {
    let when = retain.when.as_ref();
    when.map_or_else(
        || "retain".to_owned(),
        |when: &Pred| format!("retain when {when}"),
    )
}

/// Describes the objects of an input and its lookup. The name of an input is unknown outside the
/// lifecycle. It counts only if a method of that name finds the objects.
pub(crate) fn input_key(input: &Input) -> String {
    let (mode, ty) = (input.mode.keyword(), spelled(&input.ty));
    let mut place = match input.many {
        true => format!("{mode} [{ty}]"),
        false => format!("{mode} {ty}"),
    };
    let by_method = matches!(
        input.lookup,
        Some((
            _,
            Lookup::Names { .. } | Lookup::Refs { .. } | Lookup::Ref { .. }
        ))
    );
    if by_method {
        place += &format!(" {}", bare(&input.name));
    }
    if let Some(of) = &input.of {
        place += &format!(" of {of}");
    }
    if let Some((_, lookup)) = &input.lookup {
        place += &format!(" by {}", found(lookup));
    }
    place
}

fn spelled(ty: &syn::Type) -> String {
    ty.to_token_stream().to_string().replace(' ', "")
}

fn found(lookup: &Lookup) -> String {
    let joined = |names: &[proc_macro2::Ident]| {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        names.join(", ")
    };
    match lookup {
        Lookup::Name { path, .. } => format!("name {path}"),
        Lookup::Names { of } => format!("names of {}", joined(of)),
        Lookup::Refs { of } => format!("refs of {}", joined(of)),
        Lookup::Labels { pairs } => {
            let pairs = pairs.iter().map(|(key, path)| {
                let key: Vec<String> = key.parts.iter().map(ToString::to_string).collect();
                format!("{} = {path}", key.join("::"))
            });
            format!("labels {{ {} }}", pairs.collect::<Vec<_>>().join(", "))
        }
        Lookup::Owner => "owner".to_owned(),
        Lookup::Namespace => "namespace".to_owned(),
        Lookup::Ref { from } if from.is_empty() => "ref".to_owned(),
        Lookup::Ref { from } => format!("ref from {}", joined(from)),
        Lookup::Equal { theirs, ours } => format!("{theirs} = {ours}"),
        Lookup::Keys { paths } => {
            let paths: Vec<String> = paths.iter().map(ToString::to_string).collect();
            paths.join(", ")
        }
    }
}
