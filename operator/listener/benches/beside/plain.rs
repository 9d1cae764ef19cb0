//! The controller of Listeners on kube-rs alone, as a kube-rs expert would write it, for comparison
//! with ours. It implements the contract for Service and status. Unlike ours, it leaves out
//! overrides, permissions, conditions and events.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use futures::stream::select_all;
use futures::{Stream, StreamExt};
use k8s_openapi::api::core::v1::{Node, PersistentVolume, Service, ServicePort, ServiceSpec};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{ObjectMeta, OwnerReference};
use kube::api::{ListParams, Patch, PatchParams};
use kube::runtime::controller::{
    Action, Config, Controller, applier, trigger_owners, trigger_self, trigger_with,
};
use kube::runtime::reflector::{ObjectRef, Store, store};
use kube::runtime::{WatchStreamExt, predicates, watcher};
use kube::{Api, Client, Resource, ResourceExt};
use lifecycle_specs_listener::listener::{
    AddressType, LISTENER_NAME, LISTENER_NAMESPACE, Listener, ListenerIngress, ListenerPort,
    ListenerStatus, SERVICE_NAME, TOPOLOGY,
};
use lifecycle_specs_listener::listener_class::{
    ListenerClass, PreferredAddressType as Preferred, ServiceType,
};
use serde_json::json;

const MANAGER: &str = "plain";
/// Number of concurrent writes, which equals ours.
const AT_ONCE: u16 = 16;
/// Interval after which a resync finds missed changes.
const RESYNC: Duration = Duration::from_secs(300);
const RETRY: Duration = Duration::from_secs(5);

