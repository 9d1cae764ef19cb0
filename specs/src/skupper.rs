//! The kinds of `skupper.io/v2alpha1` that one site is made of: Site, Listener, Connector, and the pair that attaches workloads of another namespace.
//! Fields and their validation are those of the published definitions; what we add is optional and says so.

pub mod attached;
pub mod attached_binding;
pub mod connector;
pub mod listener;
pub mod router;
pub mod site;

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::listener::conditions;

/// The group of all kinds.
pub const GROUP: &str = "skupper.io";

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
