//! The grant server of the sandbox: that of the controller, with its rights, at a free port of
//! loopback. An annotation on its Service contains the address.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use anyhow::Context;
use k8s_openapi::api::core::v1::Service;
use kube::Client;
use kube::api::{Api, Patch, PatchParams};
use lifecycle_cli::cluster::{account, complain};
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_runtime::{cause, crds};
use lifecycle_simulator::{Server, User};
use lifecycle_skupper::controller::KINDS;
use lifecycle_skupper::grants::server::GrantServer;
use lifecycle_skupper::grants::service::{ADDRESS, SERVICE};
use lifecycle_skupper::namespace::controller_id::ControllerId;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::time::sleep;

/// The namespace and the name of the controller.
pub(super) const CONTROLLER: (&str, &str) = ("skupper", "skupper-controller");
const LOOK: Duration = Duration::from_millis(20);

/// Endpoint that redeems grants.
pub(super) struct GrantDoor {
    socket: TcpListener,
    at: SocketAddr,
}

impl GrantDoor {
    /// Takes a free port.
    pub(super) async fn open(address: IpAddr) -> anyhow::Result<Self> {
        let taken = async {
            let socket = TcpListener::bind((address, 0)).await?;
            let at = socket.local_addr()?;
            Ok::<_, std::io::Error>(Self { socket, at })
        };
        taken
            .await
            .with_context(|| format!("no port of {address} is free for the grant server"))
    }

    /// Serves until shutdown, and starts once the kinds are served.
    pub(super) async fn serve(self, server: &Server, mut shutdown: Shutdown) {
        let (namespace, name) = CONTROLLER;
        let client = account(server, namespace, name);
        let serving = async {
            if let Err(error) = announce(server.client(&User::admin()), self.at).await {
                let said = cause::in_one_line(&error);
                complain(&format!("the grant server has no Service: {said}"));
                return;
            }
            while !matches!(crds::served(&client, &KINDS).await, Ok(true)) {
                sleep(LOOK).await;
            }
            let id = ControllerId::new(namespace, name);
            let grants = GrantServer::new(client.clone(), id);
            let served = async { match grants.serve(self.socket).await {} };
            tokio::join!(grants.follow(), grants.prove(), served);
        };
        tokio::select! {
            biased;
            () = shutdown.wait() => {}
            () = serving => {}
        }
    }
}

/// Publishes its address, as a cluster administrator does if the Service does not contain it.
async fn announce(admin: Client, at: SocketAddr) -> kube::Result<()> {
    let services: Api<Service> = Api::namespaced(admin, CONTROLLER.0);
    let annotations = json!({ "metadata": { "annotations": { ADDRESS: at.to_string() } } });
    let params = PatchParams::default();
    let patch = Patch::Merge(annotations);
    services.patch(SERVICE, &params, &patch).await.map(drop)
}
