//! Load balancers: a Service of that type has an address after a while, and loses it with its type.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cache::{Change, is_leaving, list, text};
use super::deed::Deed;
use super::duties::View;
use super::kinds::{Key, Kind};

pub(super) fn concerned(change: &Change) -> BTreeSet<Key> {
    let is_service = change.key.is("Service");
    is_service.then(|| change.key.clone()).into_iter().collect()
}

pub(super) fn deeds(view: &View<'_>, key: &Key) -> Vec<Deed> {
    let (Some(service), Some(delay)) = (view.cache.get(key), view.world.balancers) else {
        return Vec::new();
    };
    let ingress = list(service, "/status/loadBalancer/ingress");
    let is_ours = text(service, "/spec/type").as_deref() == Some("LoadBalancer")
        && text(service, "/spec/loadBalancerClass").is_none()
        && !is_leaving(service);
    match (is_ours, ingress.is_empty()) {
        (true, true) if view.waited < delay => vec![Deed::Later(delay - view.waited)],
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

fn status(key: &Key, ingress: Value) -> Deed {
    let patch = json!({ "status": { "loadBalancer": { "ingress": ingress } } });
    Deed::Patch(key.clone(), Some("status"), patch)
}

/// The first address that no Service has.
fn free(view: &View<'_>) -> String {
    let kind = Kind::of("Service");
    let taken: BTreeSet<String> = view
        .cache
        .all(&kind, None)
        .flat_map(|(_, s)| list(s, "/status/loadBalancer/ingress"))
        .filter_map(|i| text(i, "/ip"))
        .collect();
    let mut all = (0..=255).flat_map(|block| (1..255).map(move |n| format!("198.18.{block}.{n}")));
    all.find(|ip| !taken.contains(ip)).unwrap_or_default()
}
