//! The command line. Names, variables and defaults are those of the operator that this one replaces, so that its manifests keep working.
//! Says what is wanted; what that means is the business of others.

use std::net::IpAddr;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand, ValueEnum};

use lifecycle_explain::Explain;
use lifecycle_generate::Generate;
use lifecycle_listener::args::{Controller, Node, Preset};
use lifecycle_plan::Plan;
use lifecycle_process::args::Run;
use lifecycle_replay::Replay;
use lifecycle_skupper::args::{SiteArgs, SkupperArgs, TokenCommand};

use crate::new::New;

mod takeover;

pub use takeover::{ListenerTakeover, OfListeners, SkupperTakeover, Takeover, TakeoverProduct};

/// Runs the lifecycles that were declared, and answers questions about them.
#[derive(Debug, Parser)]
#[command(name = "lifecycle-operator", version, arg_required_else_help = true)]
pub struct Arguments {
    /// What to do.
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
    /// What to do.
    #[command(subcommand)]
    pub command: PluginCommand,
}

/// What the plugin does.
#[derive(Debug, Subcommand)]
pub enum PluginCommand {
    /// Say why an object of a cluster is where it is, who must act, and what comes next. Changes nothing.
    Explain(Explain),
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the operator until it is told to stop (SIGTERM or SIGINT).
    ///
    /// The cluster is the one of KUBECONFIG or ~/.kube/config, or the one that the process runs in.
    /// Options come before the word that says which part to run: `run --disable-crd-maintenance controller`.
    Run(Box<Run<Mode>>),
    /// Try the operator out in a simulated cluster on this machine. Needs no cluster, no Docker and no root.
    ///
    /// Starts the cluster with two nodes, runs the operator and the controller of Skupper sites in it, applies the manifests, tells
    /// what becomes of each Listener, Site, Connector and Link until it is Ready and of each Pod until it runs, and goes on serving
    /// `kubectl` until Ctrl-C or SIGTERM. The routers of Sites run in this process and carry real connections.
    ///
    /// Ends with 0 when it was told to stop or, with --once, when all are Ready and all Pods run; with 1 if with --once
    /// one was not in time; with 2 if a manifest, a port or the kubeconfig cannot be used.
    Sandbox(Sandbox),
    /// Serve a simulated cluster with no operator in it, for any client in any language.
    ///
    /// Starts an API server with the controllers around it and two nodes, installs the definitions, applies the fixtures, and serves until Ctrl-C or SIGTERM.
    /// Who has the kubeconfig is an administrator, and may ask as another user, whose rights are enforced: see `docs/cluster.md`.
    ///
    /// Ends with 0 when it was told to stop; with 2 if a file, a port or the kubeconfig cannot be used.
    Cluster(Cluster),
    /// Begin an operator of your own: a crate that builds, passes its generated suite and runs in a sandbox.
    ///
    /// Writes it into a folder of its name: a kind, its lifecycle, the logic, a program, tests, rights, an image. See `docs/start.md`.
    New(New),
    /// Print the CustomResourceDefinitions as YAML. Needs no cluster.
    Crd {
        /// Whose kinds.
        #[arg(value_enum, default_value_t)]
        product: Product,
    },
    /// Say why an object of a cluster is where it is, who must act, and what comes next. Changes nothing.
    ///
    /// Looks at a Listener, at the claim of a Listener volume, or at a Site, Listener, Connector, AttachedConnector, AttachedConnectorBinding, Certificate, SecuredAccess, RouterAccess, Link, AccessGrant or AccessToken of Skupper, by the code of its operator and
    /// with the rights to get and list of whoever asks: see `docs/explain.md`. As `kubectl-lifecycle` on the PATH it is `kubectl lifecycle explain`.
    ///
    /// Ends with 0 if the object was found, whatever is wrong with it, and with 1 if there is none or it cannot be read.
    Explain(Explain),
    /// Say what this version of the operator would write into a cluster, before it runs there. Changes nothing.
    ///
    /// The operator runs in a copy of what it looks at, with the options that `run` takes, until it has nothing left to do: object by object and field by
    /// field it is shown what it wrote, which Pods that restarts, and what it would then wait for. Reads with the rights to get and list of whoever asks:
    /// see `docs/plan.md`.
    ///
    /// Ends with 0 if nothing would be written, 1 if something would, 2 if that cannot be said.
    Plan(Box<Planning>),
    /// Say what is in the way of replacing the Stackable Listener operator in a cluster, and what this operator would then write. Changes nothing.
    ///
    /// Looks for what would write or listen beside this operator, for objects whose fields nobody can change, for classes, definitions and volumes that
    /// would change, and then prints what `plan controller` prints. Reads with the rights to get and list of whoever asks. What to do is in
    /// `docs/install.md`. `takeover --check skupper` says the same of the controller of Skupper sites.
    ///
    /// Ends with 0 if nothing blocks, 1 if something does, 2 if that cannot be said.
    Takeover(Takeover),
    /// Say what this version of the operator would have decided where another one decided, by what that one recorded. Needs no cluster.
    ///
    /// Each pass of a file of `run --trace-file` goes through the code of this version, over the objects that were seen then: it is told which facts it
    /// answers otherwise, and where that leads. See `docs/replay.md`.
    ///
    /// Ends with 0 if it decides the same everywhere, 1 if it does not, 2 if that cannot be said.
    Replay(Replay),
    /// Check every `lifecycle!` in Rust source files, without compiling them.
    ///
    /// Ends with 0 if no errors were found, 1 if there are some, 2 if a file could not be read or written or nothing is declared in what was named. What --fix has written away is none any
    /// more; what it would, with --dry-run, still is one.
    Check(Check),
    /// Write the lock of each `lifecycle!` that names one: what it leaves in a cluster, one line an item.
    ///
    /// The compiler compares a lock with its lifecycle, so that nothing is dropped or renamed unseen: see `docs/change.md`. A lock that would lose
    /// an item is not written; that is said, with what to write into the lifecycle.
    ///
    /// Ends with 0 if all are written or were current, 1 if one cannot be or, with --check, is behind, 2 if a file could not be read or written or nothing is declared in what was named.
    Lock(Lock),
    /// Let another site link to one on this machine by a token, or give such a site the token of another one. Needs no cluster.
    #[command(subcommand)]
    Token(TokenCommand),
    /// Draw a network of Skupper sites, with its links, their cost and state, and its routing keys. Changes nothing.
    ///
    /// Reads the statuses of Sites and Links, with the rights to list them of whoever asks. A Site knows the whole network: one is enough.
    Network(Network),
    /// What is made from the lifecycles.
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

/// Which part of the operator runs.
#[derive(Debug, Subcommand)]
pub enum Mode {
    /// Run the part of which the cluster needs one: it makes Services, tells where Listeners can be reached, and provisions volumes.
    Controller(Controller),
    /// Run the part of which each node needs one: it mounts Listener volumes.
    Node(Node),
    /// Run the controller of Skupper sites: it makes the router of each Site, tells it what Listeners and Connectors ask for, and makes the Services of Listeners.
    Skupper(SkupperArgs),
    /// Serve a Skupper site on this machine, from files and without Kubernetes. Needs no root.
    ///
    /// DIR/input/resources holds YAML or JSON files with Site, Listener, Connector, Link, AccessToken, AccessGrant, RouterAccess, Certificate
    /// and Secret, and DIR/input/certs/NAME the files tls.crt, tls.key and ca.crt of the Secret NAME. Changes are applied within a second.
    /// Listeners are opened at their host and port themselves. Others link to a Site that says `linkAccess: default`, by tokens: see `token`.
    /// Credentials from tokens and issued certificates are kept in DIR/runtime/issued. Statuses are written to DIR/runtime/resources,
    /// and what is wrong with files to DIR/runtime/errors.txt.
    Site(SiteArgs),
}

/// What is planned: a part of the operator, with the options that it is run with.
#[derive(Debug, Args)]
pub struct Planning {
    /// Against which cluster.
    #[command(flatten)]
    pub plan: Plan,
    /// As it is run.
    #[command(flatten)]
    pub run: Run<Part>,
}

/// Which part of the operator is planned: those that look after objects.
#[derive(Debug, Subcommand)]
pub enum Part {
    /// The part that makes Services and tells where Listeners can be reached.
    Controller(Controller),
    /// The controller of Skupper sites.
    Skupper(Box<SkupperArgs>),
}

/// Which network is drawn, and how.
#[derive(Debug, Args)]
pub struct Network {
    /// Directory of a site without Kubernetes. Without it, a cluster is asked.
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

/// What is in the cluster.
#[derive(Debug, Args)]
pub struct Cluster {
    /// YAML or JSON files of CustomResourceDefinitions. Each is served before anything else is applied.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub crds: Vec<PathBuf>,

