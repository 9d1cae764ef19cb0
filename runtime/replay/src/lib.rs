//! Records what an operator sees and decides while it runs, and holds a recording against another version of its lifecycles: pass by pass, by the code of
//! that version, what it would decide where the recorded one decided.
//!
//! An operator that offers it gives a [`Recorder`] to its `trace`; a program that replays flattens [`Replay`] into its command line and calls [`run`].

#![deny(missing_docs)]

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

pub use args::{Output, Recording, Replay, Verdict, run};
pub use error::Error;
pub use fixture::{Fixture, assert_same, shrink};
pub use format::{FORMAT, Header};
pub use held::hold;
pub use reading::{Flaw, Recorded, read};
pub use recorder::{Recorder, Settings};
pub use replayed::Replayed;
pub use text::text;
pub use told::{Difference, Fact, Held, Then, Undeclared};
