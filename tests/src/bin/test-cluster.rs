//! `test-cluster`: builds the programs that tests run, and starts an API server or a whole cluster for a person to play with.
//! Knows nothing of the operator.

use std::fmt;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand, ValueEnum};
use lifecycle_tests::api_server::{ApiServer, Options};
use lifecycle_tests::binaries;
use lifecycle_tests::cluster::{Cluster, DOCUMENTS, Program, image};

/// A real Kubernetes API server on loopback, without root; or a real cluster whose nodes run Pods, as root.
#[derive(Parser)]
#[command(name = "test-cluster")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build etcd, Kubernetes, containerd, csi-provisioner, csi-sanity, kstatus and helm from their Go modules, once;
    /// with LIFECYCLE_OTHERS=1 also snapshot-controller, KubeRay's operator and the end-to-end tests of Kubernetes.
    Build,
    /// Start an API server with garbage collection, print how to use it, and remove all of it on Ctrl-C.
    Start,
    /// Start a cluster whose nodes run Pods, print how to use it, and leave it running until `down`. Needs root.
    Up {
        /// How many nodes: 1 or 2.
        #[arg(long, default_value_t = 1)]
        nodes: usize,
    },
    /// End the cluster that `up` started, or what is left of it, and remove every trace.
    Down,
    /// Compile an operator or the router as a static program and pack it as an OCI archive, without Docker.
    /// Its bill of materials (CycloneDX) and the texts of its licences are in the image, and beside the archive.
    Image {
        /// Program to pack.
        #[arg(long, value_enum, default_value_t = Packed::Listener)]
        program: Packed,
        /// Compile it with optimisation.
        #[arg(long)]
        release: bool,
        /// The archive to write, for `ctr images import`, `podman load` or `skopeo copy oci-archive:`.
        file: PathBuf,
    },
    /// Print the folder of the programs, fit for KUBEBUILDER_ASSETS.
    Path,
}

#[derive(Clone, Copy, ValueEnum)]
enum Packed {
    Listener,
    Skupper,
    Router,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Build => binaries::build(&mut log_progress)
            .and_then(|_| binaries::build_csi_sanity(&mut log_progress))
            .and_then(|_| binaries::build_kstatus(&mut log_progress))
            .and_then(|_| binaries::build_helm(&mut log_progress))
            .and_then(|_| binaries::build_others(&mut log_progress)),
        Command::Start => start(),
        Command::Up { nodes } => up(nodes),
        Command::Down => Cluster::down(),
        Command::Image {
            program,
            release,
            file,
        } => pack(program, release, &file),
        Command::Path => path(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            log_progress(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn path() -> Result<()> {
    print(format_args!("{}", binaries::locate()?.folder().display()))
}

fn runtime() -> Result<tokio::runtime::Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start a runtime")
}

fn up(nodes: usize) -> Result<()> {
    binaries::build(&mut log_progress)?;
    let reach = runtime()?.block_on(Cluster::up(nodes))?;
    print(format_args!(
        "The cluster is up; its logs are in {}\n\n  export KUBECONFIG={}\n  {} get nodes\n\n`test-cluster down` removes everything.",
        reach.folder.display(),
        reach.kubeconfig.display(),
        reach.kubectl.display(),
    ))
}

fn pack(program: Packed, release: bool, file: &Path) -> Result<()> {
    let program = match program {
        Packed::Listener => Program::Listener,
        Packed::Skupper => Program::Skupper,
        Packed::Router => Program::Router,
    };
    let image = image(program, release)?;
    image.write(file)?;
    for (path, content) in &image.files {
        let (true, Some(name)) = (path.starts_with(DOCUMENTS), Path::new(path).file_name()) else {
            continue;
        };
        let mut beside = file.as_os_str().to_owned();
        beside.push(".");
        beside.push(name);
        let written = fs::write(&beside, content);
        written.with_context(|| format!("cannot write {}", beside.display()))?;
    }
    print(format_args!("{} is in {}", image.name, file.display()))
}

fn start() -> Result<()> {
    let binaries = binaries::build(&mut log_progress)?;
    runtime()?.block_on(async {
        let mut options = Options::default();
        if binaries.kube_controller_manager().is_ok() {
            options = options.with_controllers();
        }
        let server = ApiServer::start_with(options).await?;
        let kubeconfig = server.admin_kubeconfig();
        print(format_args!(
            "API server: {}\n\n  export KUBECONFIG={}\n  {} get namespaces\n\nCtrl-C stops it and removes everything.",
            server.url(),
            kubeconfig.display(),
            binaries.kubectl().display(),
        ))?;
        wait_for_the_end().await?;
        drop(server);
        log_progress("stopped");
        Ok(())
    })
}

async fn wait_for_the_end() -> Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut terminate = signal(SignalKind::terminate()).context("cannot wait for a signal")?;
    tokio::select! {
        interrupted = tokio::signal::ctrl_c() => interrupted.context("cannot wait for Ctrl-C"),
        _ = terminate.recv() => Ok(()),
    }
}

/// Progress goes to standard error, so that the answers of `path` and `start` can be captured.
fn log_progress(line: &str) {
    // If standard error is closed, the message cannot be reported anywhere else.
    let _unheard = writeln!(io::stderr(), "{line}");
}

fn print(text: fmt::Arguments<'_>) -> Result<()> {
    writeln!(io::stdout(), "{text}").context("cannot write to standard output")
}
