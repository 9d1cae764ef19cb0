//! Tests that the programs that `benches/beside.rs` compares ours with do the same work. On the
//! simulated server all of them produce equal Services and addresses.

#[path = "../../benches/beside/floor.rs"]
mod floor;
#[path = "../../benches/beside/plain.rs"]
mod plain;
#[path = "../../benches/beside/subject.rs"]
mod subject;

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Duration;

use k8s_openapi::api::core::v1::{Node, Service};
use k8s_openapi::api::discovery::v1::EndpointSlice;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Patch, PatchParams, PostParams};
use kube::core::NamespaceResourceScope;
use kube::{Api, Client, Resource, ResourceExt};
use lifecycle_simulator::{Server, User};
use lifecycle_specs_listener::crds;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_tests::harness::{Case, run_within};
use lifecycle_tests::named;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use subject::Subject;

pub(crate) fn cases() -> Vec<Case> {
    named![paused(): all_who_are_compared_come_to_the_same_services_and_addresses]
}

/// Name of a Listener to its status and its Service, as far as the contract speaks of them.
type Outcomes = BTreeMap<String, [Value; 2]>;

async fn all_who_are_compared_come_to_the_same_services_and_addresses() {
    let ours = run_subject(Subject::Ours).await;
    for subject in Subject::ALL {
        let made = run_subject(subject).await;
        // It knows no node and no load balancer.
        let least = if subject == Subject::Floor {
            1
        } else {
            ours.len()
        };
        assert_eq!(made.len(), least, "{}", subject.name());
        for (name, one) in made {
            assert_eq!(Some(&one), ours.get(&name), "{}: {name}", subject.name());
        }
    }
}

async fn run_subject(subject: Subject) -> Outcomes {
    let server = Server::new(1);
    let cluster = Cluster(server.client(&User::admin()));
    for definition in crds() {
        cluster
            .make::<CustomResourceDefinition>(Api::all, json!(definition))
            .await;
    }
    let class = |name: &str, spec: Value| json!({ "metadata": { "name": name }, "spec": spec });
    let policy = json!({ "serviceType": "NodePort", "serviceExternalTrafficPolicy": "Local" });
    for class in [
        class("inside", json!({ "serviceType": "ClusterIP" })),
        class("nodes", policy),
        class("balanced", json!({ "serviceType": "LoadBalancer" })),
    ] {
        cluster.make::<ListenerClass>(Api::all, class).await;
    }
    let address = json!({ "type": "InternalIP", "address": "192.0.2.7" });
    let node = json!({ "metadata": { "name": "first" }, "status": { "addresses": [address] } });
    cluster.make::<Node>(Api::all, node).await;
    tokio::select! {
        ended = subject.run(server.client(&User::admin())) => panic!("{}: {ended:?}", subject.name()),
        () = live(&cluster, subject) => {}
    }
    cluster.collect_outcomes().await
}

/// Creates Listeners, provides everything that they wait for, and changes the class of one of them.
async fn live(cluster: &Cluster, subject: Subject) {
    cluster.expose("inside").await;
    cluster.has_address("inside", "svc.cluster.local").await;
    if subject != Subject::Floor {
        cluster.expose("nodes").await;
        let slice = json!({
            "metadata": { "name": "nodes-1", "labels": { "kubernetes.io/service-name": "nodes" } },
            "addressType": "IPv4", "ports": [],
            "endpoints": [{ "addresses": ["10.0.0.1"], "nodeName": "first" }],
        });
        cluster.make::<EndpointSlice>(namespaced, slice).await;
        cluster.has_address("nodes", "192.0.2.7").await;
        cluster.expose("balanced").await;
        let none = "balanced has no Service";
        cluster.seen::<Service>("balanced", |_| true, none).await;
        let ingress = json!([{ "ip": "192.0.2.9" }]);
        let status = json!({ "status": { "loadBalancer": { "ingress": ingress } } });
        let services: Api<Service> = namespaced(cluster.0.clone());
        let patch = Patch::Merge(status);
        let params = PatchParams::default();
        let balanced = services.patch_status("balanced", &params, &patch).await;
        balanced.expect("a load balancer answers");
        cluster.has_address("balanced", "192.0.2.9").await;
    }
    let spec = json!({ "serviceAnnotations": { "a": "b" }, "preferredAddressType": "IP" });
    let patch = Patch::Merge(json!({ "spec": spec }));
    let classes: Api<ListenerClass> = Api::all(cluster.0.clone());
    let params = PatchParams::default();
    let changed = classes.patch("inside", &params, &patch).await;
    changed.expect("a class can be changed");
    cluster.has_address("inside", "10.").await;
}

