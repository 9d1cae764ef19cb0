//! Servers, one a socket: which services listen where, from the start to the last answer.

use std::future::pending;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use futures::future::{join_all, try_join_all};
use futures::{Stream, stream};
use lifecycle_proto::DESCRIPTORS;
use lifecycle_proto::csi::controller_server::ControllerServer;
use lifecycle_proto::csi::identity_server::IdentityServer;
use lifecycle_proto::csi::node_server::NodeServer;
use lifecycle_proto::registration::registration_server::RegistrationServer;
use tokio::io::DuplexStream;
use tokio::net::UnixListener;
use tokio::sync::{mpsc, watch};
use tokio::time::sleep;
use tonic::server::NamedService;
use tonic::service::Routes;
use tonic::transport::Server;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::HealthServer;
use tonic_health::server::{HealthReporter, HealthService};

use super::authority::relayed;
use super::caller::Caller;
use super::controller::ControllerService;
use super::identity::IdentityService;
use super::node::NodeService;
use super::registration::{Answer, RegistrationService};
use super::socket::{Bound, SocketError, bind, path_of};
use super::standing::Standing;
use super::{Around, Driver, Plugin, Side};
use crate::error::Error;
use crate::health::Health;
use crate::lifecycle::Machine;
use crate::naming::Naming;
use crate::shutdown::Shutdown;

/// How long calls that are under way may take when the process is to stop.
const GRACE: Duration = Duration::from_secs(4);
/// When a connection is taken again after the system refused one.
const ACCEPT_AGAIN: Duration = Duration::from_millis(100);

/// A volume lifecycle, its names, and the process that serves it.
pub(crate) type Offered = (Arc<dyn Machine>, Naming, Driver);

/// A driver's name, and what kubelet said of it, once it did.
type Registering = (String, watch::Receiver<Option<Answer>>);

/// What listens at one socket.
struct Socket {
    path: PathBuf,
    plugin: Plugin,
    routes: Routes,
    names: Vec<&'static str>,
}

/// Everything that is served, bound and ready.
pub(crate) struct Served {
    sockets: Vec<(UnixListener, Bound, Routes)>,
    /// What kubelet said of each driver.
    registrations: Vec<Registering>,
    /// What calls read without asking.
    standing: Vec<Arc<Standing>>,
}

/// Binds every socket, so that what cannot be served fails before anything runs.
///
/// # Errors
/// A lifecycle cannot be carried out by calls, or a socket cannot be listened at.
pub(crate) async fn prepare(offered: Vec<Offered>, around: &Around) -> Result<Served, Error> {
    let mut sockets: Vec<Socket> = Vec::new();
    let (mut registrations, mut standing) = (Vec::new(), Vec::new());
    for (machine, naming, driver) in offered {
        if let Some(why) = driver.plugin.wrong() {
            return Err(wrong(&driver.plugin, why));
        }
        let path = path_of(&driver.endpoint)?;
        let caller = Arc::new(Caller::new(machine, naming, &driver.reads, around)?);
        caller.access.standing.waits(&around.health);
        standing.push(Arc::clone(&caller.access.standing));
        let socket = socket_at(&mut sockets, &path, &driver.plugin, &around.shutdown)?;
        match driver.side {
            Side::Controller => {
                let service = ControllerServer::new(ControllerService { caller });
                socket.add(service);
            }
            Side::Node(node) => {
                let registration = node.registration.clone();
                let has_topology = driver.plugin.has_topology;
                let service = NodeServer::new(NodeService {
                    caller,
                    node,
                    has_topology,
                });
                socket.add(service);
                if let Some(at) = registration {
                    let endpoint = at.endpoint.unwrap_or(path);
                    let name = &driver.plugin.name;
                    let (service, answer) = RegistrationService::new(name, &endpoint);
                    let why = "kubelet has not registered the driver yet";
                    around.health.waits(part(name), why);
                    registrations.push((name.clone(), answer));
                    let file = format!("{}-reg.sock", driver.plugin.name);
                    let path = at.folder.join(file);
                    let mut socket = Socket::new(path, driver.plugin);
                    socket.add(RegistrationServer::new(service));
                    sockets.push(socket);
                }
            }
        }
    }
    let mut served = Served {
        sockets: Vec::new(),
        registrations,
        standing,
    };
    for socket in sockets {
        served.sockets.push(socket.listen().await?);
    }
    Ok(served)
}

fn wrong(plugin: &Plugin, why: &str) -> Error {
    Error::Driver {
        driver: plugin.name.clone(),
        why: why.to_owned(),
    }
}

/// The socket of an endpoint, which a controller and a node may share.
fn socket_at<'a>(
    sockets: &'a mut Vec<Socket>,
    path: &Path,
    plugin: &Plugin,
    shutdown: &Shutdown,
) -> Result<&'a mut Socket, Error> {
    let known = sockets.iter().position(|socket| socket.path == path);
    let number = match known {
        Some(number) if sockets[number].plugin == *plugin => number,
        Some(_) => {
            let why = "another driver listens at the same socket";
            return Err(wrong(plugin, why));
        }
        None => {
            let mut socket = Socket::new(path.to_owned(), plugin.clone());
            socket.add(IdentityServer::new(IdentityService {
                plugin: plugin.clone(),
                shutdown: shutdown.clone(),
            }));
            sockets.push(socket);
            sockets.len() - 1
        }
    };
    Ok(&mut sockets[number])
}

