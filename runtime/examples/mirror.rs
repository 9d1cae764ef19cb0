//! The lifecycle of the README: keeps a copy of a ConfigMap under its own name.

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::{Desired, Operator, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Reference to the ConfigMap that is copied.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "examples.test",
    version = "v1",
    kind = "Mirror",
    namespaced,
    status = "MirrorStatus"
)]
pub(crate) struct MirrorSpec {
    pub(crate) source: String,
}

/// Observed state of a Mirror.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct MirrorStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<Condition>,
}

lifecycle! {
    /// Keeps a copy of a ConfigMap under its own name.
    resource Mirror;

    observe {                                        // each line is a watch and an index back to the Mirror
        source: ConfigMap       by name spec.source;
        copy:   owned ConfigMap by name meta.name;
    }
    states {                                         // read like a match: the first that fits
        NoSource  when !source                    => Error wakes source, self;
        Taken     when copy == Foreign            => Error wakes copy, self;
        Draining  when copy == Terminating        => Pending;
        Copying   when copy in { Absent, Stale }  => Pending;
        goal Done when copy == Current            => Ready;
    }
    effects     { apply copy from source; }          // one effect is one write
    transitions { Draining -> Copying; Copying -> Done; }
    status {
        condition Copied {
            True when source && copy == Current;
            False "NoSource"  when !source;
            False "NameTaken" when copy == Foreign;
            Unknown "Copying" otherwise;
        }
        ready from Copied;
    }
}

/// Logic that supplies the one thing that the declaration cannot: the written content.
pub(crate) struct Copies;

impl MirrorLogic for Copies {
    fn apply_copy(&self, at: ApplyCopy<'_>) -> Desired<ConfigMap> {
        Desired::from_object(&ConfigMap {
            data: at.source.data.clone(),
            ..ConfigMap::default()
        })
    }
}

/// All of the operator.
pub(crate) fn operator() -> Operator {
    Operator::new("examples.test").run(machine(Copies))
}

/// A Mirror and the object that it copies.
pub(crate) const OBJECTS: &str = "
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: default}
data: {colour: green}
---
apiVersion: examples.test/v1
kind: Mirror
metadata: {name: copy, namespace: default}
spec: {source: settings}
";
