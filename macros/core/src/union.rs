//! The union of a lifecycle and its regions, behind the checks that keep regions apart.

use std::borrow::Cow;

use crate::ast::Lifecycle;
use crate::check::{circular_regions, misfit_region};
use crate::errors::Sink;

/// Returns the union of a lifecycle and its regions, as it runs. Reports everything that ties
/// regions together.
pub(crate) fn union<'a>(ast: &'a Lifecycle, sink: &mut Sink) -> Cow<'a, Lifecycle> {
    if ast.regions.is_empty() {
        return Cow::Borrowed(ast);
    }
    misfit_region::check(ast, sink);
    match circular_regions::find_circle(ast) {
        // There is no answer to the questions in a circle.
        Some(_) => Cow::Owned(ast.without_questions().whole()),
        None => Cow::Owned(ast.whole()),
    }
}
