//! Options that every program shares, in groups; `Run` has all of them, for the operators of this
//! workspace. Names, variables and defaults are those of the replaced operator, so that its
//! manifests keep working. Only parses values; other modules interpret them.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{Args, Subcommand, ValueEnum};
pub use lifecycle_inspect::replay::Recording;
use lifecycle_runtime::names;

use crate::process::cluster_domain::ClusterDomain;

/// How the operator runs, whichever part of it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub struct Run<M: Subcommand> {
    /// The part to run.
    #[command(subcommand)]
    pub mode: M,

    /// The cluster, and the requests to it.
    #[command(flatten)]
    pub cluster: Cluster,

    /// Socket at which the services for volumes listen: a path or a `unix://` URL. A controller without it provisions no volumes; a node needs it.
    #[arg(long, env, value_name = "ENDPOINT", help_heading = "Volumes")]
    pub csi_endpoint: Option<String>,

    /// Name of the Kubernetes node that the process runs on, also read from NODE_NAME. A node needs it.
    #[arg(long, env, value_name = "NODE", help_heading = "Volumes")]
    pub kubernetes_node_name: Option<String>,

    /// Address on which probes are answered.
    #[command(flatten)]
    pub probes: Probes,

    /// Recording of its observations and decisions, if any.
    #[command(flatten)]
    pub recording: Recording,

    /// How and where to log.
    #[command(flatten)]
    pub telemetry: Telemetry,

    /// Options that are still accepted and no longer have an effect.
    #[command(flatten)]
    pub retired: Retired,
}

/// Options of the cluster, and of the work that is done there first.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub struct Cluster {
    /// Domain below which cluster DNS names Services. Without it, the `svc.` search domain of /etc/resolv.conf is taken, else cluster.local.
    #[arg(long, env, value_name = "DOMAIN")]
    pub kubernetes_cluster_domain: Option<ClusterDomain>,

    /// Do not install or update CustomResourceDefinitions. The operator then waits until another controller or user has installed them.
    #[arg(long, env, value_parser = FalseyValueParser::new())]
    pub disable_crd_maintenance: bool,

    /// Do not wait for leadership before writing. Only for a single replica: two without leadership write against each other.
    #[arg(long, env, value_parser = FalseyValueParser::new())]
    pub disable_leader_election: bool,

    /// Largest object, in KiB, that is read of the kinds that the operator reconciles. A larger one is reported as Undecodable and costs the others nothing.
    #[arg(long, env, value_name = "KIB", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub max_object_size: u32,

    /// Namespaces to watch, with commas between them; rights by a Role in each are enough then. Empty: all namespaces.
    #[arg(long, env, value_name = "NAMESPACES", value_parser = names::parse_namespaces)]
    pub watch_namespaces: Option<BTreeSet<String>>,

    /// Namespace of the operator itself, where it keeps its lease. Without it, the namespace of the service account or of the kubeconfig.
    #[arg(long, env, value_name = "NAMESPACE")]
    pub operator_namespace: Option<String>,
}

impl Cluster {
    /// Namespaces to watch; all if there are none.
    pub fn namespaces(&self) -> BTreeSet<String> {
        self.watch_namespaces.clone().unwrap_or_default()
    }

    /// Largest object that is read, in bytes.
    pub fn max_object_bytes(&self) -> usize {
        usize::try_from(self.max_object_size).map_or(usize::MAX, |kib| kib << 10)
    }
}

/// Address at which the process reports its health.
#[derive(Debug, Args)]
#[command(next_help_heading = "Health")]
pub struct Probes {
    /// Address and port that answer HTTP: probes at /livez and /readyz, and Prometheus at /metrics. `[::]:8081` is every address of the Pod. Without it nothing listens.
    #[arg(long, env, value_name = "ADDRESS:PORT")]
    pub health_probe_bind_address: Option<SocketAddr>,
}

/// How and where to log. Levels are environment variables with filter directives, such as `info` or `warn,kube=debug`.
#[derive(Debug, Args)]
#[command(next_help_heading = "Logs (levels: CONSOLE_LOG_LEVEL, FILE_LOG_LEVEL; info if unset)")]
pub struct Telemetry {
    /// Write no log to the console.
    #[arg(long, env, value_parser = FalseyValueParser::new())]
    pub console_log_disabled: bool,

    /// How console logs look.
    #[arg(long, env, value_enum, default_value_t, value_name = "FORMAT")]
    pub console_log_format: Format,

    /// Also write logs, as JSON, to files in this directory.
    #[arg(long, env, value_name = "DIRECTORY")]
    pub file_log_directory: Option<PathBuf>,

    /// When to begin a new log file.
    #[arg(long, env, value_enum, default_value_t, value_name = "PERIOD")]
    pub file_log_rotation_period: Rotation,

    /// How many log files to keep. Without it, all are kept.
    #[arg(long, env, value_name = "NUMBER")]
    pub file_log_max_files: Option<usize>,

    /// Send logs by OTLP (gRPC) to OTEL_EXPORTER_OTLP_LOGS_ENDPOINT, else to OTEL_EXPORTER_OTLP_ENDPOINT, else to http://localhost:4317.
    #[arg(long, env, value_parser = FalseyValueParser::new())]
    pub otel_log_exporter_enabled: bool,

    /// Send traces by OTLP (gRPC) to OTEL_EXPORTER_OTLP_TRACES_ENDPOINT, else to OTEL_EXPORTER_OTLP_ENDPOINT, else to http://localhost:4317.
    #[arg(long, env, value_parser = FalseyValueParser::new())]
    pub otel_trace_exporter_enabled: bool,
}

/// How console logs look.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Lines for people.
    #[default]
    Plain,
    /// One JSON object a line.
    Json,
}

/// When to begin a new log file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Rotation {
    /// Never.
    #[default]
    Never,
    /// Every minute.
    Minutely,
    /// Every hour.
    Hourly,
    /// Every day.
    Daily,
}

/// Options of the replaced operator that have no effect here.
#[derive(Debug, Args)]
#[command(next_help_heading = "Accepted for compatibility, without effect")]
pub struct Retired {
    /// Was the Service of the conversion webhook.
    #[arg(long, env, value_name = "SERVICE")]
    pub operator_service_name: Option<String>,

    /// Was the repository of product images.
    #[arg(long, env, value_name = "REPOSITORY")]
    pub image_repository: Option<String>,

    /// Was how to check for the end of support.
    #[arg(long, env, value_name = "MODE")]
    pub eos_check_mode: Option<String>,

    /// Was how often to check for the end of support.
    #[arg(long, env, value_name = "DURATION")]
    pub eos_interval: Option<String>,

    /// Formerly disabled the check for the end of support.
    #[arg(long, env, value_parser = FalseyValueParser::new())]
    pub eos_disabled: bool,
}