/// Why a Listener is tried again.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("the Listener has no namespace or no uid")]
    Incomplete,
    #[error("the Listener names no class")]
    NoClassName,
    #[error("there is no ListenerClass `{0}`")]
    NoClass(String),
    #[error("a cache has lost its watch")]
    Cache,
    #[error("cannot read what the Listener depends on")]
    Read(#[source] kube::Error),
    #[error("cannot apply the Service")]
    ApplyService(#[source] kube::Error),
    #[error("cannot apply the status")]
    ApplyStatus(#[source] kube::Error),
}

/// Source from which a reconcile reads its dependencies.
enum Reads {
    /// Reads from the API server each time, as most operators do.
    Api,
    Caches {
        classes: Store<ListenerClass>,
        slices: Store<EndpointSlice>,
        volumes: Store<PersistentVolume>,
        nodes: Store<Node>,
    },
}

struct Context {
    client: Client,
    cluster_domain: String,
    reads: Reads,
}

/// Runs on a `Controller`. The dependencies of a reconcile are watched, and read from the API
/// server.
pub(crate) async fn run(client: Client, cluster_domain: String) {
    let every = watcher::Config::default();
    let controller = Controller::new(Api::<Listener>::all(client.clone()), every.clone());
    let listeners = controller.store();
    let context = Context {
        client: client.clone(),
        cluster_domain,
        reads: Reads::Api,
    };
    controller
        .owns(Api::<Service>::all(client.clone()), every.clone())
        .watches(
            Api::<ListenerClass>::all(client.clone()),
            every.clone(),
            of_class(listeners.clone()),
        )
        .watches(
            Api::<EndpointSlice>::all(client.clone()),
            every.clone(),
            |slice: EndpointSlice| of_slice(&slice),
        )
        .watches(
            Api::<PersistentVolume>::all(client.clone()),
            every.clone().labels(LISTENER_NAME),
            |volume: PersistentVolume| of_volume(&volume),
        )
        .watches(Api::<Node>::all(client), every, on_nodes(listeners))
        .with_config(Config::default().concurrency(AT_ONCE))
        .run(reconcile, error_policy, Arc::new(context))
        .for_each(|_| futures::future::ready(()))
        .await;
}

/// Like `run`, with all features of kube-rs that save requests. Watched objects are cached and read
/// from the cache, and a change of the status alone triggers no reconcile. `Controller` takes such
/// streams only behind unstable features, so its parts are assembled by hand.
pub(crate) async fn run_cached(client: Client, cluster_domain: String) {
    let every = watcher::Config::default;
    let own: Api<Listener> = Api::all(client.clone());
    let (listeners, writer) = store();
    let own = watcher(own, every()).default_backoff().reflect(writer);
    let own = own
        .touched_objects()
        .predicate_filter(predicates::generation, Default::default());
    let services: Api<Service> = Api::all(client.clone());
    let services = watcher(services, every())
        .default_backoff()
        .touched_objects();
    let (classes, by_class) = cached_watch::<ListenerClass>(&client, every());
    let (slices, by_slice) = cached_watch::<EndpointSlice>(&client, every());
    let (volumes, by_volume) =
        cached_watch::<PersistentVolume>(&client, every().labels(LISTENER_NAME));
    let (nodes, by_node) = cached_watch::<Node>(&client, every());
    let queue = select_all([
        trigger_self(own, ()).boxed(),
        trigger_owners(services, (), ()).boxed(),
        trigger_with(by_class, of_class(listeners.clone())).boxed(),
        trigger_with(by_slice, |slice| of_slice(&slice)).boxed(),
        trigger_with(by_volume, |volume| of_volume(&volume)).boxed(),
        trigger_with(by_node, on_nodes(listeners.clone())).boxed(),
    ]);
    let reads = Reads::Caches {
        classes,
        slices,
        volumes,
        nodes,
    };
    let context = Context {
        client,
        cluster_domain,
        reads,
    };
    let reconcile = |listener, context| Box::pin(reconcile(listener, context));
    let config = Config::default().concurrency(AT_ONCE);
    let context = Arc::new(context);
    applier(reconcile, error_policy, context, listeners, queue, config)
        .for_each(|_| futures::future::ready(()))
        .await;
}

/// Returns a cache, and the stream that fills it.
fn cached_watch<K>(
    client: &Client,
    config: watcher::Config,
) -> (Store<K>, impl Stream<Item = watcher::Result<K>> + use<K>)
where
    K: Resource<DynamicType = ()> + Clone + std::fmt::Debug + Send + Sync + 'static,
    K: serde::de::DeserializeOwned,
{
    let (reader, writer) = store();
    let watched = watcher(Api::all(client.clone()), config).default_backoff();
    (reader, watched.reflect(writer).touched_objects())
}

fn of_class(listeners: Store<Listener>) -> impl Fn(ListenerClass) -> Vec<ObjectRef<Listener>> {
    move |class| {
        let name = class.metadata.name;
        let of_it = listeners.state_filter(|listener| listener.spec.class_name == name);
        of_it.iter().map(|l| ObjectRef::from_obj(&**l)).collect()
    }
}

fn of_slice(slice: &EndpointSlice) -> Option<ObjectRef<Listener>> {
    let name = slice.labels().get(SERVICE_NAME)?;
    Some(ObjectRef::new(name).within(slice.metadata.namespace.as_deref()?))
}

fn of_volume(volume: &PersistentVolume) -> Option<ObjectRef<Listener>> {
    let name = volume.labels().get(LISTENER_NAME)?;
    Some(ObjectRef::new(name).within(volume.labels().get(LISTENER_NAMESPACE)?))
}

fn on_nodes(listeners: Store<Listener>) -> impl Fn(Node) -> Vec<ObjectRef<Listener>> {
    move |_| {
        let on_nodes = |l: &Listener| l.status.as_ref().is_some_and(|s| s.node_ports.is_some());
        let on_nodes = listeners.state_filter(on_nodes);
        on_nodes.iter().map(|l| ObjectRef::from_obj(&**l)).collect()
    }
}

async fn reconcile(listener: Arc<Listener>, context: Arc<Context>) -> Result<Action, Error> {
    let namespace = listener.namespace().ok_or(Error::Incomplete)?;
    let name = listener.spec.class_name.clone().ok_or(Error::NoClassName)?;
    let class = context.class(&name).await?.ok_or(Error::NoClass(name))?;
    let params = PatchParams::apply(MANAGER).force();
    let services: Api<Service> = Api::namespaced(context.client.clone(), &namespace);
    let (name, wanted) = (listener.name_any(), service(&listener, &class)?);
    let wanted = Patch::Apply(&wanted);
    let applied = services.patch(&name, &params, &wanted).await;
    let service = applied.map_err(Error::ApplyService)?;
    let nodes = match class.spec.service_type {
        ServiceType::NodePort => context.nodes(&listener, &namespace).await?,
        ServiceType::ClusterIP | ServiceType::LoadBalancer => Vec::new(),
    };
    let domain = &context.cluster_domain;
    let status = status(&class, &service, &nodes, domain);
    if listener.status.as_ref() != Some(&status) {
        let listeners: Api<Listener> = Api::namespaced(context.client.clone(), &namespace);
        let status = Patch::Apply(json!({
            "apiVersion": Listener::api_version(&()), "kind": Listener::kind(&()), "status": status,
        }));
        let applied = listeners.patch_status(&name, &params, &status).await;
        applied.map_err(Error::ApplyStatus)?;
    }
    Ok(Action::requeue(RESYNC))
}

fn error_policy(_: Arc<Listener>, error: &Error, _: Arc<Context>) -> Action {
    tracing::warn!("{error}");
    Action::requeue(RETRY)
}

impl Context {
    async fn class(&self, name: &str) -> Result<Option<Arc<ListenerClass>>, Error> {
        match &self.reads {
            Reads::Api => {
                let api: Api<ListenerClass> = Api::all(self.client.clone());
                let class = api.get_opt(name).await.map_err(Error::Read)?;
                Ok(class.map(Arc::new))
            }
            Reads::Caches { classes, .. } => {
                ready(classes).await?;
                Ok(classes.get(&ObjectRef::new(name)))
            }
        }
    }

    /// The nodes that are reserved for the Listener or run its Pods.
    async fn nodes(&self, listener: &Listener, namespace: &str) -> Result<Vec<Arc<Node>>, Error> {
        let name = listener.name_any();
        let slices = self.slices(&name, namespace).await?;
        let volumes = self.volumes(&name, namespace).await?;
        let endpoints = slices.iter().flat_map(|slice| &slice.endpoints);
        let running = endpoints.filter(|endpoint| {
            let conditions = endpoint.conditions.as_ref();
            conditions.and_then(|c| c.ready) != Some(false)
        });
        let running = running.filter_map(|endpoint| endpoint.node_name.clone());
        let reserved = volumes.iter().flat_map(|volume| reserved(volume));
        let names: BTreeSet<String> = running.chain(reserved).collect();
        let mut nodes = Vec::new();
        for name in names {
            nodes.extend(self.node(&name).await?);
        }
        Ok(nodes)
    }

    async fn slices(
        &self,
        service: &str,
        namespace: &str,
    ) -> Result<Vec<Arc<EndpointSlice>>, Error> {
        match &self.reads {
            Reads::Api => {
                let api: Api<EndpointSlice> = Api::namespaced(self.client.clone(), namespace);
                let of = ListParams::default().labels(&format!("{SERVICE_NAME}={service}"));
                let listed = api.list(&of).await.map_err(Error::Read)?;
                Ok(listed.items.into_iter().map(Arc::new).collect())
            }
            Reads::Caches { slices, .. } => {
                ready(slices).await?;
                Ok(slices.state_filter(|slice| {
                    slice.labels().get(SERVICE_NAME).map(String::as_str) == Some(service)
                        && slice.metadata.namespace.as_deref() == Some(namespace)
                }))
            }
        }
    }

    async fn volumes(
        &self,
        name: &str,
        namespace: &str,
    ) -> Result<Vec<Arc<PersistentVolume>>, Error> {
        match &self.reads {
            Reads::Api => {
                let api: Api<PersistentVolume> = Api::all(self.client.clone());
                let labels = format!("{LISTENER_NAME}={name},{LISTENER_NAMESPACE}={namespace}");
                let of = ListParams::default().labels(&labels);
                let listed = api.list(&of).await.map_err(Error::Read)?;
                Ok(listed.items.into_iter().map(Arc::new).collect())
            }
            Reads::Caches { volumes, .. } => {
                ready(volumes).await?;
                Ok(volumes.state_filter(|volume| {
                    let label = |key| volume.labels().get(key).map(String::as_str);
                    label(LISTENER_NAME) == Some(name)
                        && label(LISTENER_NAMESPACE) == Some(namespace)
                }))
            }
        }
    }

    async fn node(&self, name: &str) -> Result<Option<Arc<Node>>, Error> {
        match &self.reads {
            Reads::Api => {
                let api: Api<Node> = Api::all(self.client.clone());
                let node = api.get_opt(name).await.map_err(Error::Read)?;
                Ok(node.map(Arc::new))
            }
            Reads::Caches { nodes, .. } => {
                ready(nodes).await?;
                Ok(nodes.get(&ObjectRef::new(name)))
            }
        }
    }
}

async fn ready<K: Resource<DynamicType = ()> + Clone + 'static>(
    cache: &Store<K>,
) -> Result<(), Error> {
    cache.wait_until_ready().await.map_err(|_| Error::Cache)
}

fn reserved(volume: &PersistentVolume) -> Vec<String> {
    let affinity = volume.spec.as_ref().and_then(|s| s.node_affinity.as_ref());
    let terms = affinity.and_then(|a| a.required.as_ref());
    let terms = terms.into_iter().flat_map(|r| &r.node_selector_terms);
    let rules = terms.flat_map(|term| term.match_expressions.iter().flatten());
    let by_name = rules.filter(|rule| rule.key == TOPOLOGY && rule.operator == "In");
    by_name
        .flat_map(|rule| rule.values.clone().unwrap_or_default())
        .collect()
}

/// Returns the desired Service.
pub(crate) fn service(listener: &Listener, class: &ListenerClass) -> Result<Service, Error> {
    let name = listener.name_any();
    let owner = listener.controller_owner_ref(&());
    let owner = OwnerReference {
        block_owner_deletion: Some(true),
        ..owner.ok_or(Error::Incomplete)?
    };
    let uid = listener.uid().ok_or(Error::Incomplete)?;
    let mut labels = listener.labels().clone();
    labels.extend([
        ("app.kubernetes.io/instance".to_owned(), name.clone()),
        ("app.kubernetes.io/name".to_owned(), "listener".to_owned()),
        (
            "app.kubernetes.io/managed-by".to_owned(),
            "listeners.stackable.tech_listener".to_owned(),
        ),
    ]);
    let annotations = class.spec.service_annotations.clone();
    let mount = format!("listener.stackable.tech/mnt.{}", uid.replace('-', ""));
    let mut selector = listener.spec.extra_pod_selector_labels.clone();
    selector.insert(mount, name.clone());
    let balances = class.spec.service_type == ServiceType::LoadBalancer;
    let policy = class.spec.service_external_traffic_policy;
    let policy = policy.filter(|_| class.spec.service_type != ServiceType::ClusterIP);
    let ports = listener.spec.ports.iter().flatten();
    Ok(Service {
        metadata: ObjectMeta {
            name: Some(name),
            namespace: listener.namespace(),
            owner_references: Some(vec![owner]),
            labels: Some(labels),
            annotations: (!annotations.is_empty()).then_some(annotations),
            ..ObjectMeta::default()
        },
        spec: Some(ServiceSpec {
            type_: Some(class.spec.service_type.as_str().to_owned()),
            selector: Some(selector),
            ports: Some(ports.map(port).collect()),
            publish_not_ready_addresses: Some(listener.spec.publishes_not_ready_addresses()),
            external_traffic_policy: policy.map(|policy| policy.as_str().to_owned()),
            load_balancer_class: class.spec.load_balancer_class.clone().filter(|_| balances),
            allocate_load_balancer_node_ports: balances
                .then_some(class.spec.load_balancer_allocate_node_ports),
            ..ServiceSpec::default()
        }),
        status: None,
    })
}

fn port(declared: &ListenerPort) -> ServicePort {
    let protocol = declared.protocol.clone();
    ServicePort {
        name: Some(declared.name.clone()),
        port: declared.port,
        protocol: Some(protocol.unwrap_or_else(|| "TCP".to_owned())),
        ..ServicePort::default()
    }
}

/// Returns the status for a Service that is as it should be.
pub(crate) fn status(
    class: &ListenerClass,
    service: &Service,
    nodes: &[Arc<Node>],
    cluster_domain: &str,
) -> ListenerStatus {
    let spec = service.spec.as_ref();
    let of_ports = |number: fn(&ServicePort) -> Option<i32>| -> BTreeMap<String, i32> {
        let ports = spec.and_then(|spec| spec.ports.as_ref());
        let named = |port: &ServicePort| Some((port.name.clone()?, number(port)?));
        ports.into_iter().flatten().filter_map(named).collect()
    };
    let on_nodes = class.spec.service_type == ServiceType::NodePort;
    let node_ports = on_nodes.then(|| of_ports(|port| port.node_port));
    let ports = node_ports.clone();
    let ports = ports.unwrap_or_else(|| of_ports(|port| Some(port.port)));
    let ingress = addresses(class, service, nodes, cluster_domain).into_iter();
    let ingress = ingress.map(|(address, address_type)| ListenerIngress {
        address,
        address_type,
        ports: ports.clone(),
    });
    ListenerStatus {
        service_name: Some(service.name_any()),
        ingress_addresses: Some(ingress.collect()),
        node_ports,
        ..ListenerStatus::default()
    }
}

type Address = (String, AddressType);

fn addresses(
    class: &ListenerClass,
    service: &Service,
    nodes: &[Arc<Node>],
    cluster_domain: &str,
) -> Vec<Address> {
    let prefers_ip = match (class.spec.preferred_address_type, class.spec.service_type) {
        (Preferred::IP, _) | (Preferred::HostnameConservative, ServiceType::NodePort) => true,
        (
            Preferred::Hostname | Preferred::HostnameConservative,
            ServiceType::ClusterIP | ServiceType::LoadBalancer | ServiceType::NodePort,
        ) => false,
    };
    let choose = |ip: Option<&String>, hostname: Option<&String>| {
        let ip = ip.map(|ip| (ip.clone(), AddressType::IP));
        let hostname = hostname.map(|name| (name.clone(), AddressType::Hostname));
        match prefers_ip {
            true => ip.or(hostname),
            false => hostname.or(ip),
        }
    };
    match class.spec.service_type {
        ServiceType::ClusterIP if prefers_ip => {
            let spec = service.spec.as_ref();
            let ips = spec.and_then(|spec| spec.cluster_ips.as_ref());
            let ips = ips.into_iter().flatten();
            ips.filter_map(|ip| choose(Some(ip), None)).collect()
        }
        ServiceType::ClusterIP => {
            let (name, namespace) = (service.name_any(), service.namespace());
            let namespace = namespace.unwrap_or_default();
            let inside = format!("{name}.{namespace}.svc.{cluster_domain}");
            choose(None, Some(&inside)).into_iter().collect()
        }
        ServiceType::LoadBalancer => {
            let status = service.status.as_ref();
            let balancer = status.and_then(|status| status.load_balancer.as_ref());
            let entries = balancer.and_then(|balancer| balancer.ingress.as_ref());
            let entries = entries.into_iter().flatten();
            entries
                .filter_map(|entry| choose(entry.ip.as_ref(), entry.hostname.as_ref()))
                .collect()
        }
        ServiceType::NodePort => {
            let of_node = |node: &Arc<Node>| {
                let status = node.status.as_ref();
                let all = status.and_then(|status| status.addresses.as_ref());
                let first = |kind: &str| {
                    let mut all = all.into_iter().flatten();
                    all.find(|one| one.type_ == kind).map(|one| &one.address)
                };
                let ip = first("ExternalIP").or_else(|| first("InternalIP"));
                choose(ip, first("Hostname"))
            };
            nodes.iter().filter_map(of_node).collect()
        }
    }
}