    /// YAML or JSON files, as for `kubectl apply -f`, in their order.
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub apply: Vec<PathBuf>,

    /// Add each request that comes in to the end of this file, as a line of JSON: who asked what, by which program, with what answer. Nothing of Secrets.
    #[arg(long, value_name = "FILE")]
    pub record: Option<PathBuf>,

    /// Port of 127.0.0.1 on which the API server listens; 0 takes a free one.
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    pub port: u16,

    /// Where to write the kubeconfig. Without it, into a temporary folder. It is removed at the end.
    #[arg(long, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,

    /// What uids, generated names and the like are made from.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    pub seed: u64,
}

/// What to check, and how to answer.
#[derive(Debug, Args)]
pub struct Check {
    /// Rust source files, and folders: of those each `.rs` file that declares something, but for hidden folders and `target`.
    #[arg(required_unless_present = "explain", value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// How findings are written.
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Output,

    /// Check nothing, and print what a code means, with an example and how it is mended.
    #[arg(long, value_name = "CODE", conflicts_with = "paths")]
    pub explain: Option<String>,

    /// Write into the files what findings say exactly: the section `transitions`, and the name that was meant. What is left is told as without it.
    ///
    /// A section that has comments gets the lines that it lacks and loses none. A file is written only if it can be read afterwards and what was found is gone.
    #[arg(long)]
    pub fix: bool,

    /// Write nothing, and show as a diff what --fix would write.
    #[arg(long, requires = "fix", conflicts_with = "output")]
    pub dry_run: bool,
}

/// Whose locks are written.
#[derive(Debug, Args)]
pub struct Lock {
    /// Rust source files, and folders, as for `check`. Each lifecycle in them that has a line `lock "name.lock";` has its lock beside its file.
    #[arg(required = true, value_name = "PATH")]
    pub paths: Vec<PathBuf>,

    /// Write nothing, and say which are behind.
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
