//! Parts that the controller of Skupper sites runs, and the preparation before it runs them.

use std::collections::BTreeSet;
use std::net::SocketAddr;
use std::sync::Arc;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::Client;
use lifecycle_runtime::controller::Trace;
use lifecycle_runtime::crds::Kinds;
use lifecycle_runtime::health::Health;
use lifecycle_runtime::lease::Leadership;
use lifecycle_runtime::operator::{Error, Naming};
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_specs_skupper::certificate;
use lifecycle_specs_skupper::router::RouterState;
use lifecycle_specs_skupper::site::Controller;
use lifecycle_specs_skupper::{
    access_grant, access_token, attached, attached_binding, connector, link, listener,
    multi_key_listener, router_access, secured_access, site,
};
use tokio::task::JoinSet;

use crate::access_grant::Grants;
use crate::access_token::answers::Answers;
use crate::access_token::{Https as Grantors, Tokens};
use crate::attached::{Attached, Bindings};
use crate::certificate::Certificates;
use crate::connector::Connectors;
use crate::grants::server::{self, Durable, GrantServer};
use crate::link::Links;
use crate::listener::Listeners;
use crate::multi_key_listener::MultiKeyListeners;
use crate::namespace::controller_id::ControllerId;
use crate::platform::Platform;
use crate::router::https::Https;
use crate::router::numbering;
use crate::router::plane::RouterOptions;
use crate::router::state::Routers;
use crate::router_access::RouterAccesses;
use crate::secured_access::{AccessDefaults, SecuredAccesses};
use crate::site::Sites;
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::{Machine, Operator, crds};

// Every lifecycle that keeps a promise of one of these is among them. No circular waiting among
// them is possible.
lifecycle_runtime::together!(
    site::Site,
    listener::Listener,
    multi_key_listener::MultiKeyListener,
    connector::Connector,
    attached::AttachedConnector,
    attached_binding::AttachedConnectorBinding,
    certificate::Certificate,
    link::Link,
    access_grant::AccessGrant,
    access_token::AccessToken,
    secured_access::SecuredAccess,
    router_access::RouterAccess,
);

/// Name of the operator, of its API group, and prefix of its labels and annotations.
pub const NAME: &str = "skupper.io";
/// The kinds of a site.
pub const KINDS: Kinds = Kinds {
    group_version: "skupper.io/v2alpha1",
    manager: "skupper.io",
    printed_by: "skupper-operator crd",
    definitions: lifecycle_specs_skupper::crds,
};
/// Setting of a recording: the namespace of the controller.
pub const NAMESPACE: &str = "operatorNamespace";
/// Setting of a recording: the name of the controller.
pub const CONTROLLER: &str = "controllerName";

/// Options of the controller of Skupper sites.
#[derive(Clone, Debug)]
pub struct Options {
    /// The namespace where it runs.
    pub namespace: String,
    /// Namespaces whose sites it manages; all if empty.
    pub watched: BTreeSet<String>,
    /// Its name there.
    pub name: String,
    /// Platform of the sites.
    pub platform: Platform,
    /// Default access of sites that do not set one.
    pub access: AccessDefaults,
    /// The choice of routers.
    pub router_options: RouterOptions,
    /// The kinds, and how this program prints them.
    pub kinds: Kinds,
    /// True if the controller installs and updates CustomResourceDefinitions.
    pub maintain_crds: bool,
    /// The Lease that decides which replica writes; without it this one always does.
    pub leadership: Option<Leadership>,
    /// The bytes of the largest object that is read of its kinds.
    pub max_object_size: usize,
    /// Options of its grant server; `None` if it runs none.
    pub grants: Option<GrantOptions>,
    /// Health to which its parts report their readiness.
    pub health: Health,
}

/// Options of a grant server.
#[derive(Clone, Debug)]
pub struct GrantOptions {
    /// Address to listen at.
    pub listen: SocketAddr,
    /// Waits until writes outlive this process, if they are not durable at once.
    pub durable: Option<Durable>,
}

/// Runs the lifecycles of Skupper sites until shutdown.
///
/// # Errors
/// Only for a lifecycle that cannot be reconciled; an API server that does not answer is waited for.
pub async fn run(client: Client, options: Options, shutdown: Shutdown) -> Result<(), Error> {
    let routers = Https::new(client.clone());
    run_observed(client, options, routers, None, shutdown).await
}

