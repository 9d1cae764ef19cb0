//! How the routers of a Site are asked for their state.

use std::future::Future;

use k8s_openapi::api::core::v1::Pod;
use lifecycle_router::state::{State, Status};
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_specs::skupper::router::{Does, RouterEntry, RouterState, Sides};

/// Where routers can be asked.
pub trait Routers: Send + Sync + 'static {
    /// The state of the router in one of these Pods, which are of one Site.
    fn ask(&self, pods: Vec<&Pod>) -> impl Future<Output = Result<RouterState, CallError>> + Send;
}

/// What a lifecycle needs to know of a state.
pub fn told(state: &State) -> RouterState {
    let entry = |entry: &lifecycle_router::state::Entry| {
        let does = match &entry.status {
            Status::Idle => Does::Idle,
            Status::Up => Does::Up,
            Status::Failed(why) => Does::Failed(why.clone()),
        };
        let hash = entry.hash.clone();
        (
            format!("{}/{}", entry.entity, entry.name),
            RouterEntry { hash, does },
        )
    };
    let sides = |(key, sides): (&String, &lifecycle_router::state::Sides)| {
        let sides = Sides {
            connectors: sides.connectors,
            listeners: sides.listeners,
        };
        (key.clone(), sides)
    };
    RouterState {
        error: state.error.clone(),
        entries: state.entries.iter().map(entry).collect(),
        keys: state.keys.iter().map(sides).collect(),
    }
}
