//! csi-sanity, the conformance suite of CSI drivers: built once from its committed Go module, apart from the programs of a cluster.

use std::path::PathBuf;

use anyhow::Result;

use super::wrapper::Module;
use super::{Missing, alone};

/// The pinned version, such as `v5.6.0`.
pub fn csi_sanity_version() -> &'static str {
    Module::csi_sanity().version()
}

/// The path of csi-sanity, without building it.
///
/// # Errors
/// It is not built.
pub fn csi_sanity() -> Result<PathBuf, Missing> {
    alone::find(&Module::csi_sanity())
}

/// Builds csi-sanity, if it is not there; `progress` gets a line for a person.
///
/// # Errors
/// Go is absent, the module cannot be downloaded, or the cache cannot be written.
pub fn build_csi_sanity(progress: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    alone::build(&Module::csi_sanity(), progress)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_is_read_from_the_module_that_pins_it() {
        assert_eq!(super::csi_sanity_version(), "v5.6.0");
    }
}
