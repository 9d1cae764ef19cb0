//! Frame around every part of an operator: logs, signals, probes, and the Lease of its replicas.

use std::future::{Future, pending};

use anyhow::Context;
use clap::Subcommand;
use kube::Client;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::lease::Leadership;
use lifecycle_runtime::shutdown::Shutdown;

use crate::process::args::{Cluster, Probes, Run, Telemetry};
use crate::process::{health, logging};

/// Frame around a part of a program.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a> {
    /// Prefix of the names of log files.
    pub program: &'a str,
    /// The version of the program, which traces and exported logs carry.
    pub version: &'a str,
    /// How and where to log.
    pub telemetry: &'a Telemetry,
    /// Address on which probes are answered.
    pub probes: &'a Probes,
}

impl<M: Subcommand> Run<M> {
    /// That a part has nothing to record.
    ///
    /// # Errors
    /// If a recording is requested.
    pub fn records_nothing(&self, part: &str) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.recording.trace_file.is_none(),
            "`run {part}` has nothing to record: leave out --trace-file and TRACE_FILE"
        );
        Ok(())
    }

    /// Returns the frame around each part of an operator of this workspace.
    pub fn frame(&self) -> Frame<'_> {
        Frame {
            program: logging::FILE_PREFIX,
            version: env!("CARGO_PKG_VERSION"),
            telemetry: &self.telemetry,
            probes: &self.probes,
        }
    }
}

/// Runs a part of an operator until it ends. The part ends when the process receives the signal to
/// stop.
///
/// # Errors
/// If logging cannot begin, something cannot be listened at, or the part fails.
pub async fn run<P>(
    frame: Frame<'_>,
    part: impl FnOnce(Health, Shutdown) -> P,
) -> anyhow::Result<()>
where
    P: Future<Output = anyhow::Result<()>>,
{
    run_logging(logging::USUAL_LEVEL, frame, part).await
}

/// Runs a part of an operator as `run`, and logs by these filter directives where the environment has none.
///
/// # Errors
/// As `run`.
pub async fn run_logging<P>(
    usual: &str,
    frame: Frame<'_>,
    part: impl FnOnce(Health, Shutdown) -> P,
) -> anyhow::Result<()>
where
    P: Future<Output = anyhow::Result<()>>,
{
    let program = (frame.program, frame.version);
    let exporters = logging::begin_at(usual, program, frame.telemetry)?;
    let ended = run_logged(frame, part).await;
    exporters.flush().await;
    ended
}

async fn run_logged<P>(
    frame: Frame<'_>,
    part: impl FnOnce(Health, Shutdown) -> P,
) -> anyhow::Result<()>
where
    P: Future<Output = anyhow::Result<()>>,
{
    let shutdown = Shutdown::on_signals().context("signals cannot be heard")?;
    let health = Health::default();
    let door = match frame.probes.health_probe_bind_address {
        Some(address) => Some(health::bind(address, health::PROBES).await?),
        None => None,
    };
    let probes = async {
        if let Some(door) = door {
            health::serve(door, health.clone(), shutdown.clone()).await;
        }
        pending().await
    };
    let part = part(health.clone(), shutdown.clone());
    tokio::select! {
        done = part => done,
        never = probes => never,
    }
}

/// Returns the Lease of an operator's replicas. A restarted container has the name of its
/// predecessor and takes its Lease back at once. Processes on one machine differ by a number.
/// Operators that do not stand in for each other have Leases with different names.
pub fn leadership(cluster: &Cluster, client: &Client, lease: &str) -> Option<Leadership> {
    if cluster.disable_leader_election {
        return None;
    }
    let namespace = cluster.operator_namespace.as_deref();
    let host = std::env::var("HOSTNAME").unwrap_or_else(|_| lease.to_owned());
    Some(Leadership {
        namespace: namespace.unwrap_or(client.default_namespace()).to_owned(),
        name: lease.to_owned(),
        identity: format!("{host}-{}", std::process::id()),
    })
}
