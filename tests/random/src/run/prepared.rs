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
    /// Declaration that runs instead of it.
    pub(super) driven: Option<(&'static Lifecycle, Arc<Declared>)>,
    /// Worlds that the environment moves towards.
    pub(super) towards: Vec<Named>,
}

impl Prepared {
    /// Returns the run of another declaration with the same inputs and facts, checked against the
    /// meaning of this one.
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

    /// Returns the same, with an environment that moves towards these worlds instead of at random.
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
    // Content that authors specify for objects filled in by others is not exercised yet.
    let says_more = |effect: &&lifecycle_macros_core::model::Effect| {
        // A note shows the verdict of the input that it is about.
        let shown = model.noted_in(effect.target).unwrap_or(effect.target);
        let brought = model.inputs[shown.0].var;
        let sets = effect.sets.iter().flatten();
        effect.verb != Verb::Call && sets.into_iter().any(|set| Some(set.var) != brought)
    };
    if model.effects.iter().any(|effect| says_more(&effect)) {
        return None;
    }
    // A promise about a value that only time decides cannot be kept.
    let promised = model.promises.iter().flat_map(|promise| &promise.sets);
    if promised
        .flatten()
        .any(|set| model.is_timed(&model.vars[set.var.0]))
    {
        return None;
    }
    Some(prepared)
}

/// Prepares a lifecycle that may contain more than is exercised. A finding in its run counts only
/// if the original lifecycle does not show it as well.
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
        declared: Arc::new(Declared::from_model(&model)),
        driven: None,
        towards: Vec::new(),
    };
    Some((prepared, model))
}
