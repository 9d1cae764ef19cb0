//! Contract between generated code and its callers: the inputs of a reconciliation, the results of
//! methods, and the trait that ties them to one lifecycle. Knows objects but no client, so a unit
//! test needs no cluster.

pub mod answer;
pub mod builtin;
pub mod call;
pub mod count;
pub mod declared;
pub(crate) mod decode;
pub mod desired;
pub mod kept_by;
pub mod lasts;
pub mod list;
pub mod noted;
pub mod object;
pub mod observation;
pub mod random;
pub mod readable;
pub mod request;
pub mod scope;
pub mod status;
pub mod text;
pub mod wanted;
pub mod wraps;

use std::any::Any;
use std::sync::Arc;

pub use answer::{Answer, Because, Timed};
pub use call::{CallError, Calling, Once, Polling};
pub use desired::{Built, Desired};
pub use kept_by::KeptBy;
pub use noted::Noted;
pub use object::{Compared, Kind, ObjectRef, Stored};
pub use observation::{LookupKey, Observation, Subject, This};
pub use random::Random;
pub use readable::Readable;
pub use request::{CreatedVolume, Request, Requested};
pub use wraps::MachineWrapper;

use crate::machine::ir::Lifecycle;
use crate::machine::length::Said;

/// One lifecycle together with the logic of its author; the macro implements it, drivers run it.
///
/// # Guarantees
/// All methods but `call` and `poll` are pure: equal observations give equal answers. Positions are
/// those of [`Lifecycle`]. A method returns `None` if its `given` does not hold, or if a required
/// input is absent.
pub trait Machine: Send + Sync + 'static {
    /// The const description.
    fn ir(&self) -> &'static Lifecycle;

    /// Returns the kind of the object whose lifecycle this is. Returns `None` for a volume, which
    /// is triggered by calls.
    fn subject(&self) -> Option<Kind> {
        None
    }

    /// The kind of an input; `None` for records, polls, probes and clocks.
    fn kind(&self, input: usize) -> Option<Kind>;

    /// Returns the key by which an input is looked up.
    fn lookup(&self, observation: &Observation, input: usize) -> Option<LookupKey>;

    /// Returns false if the object has no value at the path behind the `if` of an input, so that the
    /// input is not wanted. Returns `None` for an input without one.
    fn wants(&self, _observation: &Observation, _input: usize) -> Option<bool> {
        None
    }

    /// The content of a record as its Rust type; `None` if it is of another type.
    fn recall(
        &self,
        _input: usize,
        _recorded: &serde_json::Value,
    ) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }

    /// Returns the foreign side of an input found by `theirs = ours`.
    fn theirs(&self, input: usize, object: &Stored) -> Option<String>;

    /// Computes a shared value. For a minted one, returns the value of its keeper, if it has one.
    fn value(&self, observation: &Observation, value: usize) -> Option<Arc<dyn Any + Send + Sync>>;

    /// Makes a minted value, which [`Self::value`] only reads back; `None` where something is missing that it is made from.
    fn make(
        &self,
        _observation: &Observation,
        _value: usize,
        _random: &mut Random,
    ) -> Option<Arc<dyn Any + Send + Sync>> {
        None
    }

    /// Evaluates a declared fact. Returns `None` for a fact that receives the current time.
    fn fact(&self, observation: &Observation, var: usize) -> Option<Answer>;

    /// Evaluates a declared fact that receives the current time.
    fn timed(&self, _observation: &Observation, _var: usize) -> Option<Timed<u8>> {
        None
    }

    /// Builds the desired object of an `apply`.
    fn build(&self, observation: &Observation, effect: usize) -> Option<Built>;

    /// The value of a declared field of the status.
    fn field(&self, observation: &Observation, field: usize) -> Option<serde_json::Value>;

    /// The text at a path of the object that messages take in; `None` where it is missing or empty.
    fn text(&self, _board: &Observation, _text: usize) -> Option<String> {
        None
    }

    /// Returns the length of time that the object has at one of [`Lifecycle::times`]; `None` if it
    /// is missing or empty.
    fn time(&self, _observation: &Observation, _time: usize) -> Option<Said> {
        None
    }

    /// Queries a polled or probed input.
    fn poll<'a>(&'a self, observation: &'a Observation, input: usize) -> Option<Polling<'a>>;

    /// The key of a `call`: a provider treats a repetition under it as the same request.
    fn key(&self, observation: &Observation, effect: usize) -> Option<String>;

    /// The volume that `CreateVolume` answers with; `None` where that call is not declared.
    fn created(&self, _board: &Observation) -> Option<CreatedVolume> {
        None
    }

    /// Runs a `call`.
    fn call<'a>(
        &'a self,
        observation: &'a Observation,
        effect: usize,
        once: Once<'a>,
    ) -> Option<Calling<'a>>;
}
