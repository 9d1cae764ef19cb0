//! Mistakes around an object that several make together.

use kube::CustomResourceExt;
use lifecycle_suite::resources::{Invariant, Suite};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use serde_json::json;

use super::tag::{self, Tag, Tagger};
use super::{found_by, passes};
use lifecycle_tests::suites::wrapped::Wrapped;

pub(crate) fn cases() -> Vec<Case> {
    named![calculation(): without_a_mistake_tags_pass, co_owners_that_want_different_things_are_found]
}

const FIXTURES: &str = "
variant: first
apiVersion: tests.lifecycle/v1
kind: Tag
metadata: { name: a }
spec: { hub: h, target: t, text: one }
---
variant: first-changed
apiVersion: tests.lifecycle/v1
kind: Tag
metadata: { name: a }
spec: { hub: h, target: t, text: three }
---
variant: second
apiVersion: tests.lifecycle/v1
kind: Tag
metadata: { name: b }
spec: { hub: h, target: t, text: two }
---
variant: target
apiVersion: v1
kind: ConfigMap
metadata: { name: t }
data: { of: somebody }
";

fn suite<M: lifecycle_runtime::Machine>(machine: impl Fn() -> M + Send + Sync + 'static) -> Suite {
    Suite::for_machine(machine)
        .define(&Tag::crd())
        .fixtures(FIXTURES)
        .depth(3)
        .faults(150, 20)
}

fn without_a_mistake_tags_pass() {
    passes(suite(|| tag::machine(Tagger)));
}

fn co_owners_that_want_different_things_are_found() {
    found_by(
        Invariant::CoOwners,
        suite(|| {
            Wrapped::new(tag::machine(Tagger)).build(|observation, effect, mut object| {
                if tag::IR.effects[effect].name == "apply_hub" {
                    object["data"]["latest"] = json!(observation.subject().meta.name);
                }
                object
            })
        }),
    );
}
