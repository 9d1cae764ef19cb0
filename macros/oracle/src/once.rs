//! Objects that are created once: the effect that records them.

use crate::syntax::{Effect, Life};

/// Adds effects that note a created object before anything else is done.
pub(crate) fn add_notes(life: &mut Life) {
    let told = life.inputs.iter().filter_map(|record| {
        let of = record.tells.as_deref()?;
        let is_first = life.noted(of)?.name == record.name;
        is_first.then(|| (record.name.clone(), of.to_owned()))
    });
    let notes: Vec<Effect> = told
        .map(|(record, of)| Effect {
            name: format!("note_{of}"),
            verb: "note".to_owned(),
            each: false,
            on: record,
            lets_go: false,
            from: Vec::new(),
            when: None,
            sets: Vec::new(),
            undo: None,
            key: None,
        })
        .collect();
    life.effects.splice(0..0, notes);
}
