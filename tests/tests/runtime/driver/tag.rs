//! A share and a part: a Tag adds a line to a hub that Tags make together, and a label to a ConfigMap of another user.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::ConfigMap;
use kube::CustomResource;
use lifecycle_runtime::{Desired, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "tests.lifecycle",
    version = "v1",
    kind = "Tag",
    namespaced,
    status = "TagStatus"
)]
pub(crate) struct TagSpec {
    pub(crate) hub: String,
    pub(crate) target: String,
    pub(crate) text: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct TagStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition>,
}

lifecycle! {
    /// A line in a hub and a label on a target.
    resource Tag;

    allow LC162 hub "what is left of an old name is no matter of these tests";

    observe {
        hub:    shared ConfigMap by name spec.hub;
        target: part ConfigMap   by name spec.target;
    }
    states {
        Draining   when hub == Terminating          => Pending;
        Sharing    when hub in { Absent, Stale }    => Pending;
        NoTarget   when target == Absent            => Error wakes target;
        Labelling  when target == Stale             => Pending;
        goal Ready when target == Current           => Ready;
    }
    effects {
        apply hub;
        apply target;
    }
    transitions {
        Draining -> Sharing;
        Sharing -> NoTarget | Labelling | Ready;
        Labelling -> Ready;
    }
    status {
        condition Shared {
            True when hub == Current;
            Unknown "Sharing" otherwise;
        }
        condition Labelled {
            True when target == Current;
            False "NoTarget" when target == Absent;
            Unknown "Labelling" otherwise;
        }
        ready from Shared, Labelled;
    }
}

pub(crate) struct Tagger;

impl TagLogic for Tagger {
    fn apply_hub(&self, at: ApplyHub<'_>) -> Desired<ConfigMap> {
        let line = BTreeMap::from([(at.this.meta.name.clone(), &at.this.spec.text)]);
        let line: BTreeMap<_, _> = line
            .into_iter()
            .filter_map(|(k, v)| Some((k?, v)))
            .collect();
        Desired::from_json(json!({ "data": line }))
    }

    fn apply_target(&self, at: ApplyTarget<'_>) -> Desired<ConfigMap> {
        let name = at.this.meta.name.as_deref().unwrap_or_default();
        let key = format!("tag/{name}");
        Desired::from_json(json!({ "metadata": { "labels": { key: at.this.spec.text } } }))
    }
}
