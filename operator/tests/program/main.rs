//! The program itself, without a cluster of Kubernetes: what it says, how it ends, and the sandbox.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

mod chart;
mod cluster;
mod command;
mod deploy;
mod generated;
mod help;
mod listener_page;
mod mistakes;
mod monitoring;
mod new;
mod options;
mod otlp;
mod pages;
mod rules;
mod sandbox;
mod takeover;
mod troubleshooting;
