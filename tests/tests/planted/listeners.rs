//! Mistakes in the runtime below Listeners, and in what a load balancer is said to promise.

use lifecycle_operator::listener::Exposure;
use lifecycle_runtime::testing::suite::{Oracle, Suite};
use lifecycle_specs::listener;
use lifecycle_tests::suites;
use serde_json::json;

use crate::found_by;
use crate::layer::changing;

fn plain() -> Suite {
    suites::listener().depth(3).faults(150, 0)
}

fn exposure() -> Exposure {
    Exposure {
        cluster_domain: "cluster.local".to_owned(),
    }
}

#[test]
fn a_service_that_is_seized_is_found() {
    found_by(
        Oracle::HandsOff,
        plain().through(changing(|asked| {
            if asked.creates()
                && let Some(meta) = asked.body["metadata"].as_object_mut()
            {
                meta.remove("resourceVersion");
            }
        })),
    );
}

#[test]
fn a_load_balancer_that_brings_something_else_is_found() {
    let without = suites::listener_without_promises(|| listener::machine(exposure()));
    found_by(
        Oracle::DeclaredPromise,
        without
            .depth(3)
            .faults(0, 0)
            .promise("balanced", |site| async move {
                let service = site.beside("/api/v1", "services", site.name());
                site.edit(&service, |service| {
                    service["spec"]["type"] = json!("NodePort");
                })
                .await
            }),
    );
}
