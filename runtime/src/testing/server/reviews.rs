//! Reviews: questions about rights, which are answered and not stored.

use super::answer::Answer;
use super::dispatch::Call;
use super::failure::Failure;
use super::state::State;

/// Answers a review.
pub(crate) fn review(_state: &mut State, _call: &Call<'_>) -> Result<Answer, Failure> {
    Err(Failure::method_not_allowed())
}
