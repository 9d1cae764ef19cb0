//! Options of the parts of the Listener operator. Names, variables and defaults are those of the
//! operator that this one replaces.

use std::path::PathBuf;

use clap::builder::FalseyValueParser;
use clap::{Args, Parser, Subcommand, ValueEnum};
use lifecycle_cli::process::args::Run;

/// Runs the Listener operator of `listeners.stackable.tech`.
#[derive(Debug, Parser)]
#[command(name = "listener-operator", version, arg_required_else_help = true)]
pub struct Arguments {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// Command to run.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the operator until it is stopped (SIGTERM or SIGINT).
    ///
    /// The cluster is the one of KUBECONFIG or ~/.kube/config, or the one that the process runs in.
    /// Options precede the name of the part to run: `run --disable-crd-maintenance controller`.
    Run(Box<Run<Mode>>),
    /// Print the CustomResourceDefinitions as YAML. Needs no cluster.
    Crd,
}

/// Part of the operator to run.
#[derive(Debug, Subcommand)]
pub enum Mode {
    /// Run the part that each cluster needs once: it makes Services, reports the addresses of
    /// Listeners, and provisions volumes.
    Controller(Controller),
    /// Run the part that each node needs once: it mounts Listener volumes.
    Node(Node),
}

/// Options of the controller alone.
#[derive(Debug, Args)]
pub struct Controller {
    /// ListenerClasses to create if they are missing. An existing class is never changed.
    #[arg(long, env, value_enum, default_value_t, value_name = "PRESET")]
    pub listener_class_preset: Preset,
}

/// Options of a node alone.
#[derive(Debug, Args)]
pub struct Node {
    /// Do not register with kubelet: a node-driver-registrar beside this process does it.
    #[arg(long, env, value_parser = FalseyValueParser::new())]
    pub disable_plugin_registration: bool,

    /// Folder that kubelet watches for sockets of plugins, as this process sees it. If it does not exist, another process has to register.
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

    /// Remove the taint `listeners.stackable.tech/agent-not-ready` from the own node when the driver is ready. Needs the right to patch nodes.
    #[arg(long, env, value_parser = FalseyValueParser::new())]
    pub remove_startup_taint: bool,
}

/// A set of ListenerClasses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Preset {
    /// Create no classes.
    None,
    /// For clusters with permanent nodes: `external-stable` is a NodePort that keeps its Pods on
    /// their nodes.
    // The chart of the replaced operator sets this one. With another, its `external-stable` would get another type where it is missing.
    #[default]
    StableNodes,
    /// For clusters with ephemeral nodes: `external-stable` is a LoadBalancer.
    EphemeralNodes,
}
