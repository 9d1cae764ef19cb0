//! The command line. Names, variables and defaults are those of the operator that this one
//! replaces, so that its manifests keep working. It only parses the request; other modules act on
//! it.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use lifecycle_cli::process::args::Run;
use lifecycle_generate::Generate;
use lifecycle_inspect::explain::Explain;
use lifecycle_inspect::plan::Plan;
use lifecycle_inspect::replay::Replay;
use lifecycle_listener::args::{Controller, Node, Preset};
use lifecycle_skupper::args::{SiteArgs, SkupperArgs, TokenCommand};

use crate::new::New;

mod takeover;

pub use takeover::{ListenerTakeover, OfListeners, SkupperTakeover, Takeover, TakeoverProduct};

/// Runs the lifecycles that were declared, and answers questions about them.
#[derive(Debug, Parser)]
#[command(name = "lifecycle-operator", version, arg_required_else_help = true)]
pub struct Arguments {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// Explains objects of a cluster; as `kubectl-lifecycle` on the PATH it is `kubectl lifecycle`.
#[derive(Debug, Parser)]
#[command(
    name = "kubectl-lifecycle",
    bin_name = "kubectl lifecycle",
    version,
    arg_required_else_help = true
)]
pub struct Plugin {
    /// Command to run.
    #[command(subcommand)]
    pub command: PluginCommand,
}

/// Commands of the plugin.
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Explain the condition of an object of a cluster: the reason, who must act, and the next
    /// step. Changes nothing.
    Explain(Explain),
}

/// Commands of the program.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the operator until it receives SIGTERM or SIGINT.
    ///
    /// The cluster is the one of KUBECONFIG or ~/.kube/config, or the one in which the process
    /// runs. Options come before the name of the part: `run --disable-crd-maintenance controller`.
    Run(Box<Run<Mode>>),
    /// Try the operator out in a simulated cluster on this machine. Needs no cluster, no Docker and no root.
    ///
    /// Starts the cluster with two nodes, runs the operator and the controller of Skupper sites in
    /// it, and applies the manifests. Reports the progress of each Listener, Site, Connector and
    /// Link until it is Ready and of each Pod until it runs. Then serves `kubectl` until Ctrl-C or
    /// SIGTERM. The routers of Sites run in this process and carry real connections.
    ///
    /// Exits with 0 after Ctrl-C or SIGTERM or, with --once, when all are Ready and all Pods run.
    /// Exits with 1 if with --once one was not in time. Exits with 2 if a manifest, a port or the
    /// kubeconfig cannot be used.
    Sandbox(Sandbox),
    /// Serve a simulated cluster with no operator in it, for any client in any language.
    ///
    /// Starts an API server with the controllers around it and two nodes, installs the definitions,
    /// applies the fixtures, and serves until Ctrl-C or SIGTERM. The holder of the kubeconfig is an
    /// administrator, and may impersonate another user, whose rights are enforced: see
    /// `docs/cluster.md`.
    ///
    /// Exits with 0 after Ctrl-C or SIGTERM; with 2 if a file, a port or the kubeconfig cannot be
    /// used.
    Cluster(Cluster),
    /// Start a new operator: a crate that builds, passes its generated suite and runs in a sandbox.
    ///
    /// Writes it into a folder of its name: a kind, its lifecycle, the logic, a program, tests, rights, an image. See `docs/start.md`.
    New(New),
    /// Print the CustomResourceDefinitions as YAML. Needs no cluster.
    Crd {
        /// Product whose kinds are printed.
        #[arg(value_enum, default_value_t)]
        product: Product,
    },
    /// Explain the condition of an object of a cluster: the reason, who must act, and the next
    /// step. Changes nothing.
    ///
    /// Explains a Listener, the claim of a Listener volume, or a Site, Listener, Connector,
    /// AttachedConnector, AttachedConnectorBinding, Certificate, SecuredAccess, RouterAccess, Link,
    /// AccessGrant or AccessToken of Skupper. It uses the code of its operator and the caller's
    /// rights to get and list: see `docs/explain.md`. As `kubectl-lifecycle` on the PATH it is
    /// `kubectl lifecycle explain`.
    ///
    /// Exits with 0 if the object was found, whatever its condition, and with 1 if it does not
    /// exist or cannot be read.
    Explain(Explain),
    /// Print the writes of this version of the operator into a cluster, before it runs there.
    /// Changes nothing.
    ///
    /// The operator runs in a copy of the objects that it reads, with the options of `run`, until
    /// it has nothing left to do. The output lists its writes by object and field, the Pods that
    /// they restart, and the conditions for which it would then wait. Reads with the caller's
    /// rights to get and list: see `docs/plan.md`.
    ///
    /// Exits with 0 if nothing would be written, 1 if something would, 2 if that cannot be
    /// determined.
    Plan(Box<Planning>),
    /// Print the obstacles to replacing the Stackable Listener operator in a cluster, and the
    /// writes of this operator afterwards. Changes nothing.
    ///
    /// Looks for programs that would write or listen beside this operator, and for objects with
    /// immutable fields. Also looks for classes, definitions and volumes that would change. Then
    /// prints the output of `plan controller`. Reads with the caller's rights to get and list. See
    /// `docs/install.md` for the steps to take. `takeover --check skupper` does the same for the
    /// controller of Skupper sites.
    ///
    /// Exits with 0 if nothing blocks, 1 if something does, 2 if that cannot be determined.
    Takeover(Takeover),
    /// Compare the decisions of this version of the operator with the recorded decisions of another
    /// version. Needs no cluster.
    ///
    /// Each reconciliation of a file of `run --trace-file` runs through the code of this version,
    /// over the objects that were recorded then. The output lists the facts that differ, and the
    /// consequences. See `docs/replay.md`.
    ///
    /// Exits with 0 if all decisions agree, 1 if they do not, 2 if that cannot be determined.
    Replay(Replay),
    /// Check every `lifecycle!` in Rust source files, without compiling them.
    ///
    /// Ends with 0 if no errors were found, 1 if there are some. Ends with 2 if a file could not be
    /// read or written, or if the named paths declare nothing. An error that --fix has corrected no
    /// longer counts. With --dry-run, an error that --fix would correct still counts.
    Check(Check),
    /// Write the lock of each `lifecycle!` that names one: the items that it leaves in a cluster,
    /// one per line.
    ///
    /// The compiler compares a lock with its lifecycle, so that nothing is dropped or renamed
    /// unnoticed: see `docs/change.md`. A lock that would lose an item is not written. The output
    /// then contains the text to add to the lifecycle.
    ///
    /// Exits with 0 if all are written or were current. Exits with 1 if one cannot be written or,
    /// with --check, is outdated. Exits with 2 if a file could not be read or written, or if the
    /// named files contain no declaration.
    Lock(Lock),
    /// Let another site link to one on this machine by a token, or give such a site the token of another one. Needs no cluster.
    #[command(subcommand)]
    Token(TokenCommand),
    /// Draw a network of Skupper sites, with its links, their cost and state, and its routing keys. Changes nothing.
    ///
    /// Reads the statuses of Sites and Links, with the caller's rights to list them. A Site knows
    /// the whole network, so one is enough.
    Network(Network),
    /// Commands that generate output from the lifecycles.
    #[command(flatten)]
    Generate(Generate),
}

