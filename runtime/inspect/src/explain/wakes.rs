//! Events that make the operator observe an object again.

use lifecycle_runtime::cluster::index::IndexKey;
use lifecycle_runtime::machine::ir::{Mode, Source};
use lifecycle_runtime::machine::policy::{Class, Decision};

use crate::explain::look::{Inspection, Position};
use crate::explain::promises::promises;
use crate::explain::times;
use crate::explain::why::by;
use crate::text::timestamp;

/// Returns the events that wake it, one per line.
pub(crate) fn wakes(look: &Inspection<'_>, place: &Position) -> Vec<String> {
    let ir = look.ir;
    if look.is_unreadable() {
        return vec![format!("{}, when it is corrected", look.object())];
    }
    let mut lines = match (place.class, place.next) {
        (Class::State(state), Decision::Rest) => match ir.states[state].wakes {
            Some(sources) => sources.iter().map(|s| source(look, *s)).collect(),
            None => promises(look, place)
                .into_iter()
                .map(|due| due.told)
                .collect(),
        },
        (_, Decision::Claim | Decision::Effect(_) | Decision::Release) => {
            vec!["nothing has to: the operator acts by itself".to_owned()]
        }
        (Class::Refused { .. }, Decision::Rest) => vec![
            format!("{}, when its spec is edited", look.object()),
            "the operator tries again by itself, more and more seldom".to_owned(),
        ],
        (Class::Deleting | Class::Contradiction, Decision::Rest) => {
            vec!["a change of any object that it reads".to_owned()]
        }
    };
    if let Some(until) = look.observed.observation.holds_until() {
        lines.push(format!("the time, at {}", timestamp(until)));
    }
    lines
}

fn source(look: &Inspection<'_>, source: Source) -> String {
    let ir = look.ir;
    match source {
        Source::This | Source::Request => format!("{}, when its spec is edited", look.object()),
        Source::Value(value) => format!("a change of `{}`", ir.values[value].name),
        Source::Fact(var) => format!("another answer of `{}`", ir.vars[var].name),
        Source::Input(input) => {
            let each = look.ir.of_objects(input).into_iter();
            let each: Vec<String> = each.map(|input| of_input(look, input)).collect();
            each.join("; ")
        }
    }
}

fn of_input(look: &Inspection<'_>, input: usize) -> String {
    let declared = &look.ir.inputs[input];
    let kind = look.kind_of(input);
    if matches!(declared.mode, Mode::Poll | Mode::Probe) {
        let every = declared.every.map(|every| {
            let said = every.said;
            let said = said.and_then(|time| look.of.machine.time(&look.observed.observation, time));
            every.resolve(said.as_ref()).0
        });
        return match every {
            Some(every) => format!(
                "another answer to `{}`, which the operator polls every {}",
                declared.name,
                times::length(every)
            ),
            None => format!("another answer to `{}`", declared.name),
        };
    }
    let objects = look.observed.observation.objects(input);
    let keys = &look.observed.dependencies[input];
    let named: Vec<String> = keys
        .iter()
        .filter_map(|key| match key {
            IndexKey::Named(name) => Some(format!("{kind} `{name}`")),
            IndexKey::Of(..) => None,
        })
        .collect();
    match (named.as_slice(), objects.is_empty()) {
        ([], _) if keys.is_empty() => format!("any {kind} that `{}` finds", declared.name),
        ([], _) => format!("a change of {}", by(look, input)),
        ([one], true) => format!("{one}, when it is created"),
        ([one], false) => format!("{one}, when it is changed or removed"),
        (several, _) => {
            let shown: Vec<&str> = several.iter().take(4).map(String::as_str).collect();
            format!("a change of {}", shown.join(", "))
        }
    }
}
