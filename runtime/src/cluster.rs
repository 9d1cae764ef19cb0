//! What passes and calls share: caches and their keys, one walk over a lifecycle's inputs, the requests that effects make, and what answers mean.
//! Knows neither the loop that runs passes nor the services that take calls.

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
