//! A clause does not fit its item. Examples are a lookup that finds many objects for a single one,
//! `every` without `poll`, a `poll` of a resource without `every`, or a `probe` in a resource.
//! Further examples are `each` without a set, a bar without `held`, a reason of an omitted
//! condition, or a message with a path that is no text of the object.
//!
//! | what | how it is found |
//! | --- | --- |
//! | one object | `by name path`, `by ref` |
//! | a set `[K]` | `by names of ..`, `by labels { .. }`, `by owner`, `by namespace`, `by theirs = ours` |
//! | a set `[K]` that is only read | `by refs of ..`, too |
//! | `record` | nothing: it is an annotation of the object |
//! | `poll`, `probe` | paths and inputs that are its keys, one or several, or nothing |
//!
//! | what | of what |
//! | --- | --- |
//! | `of other` | `owned` and `shared`; the other is one object that is observed, not a set |
//! | `of cloud` | `poll`: who is asked |
//! | `without controller` | `owned` |
//! | `if spec.host` | one `owned` object of a resource that is applied, not `retain`ed |
//! | `exclusive spec.list` | `owned` |
//! | `every 30s` | each `poll` of a resource; a call of a volume polls anew |
//! | `every spec.interval else 30s min 5s`, `overdue spec.timeout else 10min` | a path of the object, in a resource |
//! | `probe` | a volume: it looks at the node of its call |
//! | `now: clock;` | a resource, once, without any clause |
//! | `made: record of jobs;` | of what is created once, without any other clause |
//! | `allow LC064 nodes "why"` | what warns, as the list of checks says |
//! | `{meta.name}`, `{spec.host}` | the message of a clause or of `ready`, in a resource |
//! | `at rest`, `reaches A from B` | a property of a resource: a volume does nothing between its calls |

mod optional;

use proc_macro2::{Ident, Span};

use crate::ast::{
    Allow, Clause, ConditionStatus, Effect, Fact, Input, Kind, Length, Lifecycle, Lookup, Message,
    Mode, Part, PropertyOf, Verb,
};
use crate::check::{RULES, allowable, needless_allow};
use crate::errors::{Diagnostic, Item, Sink};
use crate::rule::{Group, Rule, Run, Severity, Stage};

pub(super) const RULE: Rule = Rule {
    code: "LC005",
    name: "misfit_clause",
    group: Group::Syntax,
    severity: Severity::Error,
    stage: Stage::Names,
    run: Run::Built,
};

/// Checks every input and fact by itself.
pub(crate) fn check(ast: &Lifecycle, sink: &mut Sink) {
    for input in &ast.inputs {
        if input.mode == Mode::Clock {
            clock(ast, input, sink);
            continue;
        }
        if input.mode == Mode::Noted {
            noted(input, sink);
            continue;
        }
        shape(input, sink);
        lookup(input, sink);
        check_modifiers(input, sink);
        if let Some((_, length)) = &input.every {
            check_length(ast.kind, length, (&input.name, "input", "every"), sink);
        }
        driven(ast.kind, input, sink);
        owner(ast, input, sink);
    }
    optional::check(ast, sink);
    for state in &ast.states {
        if let Some(length) = &state.overdue {
            check_length(ast.kind, length, (&state.name, "state", "overdue"), sink);
        }
    }
    for fact in &ast.facts {
        bar(fact, sink);
    }
    for allow in &ast.allows {
        allowed(allow, sink);
    }
    if ast.kind == Kind::Volume {
        for property in &ast.properties {
            of_resource(&property.what, sink);
        }
    }
    for condition in &ast.conditions {
        let place = Item::new("condition", &condition.name);
        let messages = condition.clauses.iter().filter_map(|c| c.message.as_ref());
        messages.for_each(|message| texts(ast.kind, message, &place, sink));
    }
    if let Some(message) = ast.ready.as_ref().and_then(|ready| ready.message.as_ref()) {
        texts(ast.kind, message, &Item::section("ready"), sink);
    }
}

