//! Random volumes, run by the driver that ships: calls in any order, repeated, given up and crossed by their opposites, while the outside moves, refuses and
//! fails; each effect and each answer is held against what the oracle says of the objects as they are.

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
