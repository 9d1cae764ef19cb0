//! What the statuses of several kinds have in common.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use lifecycle_runtime::crds::conditions;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What every kind reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// `Ready`, `Pending` or `Error`: the reason of the condition `Ready`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,

    /// What is missing or wrong; `OK` if nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,

    /// Each has one of the reasons `Ready`, `Pending` and `Error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "conditions")]
    pub conditions: Option<Vec<Condition>>,
}

/// A Pod that a Connector leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectedPod {
    /// Name of the Pod.
    pub name: String,
    /// Its address.
    pub ip: String,
}