/// A set of kinds that are used together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Product {
    /// listeners.stackable.tech: ListenerClass, Listener, PodListeners.
    #[default]
    Listeners,
    /// skupper.io: Site, Listener, Connector, AttachedConnector, AttachedConnectorBinding, Certificate, SecuredAccess, RouterAccess, Link, AccessGrant, AccessToken.
    Skupper,
}

/// Part of the operator to run.
#[derive(Debug, Subcommand)]
pub enum Mode {
    /// Run the part that the cluster needs once: it creates Services, publishes the addresses of
    /// Listeners, and provisions volumes.
    Controller(Controller),
    /// Run the part that each node needs once: it mounts Listener volumes.
    Node(Node),
    /// Run the controller of Skupper sites. It creates the router of each Site, sends it the
    /// configuration that Listeners and Connectors require, and creates the Services of Listeners.
    Skupper(SkupperArgs),
    /// Serve a Skupper site on this machine, from files and without Kubernetes. Needs no root.
    ///
    /// DIR/input/resources holds YAML or JSON files with Site, Listener, Connector, Link,
    /// AccessToken, AccessGrant, RouterAccess, Certificate and Secret. DIR/input/certs/NAME holds
    /// the files tls.crt, tls.key and ca.crt of the Secret NAME. Changes are applied within a
    /// second. Listeners are opened directly at their host and port. Other sites link to a Site
    /// with `linkAccess: default`, by tokens: see `token`. Credentials from tokens and issued
    /// certificates are kept in DIR/runtime/issued. Statuses are written to DIR/runtime/resources,
    /// and errors in files to DIR/runtime/errors.txt.
    Site(SiteArgs),
}

/// Part of the operator to plan, with the options that it runs with.
#[derive(Debug, Args)]
pub struct Planning {
    /// Against which cluster.
    #[command(flatten)]
    pub plan: Plan,
    /// As it is run.
    #[command(flatten)]
    pub run: Run<Part>,
}

