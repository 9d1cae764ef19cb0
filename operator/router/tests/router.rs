//! The router from outside: sockets, files and processes on loopback. Names of tests begin with their row of the acceptance table.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

#[path = "router/entries.rs"]
mod entries;
#[path = "router/support.rs"]
mod support;
#[path = "router/traffic.rs"]
mod traffic;
