//! The lifecycle language as a plain library: tokens in, diagnostics and tokens out. Knows no Kubernetes client and no runtime.

pub mod errors;
pub mod model;