/// Parts of the operator that can be planned: those that manage objects.
#[derive(Debug, Subcommand)]
pub enum Part {
    /// The part that creates Services and publishes the addresses of Listeners.
    Controller(Controller),
    /// The controller of Skupper sites.
    Skupper(Box<SkupperArgs>),
}

/// Network to draw, and the output format.
#[derive(Debug, Args)]
pub struct Network {
    /// Directory of a site without Kubernetes. Without it, the command reads a cluster.
    #[arg(value_name = "DIR", conflicts_with_all = ["namespace", "all_namespaces", "context"])]
    pub directory: Option<PathBuf>,

    /// Namespace of the Site. Without it, that of the kubeconfig's context.
    #[arg(
        short,
        long,
        value_name = "NAMESPACE",
        conflicts_with = "all_namespaces"
    )]
    pub namespace: Option<String>,

    /// Read the Sites and Links of all namespaces.
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,

    /// Context of the kubeconfig. Without it, its current one.
    #[arg(long, value_name = "CONTEXT")]
    pub context: Option<String>,

    /// How it is drawn.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: DrawnAs,
}

/// How a network is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum DrawnAs {
    /// For people.
    #[default]
    Text,
    /// A picture.
    Svg,
    /// For Graphviz.
    Dot,
}

/// Options of the sandbox, a simulated cluster.
#[derive(Debug, Args)]
pub struct Sandbox {
    /// YAML or JSON files, as for `kubectl apply -f`. Several documents in a file are fine.
    #[arg(value_name = "FILE")]
    pub manifests: Vec<PathBuf>,

    /// Stop once every Listener, Site and Connector of the manifests is Ready and every Pod runs, or the time is over.
    #[arg(long, requires = "manifests")]
    pub once: bool,

    /// Time limit until all are Ready and all Pods run, in seconds. Without --once the sandbox
    /// prints the missing ones and goes on.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub timeout: u64,

    /// Port of 127.0.0.1 on which the API server listens; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,

    /// File to write the kubeconfig to. Without it, a file in a temporary folder. It is removed at
    /// the end.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// ListenerClasses to create.
    #[arg(long, value_enum, default_value_t, value_name = "PRESET")]
    pub listener_class_preset: Preset,

    /// Seed for uids, generated names and the like.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,

    /// Address of this machine at which the router of a Site listens; those of further Sites take the next ones.
    #[arg(long, value_name = "IP", default_value = "127.0.0.1", value_parser = parse_loopback)]
    pub local_address: IpAddr,

    /// Port of that address at which the sandbox echoes, for Connectors. Without it 7007, if a
    /// Connector of the manifests leads there.
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub echo_port: Option<u16>,
}

/// Contents of the simulated cluster.
#[derive(Debug, Args)]
pub struct Cluster {
    /// YAML or JSON files of CustomResourceDefinitions. Each is served before anything else is applied.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub crds: Vec<PathBuf>,

    /// YAML or JSON files, as for `kubectl apply -f`, in their order.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub apply: Vec<PathBuf>,

    /// Append each incoming request to this file, as a line of JSON: the user, the request, the
    /// program and the answer. Contents of Secrets are left out.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Port of 127.0.0.1 on which the API server listens; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,

    /// File to write the kubeconfig to. Without it, a file in a temporary folder. It is removed at
    /// the end.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// Seed for uids, generated names and the like.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
}

/// Files to check, and the output format.
#[derive(Debug, Args)]
pub struct Check {
    /// Rust source files, and folders: of those each `.rs` file that declares something, but for hidden folders and `target`.
    #[arg(required_unless_present = "explain", value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// How findings are written.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Output,

    /// Check nothing, and print the meaning of a code, with an example and the remedy.
    #[arg(long, value_name = "CODE", conflicts_with = "paths")]
    pub explain: Option<String>,

    /// Write fixes into the files if findings give them exactly: the section `transitions`, and the
    /// name that was meant. The remaining findings are printed as without it.
    ///
    /// A section with comments gets its missing lines and loses none. A file is written only if it
    /// can be parsed afterwards and the findings are gone.
    #[arg(long)]
    pub fix: bool,

    /// Write nothing, and show the changes of --fix as a diff.
    #[arg(long, requires = "fix", conflicts_with = "output")]
    pub dry_run: bool,
}

/// Options of `lock`: the lifecycles with the locks to write.
#[derive(Debug, Args)]
pub struct Lock {
    /// Rust source files, and folders, as for `check`. Each lifecycle in them that has a line `lock "name.lock";` has its lock beside its file.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Write nothing, and print the outdated ones.
    #[arg(long)]
    pub check: bool,
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
