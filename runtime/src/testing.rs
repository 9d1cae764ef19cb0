//! A simulated Kubernetes cluster for tests and for trying things out: an API server in this process, without sockets, what
//! surrounds it, and what goes wrong in between. Deterministic: its clock, uids and order come from a seed.

pub mod faults;
mod printers;
pub mod schema;
pub mod server;
pub mod suite;
pub mod volumes;
pub mod world;

pub use server::{Server, User};
