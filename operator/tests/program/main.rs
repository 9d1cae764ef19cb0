//! Tests of the program itself, without a Kubernetes cluster: its output, its exit and the sandbox.

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
mod readmes;
mod rules;
mod sandbox;
mod takeover;
mod troubleshooting;
