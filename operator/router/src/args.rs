//! The command line.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

#[cfg(feature = "adaptor")]
use clap::Subcommand;
use clap::{ArgGroup, Args, Parser};

use crate::options::Options;
use crate::relay::Patience;
#[cfg(feature = "kubernetes")]
use crate::source::kubernetes::ConfigMapRef;

/// Carries TCP connections of a site: clients to listeners, over routing keys, to the servers of connectors.
#[derive(Debug, Parser)]
#[command(name = "lifecycle-router", version, max_term_width = 100)]
#[cfg_attr(
    feature = "adaptor",
    command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)
)]
pub struct Arguments {
    /// Another mode; absent for the router itself.
    #[cfg(feature = "adaptor")]
    #[command(subcommand)]
    pub command: Option<Command>,

    /// The source of the configuration.
    #[command(flatten)]
    pub source: SourceArguments,

    /// Address that listeners without a host listen on [default: all addresses]
    #[arg(long, env = "ROUTER_BIND_ADDRESS", value_name = "IP")]
    pub bind_address: Option<IpAddr>,

    /// The addresses of the router's own HTTP.
    #[command(flatten)]
    pub api: ApiArguments,

    /// Connections of clients that may be open; more are refused
    #[arg(long, env = "ROUTER_MAX_CONNECTIONS", value_name = "NUMBER", default_value_t = 16_384, value_parser = parse_streams)]
    pub max_connections: usize,

    /// Connections that may be open at one listener [default: three quarters of --max-connections]
    #[arg(long, env = "ROUTER_MAX_CONNECTIONS_PER_LISTENER", value_name = "NUMBER", value_parser = parse_streams)]
    pub max_connections_per_listener: Option<usize>,

    /// Connections that may be open from one address [default: half of --max-connections]
    #[arg(long, env = "ROUTER_MAX_CONNECTIONS_PER_SOURCE", value_name = "NUMBER", value_parser = parse_streams)]
    pub max_connections_per_source: Option<usize>,

    /// Connections that may be in their handshake, or have carried nothing yet; the first makes room for one more [default: a quarter of --max-connections]
    #[arg(long, env = "ROUTER_MAX_NEW_CONNECTIONS", value_name = "NUMBER", value_parser = parse_streams)]
    pub max_new_connections: Option<usize>,

    /// Seconds until a connection is aborted on which neither side has sent anything
    #[arg(long, env = "ROUTER_SILENT_TIMEOUT", value_name = "SECONDS", default_value = "60", value_parser = parse_seconds)]
    pub silent_timeout: Duration,

    /// Seconds until a connection is aborted that carries nothing any more [default: never]
    #[arg(long, env = "ROUTER_IDLE_TIMEOUT", value_name = "SECONDS", value_parser = parse_seconds)]
    pub idle_timeout: Option<Duration>,

    /// Seconds that a server has to take a connection before the next one is tried
    #[arg(long, env = "ROUTER_CONNECT_TIMEOUT", value_name = "SECONDS", default_value = "5", value_parser = parse_seconds)]
    pub connect_timeout: Duration,

    /// Seconds that a client has for its TLS handshake
    #[arg(long, env = "ROUTER_HANDSHAKE_TIMEOUT", value_name = "SECONDS", default_value = "10", value_parser = parse_seconds)]
    pub handshake_timeout: Duration,

    /// Seconds that open connections have to end after SIGTERM
    #[arg(long, env = "ROUTER_GRACE", value_name = "SECONDS", default_value = "10", value_parser = parse_seconds)]
    pub grace: Duration,

    /// Threads that move bytes [default: one a processor, at most 4]
    #[arg(long, env = "ROUTER_THREADS", value_name = "NUMBER", value_parser = clap::value_parser!(u16).range(1..=64))]
    pub threads: Option<u16>,
}

/// The source of the configuration.
#[derive(Args, Clone, Debug)]
#[group(skip)]
#[command(group(ArgGroup::new("source").required(true)))]
pub struct SourceArguments {
    /// Directory with skrouterd.json and certs/PROFILE/{tls.crt,tls.key,ca.crt}; changes are applied at once
    #[arg(long, value_name = "DIRECTORY", group = "source")]
    pub directory: Option<PathBuf>,

    /// ConfigMap whose key skrouterd.json is the document; the files of a profile are the keys of
    /// the Secret with the profile's name
    #[cfg(feature = "kubernetes")]
    #[arg(
        long,
        env = "ROUTER_KUBERNETES",
        value_name = "NAMESPACE/NAME",
        group = "source"
    )]
    pub kubernetes: Option<ConfigMapRef>,

    /// Directory for the last good copy of the configuration from Kubernetes, which is served until
    /// the API server answers
    #[cfg(feature = "kubernetes")]
    #[arg(
        long,
        env = "ROUTER_CACHE",
        value_name = "DIRECTORY",
        requires = "kubernetes"
    )]
    pub cache: Option<PathBuf>,
}

