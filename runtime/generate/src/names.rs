//! How pages and lists name the parts of a description: inputs, lookups, lengths of time.

use lifecycle_runtime::machine::ir::{Input, Length, Lifecycle, Lookup, Mode, Source, Verb};

/// Returns the name of a source in `from` or `wakes`.
pub(crate) fn source(lifecycle: &Lifecycle, source: Source) -> &str {
    match source {
        Source::This => "self",
        Source::Request => "request",
        Source::Input(at) => lifecycle.inputs[at].name,
        Source::Value(at) => lifecycle.values[at].name,
        Source::Fact(at) => lifecycle.vars[at].name,
    }
}

/// Several of them, as they are written.
pub(crate) fn sources(lifecycle: &Lifecycle, of: &[Source]) -> String {
    let of = of.iter().map(|one| source(lifecycle, *one));
    of.collect::<Vec<_>>().join(", ")
}

/// Returns the access mode and the kind of an input: `owned Service`, `[Node]`.
pub(crate) fn describe_input(lifecycle: &Lifecycle, input: &Input) -> String {
    let mode = match input.mode {
        Mode::Watched => "",
        Mode::Owned => "owned ",
        Mode::Shared => "shared ",
        Mode::Part => "part ",
        Mode::Record => "record ",
        Mode::Noted => return format!("record of {}", recorded(lifecycle, input)),
        Mode::Poll => "poll ",
        Mode::Probe => "probe ",
        Mode::Clock => return "clock".to_owned(),
        Mode::Group => return "owned, as one".to_owned(),
    };
    let kind = if input.many {
        format!("[{}]", input.kind)
    } else {
        input.kind.to_owned()
    };
    let optional = if input.optional { "optional " } else { "" };
    let group = input.group.map(|group| lifecycle.inputs[group].name);
    let group = group.map_or(String::new(), |group| format!(" in {group}"));
    let owner = input.owner.map(|owner| lifecycle.inputs[owner].name);
    let owner = owner.map_or(String::new(), |owner| format!(" of {owner}"));
    format!("{optional}{mode}{kind}{owner}{group}")
}

/// Returns the name of the object that is created once and recorded in this input.
fn recorded(lifecycle: &Lifecycle, record: &Input) -> &'static str {
    let mut inputs = lifecycle.inputs.iter();
    let created = inputs.find(|one| {
        one.noted
            .is_some_and(|at| lifecycle.inputs[at].name == record.name)
    });
    created.map_or("", |created| created.name)
}

/// How an input is found.
pub(crate) fn lookup(input: &Input) -> String {
    let by = match input.lookup {
        Lookup::Name(path) => format!("by name `{path}`"),
        Lookup::Names => "by names that a method computes".to_owned(),
        Lookup::Refs => "by references that a method computes".to_owned(),
        Lookup::Labels(labels) => format!("by labels {}", labels.join(", ")),
        Lookup::Owner => "by its owner reference".to_owned(),
        Lookup::Namespace => "all of its namespace".to_owned(),
        Lookup::Ref => "by a reference that a method computes".to_owned(),
        Lookup::Equal => "by a field of theirs".to_owned(),
        Lookup::Key => String::new(),
    };
    if let Some(path) = input.only_if {
        return format!("{by}, only if `{path}` is set");
    }
    match input.every {
        Some(every) => format!("{by} every {}", length(&every)).trim().to_owned(),
        None => by,
    }
}

/// A length of time as it is written: `10min`.
pub(crate) fn length(length: &Length) -> String {
    let declared = milliseconds(length.otherwise);
    match length.said {
        Some(_) => format!("the object's value, else {declared}"),
        None => declared,
    }
}

pub(crate) fn milliseconds(all: u64) -> String {
    const UNITS: [(u64, &str); 4] = [
        (86_400_000, "d"),
        (3_600_000, "h"),
        (60_000, "min"),
        (1000, "s"),
    ];
    let unit = UNITS
        .iter()
        .find(|(of, _)| all > 0 && all.is_multiple_of(*of));
    match unit {
        Some((of, unit)) => format!("{}{unit}", all / of),
        None => format!("{all}ms"),
    }
}

/// Returns the verb of an effect: `apply service`.
pub(crate) fn verb(verb: Verb) -> &'static str {
    match verb {
        Verb::Apply => "apply",
        Verb::Delete => "delete",
        Verb::Call => "call",
        Verb::Adopt => "adopt",
        Verb::Create => "create",
        Verb::Note => "note",
    }
}