/// Reports an `allow` of a code that is no warning.
fn allowed(allow: &Allow, sink: &mut Sink) {
    let (code, can) = (&allow.code, allowable());
    if can.iter().any(|can| code == can) {
        return;
    }
    let why = match RULES.iter().any(|rule| code == rule.code) {
        true if code == needless_allow::RULE.code => {
            format!("`{code}` is about an `allow` that is not needed: leave that out instead")
        }
        true => format!("`{code}` stops the build, and cannot be allowed"),
        false => format!("`{code}` is no code of a check"),
    };
    sink.push(
        RULE.finding(allow.code.span(), allow.item.to_string(), why)
            .help(format!(
                "these warnings can be allowed: `{}`",
                can.join("`, `")
            )),
    );
}

/// Reports a property of resources in a volume. A volume changes nothing by itself: each operation
/// answers a call.
fn of_resource(property: &PropertyOf, sink: &mut Sink) {
    let (span, item, words) = match property {
        PropertyOf::Reaches { word, .. } => (*word, "reaches", "reaches"),
        PropertyOf::Always {
            at_rest: Some(span),
            ..
        } => (*span, "always", "at rest"),
        PropertyOf::Always { at_rest: None, .. }
        | PropertyOf::Never { .. }
        | PropertyOf::Before { .. } => return,
    };
    let message = format!("`{words}` is not for a volume, which does nothing between its calls");
    let help = "that each call ends is checked already; of a volume write `always ..`, `never effect while ..` or `effect before other`";
    sink.push(misfit(span, item, message, help));
}

/// Reports a message that reads another object. A message reads only its own object; the data of
/// others belongs in a fact.
fn texts(kind: Kind, message: &Message, place: &Item, sink: &mut Sink) {
    for part in &message.parts {
        let Part::Path(path) = part else {
            continue;
        };
        let of_object = path.root() == "meta" || path.root() == "spec";
        if kind == Kind::Resource && of_object && path.parts.len() > 1 {
            continue;
        }
        let text = format!("{place}: `{{{path}}}` is no text of the object");
        let help = match kind {
            Kind::Volume => "a volume has no object and no status",
            Kind::Resource => {
                "write a path such as `meta.name` or `spec.host`; to report data of other objects, use the sentence of a fact, in a clause without a message"
            }
        };
        sink.push(misfit(message.span, place.name(), text, help));
    }
}

/// Reports clauses of a clock. A clock has no clause, and a reconcile has one clock.
fn clock(ast: &Lifecycle, input: &Input, sink: &mut Sink) {
    let name = &input.name;
    let mut say = |span, message: String, help: &str| sink.push(misfit(span, name, message, help));
    if ast.kind == Kind::Volume {
        let message = format!("input `{name}` is a clock, and a call happens when it is made");
        let help = "a call that takes too long is answered by `within 30s else CODE`; only a resource has a clock";
        say(name.span(), message, help);
    }
    let mut clocks = ast.inputs.iter().filter(|i| i.mode == Mode::Clock);
    if let Some(first) = clocks.next()
        && first.name != *name
    {
        let message = format!("input `{name}` is a second clock: a reconcile has one time");
        let help = format!("leave it out, and read `{}`", first.name);
        say(name.span(), message, &help);
    }
    let written = [
        input.of.as_ref().map(Ident::span),
        input.without_controller,
        input.lookup.as_ref().map(|(span, _)| *span),
        input.only_if.as_ref().map(|(span, _)| *span),
        input.every.as_ref().map(|(span, _)| *span),
        input.retain.as_ref().map(|retain| retain.span),
        input.exclusive.as_ref().map(|(span, _)| *span),
        input.given.as_ref().map(|given| given.span),
    ];
    if let Some(span) = written.into_iter().flatten().next() {
        let message = format!("input `{name}` is a clock, which takes no clauses");
        let help = format!(
            "write `{name}: clock;`: a fact made `from {name}` declares until when its answer holds"
        );
        say(span, message, &help);
    }
}

