//! Generated tests of a lifecycle: exploration, contract tests and fault schedules, on the
//! simulated cluster.

#![deny(missing_docs)]

pub mod conversion;
pub mod faults;
mod granted;
pub mod managed;
pub mod resources;
pub mod volumes;
