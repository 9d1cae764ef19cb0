//! Skupper sites in the sandbox: the controller with the rights of its manifest, routers in this process, and where their Listeners can be reached.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::api::{ApiResource, DynamicObject, ListParams};
use kube::{Api, Client, ResourceExt};
use lifecycle_runtime::cause;
use lifecycle_runtime::controller::Trace;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::{Server, User};
use lifecycle_specs_skupper::connector::Connector;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::router::ROUTER;
use lifecycle_specs_skupper::site::Site;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

use super::grants::{CONTROLLER, GrantDoor};
use super::{balancer, echo};
use lifecycle_cli::cluster::{account, complain};
use lifecycle_skupper::config::router_config::RouterConfig;
use lifecycle_skupper::controller;
use lifecycle_skupper::namespace::active_site;
use lifecycle_skupper::platform::Platform;
use lifecycle_skupper::router::embedded::{Embedded, Settings};
use lifecycle_skupper::router::plane::RouterOptions;
use lifecycle_skupper::secured_access::AccessDefaults;
use lifecycle_skupper::settings::named;

/// Manifest to install, as in any cluster: a name for error messages, and the text.
pub(super) const INSTALLED: (&str, &str) = (
    "deploy/skupper/controller.yaml",
    include_str!("installed/skupper.yaml"),
);
/// Image name that is never pulled: its program runs in this process.
const IMAGE: &str = "lifecycle-router";
const GRACE: Duration = Duration::from_secs(1);

/// The routers, and the server that echoes.
#[derive(Clone)]
pub(super) struct Sites {
    routers: Embedded,
    echo: Option<SocketAddr>,
}

/// Address of a Listener, and a flag for the echo test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ListenerEndpoint {
    /// Address on which the router listens for it.
    pub(super) at: SocketAddr,
    /// True if random bytes can be sent there and come back.
    pub(super) echoes: bool,
}

impl Sites {
    /// With routers at this address and the following ones.
    pub(super) fn new(address: IpAddr, echo: Option<SocketAddr>) -> Self {
        let settings = Settings {
            address: Some(address),
            grace: GRACE,
        };
        let routers = Embedded::new(settings);
        Self { routers, echo }
    }

    /// The controller; it waits for its rights by itself.
    pub(super) async fn control(
        self,
        (server, grants): (Server, GrantDoor),
        observer: Arc<dyn Trace>,
        shutdown: Shutdown,
    ) {
        let (namespace, name) = CONTROLLER;
        let options = controller::Options {
            namespace: namespace.to_owned(),
            watched: BTreeSet::new(),
            name: name.to_owned(),
            platform: Platform::Kubernetes,
            // The sandbox leads to its routers as a load balancer does.
            access: AccessDefaults::default(),
            router_options: RouterOptions::embedded(IMAGE),
            kinds: controller::KINDS,
            maintain_crds: true,
            leadership: None,
            max_object_size: lifecycle_runtime::operator::MAX_OBJECT_SIZE,
            grants: None,
            health: Health::default(),
        };
        let client = account(&server, namespace, name);
        let routers = self.routers;
        let observer = Some(observer);
        let until = shutdown.clone();
        let run = controller::run_observed(client, options, routers, observer, until);
        let run = async {
            if let Err(error) = run.await {
                let said = cause::in_one_line(&error);
                complain(&format!("the controller of sites ended: {said}"));
            }
        };
        tokio::join!(run, grants.serve(&server, shutdown));
    }

    /// Runs the routers, each with the rights of its Pod, and the server that echoes.
    pub(super) fn start(
        &self,
        server: &Server,
        echo: Option<TcpListener>,
        shutdown: &Shutdown,
    ) -> Vec<JoinHandle<()>> {
        let (routers, admin) = (self.routers.clone(), server.client(&User::admin()));
        let balanced = balancer::run(admin.clone(), routers.clone(), shutdown.clone());
        let balanced = tokio::spawn(balanced);
        let (of_pods, until) = (server.clone(), shutdown.clone());
        let routers = tokio::spawn(async move {
            let reader = move |pod: &Pod| {
                let spec = pod.spec.as_ref();
                let name = spec.and_then(|spec| spec.service_account_name.clone());
                let namespace = pod.namespace().unwrap_or_default();
                account(&of_pods, &namespace, &name.unwrap_or_default())
            };
            routers.run(admin, reader, until).await;
        });
        let echo = echo.map(|socket| tokio::spawn(echo::serve(socket, shutdown.clone())));
        [routers, balanced].into_iter().chain(echo).collect()
    }

