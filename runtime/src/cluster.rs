//! What passes and calls share: caches and their keys, one walk over a lifecycle's inputs, the requests that effects make, and what answers mean.
//! Knows neither the loop that runs passes nor the services that take calls.

pub(crate) mod act;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod index;
pub(crate) mod observe;
pub(crate) mod outcome;
pub(crate) mod store;
pub(crate) mod watching;
