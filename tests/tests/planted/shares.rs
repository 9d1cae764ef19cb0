//! Mistakes around an object that several make together.

use kube::CustomResourceExt;
use lifecycle_runtime::testing::suite::{Oracle, Suite};
use serde_json::json;

use crate::tag::{self, Tag, Tagger};
use crate::wrapped::Wrapped;
use crate::{found_by, passes};

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
    Suite::of(machine)
        .define(&Tag::crd())
        .fixtures(FIXTURES)
        .depth(3)
        .faults(150, 20)
}

#[test]
fn without_a_mistake_tags_pass() {
    passes(suite(|| tag::machine(Tagger)));
}

#[test]
fn co_owners_that_want_different_things_are_found() {
    found_by(
        Oracle::CoOwners,
        suite(|| {
            Wrapped::new(tag::machine(Tagger)).build(|board, effect, mut object| {
                if tag::IR.effects[effect].name == "apply_hub" {
                    object["data"]["latest"] = json!(board.subject().meta.name);
                }
                object
            })
        }),
    );
}
