//! A simulated Kubernetes cluster for tests and for trying things out: an API server in this process, without sockets, for any client,
//! and the controllers around it. Deterministic: its clock, uids and order come from a seed. Knows no lifecycle.

#![deny(missing_docs)]

pub mod http;
pub mod mirror;
mod printers;
pub mod schema;
pub mod server;
pub mod world;

pub use mirror::Mirror;
pub use server::{Server, User};
