//! Doors of one house: each builds the same whole Service, which belongs to the house.

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use kube::CustomResource;
use lifecycle_runtime::{Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "tests.lifecycle",
    version = "v1",
    kind = "Door",
    namespaced,
    status = "DoorStatus"
)]
pub(crate) struct DoorSpec {
    pub(crate) house: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct DoorStatus {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) message: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) locked: Option<bool>,
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition>,
}

lifecycle! {
    /// One of the doors that the Service of a house has.
    resource Door;

    allow LC162 bell "nobody edits the house of a door here";

    observe {
        house: ConfigMap              by name spec.house;
        bell:  owned Service of house by name spec.house exclusive spec.ports;
    }
    states {
        NoHouse    when !house              => Error wakes house, self;
        Taken      when bell == Foreign     => Error wakes bell, self;
        Draining   when bell == Terminating => Pending;
        Hanging    when bell != Current     => Pending;
        goal Ready when bell == Current     => Ready;
    }
    effects {
        apply bell;
    }
    transitions {
        Draining -> Hanging;
        Hanging -> Ready;
    }
    status {
        condition Configured {
            False "Error"             when !house || bell == Foreign;
            True  "Ready" "OK"        otherwise;
        }
        condition Hung {
            Omit                      when !house;
            True  "Ready" "OK"        when bell == Current;
            False "Pending" "No bell" when bell in { Foreign, Terminating, Stale };
            Absent                    otherwise;
        }
        ready "Ready" "OK" from Configured, Hung;
        implicit in Configured "Error";
        field status = reason;
        field message = message;
        field locked: Option<bool> from house;
    }
}

pub(crate) struct Carpenter;

impl DoorLogic for Carpenter {
    fn locked(&self, _: This<'_, Door>, house: &ConfigMap) -> Option<bool> {
        let labels = house.metadata.labels.as_ref();
        labels
            .is_some_and(|labels| labels.contains_key("locked"))
            .then_some(true)
    }

    fn apply_bell(&self, at: ApplyBell<'_>) -> Desired<Service> {
        let port = |(name, port): (&String, &String)| {
            let port: u16 = port.parse().unwrap_or_default();
            json!({ "name": name, "port": port, "protocol": "TCP", "targetPort": 1024 + port })
        };
        let ports: Vec<_> = at.house.data.iter().flatten().map(port).collect();
        Desired::from_json(json!({ "spec": { "ports": ports, "selector": { "app": "house" } } }))
    }
}
