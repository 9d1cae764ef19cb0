//! There are too many worlds to check, because the checks enumerate every combination of facts.
//! Declare concerns that do not wait for each other as regions, which are checked one at a time.
//! Query facts only where they matter (`given`), merge values that nothing distinguishes, or rule
//! combinations out with `never`. Several `owned` objects that lead to the same states are one
//! group: it has the worlds of one of them, and each is always observed. A builder of a group
//! reads no other member. Behind a `given` objects are not observed in the meantime, so nothing is
//! repaired there. At most 128 declarations may depend on one another in a row, and a lifecycle may
//! have at most 2 048 questions, refusals included.
//!
//! ```text
//! a: { A, B, C, D } from node;                             // asked everywhere, it multiplies the worlds by four
//! a: { A, B, C, D } from node given node;
//! config: owned ConfigMap by ref; web: owned Service by ref;   // each multiplies the worlds by more than five
//! parts: owned { config: ConfigMap by ref; web: Service by ref; };
//! ```

use proc_macro2::Span;

use crate::errors::{Diagnostic, Sink};
use crate::model::{Effect, InputId, Kind, Lifecycle, Mode, Origin, Source, Verb};
use crate::rule::{Group, Rule, Run, Severity, Stage};
use crate::space::enumeration::{LIMIT, TooMany};

pub(super) const RULE: Rule = Rule {
    code: "LC091",
    name: "too_many_worlds",
    group: Group::Facts,
    severity: Severity::Error,
    stage: Stage::World,
    run: Run::Built,
};

/// How many facts the help names.
const NAMED: usize = 5;

pub(crate) fn check(lifecycle: &Lifecycle, too_many: TooMany, sink: &mut Sink) {
    let limit = grouped(LIMIT);
    let message = if too_many.complete {
        format!(
            "{} worlds exceed the limit of {limit}",
            grouped(too_many.counted)
        )
    } else if too_many.counted > LIMIT {
        format!(
            "more than {} worlds exceed the limit of {limit}",
            grouped(too_many.counted - 1)
        )
    } else {
        format!(
            "more than {} combinations must be searched to find the worlds that no `never` rules out",
            grouped(too_many.visited - 1)
        )
    };
    let mut facts: Vec<_> = lifecycle
        .vars
        .iter()
        .filter(|var| matches!(var.origin, Origin::Fact { .. } | Origin::Input(_)))
        .collect();
    facts.sort_by_key(|var| std::cmp::Reverse(var.answers));
    let names = facts
        .iter()
        .take(NAMED)
        .map(|var| format!("`{}` ({} values)", var.name, var.answers));
    let names = names.collect::<Vec<_>>().join(", ");
    let help = match chain_of_inputs(lifecycle) {
        Some(chain) => format!(
            "{}observe an input that is written later only where the one before exists: {chain} (meanwhile it is neither observed nor repaired); the largest facts are {names}",
            group(lifecycle).unwrap_or_default()
        ),
        None => format!(
            "evaluate facts only where they matter (`given`), or merge values that no state distinguishes; the largest are {names}"
        ),
    };
    let declared = facts
        .iter()
        .find(|var| matches!(var.origin, Origin::Fact { .. }));
    let (name, span) = match &lifecycle.region {
        Some(region) => (region, region.span()),
        None => {
            let span = declared.map_or(lifecycle.name.span(), |var| var.name.span());
            (&lifecycle.name, span)
        }
    };
    let message = match &lifecycle.region {
        Some(region) => format!("region `{region}`: {message}"),
        None => message,
    };
    let help = regions(lifecycle) + &help;
    sink.push(RULE.finding(span, name.to_string(), message).help(help));
}

/// Suggests regions for a lifecycle that writes several things.
fn regions(lifecycle: &Lifecycle) -> String {
    let mut targets: Vec<InputId> = lifecycle.effects.iter().map(|one| one.target).collect();
    targets.sort_unstable();
    targets.dedup();
    match lifecycle.kind == Kind::Resource && targets.len() > 1 {
        true => "declare concerns that do not wait for each other as regions, each of which is checked by itself: `region backup { .. }`; or ".to_owned(),
        false => String::new(),
    }
}

