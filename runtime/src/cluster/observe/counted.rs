//! Tests of a fact that counts: it is evaluated for each member of its set, and reports their
//! sentences.

use std::sync::Arc;

use k8s_openapi::api::core::v1::Secret;
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::cluster::fixture::Caches;
use crate::lifecycle::{Because, This};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "tests", version = "v1", kind = "Rack", namespaced)]
pub(crate) struct RackSpec {
    /// Names that begin so are lit.
    lit: String,
}

crate::lifecycle! {
    /// Lamps, some of them lit.
    resource Rack;

    observe {
        lamps: [Secret] by namespace;
    }
    facts {
        lit: count { NoLamp, Dark, Dim, Bright } of lamps;
    }
    states {
        goal Bright when lit == Bright => Ready;
        Dark        when lit != Bright => Error wakes lamps, self;
    }
    status {
        condition Lit {
            True when lit == Bright;
            False "Dark" otherwise;
        }
        ready from Lit;
    }
}

struct Eyes;

impl RackLogic for Eyes {
    fn lit(&self, this: This<'_, Rack>, member: &Secret) -> Because<bool> {
        let name = member.metadata.name.as_deref().unwrap_or_default();
        match name.starts_with(&this.spec.lit) {
            true => Because::plain(true),
            false => Because::new(false, format!("{name} is dark")),
        }
    }
}

/// Checks the count of lamps by their names, and its sentence.
#[track_caller]
fn check(lamps: &[&str], value: &str, sentence: &str) {
    let lamp = |name: &&str| {
        json!({
            "apiVersion": "v1", "kind": "Secret",
            "metadata": { "name": name, "namespace": "ns", "uid": format!("uid-of-{name}"), "resourceVersion": "5" },
        })
    };
    let rack = json!({
        "apiVersion": "tests/v1", "kind": "Rack", "spec": { "lit": "l" },
        "metadata": { "name": "r", "namespace": "ns", "uid": "u", "resourceVersion": "7", "generation": 1 },
    });
    let lamps: Vec<_> = lamps.iter().map(lamp).collect();
    let observed = Caches::for_machine(Arc::new(machine(Eyes)), &lamps).observe(rack);
    assert_eq!(observed.failure, None);
    let lit = IR.vars.iter().position(|var| var.name == "lit");
    let lit = lit.expect("it is declared");
    let observation = &observed.observation;
    assert_eq!(IR.value(&observation.world, lit), value);
    assert_eq!(
        observation.sentences[lit].as_deref().unwrap_or_default(),
        sentence
    );
}

#[test]
fn each_member_is_asked_and_quoted() {
    check(&[], "NoLamp", "");
    check(&["d1"], "Dark", "d1 is dark");
    check(&["d1", "l1", "d2"], "Dim", "d1 is dark\nd2 is dark");
    check(&["l1", "l2"], "Bright", "");
    let many = ["d1", "d2", "d3", "d4", "d5", "l1"];
    let said = "d1 is dark\nd2 is dark\nd3 is dark\nand 2 more";
    check(&many, "Dim", said);
}
