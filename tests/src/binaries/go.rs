//! Go on the PATH: its version, and the build of a module. This module knows nothing of the cache.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::wrapper::Module;
use crate::process::output;

/// Returns the version of the Go on the PATH and its target, such as `go1.26.8-linux-amd64`.
///
/// # Errors
/// Returns an error if there is no Go, or it does not answer.
pub(super) fn version() -> Result<String> {
    let output = Command::new("go")
        .args(["env", "GOVERSION", "GOOS", "GOARCH"])
        .env("GOWORK", "off")
        .output()
        .context("Go is not installed or not on PATH; install Go 1.26 or newer")?;
    if !output.status.success() {
        bail!(
            "`go env` failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().collect::<Vec<_>>().join("-"))
}

/// Builds the tools of a module into `output`, an empty folder; the module itself is written into `source`, another one.
///
/// # Errors
/// A folder cannot be written, or a module cannot be downloaded.
pub(super) fn install(module: &Module, source: &Path, output: &Path) -> Result<()> {
    fs::write(source.join("go.mod"), module.go_mod)
        .and_then(|()| fs::write(source.join("go.sum"), module.go_sum))
        .and_then(|()| match module.main_go {
            Some(program) => fs::write(source.join("main.go"), program),
            None => Ok(()),
        })
        .context("cannot write the wrapper module")?;
    let build = Command::new("go")
        .args(["install", "-trimpath", "-mod=readonly"])
        // The linker drops these tables (-w). That the compiler makes none saves an eighth of the time, and a fifth of Go's cache.
        .arg("-gcflags=all=-dwarf=false")
        .args(["-ldflags", &module.linker_flags(), "tool"])
        .current_dir(source)
        .env("GOBIN", output)
        .env("CGO_ENABLED", "0")
        .env("GOWORK", "off")
        .env("GOFLAGS", "-buildvcs=false")
        // For the compiler: a hundred megabytes more for each of its processes, and a fifth less time.
        .env("GOGC", "400")
        .output()
        .context("cannot run `go`")?;
    if !build.status.success() {
        bail!(
            "`go install` failed: {}",
            String::from_utf8_lossy(&build.stderr).trim()
        );
    }
    if let Some((from, to)) = module.renamed {
        fs::rename(output.join(from), output.join(to)).with_context(|| {
            format!(
                "the {} module built no command called `{from}`",
                module.name
            )
        })?;
    }
    for (of, file) in module.files {
        let name = Path::new(file).file_name().unwrap_or_default();
        let path = folder_of(of, source)?.join(file);
        fs::copy(&path, output.join(name))
            .with_context(|| format!("cannot copy {}", path.display()))?;
    }
    Ok(())
}

/// Returns the folder of the Go module with this path, in the version that the module in `source`
/// requires.
fn folder_of(module: &str, source: &Path) -> Result<PathBuf> {
    let mut command = Command::new("go");
    command
        .args(["list", "-mod=readonly", "-m", "-f", "{{.Dir}}", module])
        .current_dir(source)
        .env("GOWORK", "off");
    Ok(output(&mut command)?.into())
}
