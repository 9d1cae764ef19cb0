//! Clients, clocks, selectors, names and YAML, for everything that speaks to an API server. Knows no lifecycle.

#![deny(missing_docs)]

pub mod cause;
pub mod clock;
pub mod heard;
pub mod kube;
pub mod names;
pub mod requests;
pub mod scripted;
pub mod selector;
pub mod yaml;
