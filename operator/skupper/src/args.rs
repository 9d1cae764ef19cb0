//! Command-line options of the parts of the operator of Skupper sites.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Parser, Subcommand};
use lifecycle_cli::process::args::Run;
use lifecycle_router::config::Host;
use lifecycle_runtime::names;

use crate::data_plane::{Adaptor, DataPlane};
use crate::router::plane::{Images, RouterOptions};
use crate::secured_access::AccessDefaults;

/// Runs Skupper sites, on Kubernetes or from files.
#[derive(Debug, Parser)]
#[command(name = "skupper-operator", version, arg_required_else_help = true)]
pub struct Arguments {
    /// Command to run.
    #[command(subcommand)]
    pub command: Command,
}

/// Command to run.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run the operator until it receives SIGTERM or SIGINT.
    ///
    /// The cluster is the one of KUBECONFIG or ~/.kube/config, or the one in which the process
    /// runs. Options come before the name of the part: `run --disable-crd-maintenance skupper`.
    Run(Box<Run<Mode>>),
    /// Print the CustomResourceDefinitions as YAML. Needs no cluster.
    Crd,
    /// Let another site link to one on this machine by a token, or give such a site the token of another one. Needs no cluster.
    #[command(subcommand)]
    Token(TokenCommand),
}

/// Subcommands of `token`.
#[derive(Debug, Subcommand)]
pub enum TokenCommand {
    /// Write a token to FILE, with which another site links to the site in DIR.
    ///
    /// A process must serve DIR with `run site` and --grant-server-address. Its site must accept
    /// links, by `linkAccess: default` of its Site or by a RouterAccess. Adds an AccessGrant to
    /// DIR/input/resources, waits until it can be redeemed, and writes the AccessToken. Every
    /// holder of FILE may link: only its user may read it.
    ///
    /// Ends with 0 if FILE was written, 1 if not: then nothing is granted either.
    Issue(IssueArgs),
    /// Let the site in DIR link to the one that has issued the token in FILE.
    ///
    /// Adds the token to DIR/input/resources, which then has to stay there: without it, the link ends. A process that serves DIR redeems it at once,
    /// and that is waited for; otherwise it is redeemed once one does.
    ///
    /// Ends with 0 if it was redeemed, or will be; with 1 if not, or not in time.
    Redeem(RedeemArgs),
}

/// How a token is issued.
#[derive(Debug, Args)]
pub struct IssueArgs {
    /// File to write the token into. It must not exist yet.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Directory of the site.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// Name of the AccessGrant and of the token; without it, that of FILE.
    #[arg(long, value_name = "NAME")]
    pub name: Option<String>,

    /// How often it may be redeemed.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    pub redemptions_allowed: u32,

    /// For how long it may be redeemed, such as 30s, 15m or 2h.
    #[arg(long, value_name = "DURATION", default_value = "15m")]
    pub expiration_window: String,

    /// Cost of the Link that is made of it; without it, 1.
    #[arg(long, value_name = "COST", value_parser = clap::value_parser!(u32).range(1..))]
    pub cost: Option<u32>,

    /// Seconds until it must be issued.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    pub timeout: Duration,
}

/// How a token is redeemed.
#[derive(Debug, Args)]
pub struct RedeemArgs {
    /// The token.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,

    /// Directory of the site.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// Seconds until it must be redeemed, if the site is served.
    #[arg(long, value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    pub timeout: Duration,
}

/// Part of the operator to run.
#[derive(Debug, Subcommand)]
pub enum Mode {
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

/// Options of the controller of Skupper sites only.
#[derive(Debug, Args)]
pub struct SkupperArgs {
    /// Image of the routers that Sites get.
    #[arg(long, env, value_name = "IMAGE")]
    pub router_image: String,

    /// Data plane of Sites that do not set `data-plane` and whose namespace has no router yet: the
    /// router of this project, or the existing skupper-router.
    ///
    /// Namespaces that have a router keep its data plane. `skupper-router` needs the images of the router and of its adaptor, unless each Site has such a router already.
    #[arg(long, env, value_name = "PLANE", default_value = "embedded")]
    pub data_plane: DataPlane,

    /// Adaptor beside skupper-router of Sites that do not set `router-adaptor` and whose namespace
    /// has no such router yet: the existing one, or that of this project.
    ///
    /// `lifecycle-router` is in the image of --router-image. It reports more about each Listener,
    /// needs fewer rights, and restarts its router once.
    #[arg(long, env, value_name = "ADAPTOR", default_value = "kube-adaptor")]
    pub router_adaptor: Adaptor,

