//! A set: a Fan makes as many ConfigMaps as it has blades.

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
    kind = "Fan",
    namespaced,
    status = "FanStatus"
)]
pub(crate) struct FanSpec {
    pub(crate) blades: Vec<String>,
    pub(crate) colour: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct FanStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition>,
}

const FAN: &str = "tests.lifecycle/fan";

lifecycle! {
    /// One ConfigMap for each blade.
    resource Fan;

    observe {
        blades: owned [ConfigMap] by labels { FAN = meta.name };
    }
    states {
        Making     when blades in { Behind, Surplus, Draining } => Pending;
        Conflict   when blades == Foreign                       => Error wakes blades, self;
        goal Ready when blades == Current                       => Ready;
    }
    effects {
        apply each blades;
        delete each blades;
    }
    transitions {
        Making -> Conflict | Ready;
    }
    status {
        condition Made {
            True when blades == Current;
            False "Taken" when blades == Foreign;
            Unknown "Making" otherwise;
        }
        ready from Made;
    }
}

pub(crate) struct Maker;

impl FanLogic for Maker {
    fn apply_blades(&self, at: ApplyBlades<'_>) -> Vec<Desired<ConfigMap>> {
        let (name, spec) = (
            at.this.meta.name.as_deref().unwrap_or_default(),
            at.this.spec,
        );
        let blade = |blade: &String| {
            Desired::from_json(json!({
                "metadata": { "name": format!("{name}-{blade}"), "labels": { FAN: name } },
                "data": { "colour": spec.colour },
            }))
        };
        spec.blades.iter().map(blade).collect()
    }
}
