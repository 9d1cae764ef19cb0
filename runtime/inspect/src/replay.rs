//! Records the observations and decisions of a running operator, and compares a recording with
//! another version of its lifecycles. It runs the code of that version for each recorded
//! reconciliation, and compares the decisions.
//!
//! An operator that offers it gives a [`Recorder`] to its `trace`; a program that replays flattens [`Replay`] into its command line and calls [`run`].

mod args;
mod cache;
mod error;
mod fixture;
mod format;
mod held;
mod outcomes;
mod placeholders;
mod queue;
mod reading;
mod recorder;
mod replayed;
mod text;
mod told;
mod writer;

pub use args::{Recording, Replay, Verdict, run};
pub use error::Error;
pub use fixture::{Fixture, assert_same, shrink};
pub use format::{FORMAT, Header};
pub use held::hold;
pub use reading::{Flaw, Recorded, read};
pub use recorder::{Recorder, Settings};
pub use replayed::Replayed;
pub use text::text;
pub use told::{Difference, Fact, ReplayReport, Then, Undeclared};
