//! Programs that stand apart from those of a cluster: each is built once from its committed Go module, and found by its name.

use std::path::PathBuf;

use anyhow::Result;

use super::build::build_alone;
use super::wrapper::Module;
use super::{BUILD_COMMAND, Missing, cache, programs_dir};

/// The path of the program, without building it.
pub(super) fn find(module: &Module) -> Result<PathBuf, Missing> {
    let found = programs_dir(&cache()?, &module.folder()).map(|folder| folder.join(module.name));
    found.filter(|program| program.is_file()).ok_or_else(|| {
        Missing(format!(
            "{} is not built; run `{BUILD_COMMAND}`",
            module.name
        ))
    })
}

/// Builds it, if it is not there.
pub(super) fn build(module: &Module, progress: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    if let Ok(built) = find(module) {
        return Ok(built);
    }
    Ok(build_alone(module, progress)?.join(module.name))
}
