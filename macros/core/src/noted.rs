//! What the language adds to each `create`: the effect that notes what was made. It stands before all others, so that no time is lost in between.

use std::collections::BTreeSet;

use proc_macro2::Ident;

use crate::ast::{Comes, Effect, Input, Lifecycle, Mode, Verb, bare};

/// Adds them.
pub(crate) fn add(lifecycle: &mut Lifecycle) {
    let created = |of: &Ident| lifecycle.comes(of) == Comes::Once;
    let noted = lifecycle.inputs.iter().filter(|i| i.mode == Mode::Noted);
    let mut of: BTreeSet<String> = BTreeSet::new();
    // A second record of the same is refused.
    let records = noted.filter(|record| {
        let made = record.of.as_ref().filter(|of| created(of));
        made.is_some_and(|made| of.insert(bare(made)))
    });
    let notes: Vec<Effect> = records.filter_map(note).collect();
    lifecycle.effects.splice(0..0, notes);
}

fn note(record: &Input) -> Option<Effect> {
    let of = record.of.as_ref()?;
    // What is generated of it stands where it is said what is noted.
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
    })
}
