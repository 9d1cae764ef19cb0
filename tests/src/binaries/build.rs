//! Builds the programs from the committed Go modules, once, and puts them into the cache as a whole.
//! Knows nothing of how they are used.

use std::fs::{self, File};
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::wrapper::{Module, PROGRAMS, Wrapper, go_version};
use super::{Binaries, ETCD, assets, cache_folder, locate};

/// Builds what `locate` would miss; `progress` gets a line for a person before and after each long part.
///
/// # Guarantees
/// The cache never holds half a build: programs are built beside it and renamed into place. Two builds at once wait for each other.
///
/// # Errors
/// Go is absent, a module cannot be downloaded, or the cache cannot be written.
pub fn build(progress: &mut dyn FnMut(&str)) -> Result<Binaries> {
    if assets().is_some() {
        return Ok(locate()?);
    }
    let wrapper = Wrapper::committed();
    let cache = cache_folder()?;
    let target = cache.join(wrapper.folder_name(&go_version()?));
    fs::create_dir_all(&cache).with_context(|| format!("cannot create {}", cache.display()))?;
    let _lock = lock(&cache, progress)?;
    if let Ok(binaries) = Binaries::complete(target.clone(), &PROGRAMS) {
        progress(&format!("already built: {}", target.display()));
        return Ok(binaries);
    }
    let scratch = tempfile::Builder::new()
        .prefix("building-")
        .tempdir_in(&cache)
        .context("cannot create a folder to build in")?;
    let output = scratch.path().join("output");
    fs::create_dir(&output).context("cannot create a folder to build in")?;
    build_module(
        &wrapper.etcd,
        "half a minute",
        scratch.path(),
        &output,
        progress,
    )?;
    // The package is called `server`, and Go names a command after its package.
    fs::rename(output.join("server"), output.join(ETCD))
        .context("the etcd module built no command called `server`")?;
    build_module(
        &wrapper.containerd,
        "under a minute",
        scratch.path(),
        &output,
        progress,
    )?;
    build_module(
        &wrapper.provisioner,
        "four minutes",
        scratch.path(),
        &output,
        progress,
    )?;
    build_module(
        &wrapper.kubernetes,
        "about five minutes",
        scratch.path(),
        &output,
        progress,
    )?;
    put_in_place(&output, &target)?;
    progress(&format!("built: {}", target.display()));
    Binaries::complete(target, &PROGRAMS).map_err(anyhow::Error::msg)
}

/// Held until dropped.
fn lock(cache: &Path, progress: &mut dyn FnMut(&str)) -> Result<File> {
    let path = cache.join("lock");
    let file = File::create(&path).with_context(|| format!("cannot create {}", path.display()))?;
    if file.try_lock().is_err() {
        progress("waiting for another build to end");
        file.lock()
            .with_context(|| format!("cannot lock {}", path.display()))?;
    }
    Ok(file)
}

fn build_module(
    module: &Module,
    duration: &str,
    scratch: &Path,
    output: &Path,
    progress: &mut dyn FnMut(&str),
) -> Result<()> {
    let what = format!(
        "{} {}",
        module.name,
        module.version().trim_start_matches('v')
    );
    progress(&format!(
        "building {what} from its Go module ({duration} on two idle cores, once)"
    ));
    let started = Instant::now();
    let folder = scratch.join(module.name);
    fs::create_dir(&folder)
        .and_then(|()| fs::write(folder.join("go.mod"), module.go_mod))
        .and_then(|()| fs::write(folder.join("go.sum"), module.go_sum))
        .context("cannot write the wrapper module")?;
    go_install(module, &folder, output).with_context(|| format!("cannot build {what}"))?;
    progress(&format!(
        "built {what} in {} s",
        started.elapsed().as_secs()
    ));
    Ok(())
}

fn go_install(module: &Module, folder: &Path, output: &Path) -> Result<()> {
    let build = Command::new("go")
        .args(["install", "-trimpath", "-mod=readonly", "-ldflags"])
        .args([&module.linker_flags(), "tool"])
        .current_dir(folder)
        .env("GOBIN", output)
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .env("GOFLAGS", "-buildvcs=false")
        .output()
        .context("cannot run `go`")?;
    if !build.status.success() {
        bail!(
            "`go install` failed: {}",
            String::from_utf8_lossy(&build.stderr).trim()
        );
    }
    Ok(())
}

fn put_in_place(output: &Path, target: &Path) -> Result<()> {
    if target.exists() {
        // Only an incomplete folder gets here, such as one from which a person removed a program.
        fs::remove_dir_all(target)
            .with_context(|| format!("cannot replace {}", target.display()))?;
    }
    fs::rename(output, target).with_context(|| format!("cannot create {}", target.display()))
}
