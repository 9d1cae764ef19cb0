//! A site without Kubernetes, as its user has it: a directory with files, the program, and connections to the declared host and port. Every byte is random and compared.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

#[path = "site/conflicts.rs"]
mod conflicts;
#[path = "site/files.rs"]
mod files;
#[path = "site/support.rs"]
mod support;
#[path = "site/traffic.rs"]
mod traffic;
