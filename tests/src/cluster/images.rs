//! The images of test nodes: the one that holds a Pod's namespaces, the workload of the tests, our programs, and a side-car.
//! Knows how they are compiled; knows no cluster.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::archive::Image;
use super::bill::Bill;
use super::inside::run;
use crate::binaries;

/// The image of the container that every Pod has beside its own.
pub(super) const PAUSE: &str = "localhost/pause:1";

/// Image whose program, `/workload`, serves, queries, prints and copies, as
/// `tests/src/bin/workload.rs` describes. Use it with `imagePullPolicy: Never`.
pub const WORKLOAD: &str = "localhost/workload:1";

/// A program of ours that has an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Program that the manifests in `deploy/install` install.
    Listener,
    /// Program that the manifest in `deploy/skupper` installs.
    Skupper,
    /// Program that carries the connections of a site.
    Router,
}

impl Program {
    /// The package that it is part of.
    pub(super) fn package(self) -> &'static str {
        match self {
            Self::Listener => "lifecycle-listener",
            Self::Skupper => "lifecycle-skupper",
            Self::Router => "lifecycle-router",
        }
    }

    /// The name of the program, and of its image.
    pub fn name(self) -> &'static str {
        match self {
            Self::Listener => "listener-operator",
            Self::Skupper => "skupper-operator",
            Self::Router => "lifecycle-router",
        }
    }

    /// The image, as Pods name it.
    pub fn image_name(self) -> String {
        let (name, version) = (self.name(), env!("CARGO_PKG_VERSION"));
        format!("docker.io/library/{name}:{version}")
    }

    /// Returns the user that runs the program, unless a Pod specifies another one.
    fn user(self) -> &'static str {
        match self {
            Self::Listener | Self::Skupper => "65532:65532",
            Self::Router => "65534:65534",
        }
    }
}

/// The folder of an image that has the bill of materials of its program and the texts of its licences.
pub const DOCUMENTS: &str = "/usr/share/doc";

/// The image that the manifests name, of the version that `tests/binaries` pins.
const PROVISIONER: &str = "registry.k8s.io/sig-storage/csi-provisioner:v6.3.0";

/// Named even though it is the machine's own: only then do flags of a target leave build scripts alone.
pub(super) const TARGET: &str = if cfg!(target_arch = "aarch64") {
    "aarch64-unknown-linux-gnu"
} else {
    "x86_64-unknown-linux-gnu"
};

/// Programs in an image `FROM scratch` must bring everything along.
const STATIC: &str = "-Ctarget-feature=+crt-static";

