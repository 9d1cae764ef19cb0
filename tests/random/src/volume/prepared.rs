//! Random volume in the form in which it runs: the description that the macro prints, and the
//! arguments of its methods.

use std::sync::Arc;

use lifecycle_macros_core::model::Mode;
use lifecycle_macros_core::{check, expand};
use lifecycle_runtime::machine::ir::Lifecycle;

use super::printed;
use super::seeded::SeededCall;
use crate::declared::{Declared, body, is_clean};
use crate::things::WIDE;

/// A volume without findings, ready to run.
pub struct Prepared {
    pub(super) text: String,
    pub(super) ir: &'static Lifecycle,
    pub(super) declared: Arc<Declared>,
    pub(super) seeded: Option<SeededCall>,
    /// True if its calls can take back everything that they make.
    pub(super) gives_back: bool,
}

/// Reads a volume. Returns `None` if the checker finds anything in it, or if it observes something
/// that calls do not support.
///
/// # Panics
/// If the text is no `lifecycle! { .. }`.
pub fn prepare(text: &str, gives_back: bool, seeded: Option<SeededCall>) -> Option<Prepared> {
    let body = body(text);
    let checked = check(body.clone());
    let model = checked.model.filter(|model| {
        let ownerless = model
            .inputs
            .iter()
            .any(|input| matches!(input.mode, Mode::Owned | Mode::Shared) && input.of.is_none());
        is_clean(&checked.diagnostics) && model.inputs.len() <= WIDE && !ownerless
    })?;
    Some(Prepared {
        text: text.to_owned(),
        ir: printed::read(expand(body), seeded),
        declared: Arc::new(Declared::from_model(&model)),
        seeded,
        gives_back,
    })
}
