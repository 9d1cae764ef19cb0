//! Status fields that several kinds share.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use lifecycle_runtime::crds::conditions;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Status fields that every kind reports.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    /// `Ready`, `Pending` or `Error`: the reason of the condition `Ready`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,

    /// Description of anything that is missing or wrong; `OK` if nothing is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,

    /// Each has one of the reasons `Ready`, `Pending` and `Error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "bounded")]
    pub conditions: Option<Vec<Condition>>,
}

/// Conditions with the bounds of the published definitions, which are those of `Condition` itself.
fn bounded(generator: &mut SchemaGenerator) -> Schema {
    let bounds = json!({
        "message": { "maxLength": 32768 },
        "observedGeneration": { "minimum": 0 },
        "reason": { "maxLength": 1024, "minLength": 1, "pattern": "^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$" },
        "status": { "enum": ["True", "False", "Unknown"] },
        "type": {
            "maxLength": 316,
            "pattern": r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$",
        },
    });
    let mut schema = conditions(generator);
    for (field, bounds) in bounds.as_object().into_iter().flatten() {
        let property = schema.pointer_mut(&format!("/items/properties/{field}"));
        let property = property.and_then(Value::as_object_mut);
        let property = property.expect("conditions have the fields that are bounded");
        property.extend(bounds.as_object().cloned().unwrap_or_default());
    }
    schema
}

/// Returns the schema of a time, in the form of the published definitions.
pub(crate) fn time(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "format": "date-time" })
}

/// A Pod that a Connector leads to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SelectedPod {
    /// Name of the Pod.
    pub name: String,
    /// Its address.
    pub ip: String,
}
