//! How the routers of a Site are asked for their state.

use std::collections::BTreeMap;
use std::future::Future;

use k8s_openapi::api::core::v1::Pod;
use lifecycle_router::state::{EntryReport, State, Status};
use lifecycle_runtime::Because;
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_specs_skupper::router::{
    EndpointCounts, EntryState, RouterEntry, RouterService, RouterState,
};

/// Where routers can be asked.
pub trait Routers: Send + Sync + 'static {
    /// The state of the router in one of these Pods, which are of one Site.
    fn ask(&self, pods: Vec<&Pod>) -> impl Future<Output = Result<RouterState, CallError>> + Send;
}

/// Whether one of the router's Pods can be asked.
pub fn running(routers: &[&Pod]) -> Because<bool> {
    let address = |pod: &&Pod| pod.status.as_ref()?.pod_ip.clone();
    match routers.iter().find_map(address) {
        Some(_) => Because::plain(true),
        None => Because::new(false, "no Pod of the router has an address yet"),
    }
}

/// What a lifecycle needs to know of a state.
pub fn reported(state: &State) -> RouterState {
    let entry = |entry: &EntryReport| {
        let state = match &entry.status {
            Status::Idle => EntryState::Idle,
            Status::Up => EntryState::Up,
            Status::Failed(why) => EntryState::Failed(why.clone()),
        };
        let hash = entry.hash.clone();
        (
            format!("{}/{}", entry.entity, entry.name),
            RouterEntry { hash, state },
        )
    };
    let counts = |(key, sides): (&String, &lifecycle_router::state::KeyCounts)| {
        let counts = EndpointCounts {
            connectors: sides.connectors,
            listeners: sides.listeners,
        };
        (key.clone(), counts)
    };
    RouterState {
        error: state.error.clone(),
        entries: state.entries.iter().map(entry).collect(),
        keys: state.keys.iter().map(counts).collect(),
        services: services(state),
    }
}

/// As the implementation that is replaced tells them: connectors by the host that they lead to, listeners by their names.
fn services(state: &State) -> BTreeMap<String, RouterService> {
    let mut services: BTreeMap<String, RouterService> = BTreeMap::new();
    let serving = |entry: &&EntryReport| !matches!(entry.status, Status::Failed(_));
    for entry in state.entries.iter().filter(serving) {
        let Some(key) = &entry.key else {
            continue;
        };
        let service = services.entry(key.clone()).or_default();
        match &entry.host {
            Some(host) => service.connectors.insert(host.clone()),
            None => service.listeners.insert(entry.name.clone()),
        };
    }
    services
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn who_serves_and_offers_a_key_is_told_but_for_what_has_failed() {
        let entry = |entity: &str, name: &str, host: Option<&str>, state: &str| {
            json!({
                "entity": entity, "name": name, "key": "k", "host": host, "hash": "", "state": state,
                "message": (state == "Failed").then_some("why"),
            })
        };
        let state = json!({
            "instance": "i", "revision": "r", "router": null, "configuration": null, "error": null, "faults": [], "keys": {},
            "entries": [
                entry("tcpConnector", "connector/a@10.0.0.1", Some("10.0.0.1"), "Up"),
                entry("tcpConnector", "connector/b@10.0.0.1", Some("10.0.0.1"), "Up"),
                entry("tcpConnector", "connector/c@nowhere", Some("nowhere"), "Failed"),
                entry("tcpListener", "listener/web", None, "Idle"),
                entry("tcpListener", "listener/secret", None, "Failed"),
                { "entity": "sslProfile", "name": "tls", "hash": "", "state": "Up" },
            ],
        });
        let state: State = serde_json::from_value(state).expect("it is a state");
        let told = reported(&state).services;
        let set = |name: &str| [name.to_owned()].into();
        let service = RouterService {
            connectors: set("10.0.0.1"),
            listeners: set("listener/web"),
        };
        assert_eq!(told, [("k".to_owned(), service)].into());
    }
}
