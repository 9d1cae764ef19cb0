//! Programs of others that speak to an API server, each with the files that it is installed by: built from their committed Go modules where
//! `LIFECYCLE_OTHERS=1`, because they are no part of the usual check.

use std::env;
use std::path::PathBuf;

use anyhow::Result;

use super::wrapper::Module;
use super::{BUILD_COMMAND, Missing, alone};

/// Variable that requests these programs, for `test-cluster build` and for tests.
const OTHERS: &str = "LIFECYCLE_OTHERS";

/// Returns true if the environment requests these programs.
pub fn others_are_wanted() -> bool {
    env::var(OTHERS).is_ok_and(|value| value == "1")
}

/// Returns the path of one of these programs, without building it: `snapshot-controller`,
/// `ray-operator` or `e2e.test`. The files that install it lie beside it.
///
/// # Errors
/// Returns an error if the program is not built, or not requested.
///
/// # Panics
/// Panics if there is no such program.
pub fn other(name: &str) -> Result<PathBuf, Missing> {
    if !others_are_wanted() {
        return Err(Missing(format!(
            "programs of others run where {OTHERS}=1 alone"
        )));
    }
    let others = Module::others();
    let mut named = others.iter().filter(|module| module.programs == [name]);
    let module = named.next().expect("it is one of the others");
    alone::find(module).map_err(|_| {
        Missing(format!(
            "{name} is not built; run `{OTHERS}=1 {BUILD_COMMAND}`"
        ))
    })
}

/// Builds the missing programs, if they are requested. `progress` gets a human-readable line.
///
/// # Errors
/// Go is absent, a module cannot be downloaded, or the cache cannot be written.
pub fn build_others(progress: &mut dyn FnMut(&str)) -> Result<()> {
    let wanted = Module::others().into_iter().filter(|_| others_are_wanted());
    for module in wanted {
        alone::build(&module, progress)?;
    }
    Ok(())
}