    /// Image of skupper-router, for Sites on that data plane. Without it the image of an existing
    /// router stays as it is.
    #[arg(long, env, value_name = "IMAGE")]
    pub skupper_router_image: Option<String>,

    /// Image of the existing adaptor beside skupper-router, which sends it its configuration.
    /// Without it the image of an existing adaptor stays as it is.
    #[arg(long, env = "SKUPPER_KUBE_ADAPTOR_IMAGE", value_name = "IMAGE")]
    pub kube_adaptor_image: Option<String>,

    /// Name of this controller. It manages namespaces whose ConfigMap `skupper` names it as
    /// `NAMESPACE/NAME`, and namespaces without such a ConfigMap.
    #[arg(long, env, value_name = "NAME", default_value = "skupper-controller")]
    pub controller_name: String,

    /// Manage the sites of this namespace alone. Rights by a Role there, and by one in the controller's own namespace, are enough. Empty: all namespaces.
    #[arg(long, env, value_name = "NAMESPACE", value_parser = parse_namespace)]
    pub watch_namespace: Option<Watched>,

    /// Address at which AccessGrants are redeemed, over TLS. It is the target of Service
    /// `skupper-grant-server` of its namespace. Without it this controller redeems none.
    #[arg(long, env, value_name = "ADDRESS:PORT")]
    pub grant_server_address: Option<SocketAddr>,

    /// Access types that may be requested, separated by commas; empty: all supported ones, which
    /// are `local`, `loadbalancer` and `nodeport`.
    ///
    /// Types that only the existing controller supports are accepted here, and refused where a Site
    /// or a RouterAccess requests them.
    #[arg(long, env = "SKUPPER_ENABLED_ACCESS_TYPES", value_name = "TYPES", value_delimiter = ',', value_parser = parse_access_type)]
    pub enabled_access_types: Vec<String>,

    /// Default access type of sites that accept links and do not set one: `local`, `loadbalancer`
    /// or `nodeport`. Without it the first of `loadbalancer`, `local` and `nodeport` that is
    /// enabled.
    #[arg(long, env = "SKUPPER_DEFAULT_ACCESS_TYPE", value_name = "TYPE", value_parser = SERVED)]
    pub default_access_type: Option<String>,

    /// Name or address by which the nodes are reachable from other clusters, for sites of the type
    /// `nodeport`.
    #[arg(long, env = "SKUPPER_CLUSTER_HOST", value_name = "HOST")]
    pub cluster_host: Option<String>,
}

/// The namespace that a controller watches; all if `None`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched(pub Option<String>);

/// Supported access types, in the order in which they become the default.
const SERVED: [&str; 3] = ["loadbalancer", "local", "nodeport"];

/// An access type that is not served here.
const OTHERS: [&str; 4] = ["route", "ingress-nginx", "contour-http-proxy", "gateway"];

fn parse_access_type(text: &str) -> Result<String, String> {
    let name = text.trim();
    let is_known = name.is_empty() || SERVED.contains(&name) || OTHERS.contains(&name);
    match is_known {
        true => Ok(name.to_owned()),
        false => Err(format!(
            "unknown access type: use some of {}",
            SERVED.join(", ")
        )),
    }
}

fn parse_namespace(text: &str) -> Result<Watched, String> {
    if text.is_empty() {
        return Ok(Watched(None));
    }
    match names::of_namespace(text) {
        Ok(_) => Ok(Watched(Some(text.to_owned()))),
        Err(error) => Err(format!("{error}: name one namespace, or none for all")),
    }
}

impl SkupperArgs {
    /// Returns the namespaces whose sites are managed, as set by either option; all if empty.
    ///
    /// # Errors
    /// Returns an error if both options name namespaces.
    pub fn all_watched(&self, several: BTreeSet<String>) -> anyhow::Result<BTreeSet<String>> {
        let Some(one) = self.watched() else {
            return Ok(several);
        };
        anyhow::ensure!(
            several.is_empty() || several.iter().eq([&one]),
            "--watch-namespace is `{one}`, but --watch-namespaces names others: leave out one of the options, or its variable"
        );
        Ok([one].into())
    }

    /// The namespace that is named alone; `None`: all, or those of the other option.
    pub fn watched(&self) -> Option<String> {
        let watched = self.watch_namespace.as_ref();
        watched.and_then(|watched| watched.0.clone())
    }

    /// The choice of routers.
    pub fn router_options(&self) -> RouterOptions {
        let said = |image: &Option<String>| image.clone().filter(|image| !image.is_empty());
        RouterOptions {
            data_plane: self.data_plane,
            adaptor: self.router_adaptor,
            images: Images {
                embedded: self.router_image.clone(),
                skupper_router: said(&self.skupper_router_image),
                kube_adaptor: said(&self.kube_adaptor_image),
            },
        }
    }