impl Socket {
    fn new(path: PathBuf, plugin: Plugin) -> Self {
        Self {
            path,
            plugin,
            routes: Routes::default(),
            names: Vec::new(),
        }
    }

    fn add<S>(&mut self, service: S)
    where
        S: tower::Service<
                http::Request<tonic::body::Body>,
                Response = http::Response<tonic::body::Body>,
                Error = std::convert::Infallible,
            > + NamedService
            + Clone
            + Send
            + Sync
            + 'static,
        S::Future: Send + 'static,
    {
        self.names.push(S::NAME);
        self.routes = std::mem::take(&mut self.routes).add_service(service);
    }

    /// Adds health and reflection of what is served, and listens.
    async fn listen(mut self) -> Result<(UnixListener, Bound, Routes), Error> {
        let health = HealthReporter::new();
        for name in &self.names {
            health
                .set_service_status(name, ServingStatus::Serving)
                .await;
        }
        let service = HealthService::from_health_reporter(health);
        self.add(HealthServer::new(service));
        let mut reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(DESCRIPTORS)
            .register_encoded_file_descriptor_set(tonic_health::pb::FILE_DESCRIPTOR_SET);
        for name in &self.names {
            reflection = reflection.with_service_name(*name);
        }
        let reflection = reflection.build_v1().map_err(|error| {
            let why = format!("its services cannot be described: {error}");
            wrong(&self.plugin, &why)
        })?;
        self.add(reflection);
        let (listener, bound) = bind(&self.path)?;
        tracing::info!(path = %self.path.display(), services = ?self.names, "listens");
        Ok((listener, bound, self.routes))
    }
}

impl Served {
    /// Serves until told to stop; what is under way then may end, for a while.
    ///
    /// # Errors
    /// A socket fails, or kubelet refuses a driver.
    pub(crate) async fn run(self, around: Around) -> Result<(), Error> {
        let serving = self.sockets.into_iter().map(|(listener, bound, routes)| {
            let shutdown = around.shutdown.clone();
            serve(listener, bound, routes, shutdown)
        });
        let serving = async { try_join_all(serving).await.map(drop) };
        let health = &around.health;
        let registering = self.registrations.into_iter();
        let registering = try_join_all(registering.map(|one| register(one, health)));
        let standing = self.standing.iter().filter_map(|standing| {
            let client = around.client.as_ref()?;
            Some(standing.run(client, around.seed, health))
        });
        let standing = async {
            join_all(standing).await;
            pending().await
        };
        let registering = async {
            registering.await?;
            pending().await
        };
        tokio::select! {
            served = serving => served,
            refused = registering => refused,
            () = standing => Ok(()),
        }
    }
}

/// What its registration is called where health is asked for.
fn part(driver: &str) -> String {
    format!("registration of {driver}")
}

/// Ends only if kubelet does not take the driver in.
async fn register((driver, mut answer): Registering, health: &Health) -> Result<(), Error> {
    loop {
        let said = answer.borrow_and_update().clone();
        match said {
            Some(Ok(())) => health.works(&part(&driver)),
            Some(Err(why)) => return Err(Error::Unregistered { driver, why }),
            None => {}
        }
        if answer.changed().await.is_err() {
            return Ok(());
        }
    }
}

async fn serve(
    listener: UnixListener,
    bound: Bound,
    routes: Routes,
    mut shutdown: Shutdown,
) -> Result<(), Error> {
    let mut stops = shutdown.clone();
    let (relaying, mut relayed) = mpsc::channel(1);
    let answered = async {
        let served = Server::builder()
            .add_routes(routes)
            .serve_with_incoming_shutdown(incoming(listener, relaying), async move {
                stops.wait().await;
            })
            .await;
        // The last answers are on their way still: nothing is ever sent here, it ends with the last relay.
        let _ = relayed.recv().await.is_none();
        served
    };
    let served = tokio::select! {
        served = answered => served,
        () = async { shutdown.wait().await; sleep(GRACE).await } => Ok(()),
    };
    drop(bound);
    served.map_err(|source| Error::Serve {
        source: Box::new(source),
    })
}

/// Connections, each relayed by a task of its own.
fn incoming(
    listener: UnixListener,
    relaying: mpsc::Sender<()>,
) -> impl Stream<Item = io::Result<DuplexStream>> {
    stream::unfold((listener, relaying), |(listener, relaying)| async {
        loop {
            match listener.accept().await {
                Ok((client, _)) => {
                    let (theirs, relay) = relayed(client);
                    let running = relaying.clone();
                    tokio::spawn(async move {
                        relay.await;
                        drop(running);
                    });
                    return Some((Ok(theirs), (listener, relaying)));
                }
                Err(error) => {
                    tracing::warn!("a connection cannot be taken: {error}");
                    sleep(ACCEPT_AGAIN).await;
                }
            }
        }
    })
}

impl From<SocketError> for Error {
    fn from(source: SocketError) -> Self {
        Self::Socket { source }
    }
}