struct Cluster(Client);

fn namespaced<K>(client: Client) -> Api<K>
where
    K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
{
    Api::namespaced(client, "default")
}

impl Cluster {
    async fn make<K>(&self, api: fn(Client) -> Api<K>, object: Value)
    where
        K: Resource + Clone + Debug + DeserializeOwned + serde::Serialize,
    {
        let object = serde_json::from_value(object).expect("it is one of its kind");
        let (api, params) = (api(self.0.clone()), PostParams::default());
        let made = api.create(&params, &object).await;
        made.expect("it can be made");
    }

    /// A Listener of the class of its name.
    async fn expose(&self, class: &str) {
        let ports = json!([{ "name": "http", "port": 80 }, { "name": "dns", "port": 53, "protocol": "UDP" }]);
        let spec = json!({ "className": class, "ports": ports });
        let labels = json!({ "app.kubernetes.io/name": "web", "team": "a" });
        let listener = json!({ "metadata": { "name": class, "labels": labels }, "spec": spec });
        self.make::<Listener>(namespaced, listener).await;
    }

    async fn has_address(&self, name: &str, part: &str) {
        let has = |listener: &Listener| {
            let status = listener.status.as_ref();
            let addresses = status.and_then(|status| status.ingress_addresses.as_ref());
            let mut addresses = addresses.into_iter().flatten();
            addresses.any(|one| one.address.contains(part))
        };
        let said = format!("{name} has no address with `{part}`");
        self.seen(name, has, &said).await;
    }

    async fn seen<K>(&self, name: &str, is_so: impl Fn(&K) -> bool, otherwise: &str)
    where
        K: Resource<Scope = NamespaceResourceScope, DynamicType = ()>,
        K: Clone + Debug + DeserializeOwned,
    {
        let api: Api<K> = namespaced(self.0.clone());
        let wait = async {
            loop {
                let found = api.get_opt(name).await.expect("the server answers");
                if found.as_ref().is_some_and(&is_so) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        };
        let waited = run_within(Duration::from_secs(60), wait).await;
        let found = || async { format!("{:?}", api.get_opt(name).await) };
        if waited.is_none() {
            panic!("{otherwise}: {}", found().await);
        }
    }

    async fn collect_outcomes(&self) -> Outcomes {
        let (listeners, services) = (namespaced::<Listener>(self.0.clone()), self.0.clone());
        let services = namespaced::<Service>(services);
        let mut made = Outcomes::new();
        for listener in listeners.list(&Default::default()).await.expect("a list") {
            let name = listener.name_any();
            let service = services.get(&name).await.expect("it has a Service");
            let status = json!(listener.status);
            let fields = ["serviceName", "ingressAddresses", "nodePorts"];
            let status = fields.map(|field| (field, status[field].clone()));
            let service = json!([
                service.metadata.labels,
                service.metadata.annotations,
                service.metadata.owner_references,
                service.spec,
            ]);
            // Others have written less before, so that uids differ.
            let uid = listener.uid().unwrap_or_default();
            let text = service.to_string().replace(&uid, "UID");
            let text = text.replace(&uid.replace('-', ""), "UID");
            let service = serde_json::from_str(&text).expect("it was JSON");
            made.insert(name, [json!(BTreeMap::from(status)), service]);
        }
        made
    }
}
