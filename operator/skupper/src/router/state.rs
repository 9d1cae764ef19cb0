//! How the routers of a Site are asked for their state.

use std::future::Future;

use k8s_openapi::api::core::v1::Pod;
use lifecycle_router::state::{State, Status};
use lifecycle_runtime::Because;
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_specs_skupper::router::{EndpointCounts, EntryState, RouterEntry, RouterState};

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
    let entry = |entry: &lifecycle_router::state::EntryReport| {
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
    }
}