/// Compiles the workload into the folder, and returns its path. It stands alone: neither Cargo nor a crate is needed.
pub(super) fn compile_workload(folder: &Path) -> Result<PathBuf> {
    let source = folder.join("workload.rs");
    let program = folder.join("workload");
    fs::write(&source, include_str!("../bin/workload.rs")).context("cannot write the source")?;
    let output = Command::new("rustc")
        .args(["--edition=2024", STATIC])
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

/// The image of a program, with its bill of materials and its licences. Compiles it first, as a static one; Cargo knows when that is done already.
///
/// # Errors
/// Returns an error if the program does not compile, or Cargo does not list its parts.
pub fn image(program: Program, release: bool) -> Result<Image> {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("../Cargo.toml");
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command
        .args(["build", "--locked", "--package", program.package()])
        .args(["--bin", program.name()])
        .args([
            "--target",
            TARGET,
            "--message-format=json-render-diagnostics",
        ])
        .arg("--manifest-path")
        .arg(manifest)
        // The image is copied to every node of every test, and is never used for debugging.
        .env("CARGO_PROFILE_DEV_DEBUG", "0")
        .env(flags_of(TARGET), STATIC);
    // A test gets these from the Cargo that runs it. Build scripts that read them would run again,
    // and half of the program would be recompiled.
    let inherited = env::vars_os().filter_map(|(name, _)| name.into_string().ok());
    for name in inherited {
        if name.starts_with("CARGO_PKG_") || name.starts_with("CARGO_MANIFEST_") {
            command.env_remove(name);
        }
    }
    if release {
        command.arg("--release");
    }
    let output = command.output().context("cannot run cargo")?;
    ensure!(
        output.status.success(),
        "cargo does not build {} for {TARGET}: {}",
        program.name(),
        String::from_utf8_lossy(&output.stderr).trim()
    );
    let built = executable(program, &output.stdout).context("cargo names no program")?;
    let mut image = image_with(program, vec![(format!("/{}", program.name()), built)])?;
    let bill = Bill::read(program.name(), program.package(), TARGET)?;
    let folder = format!("{DOCUMENTS}/{}", program.name());
    image.files.extend([
        (
            format!("{folder}/sbom.cdx.json"),
            bill.cyclonedx()?.into_bytes(),
        ),
        (
            format!("{folder}/licences.txt"),
            bill.licences()?.into_bytes(),
        ),
    ]);
    Ok(image)
}

/// The variable that holds the flags of a target.
fn flags_of(target: &str) -> String {
    format!(
        "CARGO_TARGET_{}_RUSTFLAGS",
        target.to_uppercase().replace('-', "_")
    )
}

/// Builds an image like `image`, from an existing program that needs libraries, and includes those
/// libraries. Programs that Cargo builds with the tests are packed in a moment. A static program
/// requires one more full compilation.
///
/// # Errors
/// Returns an error if the program cannot be read, or its needed libraries cannot be determined.
pub fn image_of(program: Program, built: &Path) -> Result<Image> {
    let mut command = Command::new("ldd");
    command.arg(built);
    let needed = run("ask what a program needs", command)?;
    let libraries = needed.lines().filter_map(library);
    let path = format!("/{}", program.name());
    let mut files = vec![(path, built.to_owned())];
    files.extend(libraries.map(|library| (library.to_owned(), PathBuf::from(library))));
    image_with(program, files)
}

/// Returns the location of a library from a line of `ldd`. One library comes from the kernel and
/// has no location.
fn library(line: &str) -> Option<&str> {
    line.split_whitespace().find(|word| word.starts_with('/'))
}

fn image_with(program: Program, files: Vec<(String, PathBuf)>) -> Result<Image> {
    let read = |(path, source): (String, PathBuf)| {
        let content = fs::read(&source);
        Ok((
            path,
            content.with_context(|| format!("cannot read {}", source.display()))?,
        ))
    };
    Ok(Image {
        name: program.image_name(),
        files: files.into_iter().map(read).collect::<Result<_>>()?,
        entrypoint: vec![format!("/{}", program.name())],
        user: program.user().to_owned(),
    })
}

/// Returns the path of the built program, from the messages of Cargo.
fn executable(program: Program, messages: &[u8]) -> Option<PathBuf> {
    let lines = messages.split(|byte| *byte == b'\n');
    let mut paths = lines.filter_map(|line| {
        let message: Value = serde_json::from_slice(line).ok()?;
        let named = message["target"]["name"] == program.name();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_of_a_target_have_a_variable_of_its_name() {
        assert_eq!(
            flags_of("x86_64-unknown-linux-gnu"),
            "CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUSTFLAGS"
        );
    }

    #[test]
    fn libraries_are_found_where_ldd_says_that_they_are() {
        let lines = [
            "\tlinux-vdso.so.1 (0x00007f50bf882000)",
            "\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f50bcb20000)",
            "\t/lib64/ld-linux-x86-64.so.2 (0x00007f50bf884000)",
        ];
        assert_eq!(
            lines.map(library),
            [
                None,
                Some("/lib/x86_64-linux-gnu/libm.so.6"),
                Some("/lib64/ld-linux-x86-64.so.2")
            ]
        );
    }
}
