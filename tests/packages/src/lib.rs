//! What a stranger gets who depends on a package of ours: which are published, what is packed, what a README says, and what is public.
//! Findings are made from what Cargo and rustdoc print; who runs them, and whether the findings are none, is said in `tests/packages.rs`.

#![deny(missing_docs)]

pub mod api;
pub mod manifests;
pub mod packed;
pub mod readmes;
