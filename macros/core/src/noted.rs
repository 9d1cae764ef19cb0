//! Addition to each `create`: the effect that records the created object. It comes before all other
//! effects, so that no time is lost in between.

use std::collections::BTreeSet;

use proc_macro2::Ident;

use crate::ast::{Effect, Input, Lifecycle, Mode, Verb, WriteMode, bare};

/// Adds them.
pub(crate) fn add(lifecycle: &mut Lifecycle) {
    let created = |of: &Ident| lifecycle.comes(of) == WriteMode::Once;
    let noted = lifecycle.inputs.iter().filter(|i| i.mode == Mode::Noted);
    let mut of: BTreeSet<String> = BTreeSet::new();
    // A second record of the same is refused.
    let records = noted.filter(|record| {
        let made = record.of.as_ref().filter(|of| created(of));
        made.is_some_and(|made| of.insert(bare(made)))
    });
    let notes: Vec<Effect> = records.filter_map(note_effect).collect();
    lifecycle.effects.splice(0..0, notes);
}

fn note_effect(record: &Input) -> Option<Effect> {
    let of = record.of.as_ref()?;
    // Generated code points at the declaration of the record.
    let name = Ident::new(&format!("note_{}", bare(of)), of.span());
    Some(Effect {
        name: Some(name),
        doc: format!("Notes in `{}` which of `{of}` were made.", record.name),
        verb: Verb::Note,
        each: None,
        target: record.name.clone(),
        without_retain: None,
        from: Vec::new(),
        when: None,
        sets: None,
        undo: None,
        key: None,
        region: None,
    })
}
