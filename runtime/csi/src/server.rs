//! Servers, one a socket: which services listen where, from the start to the last answer.

mod authority;
mod capability;
mod controller;
mod identity;
mod kept_socket;
mod listening;
mod node;
mod registering;
mod registration;
mod services;

use std::future::pending;
use std::path::Path;
use std::sync::Arc;

use futures::future::{join_all, try_join_all};
use lifecycle_proto::csi::controller_server::ControllerServer;
use lifecycle_proto::csi::identity_server::IdentityServer;
use lifecycle_proto::csi::node_server::NodeServer;

use controller::ControllerService;
use identity::IdentityService;
use kept_socket::SocketHandle;
use listening::ListeningSocket;
use node::NodeService;
use registering::{PendingRegistration, registration};
use services::SocketServices;

use crate::call::runner::CallRunner;
use crate::call::shared_watches::SharedWatches;
use crate::driver::Role;
use crate::driver::plugin::Plugin;
use crate::error::Error;
use crate::served_volume::ServedVolume;
use crate::socket::path_of;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::service::Context;
use lifecycle_runtime::shutdown::Shutdown;

/// The servers of a process, bound and ready.
pub(crate) struct Servers {
    sockets: Vec<ListeningSocket>,
    /// Each with the socket at which kubelet finds it.
    registrations: Vec<(PendingRegistration, SocketHandle)>,
    /// Caches that calls read without a request.
    shared_watches: Vec<Arc<SharedWatches>>,
}

/// Binds every socket, so that an unusable socket fails before anything runs.
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
                    context.health.waits(pending.part(), why);
                    registrations.push((pending, sockets.len()));
                    sockets.push(socket);
                }
            }
        }
    }
    let mut listening = Vec::new();
    for socket in sockets {
        listening.push(socket.listen().await?);
    }
    let found_at = |(pending, number): (PendingRegistration, usize)| {
        let socket: &ListeningSocket = &listening[number];
        (pending, socket.socket.handle())
    };
    let registrations = registrations.into_iter().map(found_at).collect();
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

impl Servers {
    /// Serves until the shutdown; calls that are under way then may end, for a while.
    ///
    /// # Errors
    /// A socket fails, or kubelet refuses a driver.
    pub(crate) async fn run(self, context: Context) -> Result<(), Error> {
        let health = &context.health;
        let handles = self.sockets.iter().map(|one| one.socket.handle());
        let keeping: Vec<_> = handles
            .map(|handle| report_health(handle, health))
            .collect();
        let sockets = self.sockets.into_iter();
        let serving = sockets.map(|socket| socket.serve(context.shutdown.clone()));
        let serving = async { try_join_all(serving).await.map(drop) };
        let csi_nodes = self.registrations.iter();
        let csi_nodes: Vec<_> = csi_nodes
            .filter_map(|(one, _)| one.csi_node.clone())
            .collect();
        let registering = self.registrations.into_iter();
        let registering = try_join_all(registering.map(|(one, socket)| one.keep(socket, health)));
        // Without the right to read CSINodes, kubelet's own word counts.
        let aside = Health::default();
        let watched = self
            .shared_watches
            .iter()
            .map(|watches| (&**watches, health));
        let watched = watched.chain(csi_nodes.iter().map(|node| (&node.watches, &aside)));
        let watching = watched.filter_map(|(watches, health)| {
            let client = context.client.as_ref()?;
            Some(watches.run(client, context.seed, health))
        });
        let watching = async {
            tokio::join!(join_all(watching), join_all(keeping));
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

/// Reports to health a socket that callers do not find.
async fn report_health(mut socket: SocketHandle, health: &Health) {
    let part = format!("socket {}", socket.path.display());
    loop {
        match &*socket.state.borrow_and_update() {
            Ok(()) => health.works(&part),
            Err(why) => health.waits(&part, why),
        }
        if socket.state.changed().await.is_err() {
            return;
        }
    }
}