    /// Returns the default access of sites that do not set one.
    pub fn access(&self) -> AccessDefaults {
        let enabled = self.enabled_access_types.iter().cloned();
        let enabled: Vec<String> = enabled.filter(|name| !name.is_empty()).collect();
        let mut served = SERVED.into_iter();
        let first = served.find(|name| enabled.is_empty() || enabled.iter().any(|one| one == name));
        let chosen = self.default_access_type.clone();
        AccessDefaults {
            access_type: chosen.unwrap_or_else(|| first.unwrap_or(SERVED[0]).to_owned()),
            enabled,
            cluster_host: self.cluster_host.clone(),
            machine: None,
        }
    }
}

/// Options of a site on a machine.
#[derive(Debug, Args)]
pub struct SiteArgs {
    /// Directory of the site.
    #[arg(value_name = "DIR")]
    pub directory: PathBuf,

    /// Namespace that its objects are in. Files need not name it.
    #[arg(long, value_name = "NAMESPACE", default_value = "default")]
    pub namespace: String,

    /// Name or address by which other sites reach this machine, if its Site accepts links; without
    /// it, the name of the machine.
    ///
    /// Certificates are issued for it: with another one, the links of other sites end. It does not
    /// set the listening address of the router. The router listens on ports 55671 and 45671 of all
    /// addresses, or as set by the `bindHost` and `roles` of a RouterAccess.
    #[arg(long, value_name = "HOST", value_parser = parse_host)]
    pub host: Option<String>,

    /// Address at which AccessGrants are redeemed, over TLS, such as 0.0.0.0:9443; without it, none
    /// are redeemed here. Other sites reach it at --host and this port.
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub grant_server_address: Option<SocketAddr>,

    /// Seconds that open connections have to end after SIGTERM.
    #[arg(long, value_name = "SECONDS", default_value = "10", value_parser = parse_seconds)]
    pub grace: Duration,
}

fn parse_host(text: &str) -> Result<String, String> {
    match Host::parse(text.to_owned()) {
        Ok(_) => Ok(text.to_owned()),
        Err(_) => Err("it is neither an IP address nor a host name".to_owned()),
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: u64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    Ok(Duration::from_secs(seconds))
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct TestCli {
        #[command(flatten)]
        skupper: SkupperArgs,
    }

    fn access(words: &[&str]) -> Option<AccessDefaults> {
        let words = ["run", "--router-image=router"].iter().chain(words);
        TestCli::try_parse_from(words)
            .ok()
            .map(|told| told.skupper.access())
    }

    #[test]
    fn a_site_that_says_no_access_type_gets_the_first_that_is_enabled() {
        let of = |words: &[&str]| {
            let access = access(words)?;
            let said = |name: &str| access.refused(Some(&name.to_owned()));
            let refused = SERVED.into_iter().filter(|name| said(name).is_some());
            Some((access.access_type.clone(), refused.collect::<Vec<_>>()))
        };
        let host = "--cluster-host=node";
        let some = |name: &str, refused: &[&'static str]| Some((name.to_owned(), refused.to_vec()));
        assert_eq!(of(&[host]), some("loadbalancer", &[]));
        assert_eq!(
            of(&[host, "--enabled-access-types="]),
            some("loadbalancer", &[])
        );
        let upstream = "--enabled-access-types=local, loadbalancer,route";
        assert_eq!(of(&[host, upstream]), some("loadbalancer", &["nodeport"]));
        let local = "--enabled-access-types=nodeport,local";
        assert_eq!(of(&[host, local]), some("local", &["loadbalancer"]));
        assert_eq!(
            of(&[host, local, "--default-access-type=nodeport"]),
            some("nodeport", &["loadbalancer"])
        );
        assert_eq!(of(&["--enabled-access-types=localhost"]), None);
        let refused = access(&[local]).unwrap().refused(None);
        assert_eq!(refused, None, "the default is enabled");
        let refused = access(&[local])
            .unwrap()
            .refused(Some(&"loadbalancer".to_owned()));
        assert!(
            refused
                .unwrap()
                .ends_with("--enabled-access-types=nodeport,local")
        );
    }

    #[test]
    fn one_namespace_is_watched_or_all() {
        let watched = |text: &str| parse_namespace(text).map(|watched| watched.0);
        assert_eq!(watched(""), Ok(None));
        assert_eq!(watched("west"), Ok(Some("west".to_owned())));
        for wrong in ["west,east", "*", "../x", "West"] {
            assert!(watched(wrong).is_err(), "{wrong}");
        }
    }
}
