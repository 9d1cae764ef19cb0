//! View of a stranger who depends on a package of this workspace: the published packages, the
//! packed files, the README, and the public API. The findings come from the output of Cargo and
//! rustdoc. `tests/packages.rs` runs the checks, and asserts that there are no findings.

pub mod api;
pub mod manifests;
pub mod packed;
pub mod readmes;
