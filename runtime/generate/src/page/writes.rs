//! The writes of a lifecycle, the promises it relies on from others, and its behaviour when its
//! object goes.

use lifecycle_runtime::machine::ir::{Effect, Lifecycle, Pred};

use crate::names;
use crate::table::{Table, code};

pub(super) fn effects(lifecycle: &Lifecycle) -> String {
    let mut table = Table::new(&[
        "Effect",
        "What",
        "Allowed where",
        "Made from",
        "Brings about",
        "Given back by",
        "Description",
    ]);
    for effect in lifecycle.effects {
        let when = effect.when.as_ref();
        let undo = effect.undo.map(|undo| lifecycle.effects[undo].name);
        table.row([
            code(effect.name),
            code(&describe_effect(lifecycle, effect)),
            when.map_or(String::new(), |when| code(&when.describe(lifecycle))),
            names::sources(lifecycle, effect.from),
            code(&alternatives(lifecycle, effect.sets)),
            code(undo.unwrap_or_default()),
            effect.doc.trim().to_owned(),
        ]);
    }
    table.under("Effects")
}

fn describe_effect(lifecycle: &Lifecycle, effect: &Effect) -> String {
    let each = if effect.each { "each " } else { "" };
    let target = lifecycle.inputs[effect.target].name;
    format!("{} {each}{target}", names::verb(effect.verb))
}

/// Returns the outcomes of a write or a promise, one for each alternative.
fn alternatives(lifecycle: &Lifecycle, sets: &[&[(usize, u8)]]) -> String {
    let ways = sets.iter().map(|set| {
        let set = set.iter().map(|(var, value)| {
            let var = &lifecycle.vars[*var];
            format!("{} = {}", var.name, var.values[usize::from(*value)])
        });
        set.collect::<Vec<_>>().join(", ")
    });
    ways.collect::<Vec<_>>().join(" or ")
}

pub(super) fn promises(lifecycle: &Lifecycle) -> String {
    let mut table = Table::new(&["Promise", "Where", "Brings about"]);
    for promise in lifecycle.promises {
        table.row([
            code(promise.name),
            code(&promise.when.describe(lifecycle)),
            code(&alternatives(lifecycle, promise.sets)),
        ]);
    }
    table.under("Promises")
}

pub(super) fn deletion(lifecycle: &Lifecycle) -> String {
    let mut text = String::new();
    for (number, step) in (1..).zip(lifecycle.steps) {
        let effect = lifecycle.effects[step.effect].name;
        let until = step.until.describe(lifecycle);
        let when = step.when.as_ref();
        let when = when.map_or(String::new(), |when| {
            format!(" where `{}`,", when.describe(lifecycle))
        });
        text += &format!("{number}. `{effect}`,{when} until `{until}`\n");
    }
    // The calls of a volume clean up its held values.
    let held = lifecycle.vars.iter();
    let held = held.filter(|var| var.free.is_some() && !lifecycle.volume);
    let held: Vec<_> = held.map(|var| code(var.name)).collect();
    if !held.is_empty() {
        let held = held.join(", ");
        text += &format!("* Held values are cleaned up before the object goes: {held}.\n");
    }
    for given_up in lifecycle.abandoned {
        let when = given_up.when.describe(lifecycle);
        text += &format!(
            "* Where `{when}`, what is left is given up: {}.\n",
            given_up.why
        );
    }
    for input in lifecycle.inputs {
        if let Some(retain) = &input.retain {
            let where_ = match retain {
                Pred::All([]) => String::new(),
                retain @ (Pred::Is(..) | Pred::All(_) | Pred::Any(_) | Pred::Not(_)) => {
                    format!(" where `{}`", retain.describe(lifecycle))
                }
            };
            text += &format!("* `{}` stays{where_}.\n", input.name);
        }
    }
    if text.is_empty() {
        return text;
    }
    format!("## When it is deleted\n\n{text}\n")
}
