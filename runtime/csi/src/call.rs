//! Calls of one volume lifecycle, from a request to its answer. Knows neither sockets nor the services of the interface.

pub(crate) mod cache;
pub(crate) mod cluster_access;
pub(crate) mod context;
pub(crate) mod deadline;
mod locks;
mod observe;
mod publications;
mod reading;
pub(crate) mod request;
mod run;
pub(crate) mod runner;
mod sentences;
pub(crate) mod shared_watches;
mod snapshot;
mod staged_snapshots;
mod step_error;
mod turn;
mod unsupported;
