//! Builds the programs from the committed Go modules, once, and puts those of a module into the cache as a whole.
//! Knows nothing of how they are used.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context, Result};

use super::cache::{Cache, put_in_place};
use super::wrapper::{Module, Wrapper};
use super::{Binaries, assets, cache, go, locate};

/// Builds the programs that `locate` would not find. `progress` gets a human-readable line before
/// and after each long part.
///
/// # Guarantees
/// The cache never holds half a module: its programs are built beside it and renamed into place. Two builds at once wait for each other.
///
/// # Errors
/// Go is absent, a module cannot be downloaded, or the cache cannot be written.
pub fn build(progress: &mut dyn FnMut(&str)) -> Result<Binaries> {
    if assets().is_some() {
        return Ok(locate()?);
    }
    let builder = Builder {
        cache: cache()?,
        go: go::version()?,
        install: &go::install,
    };
    builder.build_all(&Wrapper::committed(), progress)
}

/// Builds one module that stands apart, and returns its folder.
pub(super) fn build_alone(module: &Module, progress: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    let builder = Builder {
        cache: cache()?,
        go: go::version()?,
        install: &go::install,
    };
    let _lock = builder.cache.lock(progress)?;
    builder.build_module(module, progress)
}

/// Builder that fills a cache.
struct Builder<'a> {
    cache: Cache,
    go: String,
    /// Builds a module in one folder into another.
    install: &'a (dyn Fn(&Module, &Path, &Path) -> Result<()> + Sync),
}

impl Builder<'_> {
    fn build_all(&self, wrapper: &Wrapper, progress: &mut dyn FnMut(&str)) -> Result<Binaries> {
        let target = self.cache.programs_dir(&wrapper.folder(), &self.go);
        let programs = wrapper.programs();
        let _lock = self.cache.lock(progress)?;
        if let Ok(binaries) = Binaries::complete(target.clone(), &programs) {
            for module in wrapper.modules() {
                self.take_over(module, &binaries)?;
            }
            progress(&format!("already built: {}", target.display()));
            return Ok(binaries);
        }
        let mut links = Vec::new();
        for module in wrapper.modules() {
            let folder = self.build_module(module, progress)?;
            links.extend(module.programs.iter().map(|program| folder.join(program)));
        }
        self.cache.link(links, &target)?;
        progress(&format!("built: {}", target.display()));
        Binaries::complete(target, &programs).map_err(anyhow::Error::msg)
    }

    /// Needs the lock.
    fn build_module(&self, module: &Module, progress: &mut dyn FnMut(&str)) -> Result<PathBuf> {
        let target = self.cache.programs_dir(&module.folder(), &self.go);
        if Binaries::complete(target.clone(), module.programs).is_ok() {
            return Ok(target);
        }
        let version = module.version().trim_start_matches('v');
        let what = format!("{} {version}", module.name);
        progress(&format!(
            "building {what} from its Go module ({} on two idle cores, once)",
            module.duration
        ));
        let started = Instant::now();
        let scratch = self.cache.scratch()?;
        let (source, output) = (scratch.path().join("source"), scratch.path().join("output"));
        fs::create_dir(&source)
            .and_then(|()| fs::create_dir(&output))
            .context("cannot create a folder to build in")?;
        (self.install)(module, &source, &output)
            .and_then(|()| {
                Binaries::complete(output.clone(), module.programs).map_err(anyhow::Error::msg)
            })
            .with_context(|| format!("cannot build {what}"))?;
        put_in_place(&output, &target)?;
        progress(&format!(
            "built {what} in {} s",
            started.elapsed().as_secs()
        ));
        Ok(target)
    }

    /// The folder of all programs may be older than those of modules. Then a change of another module must not build this one again.
    fn take_over(&self, module: &Module, all: &Binaries) -> Result<()> {
        let target = self.cache.programs_dir(&module.folder(), &self.go);
        if Binaries::complete(target.clone(), module.programs).is_ok() {
            return Ok(());
        }
        let programs = module.programs.iter();
        self.cache
            .link(programs.map(|program| all.folder().join(program)), &target)
    }
}

#[cfg(test)]
mod tests;
