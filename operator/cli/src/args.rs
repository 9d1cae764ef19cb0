//! The options of a program around its lifecycles, but for those that its author adds.

use std::net::SocketAddr;

use crate::process::args::{Cluster, Probes, Recording, Telemetry};
use clap::Args;

/// How the operator runs.
#[derive(Debug, Args)]
pub(crate) struct Run {
    #[command(flatten)]
    pub(crate) cluster: Cluster,

    #[command(flatten)]
    pub(crate) probes: Probes,

    /// Address and port that answer /metrics, as Prometheus reads it. Without it nothing listens.
    #[arg(long, env, value_name = "ADDRESS:PORT", help_heading = "Metrics")]
    pub(crate) metrics_bind_address: Option<SocketAddr>,

    #[command(flatten)]
    pub(crate) recording: Recording,

    #[command(flatten)]
    pub(crate) telemetry: Telemetry,
}

/// Use of the definitions.
#[derive(Debug, Args)]
pub(crate) struct Crds {
    /// Install them in the cluster of KUBECONFIG, or update them, and wait until they are served.
    #[arg(long)]
    pub(crate) install: bool,
}
