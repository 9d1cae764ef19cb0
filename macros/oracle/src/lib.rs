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
pub mod findings;
mod graph;
mod kstatus;
pub mod meaning;
mod moves;
mod names;
mod parser;
mod properties;
pub mod random;
mod reach;
mod silence;
mod syntax;
mod unasked;
mod worlds;