/// The addresses of the program's own HTTP.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct ApiArguments {
    /// Address that answers GET /v1/state: IP:PORT, or unix:PATH. In the clear on loopback and Unix
    /// sockets only
    #[arg(long, env = "ROUTER_STATE", value_name = "ADDRESS")]
    pub state: Option<ApiAddress>,

    /// Serve the state over TLS with the certificate of this sslProfile, to clients with one of its authority
    #[arg(
        long,
        env = "ROUTER_STATE_PROFILE",
        value_name = "NAME",
        requires = "state"
    )]
    pub state_profile: Option<String>,

    /// Address that answers /metrics and /healthz, in the clear
    #[arg(long, env = "ROUTER_METRICS", value_name = "IP:PORT")]
    pub metrics: Option<SocketAddr>,
}

/// Another mode of the program.
#[cfg(feature = "adaptor")]
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Configures the skupper-router beside it, in the place of its own adaptor, and reports how the entries do
    Adaptor(Box<AdaptorArguments>),
}

/// The command line of the adaptor.
#[cfg(feature = "adaptor")]
#[derive(Args, Debug)]
pub struct AdaptorArguments {
    /// The source of the configuration.
    #[command(flatten)]
    pub source: SourceArguments,

    /// Folder for certificates that is shared with the router, at the same path in both containers
    #[arg(
        long,
        env = "ADAPTOR_CERTIFICATES",
        value_name = "DIRECTORY",
        default_value = "/etc/skupper-router-certs"
    )]
    pub certificates: PathBuf,

    /// Let every user read the private keys and passwords in both folders: for a router that runs as another user, in folders that its Pod alone has
    #[arg(long, env = "ADAPTOR_SHARED_KEYS")]
    pub shared_keys: bool,

    /// Folder for the passwords of proxies that is shared with the router, at the same path in both containers
    #[arg(
        long,
        env = "ADAPTOR_PROXIES",
        value_name = "DIRECTORY",
        default_value = "/etc/skupper-router-proxies"
    )]
    pub proxies: PathBuf,

    /// Write the certificates and skrouterd.json to the folder before the router starts, and end; nothing is served
    #[arg(long)]
    pub init: bool,

    /// Management agent of the router
    #[arg(
        long,
        env = "ADAPTOR_ROUTER",
        value_name = "HOST:PORT",
        default_value = "localhost:5672"
    )]
    pub router: Agent,

    /// Seconds between two queries of the router while nothing changes
    #[arg(long, env = "ADAPTOR_INTERVAL", value_name = "SECONDS", default_value = "2", value_parser = parse_seconds)]
    pub interval: Duration,

    /// The site in the network, and the status of the network.
    #[command(flatten)]
    pub network: NetworkArguments,

    /// Seconds that the router has to answer a request
    #[arg(long, env = "ADAPTOR_REQUEST_TIMEOUT", value_name = "SECONDS", default_value = "5", value_parser = parse_seconds)]
    pub request_timeout: Duration,

    /// The addresses of the adaptor's own HTTP.
    #[command(flatten)]
    pub api: ApiArguments,
}

/// The site in the network, and the status of the network.
#[cfg(feature = "adaptor")]
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct NetworkArguments {
    /// Uid of the Site that is announced in the network; without one, none is
    #[arg(long, env = "SKUPPER_SITE_ID", value_name = "UID", value_parser = parse_site_id)]
    pub site_id: Option<String>,

    /// Name of that Site
    #[arg(long, env = "SKUPPER_SITE_NAME", value_name = "NAME")]
    pub site_name: Option<String>,

    /// Namespace of that Site [default: that of --kubernetes]
    #[arg(long, env = "SKUPPER_NAMESPACE", value_name = "NAMESPACE")]
    pub site_namespace: Option<String>,

    /// Place of the status of the network: off, kubernetes (ConfigMap skupper-network-status of the namespace), or a file [default: kubernetes with --kubernetes, else off]
    #[arg(long, env = "ADAPTOR_NETWORK_STATUS", value_name = "PLACE")]
    pub network_status: Option<StatusPlace>,
}

/// Place of the status of the network.
#[cfg(feature = "adaptor")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusPlace {
    /// Nowhere, and nothing is collected.
    Off,
    /// A ConfigMap in the namespace of the source.
    Kubernetes,
    /// A file.
    File(PathBuf),
}

