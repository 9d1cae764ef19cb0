//! The command line. Names, variables and defaults are those of the operator that this one replaces, so that its manifests keep working.
//! Says what is wanted; what that means is the business of others.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::FalseyValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use crate::cluster_domain::ClusterDomain;

/// Runs the lifecycles that were declared, and answers questions about them.
#[derive(Debug, Parser)]
#[command(name = "lifecycle-operator", version, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the operator until it is told to stop (SIGTERM or SIGINT).
    ///
    /// The cluster is the one of KUBECONFIG or ~/.kube/config, or the one that the process runs in.
    /// Options come before the word that says which part to run: `run --disable-crd-maintenance controller`.
    Run(Box<Run>),
    /// Try the operator out in a simulated cluster on this machine. Needs no cluster, no Docker and no root.
    ///
    /// Starts the cluster with two nodes, runs the operator and the controller of Skupper sites in it, applies the manifests, tells
    /// what becomes of each Listener, Site and Connector until it is Ready and of each Pod until it runs, and goes on serving
    /// `kubectl` until Ctrl-C or SIGTERM. The routers of Sites run in this process and carry real connections.
    ///
    /// Ends with 0 when it was told to stop or, with --once, when all are Ready and all Pods run; with 1 if with --once
    /// one was not in time; with 2 if a manifest, a port or the kubeconfig cannot be used.
    Sandbox(Sandbox),
    /// Print the CustomResourceDefinitions as YAML. Needs no cluster.
    Crd {
        /// Whose kinds.
        #[arg(value_enum, default_value_t)]
        product: Product,
    },
    /// Check every `lifecycle!` in Rust source files, without compiling them.
    ///
    /// Ends with 0 if nothing was found, 1 if there are errors, 2 if a file could not be read.
    Check(Check),
}

/// How the operator runs, whichever part of it.
#[derive(Debug, Args)]
#[command(next_help_heading = "Cluster")]
pub struct Run {
    /// The part to run.
    #[command(subcommand)]
    pub mode: Mode,

    /// Domain below which cluster DNS names Services. Without it, the `svc.` search domain of /etc/resolv.conf is taken, else cluster.local.
    #[arg(long, env, value_name = "DOMAIN")]
    pub kubernetes_cluster_domain: Option<ClusterDomain>,

    /// Do not install or update CustomResourceDefinitions. The operator then waits until somebody else has installed them.
    #[arg(long, env, value_parser = FalseyValueParser::new())]
    pub disable_crd_maintenance: bool,

    /// Do not wait for leadership before writing. Only for a single replica: two without leadership write against each other.
    #[arg(long, env, value_parser = FalseyValueParser::new())]
    pub disable_leader_election: bool,

    /// Namespace of the operator itself, where it keeps its lease. Without it, the namespace of the service account or of the kubeconfig.
    #[arg(long, env, value_name = "NAMESPACE")]
    pub operator_namespace: Option<String>,

    /// Socket at which the services for volumes listen: a path or a `unix://` URL. A controller without it provisions no volumes; a node needs it.
    #[arg(long, env, value_name = "ENDPOINT", help_heading = "Volumes")]
    pub csi_endpoint: Option<String>,

    /// Name of the Kubernetes node that the process runs on, also read from NODE_NAME. A node needs it.
    #[arg(long, env, value_name = "NODE", help_heading = "Volumes")]
    pub kubernetes_node_name: Option<String>,

    /// Address and port that answer HTTP probes: /livez and /readyz. `[::]:8081` is every address of the Pod. Without it nothing listens.
    #[arg(long, env, value_name = "ADDRESS:PORT", help_heading = "Health")]
    pub health_probe_bind_address: Option<SocketAddr>,

    /// How and where to log.
    #[command(flatten)]
    pub telemetry: Telemetry,

    /// What is accepted and has no effect any more.
    #[command(flatten)]
    pub retired: Retired,
}

/// A set of kinds that are used together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Product {
    /// listeners.stackable.tech: ListenerClass, Listener, PodListeners.
    #[default]
    Listeners,
    /// skupper.io: Site, Listener, Connector, AttachedConnector, AttachedConnectorBinding.
    Skupper,
}

/// Which part of the operator runs.
#[derive(Debug, Subcommand)]
pub enum Mode {
    /// Run the part of which the cluster needs one: it makes Services, tells where Listeners can be reached, and provisions volumes.
    Controller(Controller),
    /// Run the part of which each node needs one: it mounts Listener volumes.
    Node(Node),
    /// Run the controller of Skupper sites: it makes the router of each Site, tells it what Listeners and Connectors ask for, and makes the Services of Listeners.
    Skupper(Skupper),
    /// Serve a Skupper site on this machine, from files and without Kubernetes. Needs no root.
    ///
    /// DIR/input/resources holds YAML or JSON files with Site, Listener, Connector and Secret, and DIR/input/certs/NAME the files
    /// tls.crt, tls.key and ca.crt of the Secret NAME. Changes are carried out within a second. Listeners are opened at their host
    /// and port themselves. Statuses are written to DIR/runtime/resources, and what is wrong with files to DIR/runtime/errors.txt.
    Site(Site),
}

