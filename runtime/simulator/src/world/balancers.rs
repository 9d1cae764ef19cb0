//! Load balancers: a Service of that type has an address after a while, and loses it with its type.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cache::Change;
use super::kinds::{Kind, ObjectKey};
use super::object::{is_leaving, list, text};
use super::operation::Operation;
use super::view::View;

pub(super) fn concerned(change: &Change) -> BTreeSet<ObjectKey> {
    let is_service = change.key.is("Service");
    is_service.then(|| change.key.clone()).into_iter().collect()
}

pub(super) fn operations(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let (Some(service), Some(delay)) = (view.cache.get(key), view.world.balancers) else {
        return Vec::new();
    };
    if is_elsewhere(view, service) {
        return Vec::new();
    }
    let ingress = list(service, "/status/loadBalancer/ingress");
    let is_ours = text(service, "/spec/type").as_deref() == Some("LoadBalancer")
        && text(service, "/spec/loadBalancerClass").is_none()
        && !is_leaving(service);
    match (is_ours, ingress.is_empty()) {
        (true, true) if view.waited < delay => vec![Operation::Later(delay - view.waited)],
        (true, true) => {
            let ingress = json!([{ "ip": free(view), "ipMode": "VIP" }]);
            vec![status(key, ingress)]
        }
        (false, false) if text(service, "/spec/loadBalancerClass").is_none() => {
            vec![status(key, Value::Null)]
        }
        (_, _) => Vec::new(),
    }
}

/// Returns true if another load balancer leads to the Pods that a Service selects.
fn is_elsewhere(view: &View<'_>, service: &Value) -> bool {
    let Some((key, value)) = &view.world.balanced_elsewhere else {
        return false;
    };
    let selector = service["spec"]["selector"].as_object();
    let selected = selector.and_then(|selector| selector.get(key));
    selected.is_some_and(|selected| selected == value)
}

fn status(key: &ObjectKey, ingress: Value) -> Operation {
    let patch = json!({ "status": { "loadBalancer": { "ingress": ingress } } });
    Operation::Patch(key.clone(), Some("status"), patch)
}

/// The first address that no Service has.
fn free(view: &View<'_>) -> String {
    let kind = Kind::from_name("Service");
    let taken: BTreeSet<String> = view
        .cache
        .all(&kind, None)
        .flat_map(|(_, s)| list(s, "/status/loadBalancer/ingress"))
        .filter_map(|i| text(i, "/ip"))
        .collect();
    let mut all = (0..=255).flat_map(|block| (1..255).map(move |n| format!("198.18.{block}.{n}")));
    all.find(|ip| !taken.contains(ip)).unwrap_or_default()
}
