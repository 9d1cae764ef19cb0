//! A lifecycle that is ready to run: read, and known to be one that can be played.

use std::sync::Arc;

use lifecycle_macros_core::model::{self, Verb};
use lifecycle_macros_core::{check, expand};
use lifecycle_oracle::meaning::Named;
use lifecycle_runtime::machine::ir::Lifecycle;

use crate::declared::{Declared, body, is_clean};
use crate::meant::Declaration;
use crate::printed;
use crate::things::KINDS;

/// A lifecycle without findings, ready to run.
pub struct Prepared {
    pub(super) text: String,
    pub(super) ir: &'static Lifecycle,
    pub(super) declared: Arc<Declared>,
    /// What drives instead of it.
    pub(super) driven: Option<(&'static Lifecycle, Arc<Declared>)>,
    /// Worlds that the outside makes for.
    pub(super) towards: Vec<Named>,
}

impl Prepared {
    /// The same, held against what it means while another declaration drives, of the same inputs and facts.
    #[must_use]
    pub fn driven_by(&self, other: &Declaration) -> Self {
        Self {
            text: self.text.clone(),
            ir: self.ir,
            declared: Arc::clone(&self.declared),
            driven: Some((other.ir, Arc::clone(&other.declared))),
            towards: self.towards.clone(),
        }
    }

    /// The same, with an outside that makes for these worlds instead of moving at random.
    #[must_use]
    pub fn towards(mut self, worlds: Vec<Named>) -> Self {
        self.towards = worlds;
        self
    }

    /// Its description.
    pub fn ir(&self) -> &'static Lifecycle {
        self.ir
    }
}

/// Reads a lifecycle; `None` where the checker finds anything in it, or where it needs more kinds than there are.
///
/// # Panics
/// If the text is no `lifecycle! { .. }`.
pub fn prepare(text: &str) -> Option<Prepared> {
    let (prepared, model) = read(text)?;
    // What an author says of objects that others fill in is not played yet.
    let says_more = |effect: &&lifecycle_macros_core::model::Effect| {
        // What a note shows is the verdict of what it is about.
        let shown = model.noted_in(effect.target).unwrap_or(effect.target);
        let brought = model.inputs[shown.0].var;
        let sets = effect.sets.iter().flatten();
        effect.verb != Verb::Call && sets.into_iter().any(|set| Some(set.var) != brought)
    };
    if model.effects.iter().any(|effect| says_more(&effect)) {
        return None;
    }
    // Nobody can keep a promise of what time alone decides.
    let promised = model.promises.iter().flat_map(|promise| &promise.sets);
    if promised
        .flatten()
        .any(|set| model.is_timed(&model.vars[set.var.0]))
    {
        return None;
    }
    Some(prepared)
}

/// The same of one that may say more than is played: what a run of it shows counts only where the lifecycle itself does not show it as well.
///
/// # Panics
/// As `prepare`.
pub fn prepare_any(text: &str) -> Option<Prepared> {
    read(text).map(|(prepared, _)| prepared)
}

fn read(text: &str) -> Option<(Prepared, model::Lifecycle)> {
    let body = body(text);
    let checked = check(body.clone());
    let model = checked
        .model
        .filter(|model| is_clean(&checked.diagnostics) && model.inputs.len() < KINDS)?;
    let prepared = Prepared {
        text: text.to_owned(),
        ir: printed::read(expand(body)),
        declared: Arc::new(Declared::of(&model)),
        driven: None,
        towards: Vec::new(),
    };
    Some((prepared, model))
}
