//! The oracle: a second, naive checker of the lifecycle language, and random lifecycles.
//!
//! It derives the meaning apart from `lifecycle-macros-core`, so that a mistake in it would have to
//! be made twice to stay unseen. It shares the declarations: parsed, merged with fragments, and with
//! names that resolve. A text that the core refuses before has no second answer.
//! It takes texts and answers with codes and names; it knows no spans and no messages.
#![deny(missing_docs)]

pub mod answer;
pub mod broken;
mod calls;
mod circles;
mod declarations;
mod drive;
mod early;
pub mod findings;
mod graph;
mod held;
pub mod meaning;
mod minted;
mod moves;
mod needs;
mod once;
mod ownership;
mod properties;
pub mod random;
mod reach;
mod read;
mod rotations;
mod silence;
mod strays;
mod syntax;
mod teardown;
mod unasked;
mod unheard;
mod values;
mod wakes;
mod worlds;
mod written_out;