    /// Returns true if a Connector leads to the echo server.
    pub(super) fn leads_to_echo(&self, host: Option<&str>, port: i64) -> bool {
        leads_to(self.echo, host, port)
    }

    /// Returns the address of a Listener. Returns `None` if the address is not decided, or if its
    /// router does not run.
    pub(super) async fn door(&self, client: &Client, of: (&str, &str)) -> Option<ListenerEndpoint> {
        let (namespace, name) = of;
        let all = ListParams::default();
        let listeners: Api<Listener> = Api::namespaced(client.clone(), namespace);
        let listener = listeners.get_opt(name).await.ok()??;
        // Theirs may lack a spec, which their type does not expect.
        let sites = ApiResource::erase::<Site>(&());
        let sites: Api<DynamicObject> = Api::namespaced_with(client.clone(), namespace, &sites);
        let sites = sites
            .list(&all)
            .await
            .ok()?
            .items
            .into_iter()
            .map(|site| Site {
                metadata: site.metadata,
                ..Site::default()
            });
        let sites: Vec<Site> = sites.collect();
        let maps: Api<ConfigMap> = Api::namespaced(client.clone(), namespace);
        let config = maps.get_opt(ROUTER).await.ok()??;
        let site = active_site::find(&sites.iter().collect::<Vec<_>>(), Some(&config))?;
        let config = RouterConfig::from_config_map(&config);
        let port = config.allocation(&listener.uid()?)?.router_port;
        let address = self.routers.address(&site.uid()?)?;
        // Those of other sites, too: the network leads to them.
        let connectors: Api<Connector> = Api::all(client.clone());
        let connectors = connectors.list(&all).await.ok()?.items;
        let key = &listener.spec.routing_key;
        let of_key = || connectors.iter().filter(|c| c.spec.routing_key == *key);
        let leads = |c: &Connector| {
            let plain = named(c.spec.tls_credentials.as_ref()).is_none();
            plain && self.leads_to_echo(c.spec.host.as_deref(), c.spec.port)
        };
        Some(ListenerEndpoint {
            at: SocketAddr::new(address, port),
            // Who speaks TLS does not understand random bytes.
            echoes: named(listener.spec.tls_credentials.as_ref()).is_none()
                && of_key().next().is_some()
                && of_key().all(leads),
        })
    }
}

/// Returns true if connections to this address are refused.
pub(super) async fn is_refused(at: SocketAddr) -> bool {
    let connected = TcpStream::connect(at).await;
    connected.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionRefused)
}

/// Returns true if a Connector leads to the echo server at this address.
pub(super) fn leads_to(echo: Option<SocketAddr>, host: Option<&str>, port: i64) -> bool {
    let Some(echo) = echo else {
        return false;
    };
    let is_there = |host: &str| match host.parse::<IpAddr>() {
        Ok(address) => address == echo.ip(),
        Err(_) => host == "localhost" && echo.ip() == IpAddr::from([127, 0, 0, 1]),
    };
    i64::from(echo.port()) == port && host.is_some_and(is_there)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_connector_to_its_address_and_port_leads_to_the_echo() {
        let echo = Some(SocketAddr::from(([127, 0, 0, 1], 7007)));
        let leads = |host, port| leads_to(echo, host, port);
        assert!(leads(Some("127.0.0.1"), 7007) && leads(Some("localhost"), 7007));
        assert!(!leads(Some("127.0.0.2"), 7007) && !leads(Some("127.0.0.1"), 7008));
        assert!(!leads(None, 7007) && !leads(Some("other"), 7007));
        assert!(!leads_to(None, Some("127.0.0.1"), 7007));
    }
}
