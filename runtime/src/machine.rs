//! Pure half of the runtime: the evaluation of a lifecycle in a world. Knows no clock and no
//! client, and nothing asynchronous.

pub mod answer;
pub mod backoff;
pub mod circles;
pub mod claims;
pub mod compare;
pub mod ir;
pub mod kstatus;
pub mod length;
pub mod outcome;
pub mod policy;
pub mod project;
mod retired;
mod teardown;
pub mod verdict;
pub mod world;