/// Reports clauses of a record of created objects. Its location is the object itself, so the author
/// writes no words for it.
fn noted(input: &Input, sink: &mut Sink) {
    let name = &input.name;
    let written = [
        input.without_controller,
        input.lookup.as_ref().map(|(span, _)| *span),
        input.only_if.as_ref().map(|(span, _)| *span),
        input.every.as_ref().map(|(span, _)| *span),
        input.retain.as_ref().map(|retain| retain.span),
        input.exclusive.as_ref().map(|(span, _)| *span),
        input.given.as_ref().map(|given| given.span),
    ];
    if let (Some(span), Some(of)) = (written.into_iter().flatten().next(), &input.of) {
        let message = format!("input `{name}` is the record of `{of}`, which takes no clauses");
        let help = format!("write `{name}: record of {of};`: it is an annotation of the object");
        sink.push(misfit(span, name, message, help));
    }
}

fn misfit(span: Span, item: impl ToString, message: String, help: impl Into<String>) -> Diagnostic {
    RULE.finding(span, item.to_string(), message).help(help)
}

fn shape(input: &Input, sink: &mut Sink) {
    let several = match input.mode {
        Mode::Watched | Mode::Owned | Mode::Shared | Mode::Group => false,
        Mode::Part | Mode::Record | Mode::Noted | Mode::Poll | Mode::Probe | Mode::Clock => {
            input.many
        }
    };
    if several {
        let word = input.mode.keyword();
        let message = format!("input `{}`: `{word}` is one, not a set `[..]`", input.name);
        let help = format!("write `{word} Type`");
        sink.push(misfit(input.name.span(), &input.name, message, help));
    }
}

fn lookup(input: &Input, sink: &mut Sink) {
    let name = &input.name;
    match &input.lookup {
        None if input.goals.is_some() => {}
        None => {
            if let Some(forms) = needed(input) {
                let message = format!("input `{name}` does not declare how it is found");
                let help = match is_meant_as_clock(input) {
                    true => format!("write `{name}: clock;` for what time it is"),
                    false => format!("write {forms}"),
                };
                sink.push(misfit(name.span(), name, message, help));
            }
        }
        Some((span, lookup)) => {
            if !fits(input, lookup) {
                let message = format!("input `{name}` cannot be found like this");
                let help = match needed(input) {
                    Some(forms) => format!("write {forms}"),
                    None if input.mode == Mode::Record => {
                        "leave it out: a `record` is an annotation of the object".to_owned()
                    }
                    None => "write the key: `by meta.uid`, `by request.volume_id`, `by other`, or several: `by other, spec.host`"
                        .to_owned(),
                };
                sink.push(misfit(*span, name, message, help));
            }
        }
    }
}

/// Returns true if an input is a misspelt `now: Clock;`, in one of the forms that users may try.
fn is_meant_as_clock(input: &Input) -> bool {
    let syn::Type::Path(path) = &input.ty else {
        return false;
    };
    let name = path.path.get_ident().map(ToString::to_string);
    let name = name.unwrap_or_default().to_lowercase();
    input.mode == Mode::Watched
        && ["clock", "clok", "time", "timestamp", "now"].contains(&name.as_str())
}

fn needed(input: &Input) -> Option<&'static str> {
    match input.mode {
        Mode::Record | Mode::Noted | Mode::Poll | Mode::Probe | Mode::Clock | Mode::Group => None,
        Mode::Watched | Mode::Owned | Mode::Shared | Mode::Part => Some(if input.many {
            "`by names of ..`, `by refs of ..` for a read-only input, `by labels { KEY = meta.name }`, `by owner`, `by namespace` or `by spec.theirs = spec.ours`"
        } else {
            "`by name spec.other`, or `by ref` where a method finds it"
        }),
    }
}

