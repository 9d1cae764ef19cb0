//! Code that is common to reconciliation and calls. It contains caches and their keys, one walk
//! over a lifecycle's inputs, the requests that effects make, and the meaning of answers. Knows
//! neither the loop that reconciles nor the services that take calls.

pub mod act;
#[cfg(test)]
pub(crate) mod fixture;
pub mod index;
pub mod judged;
pub mod observe;
pub mod outcome;
mod raw;
pub mod store;
pub mod watching;
