//! A Kubernetes API server in memory for tests and for trying things out, and what surrounds it.

pub mod schema;
