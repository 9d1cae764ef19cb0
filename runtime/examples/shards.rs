//! A set: as many objects as a list names, found by a label. An object is deleted when the list no
//! longer names it.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::{Desired, Operator, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of an Index: the list of its shards.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "examples.test",
    version = "v1",
    kind = "Index",
    plural = "indexes",
    namespaced,
    status = "IndexStatus"
)]
pub(crate) struct IndexSpec {
    #[serde(default)]
    pub(crate) shards: Vec<String>,
}

/// Observed state of an Index.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct IndexStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<Condition>,
}

/// On each shard: the name of its Index.
const INDEX: &str = "examples.test/index";

lifecycle! {
    /// A ConfigMap for each shard of a list.
    resource Index;

    observe {
        shards: owned [ConfigMap] by labels { INDEX = meta.name };
    }
    states {
        Taken     when shards == Foreign               => Error wakes shards, self;
        Writing   when shards == Behind                => Pending;
        Pruning   when shards in { Surplus, Draining } => Pending;
        goal Done when shards == Current               => Ready;
    }
    effects {
        apply each shards;
        delete each shards;
    }
    status {
        condition Written {
            True              when shards == Current;
            False "NameTaken" when shards == Foreign;
            Unknown "Writing" otherwise;
        }
        ready from Written;
    }
}

/// Logic that builds the contents of each shard.
pub(crate) struct Shards;

impl IndexLogic for Shards {
    fn apply_shards(&self, at: ApplyShards<'_>) -> Vec<Desired<ConfigMap>> {
        let of = at.this.meta.name.clone().unwrap_or_default();
        let names: BTreeSet<&String> = at.this.spec.shards.iter().collect();
        let shard = |name: &String| {
            let labels = BTreeMap::from([(INDEX.to_owned(), of.clone())]);
            Desired::from_object(&ConfigMap {
                metadata: ObjectMeta {
                    name: Some(format!("{of}-{name}")),
                    labels: Some(labels),
                    ..ObjectMeta::default()
                },
                data: Some([("shard".to_owned(), name.clone())].into()),
                ..ConfigMap::default()
            })
        };
        names.into_iter().map(shard).collect()
    }
}

/// All of the operator.
pub(crate) fn operator() -> Operator {
    Operator::new("examples.test").run(machine(Shards))
}

/// An Index of two shards.
pub(crate) const OBJECTS: &str = "
apiVersion: examples.test/v1
kind: Index
metadata: {name: books, namespace: default}
spec: {shards: [a, b]}
";
