//! The common frame of every program of ours: options, logs, health probes, metrics, and shutdown.
//! Knows no lifecycle.

pub mod args;
pub mod cluster_domain;
pub mod definitions;
pub mod health;
pub mod logging;
pub mod metrics;
mod otlp;
mod program;
mod run;
pub mod webhook;

pub use otlp::Exporters;
pub use program::{compared, exit_code, printed, until_done};
pub use run::{Frame, leadership, run, run_logging};
