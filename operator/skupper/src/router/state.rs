//! Queries of the state of a Site's routers.

use std::collections::{BTreeMap, BTreeSet};
use std::future::Future;

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use lifecycle_router::state::{EntryReport, SiteReport, State, Status};
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_runtime::{Because, ObjectRef};
use lifecycle_specs_skupper::router::{
    EndpointCounts, EntryState, NETWORK_STATUS, ROUTER, RemoteSite, RouterEntry, RouterLink,
    RouterService, RouterSite, RouterState,
};

/// Access to the state of running routers.
pub trait Routers: Send + Sync + 'static {
    /// Returns the state of the router in one of these Pods of one Site. The router is configured
    /// by these `documents`, and reports in them.
    fn fetch_state(
        &self,
        pods: Vec<&Pod>,
        documents: Vec<&ConfigMap>,
    ) -> impl Future<Output = Result<RouterState, CallError>> + Send;
}

/// Returns the ConfigMap that configures the router of a namespace, and the one in which the
/// existing router reports the network.
pub fn documents(meta: &ObjectMeta) -> BTreeSet<ObjectRef> {
    let named = |name| ObjectRef::new::<ConfigMap>(meta.namespace.as_deref(), name);
    [ROUTER, NETWORK_STATUS].map(named).into()
}

/// Returns true if one of the router's Pods can be queried.
pub fn running(routers: &[&Pod]) -> Because<bool> {
    let address = |pod: &&Pod| pod.status.as_ref()?.pod_ip.clone();
    match routers.iter().find_map(address) {
        Some(_) => Because::plain(true),
        None => Because::new(false, "no Pod of the router has an address yet"),
    }
}

/// Returns the summary of a router state that the lifecycles use.
pub fn reported(state: &State) -> RouterState {
    let entry = |entry: &EntryReport| {
        let state = match &entry.status {
            Status::Idle => EntryState::Idle,
            Status::Up => EntryState::Up,
            Status::Failed(why) => EntryState::Failed(why.clone()),
        };
        let hash = entry.hash.clone();
        let remote = entry.remote_site_id.clone().map(|id| RemoteSite {
            id,
            name: entry.remote_site_name.clone(),
        });
        (
            format!("{}/{}", entry.entity, entry.name),
            RouterEntry {
                hash,
                state,
                remote,
            },
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
        error: state
            .error
            .as_ref()
            .map(|error| format!("the router cannot read its configuration: {error}")),
        entries: state.entries.iter().map(entry).collect(),
        keys: state.keys.iter().map(counts).collect(),
        services: services(state),
        sites: state.sites.iter().map(site).collect(),
        sockets_unknown: None,
    }
}

/// Converts the report of a site. Empty fields of the report become absent.
fn site(site: &SiteReport) -> RouterSite {
    let said = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
    let links = site.links.iter().map(|link| RouterLink {
        name: link.name.clone(),
        remote_site_id: said(&link.remote_site_id),
        remote_site_name: said(&link.remote_site_name),
        operational: link.operational,
    });
    let services = site.services.iter().map(|service| {
        let names = |names: &[String]| names.iter().cloned().collect();
        let of_key = RouterService {
            connectors: names(&service.connectors),
            listeners: names(&service.listeners),
        };
        (service.routing_key.clone(), of_key)
    });
    RouterSite {
        id: site.id.clone(),
        name: said(&site.name),
        namespace: said(&site.namespace),
        platform: said(&site.platform),
        version: said(&site.version),
        links: links.collect(),
        services: services.collect(),
    }
}

/// Returns the services in the form of the existing implementation: connectors by their target
/// host, listeners by their names.
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
            None => {
                let listener = entry.listener.as_ref().unwrap_or(&entry.name);
                service.listeners.insert(listener.clone())
            }
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

    #[test]
    fn sites_are_told_with_what_they_say() {
        let state = json!({
            "instance": "i", "revision": "r", "router": null, "configuration": null, "error": null, "faults": [], "keys": {},
            "entries": [], "sites": [{
                "id": "east", "name": "east",
                "links": [{ "name": "to-west", "remoteSiteId": "west", "remoteSiteName": "", "cost": 1, "operational": true }],
                "services": [{ "routingKey": "k", "connectors": ["10.0.0.1"] }],
            }],
        });
        let state: State = serde_json::from_value(state).expect("it is a state");
        let service = RouterService {
            connectors: ["10.0.0.1".to_owned()].into(),
            ..RouterService::default()
        };
        let link = RouterLink {
            name: "to-west".to_owned(),
            remote_site_id: Some("west".to_owned()),
            remote_site_name: None,
            operational: true,
        };
        let east = RouterSite {
            id: "east".to_owned(),
            name: Some("east".to_owned()),
            links: vec![link],
            services: [("k".to_owned(), service)].into(),
            ..RouterSite::default()
        };
        assert_eq!(reported(&state).sites, [east]);
    }
}