fn fits(input: &Input, lookup: &Lookup) -> bool {
    let outside = matches!(input.mode, Mode::Poll | Mode::Probe);
    let object = !outside && !matches!(input.mode, Mode::Record | Mode::Noted | Mode::Clock);
    match lookup {
        Lookup::Name { .. } | Lookup::Ref { .. } => object && !input.many,
        // Owned objects are in the namespace of our object: an owner reference does not cross
        // namespaces.
        Lookup::Refs { .. } => object && input.many && input.mode == Mode::Watched,
        Lookup::Names { .. }
        | Lookup::Labels { .. }
        | Lookup::Owner
        | Lookup::Namespace
        | Lookup::Equal { .. } => object && input.many,
        Lookup::Keys { .. } => outside,
    }
}

fn check_modifiers(input: &Input, sink: &mut Sink) {
    let name = &input.name;
    if let (Some((span, _)), true) = (&input.every, input.mode != Mode::Poll) {
        let message = format!("input `{name}` is not polled: its watch reports changes at once");
        sink.push(misfit(
            *span,
            name,
            message,
            "leave out `every`, or write `poll`",
        ));
    }
    if let Some((span, Lookup::Name { optional: true, .. })) = &input.lookup
        && input.mode != Mode::Watched
    {
        let message =
            format!("input `{name}` is written by the operator, so it must always have a name");
        sink.push(misfit(*span, name, message, "leave out the `?`"));
    }
    if let Some(span) = input.without_controller
        && input.mode != Mode::Owned
    {
        let message = format!("input `{name}` has no controller");
        let help =
            "only what is `owned` is controlled by its owner: leave out `without controller`";
        sink.push(misfit(span, name, message, help));
    }
    if let Some((span, _)) = &input.exclusive
        && input.mode != Mode::Owned
    {
        let message = format!("input `{name}` may have elements of other owners");
        let help = "only an `owned` input can have an exclusive list: leave out `exclusive`";
        sink.push(misfit(*span, name, message, help));
    }
}

/// Reports a duration that is read from something other than the object itself.
fn check_length(
    kind: Kind,
    length: &Length,
    (name, noun, word): (&Ident, &str, &str),
    sink: &mut Sink,
) {
    let Some(path) = &length.path else {
        return;
    };
    let of_object = path.root() == "meta" || path.root() == "spec";
    if kind == Kind::Resource && of_object && path.parts.len() > 1 {
        return;
    }
    let message = format!("{noun} `{name}`: `{path}` is not a duration of the object");
    let help = match kind {
        Kind::Volume => format!("a volume has no object: write `{word} 30s`"),
        Kind::Resource => format!("write a path such as `{word} spec.interval else 30s min 5s`"),
    };
    sink.push(misfit(length.span, name, message, help));
}

/// Reports an input that cannot trigger a reconcile of a resource. A reconcile begins with a change
/// or after a period, and a resource has no node to probe.
fn driven(kind: Kind, input: &Input, sink: &mut Sink) {
    let (name, span) = (&input.name, input.name.span());
    match (kind, input.mode) {
        (Kind::Resource, Mode::Probe) => {
            let message = format!("input `{name}` is a probe, but a resource has no node to probe");
            let help = "write `poll Type by meta.uid every 30s` to query a remote system; only a `volume` has probes";
            sink.push(misfit(span, name, message, help));
        }
        (Kind::Resource, Mode::Poll) if input.every.is_none() => {
            let message = format!("input `{name}` does not declare how often it is polled");
            let help = "write `every 30s` behind what it is found by";
            sink.push(misfit(span, name, message, help));
        }
        (Kind::Resource | Kind::Volume, _) => {}
    }
}