/// What only the controller is told.
#[derive(Debug, Args)]
pub struct Controller {
    /// ListenerClasses to create where they are missing. A class that is there is never changed.
    #[arg(long, env, value_enum, default_value_t, value_name = "PRESET")]
    pub listener_class_preset: Preset,
}

/// What only the controller of Skupper sites is told.
#[derive(Debug, Args)]
pub struct Skupper {
    /// Image of the routers that Sites get.
    #[arg(long, env, value_name = "IMAGE")]
    pub router_image: String,

    /// Name of this controller: it looks after namespaces whose ConfigMap `skupper` names it as `NAMESPACE/NAME`, and after those without one.
    #[arg(long, env, value_name = "NAME", default_value = "skupper-controller")]
    pub controller_name: String,
}

/// What a site on a machine is told.
#[derive(Debug, Args)]
pub struct Site {
    /// Directory of the site.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// Namespace that its objects are in. Files need not name it.
    #[arg(long, value_name = "NAMESPACE", default_value = "default")]
    pub namespace: String,

    /// Seconds that open connections have to end after SIGTERM.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_seconds)]
    pub grace: Duration,
}

/// What only a node is told.
#[derive(Debug, Args)]
pub struct Node {
    /// Do not register with kubelet: a node-driver-registrar beside this process does it.
    #[arg(long, env, value_parser = FalseyValueParser::new())]
    pub disable_plugin_registration: bool,

    /// Folder that kubelet watches for sockets of plugins, as this process sees it. If it does not exist, somebody else has to register.
    #[arg(long, env, value_name = "FOLDER", default_value = "/registration")]
    pub plugin_registration_path: PathBuf,

    /// Path of the CSI endpoint as kubelet sees it.
    #[arg(
        long,
        env,
        value_name = "PATH",
        default_value = "/var/lib/kubelet/plugins/listeners.stackable.tech/csi.sock"
    )]
    pub kubelet_registration_path: PathBuf,
}

/// A set of ListenerClasses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// Create no classes.
    None,
    /// For clusters whose nodes stay: `external-stable` is a NodePort that keeps its Pods on their nodes.
    StableNodes,
    /// For clusters whose nodes come and go: `external-stable` is a LoadBalancer.
    #[default]
    EphemeralNodes,
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

    /// Send logs to OTEL_EXPORTER_OTLP_LOGS_ENDPOINT. Not yet: accepted with a warning.
    #[arg(long, env, value_parser = FalseyValueParser::new())]
    pub otel_log_exporter_enabled: bool,

    /// Send traces to OTEL_EXPORTER_OTLP_TRACES_ENDPOINT. Not yet: accepted with a warning.
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

    /// Was whether to check for the end of support.
    #[arg(long, env, value_parser = FalseyValueParser::new())]
    pub eos_disabled: bool,
}

/// What happens in the simulated cluster.
#[derive(Debug, Args)]
pub struct Sandbox {
    /// YAML or JSON files, as for `kubectl apply -f`. Several documents in a file are fine.
    #[arg(value_name = "FILE")]
    pub manifests: Vec<PathBuf>,

    /// Stop once every Listener, Site and Connector of the manifests is Ready and every Pod runs, or the time is over.
    #[arg(long, requires = "manifests")]
    pub once: bool,

    /// How long they may take to be Ready and Pods to run, in seconds. Without --once the sandbox says what is missing and goes on.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub timeout: u64,

    /// Port of 127.0.0.1 on which the API server listens; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,

    /// Where to write the kubeconfig. Without it, into a temporary folder. It is removed at the end.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// ListenerClasses to create.
    #[arg(long, value_enum, default_value_t, value_name = "PRESET")]
    pub listener_class_preset: Preset,

    /// What uids, generated names and the like are made from.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,

    /// Address of this machine at which the router of a Site listens; those of further Sites take the next ones.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", value_parser = parse_loopback)]
    pub local_address: IpAddr,

    /// Port of that address at which the sandbox sends back what it gets, for Connectors. Without it 7007, if a Connector of the manifests leads there.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub echo_port: Option<u16>,
}

/// What to check, and how to answer.
#[derive(Debug, Args)]
pub struct Check {
    /// Rust source files. One without a `lifecycle!` is fine.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,

    /// How findings are written.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Output,
}

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// With an excerpt of the source, for people.
    #[default]
    Text,
    /// One JSON array, for programs: lines and columns count from 1.
    Json,
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: u64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    Ok(Duration::from_secs(seconds))
}

fn parse_loopback(text: &str) -> Result<IpAddr, String> {
    let address: IpAddr = text.parse().map_err(|_| "it is no IP address".to_owned())?;
    if address.is_loopback() {
        Ok(address)
    } else {
        Err("it is no address of this machine alone, such as 127.0.0.1".to_owned())
    }
}

#[cfg(test)]
mod tests;