/// As `run`, with other ways to ask routers, and with an observer.
///
/// # Errors
/// As `run`.
pub async fn run_observed<R: Routers>(
    client: Client,
    options: Options,
    routers: R,
    observer: Option<Arc<dyn Trace>>,
    mut shutdown: Shutdown,
) -> Result<(), Error> {
    tokio::select! {
        biased;
        () = shutdown.wait() => return Ok(()),
        () = definitions(&client, &options) => {}
    }
    let controller_id = ControllerId::new(&options.namespace, &options.name);
    // The grant server ends with this function, because redeeming a grant depends on it.
    let mut beside = JoinSet::new();
    if let Some(grants) = options.grants {
        let watched = options.watched.clone();
        let server = GrantServer::for_namespaces(client.clone(), controller_id.clone(), watched);
        let server = server.durable(grants.durable);
        beside.spawn(server::run(server, grants.listen, shutdown.clone()));
    }
    if options.platform == Platform::Kubernetes {
        let (id, watched) = (controller_id.clone(), options.watched.clone());
        beside.spawn(numbering::run(
            client.clone(),
            id,
            watched,
            shutdown.clone(),
        ));
    }
    let sites = Sites {
        controller_id,
        controller: Controller {
            name: Some(options.name),
            namespace: Some(options.namespace),
            version: Some(env!("CARGO_PKG_VERSION").to_owned()),
        },
        platform: options.platform,
        router_options: options.router_options,
        routers: Arc::new(routers),
    };
    let machines = machines(sites, options.access);
    let mut operator = Operator::new(NAME)
        .health(options.health)
        .max_object_size(options.max_object_size)
        .namespaces(options.watched);
    for machine in machines {
        let naming = Naming::new(NAME, machine.ir().name);
        operator = operator.run_shared(machine, naming);
    }
    if let Some(leadership) = options.leadership {
        operator = operator.leadership(leadership);
    }
    if let Some(observer) = observer {
        operator = operator.trace(observer);
    }
    operator.start(client, shutdown).await
}

/// Waits until the kinds are served.
async fn definitions(client: &Client, options: &Options) {
    let part = "definitions";
    options
        .health
        .waits(part, "the kinds of skupper.io are not served yet");
    crds::prepare(client, &options.kinds, options.maintain_crds).await;
    options.health.works(part);
}

/// The lifecycles of a site.
fn machines<R: Routers>(sites: Sites<R>, defaults: AccessDefaults) -> Vec<Arc<dyn Machine>> {
    let (controller_id, platform) = (sites.controller_id.clone(), sites.platform);
    let routers = Arc::clone(&sites.routers);
    let asked = || (controller_id.clone(), Arc::clone(&routers));
    let ((of_listeners, asks), (of_several, asks_of_keys)) = (asked(), asked());
    let (of_connectors, connected) = asked();
    vec![
        Arc::new(site::machine(sites)),
        Arc::new(listener::machine(Listeners::new(
            of_listeners,
            asks,
            platform,
        ))),
        Arc::new(multi_key_listener::machine(MultiKeyListeners::new(
            of_several,
            asks_of_keys,
            platform,
        ))),
        Arc::new(connector::machine(Connectors::new(
            of_connectors,
            connected,
        ))),
        Arc::new(attached::machine(Attached {
            controller_id: controller_id.clone(),
        })),
        Arc::new(certificate::machine(Certificates {
            controller_id: controller_id.clone(),
        })),
        Arc::new(secured_access::machine(SecuredAccesses {
            controller_id: controller_id.clone(),
            defaults,
        })),
        Arc::new(router_access::machine(RouterAccesses {
            controller_id: controller_id.clone(),
            routers: Arc::clone(&routers),
        })),
        Arc::new(attached_binding::machine(Bindings::new(
            controller_id.clone(),
            Arc::clone(&routers),
        ))),
        Arc::new(link::machine(Links::new(controller_id.clone(), routers))),
        Arc::new(access_grant::machine(Grants {
            controller_id: controller_id.clone(),
            platform,
        })),
        Arc::new(access_token::machine(Tokens {
            controller_id,
            redeems: Grantors,
            answers: Answers::default(),
        })),
    ]
}

/// Returns the lifecycles that a controller of this namespace and name runs, for read-only use:
/// without its image and without access to routers.
pub fn lifecycles(namespace: &str, name: &str) -> Vec<(Arc<dyn Machine>, Naming)> {
    let sites = Sites {
        controller_id: ControllerId::new(namespace, name),
        controller: Controller::default(),
        platform: Platform::Kubernetes,
        router_options: RouterOptions::default(),
        routers: Arc::new(UnreachableRouters),
    };
    let all = machines(sites, AccessDefaults::default());
    let named = all.into_iter().map(|machine| {
        let naming = Naming::new(NAME, machine.ir().name);
        (machine, naming)
    });
    named.collect()
}

/// Routers that are never queried.
struct UnreachableRouters;

impl Routers for UnreachableRouters {
    async fn fetch_state(
        &self,
        _: Vec<&Pod>,
        _: Vec<&ConfigMap>,
    ) -> Result<RouterState, CallError> {
        Err(CallError::Failed(
            "routers are not queried from here".to_owned(),
        ))
    }
}
