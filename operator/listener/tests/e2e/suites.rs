//! The generated suites of the Listener: its fixtures, and the stand-ins that keep its promises.
//! Does not decide the expected results.

use lifecycle_listener::listener::Exposure;
use lifecycle_runtime::Machine;
use lifecycle_specs_listener::{crds, listener as specs};
use lifecycle_suite::resources::{Site, Suite};
use serde_json::json;

/// The suite of the Listener, as the operator reconciles it.
pub(crate) fn listener() -> Suite {
    let exposure = || Exposure {
        cluster_domain: "cluster.local".to_owned(),
    };
    listener_of(move || specs::machine(exposure()))
}

/// The suite of the Listener, reconciled in another way.
pub(crate) fn listener_of<M: Machine>(machine: impl Fn() -> M + Send + Sync + 'static) -> Suite {
    listener_without_promises(machine).promise("balanced", balanced)
}

/// The suite of the Listener, where nothing is known of load balancers.
pub(crate) fn listener_without_promises<M: Machine>(
    machine: impl Fn() -> M + Send + Sync + 'static,
) -> Suite {
    let suite = Suite::for_machine(machine).fixtures(include_str!("suites/listener.yaml"));
    crds().iter().fold(suite, Suite::define)
}

/// Sets the answer of a load balancer on a Service.
async fn balanced(site: Site) -> kube::Result<bool> {
    let service = site.sibling_path("/api/v1", "services", site.name());
    site.edit(&service, |service| {
        service["status"] = json!({ "loadBalancer": { "ingress": [{ "ip": "192.0.2.1" }] } });
    })
    .await
}
