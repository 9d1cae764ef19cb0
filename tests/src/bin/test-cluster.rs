//! `test-cluster`: builds the programs of the test API server, and starts one for a person to play with.
//! Knows nothing of the operator.

use std::fmt;
use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::{Context, Result};
use clap::{Parser, Subcommand};
use lifecycle_tests::api_server::{ApiServer, Options};
use lifecycle_tests::binaries;

/// A real Kubernetes API server (etcd and kube-apiserver, no nodes) on loopback ports, without root.
#[derive(Parser)]
#[command(name = "test-cluster")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build etcd, kube-apiserver, kube-controller-manager and kubectl from their Go modules, once.
    Build,
    /// Start an API server with garbage collection, print how to use it, and remove all of it on Ctrl-C.
    Start,
    /// Print the folder of the programs, fit for KUBEBUILDER_ASSETS.
    Path,
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Build => binaries::build(&mut say).map(drop),
        Command::Start => start(),
        Command::Path => path(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(&format!("error: {error:#}"));
            ExitCode::FAILURE
        }
    }
}

fn path() -> Result<()> {
    print(format_args!("{}", binaries::locate()?.folder().display()))
}

fn start() -> Result<()> {
    let binaries = binaries::build(&mut say)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start a runtime")?;
    runtime.block_on(async {
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
        say("stopped");
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
fn say(line: &str) {
    // With standard error closed there is nobody left to tell.
    let _unheard = writeln!(io::stderr(), "{line}");
}

fn print(text: fmt::Arguments<'_>) -> Result<()> {
    writeln!(io::stdout(), "{text}").context("cannot write to standard output")
}
