//! Random volumes, run by the driver that ships. Calls come in any order, repeated, abandoned, and
//! crossed by their opposites, while the environment moves, refuses and fails. Each effect and each
//! answer is checked against the oracle's result for the current objects.

mod line;
mod log;
mod machine;
pub mod objects;
pub mod prepared;
mod printed;
mod reality;
pub mod request;
pub mod run;
pub mod seeded;
