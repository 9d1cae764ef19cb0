//! Mistakes around a set of owned objects.

use http::Method;
use kube::CustomResourceExt;
use lifecycle_suite::resources::{Invariant, Suite};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use serde_json::json;

use super::fan::{self, Fan, Maker};
use super::layer::changing;
use super::{found_by, passes};

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): without_a_mistake_a_fan_passes, a_deletion_by_label_is_found, what_nothing_grants_is_found, a_member_that_is_made_without_looking_is_found]
}

const FIXTURES: &str = "
variant: two
apiVersion: tests.lifecycle/v1
kind: Fan
metadata: { name: f }
spec: { blades: [a, b], colour: red }
---
variant: one
apiVersion: tests.lifecycle/v1
kind: Fan
metadata: { name: f }
spec: { blades: [a], colour: red }
---
variant: blue
apiVersion: tests.lifecycle/v1
kind: Fan
metadata: { name: f }
spec: { blades: [a, b], colour: blue }
";

pub(super) fn suite() -> Suite {
    Suite::for_machine(|| fan::machine(Maker))
        .define(&Fan::crd())
        .fixtures(FIXTURES)
        .depth(3)
        .faults(120, 20)
}

fn without_a_mistake_a_fan_passes() {
    passes(suite());
}

fn a_deletion_by_label_is_found() {
    found_by(
        Invariant::HandsOff,
        suite().through(changing(|asked| {
            let path = asked.uri.split('?').next().unwrap_or_default();
            if let Some((all, _)) = path.rsplit_once('/')
                && asked.method == Method::DELETE
            {
                asked.uri = format!("{all}?labelSelector=tests.lifecycle%2Ffan%3Df");
                asked.body = json!({ "kind": "DeleteOptions", "apiVersion": "v1" });
            }
        })),
    );
}

fn what_nothing_grants_is_found() {
    // The status is put, where to patch it is granted.
    found_by(
        Invariant::Granted,
        suite().through(changing(|asked| {
            if asked.method == Method::PATCH && asked.uri.contains("/status") {
                asked.method = Method::PUT;
            }
        })),
    );
}

fn a_member_that_is_made_without_looking_is_found() {
    found_by(
        Invariant::HandsOff,
        suite().through(changing(|asked| {
            if asked.creates()
                && let Some(meta) = asked.body["metadata"].as_object_mut()
            {
                meta.remove("resourceVersion");
            }
        })),
    );
}
