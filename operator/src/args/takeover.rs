//! Options of `takeover`: those that both products have in common, and those of each, which mean nothing for the other one.

use std::collections::BTreeSet;

use clap::builder::FalseyValueParser;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

use lifecycle_cli::process::cluster_domain::ClusterDomain;
use lifecycle_listener::args::Controller;
use lifecycle_runtime::names;
use lifecycle_skupper::args::SkupperArgs;

/// Takeover to check, and the options with which this operator would run.
#[derive(Debug, Args)]
pub struct Takeover {
    /// Only check. The option is required, because this command replaces nothing by itself:
    /// `docs/install.md` describes the replacement.
    #[arg(long, required = true)]
    pub check: bool,

    /// Context of the kubeconfig. Without it, its current one.
    #[arg(long, global = true, value_name = "CONTEXT")]
    pub context: Option<String>,

    /// Ask as this user, as `kubectl --as` does.
    #[arg(long = "as", global = true, value_name = "USER")]
    pub impersonated: Option<String>,

    /// Namespace in which this operator would run. Without it, `listener-operator`, or `skupper` for the controller of Skupper sites.
    #[arg(short, long, global = true, value_name = "NAMESPACE")]
    pub namespace: Option<String>,

    /// Namespaces that this operator would watch, with commas between them. Only these and its own
    /// namespace are examined, so a controller in another one is not found. Empty: all namespaces.
    #[arg(long, env, global = true, value_name = "NAMESPACES", value_parser = names::parse_namespaces)]
    pub watch_namespaces: Option<BTreeSet<String>>,

    /// Do not install or update CustomResourceDefinitions.
    #[arg(long, env, global = true, value_parser = FalseyValueParser::new())]
    pub disable_crd_maintenance: bool,

    /// The Listener operator.
    #[command(flatten)]
    pub listeners: OfListeners,

    /// Another product.
    #[command(subcommand)]
    pub product: Option<TakeoverProduct>,
}

/// A product that is taken over, other than the Listener operator.
#[derive(Debug, Subcommand)]
pub enum TakeoverProduct {
    /// Print the obstacles to replacing the existing controller of Skupper sites, or to taking a
    /// namespace over from it. Changes nothing.
    ///
    /// Looks for namespaces that both controllers would write, for definitions, and for routers,
    /// kinds of access and Secrets that this controller does not support. Then prints the output of
    /// `plan skupper`. With --watch-namespace it reads only that namespace, whichever controller
    /// manages it now. Without it, it reads all namespaces that no ConfigMap `skupper` assigns to
    /// another controller. See `docs/skupper.md` for the steps to take.
    ///
    /// Exits with 0 if nothing blocks, 1 if something does, 2 if that cannot be determined.
    Skupper(Box<SkupperTakeover>),
}

/// As the controller of Skupper sites would be run.
#[derive(Debug, Args)]
#[command(mut_arg("router_image", not_required))]
pub struct SkupperTakeover {
    /// Its options.
    #[command(flatten)]
    pub skupper: SkupperArgs,
}

/// Makes the image optional. Namespaces whose router stays as it is need no image, so the default
/// one is enough for a check.
fn not_required(image: Arg) -> Arg {
    image.required(false).default_value("lifecycle-router")
}

/// As the Listener operator would be run.
#[derive(Debug, Args)]
pub struct ListenerTakeover {
    /// Folder of kubelet on the nodes that `deploy/install/node.yaml` names.
    #[arg(long, value_name = "FOLDER", default_value = "/var/lib/kubelet")]
    pub kubelet_dir: String,

    /// As it would be run.
    #[command(flatten)]
    pub controller: Controller,

    /// Domain below which cluster DNS names Services. Without it, cluster.local.
    #[arg(long, env, value_name = "DOMAIN")]
    pub kubernetes_cluster_domain: Option<ClusterDomain>,
}

/// The options of the Listener operator, which are refused where another product is named. Variables are not, for they may be there for something else.
#[derive(Debug)]
pub struct OfListeners(pub ListenerTakeover);

impl Args for OfListeners {
    fn augment_args(command: Command) -> Command {
        ListenerTakeover::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        ListenerTakeover::augment_args_for_update(command)
    }
}

impl FromArgMatches for OfListeners {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        refused(matches)?;
        ListenerTakeover::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        refused(matches)?;
        ListenerTakeover::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        refused(matches)?;
        self.0.update_from_arg_matches(matches)
    }
}

/// Refuses an option that belongs to another product.
fn refused(matches: &ArgMatches) -> Result<(), Error> {
    let Some(product) = matches.subcommand_name() else {
        return Ok(());
    };
    let own = ListenerTakeover::augment_args(Command::new("own"));
    let written = own.get_arguments().find(|option| {
        let id = option.get_id().as_str();
        matches.value_source(id) == Some(ValueSource::CommandLine)
    });
    let Some(option) = written.and_then(Arg::get_long) else {
        return Ok(());
    };
    let message = format!(
        "--{option} is an option of the Listener operator: leave it out with `{product}`\n"
    );
    Err(Error::raw(ErrorKind::ArgumentConflict, message))
}
