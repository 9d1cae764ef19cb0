//! csi-sanity, the conformance suite of CSI drivers: built once from its committed Go module, apart from the programs of a cluster.

use std::path::PathBuf;

use anyhow::Result;

use super::build::build_alone;
use super::wrapper::Module;
use super::{BUILD_COMMAND, Missing, cache, place};

/// The pinned version, such as `v5.6.0`.
pub fn csi_sanity_version() -> &'static str {
    Module::csi_sanity().version()
}

/// The path of csi-sanity, without building it.
///
/// # Errors
/// It is not built.
pub fn csi_sanity() -> Result<PathBuf, Missing> {
    let module = Module::csi_sanity();
    let found = place(&cache()?, &module.folder()).map(|folder| folder.join(module.name));
    found.filter(|program| program.is_file()).ok_or_else(|| {
        Missing(format!(
            "{} is not built; run `{BUILD_COMMAND}`",
            module.name
        ))
    })
}

/// Builds csi-sanity, if it is not there; `progress` gets a line for a person.
///
/// # Errors
/// Go is absent, the module cannot be downloaded, or the cache cannot be written.
pub fn build_csi_sanity(progress: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    if let Ok(built) = csi_sanity() {
        return Ok(built);
    }
    let module = Module::csi_sanity();
    Ok(build_alone(&module, progress)?.join(module.name))
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_is_read_from_the_module_that_pins_it() {
        assert_eq!(super::csi_sanity_version(), "v5.6.0");
    }
}
