//! csi-sanity, the conformance suite of CSI drivers: built once from its committed Go module, apart from the programs of a cluster.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::wrapper::go_version;
use super::{BUILD_COMMAND, Missing, cache_folder};

const NAME: &str = "csi-sanity";
const MODULE: &str = "github.com/kubernetes-csi/csi-test/v5";
const GO_MOD: &str = include_str!("../../binaries/csi-sanity/go.mod");
const GO_SUM: &str = include_str!("../../binaries/csi-sanity/go.sum");

/// The pinned version, such as `v5.6.0`.
pub fn csi_sanity_version() -> &'static str {
    let mut words = GO_MOD.split_whitespace().skip_while(|word| *word != MODULE);
    words.nth(1).unwrap_or_default()
}

fn place() -> Result<PathBuf, Missing> {
    let mut hasher = DefaultHasher::new();
    (GO_MOD, GO_SUM).hash(&mut hasher);
    let folder = format!("{NAME}-{}-{:016x}", csi_sanity_version(), hasher.finish());
    Ok(cache_folder()?.join(folder))
}

/// The path of csi-sanity, without building it.
///
/// # Errors
/// It is not built.
pub fn csi_sanity() -> Result<PathBuf, Missing> {
    let program = place()?.join(NAME);
    if program.is_file() {
        return Ok(program);
    }
    let said = format!("{NAME} is not built; run `{BUILD_COMMAND}`");
    Err(Missing(said))
}

/// Builds csi-sanity, if it is not there; `progress` gets a line for a person.
///
/// # Errors
/// Go is absent, the module cannot be downloaded, or the cache cannot be written.
pub fn build_csi_sanity(progress: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    if let Ok(built) = csi_sanity() {
        return Ok(built);
    }
    let go = go_version()?;
    let version = csi_sanity_version();
    progress(&format!(
        "building {NAME} {version} with {go} (half a minute, once)"
    ));
    let cache = cache_folder()?;
    fs::create_dir_all(&cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let scratch = tempfile::Builder::new()
        .prefix("building-")
        .tempdir_in(&cache)
        .context("cannot create a folder to build in")?;
    let (source, output) = (scratch.path().join("source"), scratch.path().join("output"));
    fs::create_dir(&source)
        .and_then(|()| fs::create_dir(&output))
        .and_then(|()| fs::write(source.join("go.mod"), GO_MOD))
        .and_then(|()| fs::write(source.join("go.sum"), GO_SUM))
        .context("cannot write the wrapper module")?;
    let build = Command::new("go")
        .args([
            "install",
            "-trimpath",
            "-mod=readonly",
            "-ldflags=-s -w",
            "tool",
        ])
        .current_dir(&source)
        .env("GOBIN", &output)
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .env("GOFLAGS", "-buildvcs=false")
        .output()
        .context("cannot run `go`")?;
    if !build.status.success() {
        let said = String::from_utf8_lossy(&build.stderr);
        bail!("cannot build {NAME}: {}", said.trim());
    }
    let place = place()?;
    if let Err(error) = fs::rename(&output, &place) {
        // Another build may have been faster, and made the same.
        csi_sanity().with_context(|| format!("cannot create {}: {error}", place.display()))?;
    }
    Ok(csi_sanity()?)
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_version_is_read_from_the_module_that_pins_it() {
        assert_eq!(super::csi_sanity_version(), "v5.6.0");
    }
}
