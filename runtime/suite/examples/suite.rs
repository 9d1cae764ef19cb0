//! Generated suite of a lifecycle, and its report on a mistake that no compiler detects: a builder
//! whose output differs on every call.

use std::sync::atomic::{AtomicU64, Ordering};

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResourceExt as _;
use lifecycle_runtime::Desired;
use lifecycle_suite::resources::{Report, Suite};

use crate::mirror::{self, ApplyCopy, Copies, Mirror, MirrorLogic};

/// Every answer that an input may give, by an object of each sort.
const FIXTURES: &str = "
variant: one
apiVersion: examples.test/v1
kind: Mirror
metadata: {name: copy}
spec: {source: settings}
---
variant: other
apiVersion: examples.test/v1
kind: Mirror
metadata: {name: copy}
spec: {source: elsewhere}
---
variant: green
given: true
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: green}
---
variant: blue
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: blue}
";

/// The suite of a Mirror.
pub(crate) fn report<L: MirrorLogic>(
    logic: impl Fn() -> L + Send + Sync + 'static,
) -> Result<Report, String> {
    Suite::for_machine(move || mirror::machine(logic()))
        .define(&Mirror::crd())
        .fixtures(FIXTURES)
        .depth(2)
        .faults(20, 5)
        .run()
}

/// Without a mistake.
pub(crate) fn as_it_is() -> Result<Report, String> {
    report(|| Copies)
}

/// With one: each call gives another number.
pub(crate) struct Restless(AtomicU64);

impl MirrorLogic for Restless {
    fn apply_copy(&self, _: ApplyCopy<'_>) -> Desired<ConfigMap> {
        let number = self.0.fetch_add(1, Ordering::Relaxed).to_string();
        Desired::from_object(&ConfigMap {
            data: Some([("number".to_owned(), number)].into()),
            ..ConfigMap::default()
        })
    }
}

/// Returns the report about the lifecycle with a seeded bug.
pub(crate) fn with_a_mistake() -> Result<Report, String> {
    report(|| Restless(AtomicU64::new(0)))
}
