//! EndpointSlices: one for each Service with a selector, with the Pods that it selects.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cache::{Cache, Change, controlled_by};
use super::kinds::{Kind, ObjectKey};
use super::object::{fits, is_leaving, letters, list, text, uid};
use super::operation::Operation;
use super::pods;
use super::view::View;

const SERVICE: &str = "kubernetes.io/service-name";
const MANAGED_BY: &str = "endpointslice.kubernetes.io/managed-by";
const US: &str = "endpointslice-controller.k8s.io";

pub(super) fn concerned(cache: &Cache, change: &Change) -> BTreeSet<ObjectKey> {
    let key = &change.key;
    if key.is("Service") {
        return BTreeSet::from([key.clone()]);
    }
    if key.is("EndpointSlice") {
        let either = change.new.as_ref().or(change.old.as_ref());
        let service = either.and_then(|s| s["metadata"]["labels"][SERVICE].as_str());
        return service
            .map(|name| key.sibling("Service", name))
            .into_iter()
            .collect();
    }
    if !key.is("Pod") {
        return BTreeSet::new();
    }
    let kind = Kind::from_name("Service");
    let services = cache.all(&kind, key.namespace.as_deref());
    let selects = |service: &Value| {
        let mut pods = [&change.old, &change.new].into_iter().flatten();
        pods.any(|pod| fits(pod, service.pointer("/spec/selector")))
    };
    let found = services.filter(|(_, service)| selects(service));
    found.map(|(key, _)| key.clone()).collect()
}

pub(super) fn operations(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(service) = view.cache.get(key).filter(|s| !is_leaving(s)) else {
        return Vec::new();
    };
    let selector = service.pointer("/spec/selector");
    let selects = selector
        .and_then(Value::as_object)
        .is_some_and(|s| !s.is_empty());
    if !selects || text(service, "/spec/type").as_deref() == Some("ExternalName") {
        return Vec::new();
    }
    let name = format!("{}-{}", key.name, &letters(&uid(service))[..5]);
    let at = key.sibling("EndpointSlice", &name);
    let pod_kind = Kind::from_name("Pod");
    let pods: Vec<_> = view
        .cache
        .all(&pod_kind, key.namespace.as_deref())
        .filter(|(_, pod)| fits(pod, selector) && !pods::is_over(pod))
        .filter(|(_, pod)| text(pod, "/status/podIP").is_some())
        .collect();
    let endpoints: Vec<_> = pods
        .iter()
        .map(|(key, pod)| endpoint(service, key, pod))
        .collect();
    let mut wanted = at.kind.object(&at);
    wanted["metadata"]["labels"] = json!({ SERVICE: key.name, MANAGED_BY: US });
    wanted["metadata"]["ownerReferences"] = controlled_by(key, service);
    wanted["addressType"] = json!("IPv4");
    wanted["endpoints"] = json!(endpoints);
    wanted["ports"] = json!(ports(service, pods.first().map(|(_, pod)| *pod)));
    match view.cache.get(&at) {
        None => vec![Operation::Create(at, wanted)],
        Some(live) if same(live, &wanted) || is_leaving(live) => Vec::new(),
        Some(live) => {
            wanted["metadata"]["resourceVersion"] = live["metadata"]["resourceVersion"].clone();
            vec![Operation::Replace(at, wanted)]
        }
    }
}

fn same(live: &Value, wanted: &Value) -> bool {
    let labels = |o: &Value, key: &str| o["metadata"]["labels"][key].clone();
    list(live, "/endpoints") == list(wanted, "/endpoints")
        && list(live, "/ports") == list(wanted, "/ports")
        && labels(live, SERVICE) == labels(wanted, SERVICE)
}

fn endpoint(service: &Value, key: &ObjectKey, pod: &Value) -> Value {
    let always = service.pointer("/spec/publishNotReadyAddresses") == Some(&json!(true));
    let (ready, leaving) = (pods::is_ready(pod), is_leaving(pod));
    let mut endpoint = json!({
        "addresses": [text(pod, "/status/podIP")],
        "conditions": { "ready": always || (ready && !leaving), "serving": ready, "terminating": leaving },
        "targetRef": { "kind": "Pod", "name": key.name, "namespace": key.namespace, "uid": uid(pod) },
    });
    if let Some(node) = text(pod, "/spec/nodeName") {
        endpoint["nodeName"] = json!(node);
    }
    endpoint
}

/// The ports of the Service, as a Pod behind it names them.
fn ports(service: &Value, pod: Option<&Value>) -> Vec<Value> {
    let named = |name: &str| {
        let containers = pod.map_or(&[][..], |p| list(p, "/spec/containers"));
        let mut ports = containers.iter().flat_map(|c| list(c, "/ports"));
        ports
            .find(|p| p["name"] == name)
            .map(|p| p["containerPort"].clone())
    };
    let port = |port: &Value| {
        let target = &port["targetPort"];
        let target = match target.as_str() {
            Some(name) => named(name)?,
            None if target.is_null() => port["port"].clone(),
            None => target.clone(),
        };
        let name = port["name"].as_str().unwrap_or_default();
        let protocol = port["protocol"].as_str().unwrap_or("TCP");
        let mut made = json!({ "name": name, "port": target, "protocol": protocol });
        if let Some(app) = port.get("appProtocol") {
            made["appProtocol"] = app.clone();
        }
        Some(made)
    };
    list(service, "/spec/ports")
        .iter()
        .filter_map(port)
        .collect()
}