#[cfg(feature = "adaptor")]
impl FromStr for StatusPlace {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "" => Err("it is neither `off`, `kubernetes` nor a file".to_owned()),
            "off" => Ok(Self::Off),
            "kubernetes" => Ok(Self::Kubernetes),
            file => Ok(Self::File(file.into())),
        }
    }
}

/// A uid is a part of addresses.
#[cfg(feature = "adaptor")]
fn parse_site_id(text: &str) -> Result<String, String> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    if (1..=128).contains(&text.len()) && text.bytes().all(allowed) {
        Ok(text.to_owned())
    } else {
        Err("it is not 1 to 128 letters, digits and `-`".to_owned())
    }
}

#[cfg(feature = "adaptor")]
impl AdaptorArguments {
    /// The settings of the collection of records.
    pub fn collection(&self) -> crate::adaptor::CollectOptions {
        let network = &self.network;
        let site = network.site_id.clone().map(|id| crate::adaptor::OwnSite {
            id,
            name: network.site_name.clone().unwrap_or_default(),
            namespace: network
                .site_namespace
                .clone()
                .or_else(|| self.namespace())
                .unwrap_or_default(),
        });
        crate::adaptor::CollectOptions {
            agent: self.options().agent,
            site,
        }
    }

    /// The place of the status of the network.
    pub fn status_place(&self) -> StatusPlace {
        let default = match self.namespace() {
            Some(_) => StatusPlace::Kubernetes,
            None => StatusPlace::Off,
        };
        self.network.network_status.clone().unwrap_or(default)
    }

    /// The namespace of the source.
    pub fn namespace(&self) -> Option<String> {
        #[cfg(feature = "kubernetes")]
        let namespace = self.source.kubernetes.as_ref();
        #[cfg(feature = "kubernetes")]
        return namespace.map(|config_map| config_map.namespace.clone());
        #[cfg(not(feature = "kubernetes"))]
        None
    }

    /// The settings of its loop.
    pub fn options(&self) -> crate::adaptor::Options {
        crate::adaptor::Options {
            agent: crate::adaptor::amqp::Options {
                host: self.router.host.clone(),
                port: self.router.port,
                limit: self.request_timeout,
                ..crate::adaptor::amqp::Options::default()
            },
            interval: self.interval,
        }
    }
}

/// The host and the port of a management agent.
#[cfg(feature = "adaptor")]
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    /// A name or an address.
    pub host: String,
    /// The port.
    pub port: u16,
}

#[cfg(feature = "adaptor")]
impl FromStr for Agent {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.rsplit_once(':');
        let parts = parts.and_then(|(host, port)| Some((host, port.parse().ok()?)));
        let parts = parts.filter(|(host, port)| !host.is_empty() && *port > 0);
        let (host, port) = parts.ok_or_else(|| "it is no HOST:PORT".to_owned())?;
        let inside = host
            .strip_prefix('[')
            .and_then(|host| host.strip_suffix(']'));
        Ok(Self {
            host: inside.unwrap_or(host).to_owned(),
            port,
        })
    }
}

impl Arguments {
    /// Returns the options that the router needs.
    pub fn options(&self) -> Options {
        Options {
            bind_address: self.bind_address,
            connect_timeout: self.connect_timeout,
            handshake_timeout: self.handshake_timeout,
            most_streams: self.max_connections,
            most_of_listener: self.max_connections_per_listener,
            most_of_source: self.max_connections_per_source,
            most_new: self.max_new_connections,
            patience: Patience {
                silent: Some(self.silent_timeout),
                idle: self.idle_timeout,
            },
        }
    }
}

/// Address that serves the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ApiAddress {
    /// On an address.
    Address(SocketAddr),
    /// On a path.
    Unix(PathBuf),
}

impl FromStr for ApiAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(path) = text.strip_prefix("unix:") {
            return Ok(Self::Unix(path.into()));
        }
        let address = text.parse().map(Self::Address);
        address.map_err(|_| "it is neither IP:PORT nor unix:PATH".to_owned())
    }
}

fn parse_seconds(text: &str) -> Result<Duration, String> {
    let seconds: u64 = text.parse().map_err(|_| "it is no number".to_owned())?;
    if (1..=86_400).contains(&seconds) {
        Ok(Duration::from_secs(seconds))
    } else {
        Err("it is not from 1 to 86400".to_owned())
    }
}

fn parse_streams(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| *number > 0);
    number.ok_or_else(|| "it is no number above 0".to_owned())
}
