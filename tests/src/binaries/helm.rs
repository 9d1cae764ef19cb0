//! Helm, which waits for the objects that it installs. It is built once from its committed Go
//! module, apart from the programs of a cluster.

use std::path::PathBuf;

use anyhow::Result;

use super::wrapper::Module;
use super::{Missing, alone};

/// The path of helm, without building it.
///
/// # Errors
/// It is not built.
pub fn helm() -> Result<PathBuf, Missing> {
    alone::find(&Module::helm())
}

/// Builds helm, if it is not there; `progress` gets a line for a person.
///
/// # Errors
/// Go is absent, the module cannot be downloaded, or the cache cannot be written.
pub fn build_helm(progress: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    alone::build(&Module::helm(), progress)
}
