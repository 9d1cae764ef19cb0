//! The process: from its arguments to its end by a signal.

use std::net::SocketAddr;
use std::path::Path;
#[cfg(feature = "adaptor")]
use std::sync::Arc;

use anyhow::{Context as _, bail};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use tokio::signal::unix::{SignalKind, signal};

#[cfg(feature = "adaptor")]
use crate::adaptor::{Adaptor, NetworkStatus, StatusFile};
use crate::api::{Api, Offer, bind, bind_unix};
#[cfg(feature = "adaptor")]
use crate::args::{AdaptorArguments, NetworkArguments, StatusPlace};
use crate::args::{ApiAddress, ApiArguments, Arguments, SourceArguments};
use crate::data_plane::DataPlane;
use crate::options::Options;
use crate::plain;
use crate::router::Router;
use crate::source::Source;
use crate::source::directory::Directory;
#[cfg(feature = "kubernetes")]
use crate::source::kubernetes::Namespace;

/// Files that are open beside those of connections.
const OTHER_FILES: usize = 128;

/// Runs until SIGTERM or SIGINT.
///
/// # Errors
/// An address for the state or the metrics is not available, or the directory is none.
pub async fn run(arguments: Arguments) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for SIGINT")?;
    let source = source(&arguments.source).await?;
    let router = Router::new(bounded(arguments.options()));
    serve(&router, &arguments.api).await?;
    let following = tokio::spawn(source.follow(router.clone()));
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    following.abort();
    let open = router.open();
    tracing::info!(open, "stopping");
    tokio::select! {
        aborted = router.stop(arguments.grace) => tracing::info!(aborted, "stopped"),
        // A user who sends the signal twice does not want to wait.
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// Runs the adaptor until SIGTERM or SIGINT, which leaves the router as it is; or writes the start of a router, and ends.
///
/// # Errors
/// As [`run`]; or the start cannot be written.
#[cfg(feature = "adaptor")]
pub async fn adapt(arguments: AdaptorArguments) -> anyhow::Result<()> {
    let mut terminate = signal(SignalKind::terminate()).context("cannot wait for SIGTERM")?;
    let mut interrupt = signal(SignalKind::interrupt()).context("cannot wait for SIGINT")?;
    let source = source(&arguments.source).await?;
    let adaptor = match arguments.shared_keys {
        true => Adaptor::sharing_keys(&arguments.certificates, &arguments.proxies),
        false => Adaptor::with_proxies(&arguments.certificates, &arguments.proxies),
    };
    if !arguments.init {
        serve(&adaptor, &arguments.api).await?;
    }
    let status = match arguments.init {
        true => None,
        false => network_status(&arguments).await?,
    };
    let collecting = async {
        match status {
            Some(status) => adaptor.collect(arguments.collection(), status).await,
            None => std::future::pending().await,
        }
    };
    let following = source.follow(adaptor.clone());
    let work = async {
        if arguments.init {
            return adaptor.init().await.map_err(anyhow::Error::from);
        }
        match adaptor.run(arguments.options()).await {}
    };
    tokio::select! {
        done = work => return done,
        never = collecting => match never {},
        () = following => bail!("the source of the configuration ended"),
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    tracing::info!("stopped; the router stays as it is");
    anyhow::ensure!(!arguments.init, "stopped before there was a configuration");
    Ok(())
}

/// Returns the destination of the network status; `None` if none is configured.
#[cfg(feature = "adaptor")]
async fn network_status(
    arguments: &AdaptorArguments,
) -> anyhow::Result<Option<Arc<dyn NetworkStatus>>> {
    match arguments.status_place() {
        StatusPlace::Off => Ok(None),
        StatusPlace::File(path) => Ok(Some(Arc::new(StatusFile(path)))),
        StatusPlace::Kubernetes => {
            let namespace = arguments.namespace();
            let namespace = namespace.context("--network-status kubernetes needs --kubernetes")?;
            config_map(&namespace, &arguments.network).await.map(Some)
        }
    }
}

#[cfg(all(feature = "adaptor", feature = "kubernetes"))]
async fn config_map(
    namespace: &str,
    site: &NetworkArguments,
) -> anyhow::Result<Arc<dyn NetworkStatus>> {
    // In a Pod it is the name of that.
    let holder = std::fs::read_to_string("/proc/sys/kernel/hostname");
    let holder = holder.context(
        "cannot read the name of this host, under which the leader of the site is chosen",
    )?;
    let client = crate::source::kubernetes::connect().await;
    let client = client.context("cannot use the API server for the network status")?;
    let status = crate::adaptor::StatusConfigMap::new(client, namespace, holder.trim());
    let owner = site.site_name.as_deref().zip(site.site_id.as_deref());
    Ok(Arc::new(match owner {
        Some((name, uid)) => status.owned_by_site(name, uid),
        None => status,
    }))
}

#[cfg(all(feature = "adaptor", not(feature = "kubernetes")))]
async fn config_map(
    _namespace: &str,
    _site: &NetworkArguments,
) -> anyhow::Result<Arc<dyn NetworkStatus>> {
    bail!("this program is built without Kubernetes: use --network-status FILE")
}

async fn source(arguments: &SourceArguments) -> anyhow::Result<Source> {
    #[cfg(feature = "kubernetes")]
    if let Some(config_map) = &arguments.kubernetes {
        let namespace = Namespace::connect(config_map.clone(), arguments.cache.as_deref());
        return Ok(Source::Namespace(Box::new(namespace.await?)));
    }
    let directory = arguments
        .directory
        .as_deref()
        .context("no source is given")?;
    if !directory.is_dir() {
        bail!("{} is no directory", plain::path(directory));
    }
    Ok(Source::Directory(Directory::new(directory)))
}

async fn serve(router: &(impl DataPlane + Clone), arguments: &ApiArguments) -> anyhow::Result<()> {
    if let Some(address) = arguments.metrics {
        let socket = listen(address).await?;
        tokio::spawn(Api::new(router.clone(), Offer::Metrics).serve(socket));
    }
    let api = Api::new(router.clone(), Offer::All);
    match (&arguments.state, &arguments.state_profile) {
        (None, _) => {}
        (Some(ApiAddress::Unix(path)), None) => {
            tokio::spawn(api.serve(unix(path)?));
        }
        (Some(ApiAddress::Unix(_)), Some(_)) => bail!("a Unix socket needs no --state-profile"),
        (Some(ApiAddress::Address(address)), Some(profile)) => {
            tokio::spawn(api.serve_tls(listen(*address).await?, profile.clone()));
        }
        (Some(ApiAddress::Address(address)), None) if address.ip().is_loopback() => {
            tokio::spawn(api.serve(listen(*address).await?));
        }
        (Some(ApiAddress::Address(address)), None) => {
            bail!(
                "the state is served on {address} only with --state-profile, which is for others than this host"
            )
        }
    }
    Ok(())
}

async fn listen(address: SocketAddr) -> anyhow::Result<tokio::net::TcpListener> {
    let socket = bind(address).await;
    socket.with_context(|| format!("cannot listen on {address}"))
}

fn unix(path: &Path) -> anyhow::Result<tokio::net::UnixListener> {
    bind_unix(path).with_context(|| format!("cannot listen on {}", plain::path(path)))
}

/// Allows as many open files as the system does, and no more connections than these are enough for: two files each.
pub fn bounded(mut options: Options) -> Options {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    let files = match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(error) => {
            tracing::warn!(%error, "cannot raise the limit of open files");
            limit.current
        }
    };
    if let Some(files) = files {
        let files = usize::try_from(files).unwrap_or(usize::MAX);
        let most = files.saturating_sub(OTHER_FILES) / 2;
        if most < options.most_streams {
            tracing::info!(files, "the limit of open files allows {most} connections");
            options.most_streams = most.max(1);
        }
    }
    options
}
