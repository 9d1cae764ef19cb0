//! Servers, one a socket: which services listen where, from the start to the last answer.

mod authority;
mod capability;
mod controller;
mod identity;
mod listening;
mod node;
mod registration;
mod services;

use std::future::pending;
use std::path::Path;
use std::sync::Arc;

use futures::future::{join_all, try_join_all};
use lifecycle_proto::csi::controller_server::ControllerServer;
use lifecycle_proto::csi::identity_server::IdentityServer;
use lifecycle_proto::csi::node_server::NodeServer;
use lifecycle_proto::registration::registration_server::RegistrationServer;
use tokio::sync::watch;

use controller::ControllerService;
use identity::IdentityService;
use listening::ListeningSocket;
use node::NodeService;
use registration::{RegistrationService, RegistrationStatus};
use services::SocketServices;

use crate::call::runner::CallRunner;
use crate::call::shared_watches::SharedWatches;
use crate::driver::plugin::Plugin;
use crate::driver::{KubeletRegistration, Role};
use crate::error::Error;
use crate::served_volume::ServedVolume;
use crate::socket::path_of;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::service::Context;
use lifecycle_runtime::shutdown::Shutdown;

/// A driver that kubelet is to register.
struct PendingRegistration {
    driver: String,
    /// `None` before kubelet has reported.
    status: watch::Receiver<Option<RegistrationStatus>>,
}

/// The servers of a process, bound and ready.
pub(crate) struct Servers {
    sockets: Vec<ListeningSocket>,
    registrations: Vec<PendingRegistration>,
    /// Caches that calls read without a request.
    shared_watches: Vec<Arc<SharedWatches>>,
}

/// Binds every socket, so that what cannot be served fails before anything runs.
///
/// # Errors
/// Calls do not support something that a lifecycle declares, or the process cannot listen at a socket.
pub(crate) async fn prepare(
    volumes: Vec<ServedVolume>,
    context: &Context,
) -> Result<Servers, Error> {
    let mut sockets: Vec<SocketServices> = Vec::new();
    let (mut registrations, mut shared_watches) = (Vec::new(), Vec::new());
    for volume in volumes {
        let plugin = &volume.driver.plugin;
        if let Some(why) = plugin.invalid() {
            return Err(invalid(plugin, why));
        }
        let path = path_of(&volume.driver.endpoint)?;
        let runner = Arc::new(CallRunner::new(&volume, context)?);
        let watches = &runner.context.cluster.shared_watches;
        watches.waits(&context.health);
        shared_watches.push(Arc::clone(watches));
        let socket = socket_at(&mut sockets, &path, plugin, &context.shutdown)?;
        match &volume.driver.role {
            Role::Controller => {
                let service = ControllerServer::new(ControllerService { runner });
                socket.add(service);
            }
            Role::Node(options) => {
                socket.add(NodeServer::new(NodeService {
                    runner,
                    options: options.clone(),
                    has_topology: plugin.has_topology,
                }));
                if let Some(kubelet) = &options.registration {
                    let (socket, pending) = registration(plugin, kubelet, &path);
                    let why = "kubelet has not registered the driver yet";
                    context.health.waits(part(&pending.driver), why);
                    registrations.push(pending);
                    sockets.push(socket);
                }
            }
        }
    }
    let mut listening = Vec::new();
    for socket in sockets {
        listening.push(socket.listen().await?);
    }
    Ok(Servers {
        sockets: listening,
        registrations,
        shared_watches,
    })
}

fn invalid(plugin: &Plugin, why: &str) -> Error {
    Error::Driver {
        driver: plugin.name.clone(),
        why: why.to_owned(),
    }
}

/// The socket of an endpoint, which a controller and a node may share.
fn socket_at<'a>(
    sockets: &'a mut Vec<SocketServices>,
    path: &Path,
    plugin: &Plugin,
    shutdown: &Shutdown,
) -> Result<&'a mut SocketServices, Error> {
    let known = sockets.iter().position(|socket| socket.path == path);
    let number = match known {
        Some(number) if sockets[number].plugin == *plugin => number,
        Some(_) => {
            let why = "another driver listens at the same socket";
            return Err(invalid(plugin, why));
        }
        None => {
            let mut socket = SocketServices::new(path.to_owned(), plugin.clone());
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

/// The socket at which kubelet finds a driver that listens at an endpoint.
fn registration(
    plugin: &Plugin,
    kubelet: &KubeletRegistration,
    endpoint: &Path,
) -> (SocketServices, PendingRegistration) {
    let endpoint = kubelet.endpoint.as_deref().unwrap_or(endpoint);
    let (service, status) = RegistrationService::new(&plugin.name, endpoint);
    let path = kubelet.folder.join(format!("{}-reg.sock", plugin.name));
    let mut socket = SocketServices::new(path, plugin.clone());
    socket.add(RegistrationServer::new(service));
    let driver = plugin.name.clone();
    (socket, PendingRegistration { driver, status })
}

impl Servers {
    /// Serves until the shutdown; calls that are under way then may end, for a while.
    ///
    /// # Errors
    /// A socket fails, or kubelet refuses a driver.
    pub(crate) async fn run(self, context: Context) -> Result<(), Error> {
        let sockets = self.sockets.into_iter();
        let serving = sockets.map(|socket| socket.serve(context.shutdown.clone()));
        let serving = async { try_join_all(serving).await.map(drop) };
        let health = &context.health;
        let registering = self.registrations.into_iter();
        let registering = try_join_all(registering.map(|one| register(one, health)));
        let watching = self.shared_watches.iter().filter_map(|watches| {
            let client = context.client.as_ref()?;
            Some(watches.run(client, context.seed, health))
        });
        let watching = async {
            join_all(watching).await;
            pending().await
        };
        let registering = async {
            registering.await?;
            pending().await
        };
        tokio::select! {
            served = serving => served,
            refused = registering => refused,
            () = watching => Ok(()),
        }
    }
}

/// What a registration is called where health is asked for.
fn part(driver: &str) -> String {
    format!("registration of {driver}")
}

/// Ends only if kubelet refuses the driver.
async fn register(pending: PendingRegistration, health: &Health) -> Result<(), Error> {
    let PendingRegistration { driver, mut status } = pending;
    loop {
        let reported = status.borrow_and_update().clone();
        match reported {
            Some(Ok(())) => health.works(&part(&driver)),
            Some(Err(why)) => return Err(Error::Unregistered { driver, why }),
            None => {}
        }
        if status.changed().await.is_err() {
            return Ok(());
        }
    }
}
