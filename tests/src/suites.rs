//! The generated suites of lifecycles: fixtures and what keeps their promises. Decides nothing about what must hold.

pub mod real;
pub mod sketches;
pub mod skupper;

use lifecycle_operator::listener::Exposure;
use lifecycle_runtime::testing::suite::{Site, Suite};
use lifecycle_specs::{crds, listener};
use serde_json::json;

/// The suite of the Listener, as the operator carries it out.
pub fn listener() -> Suite {
    let exposure = || Exposure {
        cluster_domain: "cluster.local".to_owned(),
    };
    listener_of(move || listener::machine(exposure()))
}

/// The suite of the Listener, carried out in another way.
pub fn listener_of<M: lifecycle_runtime::Machine>(
    machine: impl Fn() -> M + Send + Sync + 'static,
) -> Suite {
    listener_without_promises(machine).promise("balanced", balanced)
}

/// The suite of the Listener, where nothing is known of load balancers.
pub fn listener_without_promises<M: lifecycle_runtime::Machine>(
    machine: impl Fn() -> M + Send + Sync + 'static,
) -> Suite {
    let suite = Suite::of(machine).fixtures(include_str!("suites/listener.yaml"));
    crds::listeners().iter().fold(suite, Suite::define)
}

/// What a load balancer does to a Service.
async fn balanced(site: Site) -> kube::Result<bool> {
    let service = site.beside("/api/v1", "services", site.name());
    site.edit(&service, |service| {
        service["status"] = json!({ "loadBalancer": { "ingress": [{ "ip": "192.0.2.1" }] } });
    })
    .await
}
