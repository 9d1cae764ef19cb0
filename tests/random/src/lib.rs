//! Random lifecycles, run for real: the description that the macro prints, run by the driver that ships, on the simulated API server and on paused time;
//! each step is held against what the lifecycle means, as the oracle knows it.

#![deny(missing_docs)]
#![allow(
    clippy::wildcard_enum_match_arm,
    reason = "Rust has more expressions than the macro prints, and a way of lookup is asked for one at a time"
)]
#![allow(clippy::print_stderr, reason = "a run can be told step by step")]

pub mod author;
pub mod cluster;
pub mod declared;
pub mod dice;
pub mod hours;
pub mod machine;
pub mod meant;
pub mod mutants;
pub mod outside;
pub mod planted;
pub mod printed;
pub mod reality;
pub mod run;
pub mod things;
pub mod volume;
pub mod watched;
