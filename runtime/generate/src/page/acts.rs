//! The actors in a state: the operator, the environment (other controllers, users, Kubernetes), or
//! a person.

use lifecycle_runtime::machine::ir::{Lifecycle, Phase, Source, State};

use crate::names;

/// Describes the actor in a few words, with the required change.
pub(super) fn describe_actor(lifecycle: &Lifecycle, state: &State) -> String {
    match (state.phase, state.wakes) {
        (Phase::Ready, _) => "nobody".to_owned(),
        (Phase::Ignored, _) => "another controller manages it".to_owned(),
        (Phase::Suspended, _) => "a user, by resuming it".to_owned(),
        (Phase::Pending, None) => "the operator, or what it counts on".to_owned(),
        (Phase::Pending | Phase::Error, Some(wakes)) => waits(lifecycle, wakes),
        (Phase::Error, None) => "a person".to_owned(),
    }
}

fn waits(lifecycle: &Lifecycle, wakes: &[Source]) -> String {
    let wakes = wakes.iter().map(|source| match source {
        Source::This => "the object itself".to_owned(),
        Source::Request | Source::Input(_) | Source::Value(_) | Source::Fact(_) => {
            format!("`{}`", names::source(lifecycle, *source))
        }
    });
    let wakes: Vec<_> = wakes.collect();
    format!("a user or controller that changes {}", wakes.join(" or "))
}
