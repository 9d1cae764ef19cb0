//! A Kubernetes API server in memory for tests and for trying things out, what surrounds it, and what goes wrong in between.

pub mod faults;
pub mod schema;