/// Reports an `of` whose owner is not a single object.
fn owner(ast: &Lifecycle, input: &Input, sink: &mut Sink) {
    let (name, Some(of)) = (&input.name, &input.of) else {
        return;
    };
    if !matches!(input.mode, Mode::Owned | Mode::Shared) {
        let message = format!("input `{name}` has no other owner");
        let help = match input.mode {
            Mode::Probe => {
                "a probe reads this machine and has no rate limit: leave `of` out, or write `poll`"
            }
            Mode::Watched
            | Mode::Owned
            | Mode::Shared
            | Mode::Part
            | Mode::Record
            | Mode::Noted
            | Mode::Poll
            | Mode::Clock
            | Mode::Group => {
                "`of` names the owner of what is `owned` or `shared`, and the provider of a `poll`: leave it out"
            }
        };
        sink.push(misfit(of.span(), name, message, help));
        return;
    }
    let Some(other) = ast.inputs.iter().find(|other| other.name == *of) else {
        return;
    };
    let is_object = match other.mode {
        Mode::Watched | Mode::Owned | Mode::Shared | Mode::Part => !other.many,
        Mode::Record | Mode::Noted | Mode::Poll | Mode::Probe | Mode::Clock | Mode::Group => false,
    };
    if other.name == *name || !is_object {
        let message = format!("input `{name}` cannot be owned by `{of}`");
        let help = "the owner is one other object: find it `by name ..`, or `by ref from ..` where a method chooses it among several";
        sink.push(misfit(of.span(), name, message, help));
    }
}

/// Reports a reason or event of a condition that is not written. Such a condition has no reason,
/// and no event is published.
pub(crate) fn says_nothing(condition: &Ident, clause: &Clause, sink: &mut Sink) {
    let (word, what) = match clause.status {
        ConditionStatus::Omit => ("Omit", clause.reason.is_some() || clause.event.is_some()),
        ConditionStatus::Absent => ("Absent", clause.event.is_some()),
        ConditionStatus::True | ConditionStatus::False | ConditionStatus::Unknown => return,
    };
    if what {
        let message = format!("condition `{condition}`: `{word}` writes nothing");
        let help = match clause.status {
            ConditionStatus::Omit => "leave out the reason, the message and `event`",
            ConditionStatus::True
            | ConditionStatus::False
            | ConditionStatus::Unknown
            | ConditionStatus::Absent => {
                "leave out `event`; a reason and a message are those of the roll-up"
            }
        };
        sink.push(misfit(clause.span, condition, message, help));
    }
}

fn bar(fact: &Fact, sink: &mut Sink) {
    if let (
        None,
        crate::ast::Domain::Values {
            right: Some(right), ..
        },
    ) = (fact.held, &fact.domain)
    {
        let message = format!("fact `{}` has a bar but is not `held`", fact.name);
        let span = right.first().map_or(fact.name.span(), |value| value.span());
        let help = "write `held` before it, or `,` instead of `|`";
        sink.push(misfit(span, &fact.name, message, help));
    }
}

/// `each` goes with a set and only with a set.
pub(crate) fn each(effect: &Effect, target: &Input, sink: &mut Sink) {
    let name = effect.name();
    let verb = effect.verb.keyword();
    // Rules of their own cover adoption and objects that are written with their group.
    if effect.verb == Verb::Adopt || target.member.is_some() {
        return;
    }
    match effect.each {
        Some(span) if effect.verb == Verb::Call => {
            let message =
                format!("effect `{name}` is a `call`: it is one mutation and knows no `each`");
            sink.push(misfit(span, &name, message, "leave out `each`"));
        }
        Some(span) if !target.many => {
            let message = format!(
                "effect `{name}` has `each`, but `{}` is one object",
                target.name
            );
            sink.push(misfit(
                span,
                &name,
                message,
                format!("write `{verb} {}`", target.name),
            ));
        }
        None if target.many && effect.verb != Verb::Call => {
            let message = format!(
                "effect `{name}` writes one object, but `{}` is a set",
                target.name
            );
            let help = format!("write `{verb} each {}`", target.name);
            sink.push(misfit(effect.target.span(), &name, message, help));
        }
        Some(_) | None => {}
    }
}
