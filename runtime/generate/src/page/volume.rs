//! The answers to each call of a volume.

use lifecycle_runtime::machine::ir::{Call, Lifecycle, Target};

use crate::names;
use crate::table::{Table, code};

pub(super) fn calls(lifecycle: &Lifecycle) -> String {
    let mut table = Table::new(&["Call", "OK where", "By", "Waits", "Otherwise"]);
    for call in lifecycle.calls {
        let by = call.by.iter().map(|at| code(lifecycle.effects[*at].name));
        table.row([
            code(&format!("{:?}", call.rpc)),
            target(lifecycle, call),
            by.collect::<Vec<_>>().join(", "),
            call.within.map_or(String::new(), |within| {
                let time = names::milliseconds(within.time);
                format!("{time}, then {}", spelled(&within.code))
            }),
            refusals(lifecycle, call),
        ]);
    }
    table.under("Calls")
}

fn target(lifecycle: &Lifecycle, call: &Call) -> String {
    match &call.target {
        Target::Nothing => "always".to_owned(),
        Target::State(state) => code(lifecycle.states[*state].name),
        Target::Pred(pred) => code(&pred.describe(lifecycle)),
    }
}

/// Returns the preconditions and refusals of a call, in the order in which they are checked.
fn refusals(lifecycle: &Lifecycle, call: &Call) -> String {
    let before = call.preconditions.iter();
    let before = before.map(|one| (spelled(&one.code), one.when.describe(lifecycle)));
    let after = call.refusals.iter();
    let after = after.map(|one| (spelled(&one.code), one.when.describe(lifecycle)));
    let all = before.chain(after);
    let all = all.map(|(code, place)| format!("{code} where `{place}`"));
    all.collect::<Vec<_>>().join("; ")
}

/// A code as gRPC spells it: `INVALID_ARGUMENT`.
fn spelled(code: &impl std::fmt::Debug) -> String {
    let name = format!("{code:?}");
    let mut spelled = String::new();
    for letter in name.chars() {
        if letter.is_uppercase() && !spelled.is_empty() {
            spelled.push('_');
        }
        spelled.push(letter.to_ascii_uppercase());
    }
    spelled
}
