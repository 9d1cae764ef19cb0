//! What everything of ours that speaks to an API server shares: clients, clocks, selectors, names and YAML. Knows no lifecycle.

#![deny(missing_docs)]

pub mod cause;
pub mod clock;
pub mod heard;
pub mod kube;
pub mod names;
pub mod scripted;
pub mod selector;
pub mod yaml;
