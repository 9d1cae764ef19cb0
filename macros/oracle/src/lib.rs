//! The oracle: a second, naive checker of the lifecycle language, and random lifecycles.
//!
//! It is written apart from `lifecycle-macros-core` and does not know it, so that a mistake would have to be made twice to stay unseen.
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
mod groups;
mod held;
mod kstatus;
pub mod meaning;
mod minted;
mod moves;
mod names;
mod once;
mod ownership;
mod parser;
mod properties;
pub mod random;
mod reach;
mod rotations;
mod silence;
mod strays;
mod syntax;
mod teardown;
mod unasked;
mod unheard;
mod worlds;
