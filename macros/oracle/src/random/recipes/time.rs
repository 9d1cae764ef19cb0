//! Pieces about time: a window that is closed until it opens, and work that repeats when it is due.

use super::draft::Draft;
use crate::random::sketch::{Input, alternatives};

/// The one clock of a lifecycle.
fn clock(draft: &mut Draft<'_>) -> String {
    let name = "now".to_owned();
    if draft.sketch.inputs.iter().all(|input| input.name != name) {
        draft.sketch.inputs.push(Input {
            name: name.clone(),
            head: "clock".to_owned(),
            ..Input::default()
        });
    }
    name
}

/// Adds an operation that is permitted only at some times.
pub(super) fn window(draft: &mut Draft<'_>) {
    let now = clock(draft);
    let (mut from, mut wakes) = (vec![now.as_str()], vec![now.as_str()]);
    if draft.dice.one_in(2) {
        from.insert(0, "self");
        wakes.push("self");
    }
    let three = draft.dice.one_in(3);
    let domain = match three {
        true => "{ Closed, Soon, Open }",
        false => "{ Closed, Open }",
    };
    let window = draft.fact("window", domain, &from);
    let closed = match three {
        true => format!("{window} in {{ Closed, Soon }}"),
        false => format!("{window} == Closed"),
    };
    draft.state("Shut", &closed, "Pending", &wakes);
    draft.condition(
        "Allowed",
        &[(&closed, "Shut")],
        &format!("{window} == Open"),
    );
}

/// Adds something external that grows old and is made anew.
pub(super) fn renewed(draft: &mut Draft<'_>) {
    let now = clock(draft);
    let vault = draft.input("vault", "poll Info", "meta.name every 30s");
    let due = draft.fact("due", "{ No, Yes }", &[&vault, &now]);
    draft.given(&[&vault], Some("Unknown"));
    draft.state("Quiet", &format!("{due} == Unknown"), "Pending", &[]);
    let (yes, renew) = (format!("{due} == Yes"), draft.name("renew"));
    let refused = format!("refused({renew})");
    let mut bad = vec![(yes.as_str(), "Due")];
    if draft.dice.one_in(3) {
        draft.state("Denied", &refused, "Error", &["self", &vault, &now]);
        bad.insert(0, (&refused, "Denied"));
    }
    draft.state("Renewing", &yes, "Pending", &[]);
    let mut guard = draft.leaning();
    guard.push(yes.clone());
    let effect = draft.effect(&format!("call {vault}"), guard);
    (effect.name, effect.key) = (Some(renew), Some("meta.uid".to_owned()));
    effect.sets = alternatives(&due, &["No"]);
    draft.condition("Fresh", &bad, &format!("{due} == No"));
}
