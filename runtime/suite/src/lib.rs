//! The tests that a lifecycle has without anybody writing them: exploration, contract tests and schedules of faults, on the simulated cluster.

#![deny(missing_docs)]

pub mod conversion;
pub mod faults;
mod granted;
pub mod managed;
pub mod resources;
pub mod volumes;