/// Suggests a group for objects that are owned. A builder reads no other member of its group, so an
/// object that only others of them read fits if these builders can do without it.
fn group(lifecycle: &Lifecycle) -> Option<String> {
    let effects = || lifecycle.effects.iter();
    let is_needed = |input: InputId| {
        let values = lifecycle.values.iter().flat_map(|value| &value.from);
        let mut values = values.map(|one| one.source);
        let mut owners = lifecycle.inputs.iter().filter_map(|other| other.of);
        values.any(|one| one == Source::Input(input)) || owners.any(|of| of == input)
    };
    let fits = |at: &InputId| {
        let input = &lifecycle.inputs[at.0];
        let does = |verb| effects().any(|one| one.target == *at && one.verb == verb);
        let is_plain = input.given.is_none() && input.retain.is_none() && input.of.is_none();
        let is_plain = is_plain && input.only_if.is_none();
        input.mode == Mode::Owned
            && !input.many
            && is_plain
            && input.group.is_none()
            && does(Verb::Apply)
            && !does(Verb::Adopt)
            && !is_needed(*at)
    };
    let all = (0..lifecycle.inputs.len()).map(InputId);
    let mut members: Vec<InputId> = all.filter(fits).collect();
    let reads = |effect: &Effect, input: InputId| {
        let mut from = effect.from.iter();
        from.any(|one| one.source == Source::Input(input))
    };
    // A builder outside of the group reads no member either.
    loop {
        let outside = |input: &InputId| {
            effects().any(|one| {
                reads(one, *input) && (one.target == *input || !members.contains(&one.target))
            })
        };
        let Some(lost) = members.iter().position(outside) else {
            break;
        };
        members.remove(lost);
    }
    let tied: Vec<String> = effects()
        .filter(|effect| members.iter().any(|input| reads(effect, *input)))
        .map(|effect| format!("`{}`", effect.name))
        .collect();
    let condition = match tied.as_slice() {
        [] => String::new(),
        _ => format!(
            ", if {} can build without `from` another of them",
            tied.join(", ")
        ),
    };
    let names: Vec<String> = members
        .iter()
        .map(|input| format!("{}: ..;", lifecycle.inputs[input.0].name))
        .collect();
    (names.len() > 1).then(|| {
        format!(
            "judge several objects as one, with the worlds of one of them: `parts: owned {{ {} }};` and `apply each parts`{condition}; or ",
            names.join(" ")
        )
    })
}

/// Suggests a chain for inputs that are written and evaluated everywhere, each after the one that
/// is written before it.
fn chain_of_inputs(lifecycle: &Lifecycle) -> Option<String> {
    let mut written: Vec<InputId> = Vec::new();
    let applied = lifecycle
        .effects
        .iter()
        .filter(|one| one.verb == Verb::Apply);
    for effect in applied {
        let is_known = written.contains(&effect.target);
        if !is_known && lifecycle.inputs[effect.target.0].given.is_none() {
            written.push(effect.target);
        }
    }
    let name = |input: InputId| &lifecycle.inputs[input.0].name;
    let pairs = written.iter().zip(written.iter().skip(1));
    let links: Vec<String> = pairs
        .map(|(first, next)| format!("`{}: .. given {} == Current`", name(*next), name(*first)))
        .collect();
    (links.len() > 1).then(|| links.join(", "))
}

/// Reports a chain of declarations in which each needs the next.
pub(crate) fn chain(span: Span, name: &str, limit: usize) -> Diagnostic {
    let message = format!(
        "`{name}` begins a chain of more than {limit} declarations, each of them needing the next, and at most {limit} can be checked"
    );
    RULE.finding(span, name, message)
        .help("let `given`, `from` and lookups name what matters directly")
}

/// Reports more variables than the checker can distinguish.
pub(crate) fn variables(lifecycle: &Lifecycle, count: usize, limit: usize) -> Diagnostic {
    let message = format!(
        "{} questions (inputs, facts, and a refusal for each effect) exceed the limit of {}",
        grouped(count),
        grouped(limit)
    );
    RULE.finding(lifecycle.name.span(), lifecycle.name.to_string(), message)
        .help("declare a set (`[Type]`) instead of many inputs, and merge effects that differ in nothing but their input")
}

/// A number with a space before each group of three digits.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}
