//! Mistakes in the runtime below Listeners, and in what a load balancer is said to promise.

use lifecycle_listener::listener::Exposure;
use lifecycle_specs_listener::listener;
use lifecycle_suite::resources::{Invariant, Suite};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use serde_json::json;

use crate::suites;
use lifecycle_tests::suites::found_by;
use lifecycle_tests::suites::layer::changing;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): a_service_that_is_seized_is_found, a_load_balancer_that_brings_something_else_is_found]
}

fn plain() -> Suite {
    suites::listener().depth(3).faults(150, 0)
}

fn exposure() -> Exposure {
    Exposure {
        cluster_domain: "cluster.local".to_owned(),
    }
}

fn a_service_that_is_seized_is_found() {
    found_by(
        Invariant::HandsOff,
        plain().through(changing(|asked| {
            if asked.creates()
                && let Some(meta) = asked.body["metadata"].as_object_mut()
            {
                meta.remove("resourceVersion");
            }
        })),
    );
}

fn a_load_balancer_that_brings_something_else_is_found() {
    let without = suites::listener_without_promises(|| listener::machine(exposure()));
    found_by(
        Invariant::DeclaredPromise,
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
