//! The images of test nodes: the one that holds a Pod's namespaces, the workload of the tests, the operator, and its side-car.
//! Knows how they are compiled; knows no cluster.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::archive::Image;
use crate::binaries;

/// The image of the container that every Pod has beside its own.
pub(super) const PAUSE: &str = "localhost/pause:1";

/// An image whose program, `/workload`, serves, asks, prints and copies; `tests/src/bin/workload.rs` says how.
/// Use it with `imagePullPolicy: Never`.
pub const WORKLOAD: &str = "localhost/workload:1";

/// The program of the operator, and the name of its image.
const OPERATOR: &str = "lifecycle-operator";

/// The image that the manifests name, of the version that `tests/binaries` pins.
const PROVISIONER: &str = "registry.k8s.io/sig-storage/csi-provisioner:v6.3.0";

/// Programs in an image `FROM scratch` must bring everything along.
pub(super) const TARGET: &str = if cfg!(target_arch = "aarch64") {
    "aarch64-unknown-linux-musl"
} else {
    "x86_64-unknown-linux-musl"
};

/// Compiles the workload into the folder, and returns its path. It stands alone: neither Cargo nor a crate is needed.
pub(super) fn compile_workload(folder: &Path) -> Result<PathBuf> {
    let source = folder.join("workload.rs");
    let program = folder.join("workload");
    fs::write(&source, include_str!("../bin/workload.rs")).context("cannot write the source")?;
    let output = Command::new("rustc")
        .args(["--edition=2024", "--target", TARGET])
        .args(["-Copt-level=s", "-Cstrip=symbols", "-o"])
        .args([&program, &source])
        .output()
        .context("cannot run rustc")?;
    ensure!(
        output.status.success(),
        "rustc does not compile the workload: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(program)
}

/// The images of every node, from the compiled workload.
pub(super) fn common(workload: &Path) -> Result<[Image; 2]> {
    let program = fs::read(workload).context("cannot read the workload")?;
    let image = |name: &str, entrypoint: &[&str]| Image {
        name: name.to_owned(),
        files: vec![("/workload".to_owned(), program.clone())],
        entrypoint: entrypoint.iter().map(|word| (*word).to_owned()).collect(),
        user: String::new(),
    };
    Ok([
        image(PAUSE, &["/workload", "pause"]),
        image(WORKLOAD, &["/workload"]),
    ])
}

/// The image of the operator, under the name that the manifests in `deploy/` have. Compiles it first, as a static program; Cargo knows when that is done already.
///
/// # Errors
/// It does not compile.
pub fn operator_image(release: bool) -> Result<Image> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["build", "--locked", "--workspace", "--bin", OPERATOR])
        .args([
            "--target",
            TARGET,
            "--message-format=json-render-diagnostics",
        ])
        .arg("--manifest-path")
        .arg(manifest)
        // The image is copied to every node of every test, and nobody debugs in it.
        .env("CARGO_PROFILE_DEV_DEBUG", "0");
    if release {
        command.arg("--release");
    }
    let output = command.output().context("cannot run cargo")?;
    ensure!(
        output.status.success(),
        "cargo does not build the operator for {TARGET}: {}",
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let program = executable(&output.stdout).context("cargo names no program")?;
    let path = format!("/{OPERATOR}");
    Ok(Image {
        name: format!("docker.io/library/{OPERATOR}:{}", env!("CARGO_PKG_VERSION")),
        files: vec![(
            path.clone(),
            fs::read(&program).with_context(|| format!("cannot read {}", program.display()))?,
        )],
        entrypoint: vec![path],
        user: "65532:65532".to_owned(),
    })
}

/// The path that Cargo says it built, in its messages.
fn executable(messages: &[u8]) -> Option<PathBuf> {
    let lines = messages.split(|byte| *byte == b'\n');
    let mut paths = lines.filter_map(|line| {
        let message: Value = serde_json::from_slice(line).ok()?;
        let named = message["target"]["name"] == OPERATOR;
        let path = message["executable"].as_str().filter(|_| named)?;
        Some(PathBuf::from(path))
    });
    paths.next_back()
}

/// The image of the side-car that provisions volumes, under the name that the manifests in `deploy/` have.
///
/// # Errors
/// It is not built.
pub fn csi_provisioner_image() -> Result<Image> {
    let program = binaries::locate()?.program("csi-provisioner")?;
    Ok(Image {
        name: PROVISIONER.to_owned(),
        files: vec![(
            "/csi-provisioner".to_owned(),
            fs::read(program).context("cannot read csi-provisioner")?,
        )],
        entrypoint: vec!["/csi-provisioner".to_owned()],
        user: String::new(),
    })
}
