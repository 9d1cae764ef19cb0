//! Schema of the status fields that nearly every kind reports, written here to avoid a dependency
//! on the schemas of all built-in types.

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::{
    CustomResourceDefinition, JSON,
};
use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::json;

use crate::machine::kstatus::OBSERVED_GENERATION;

/// Returns the schema of conditions, with each type present once, regardless of its writer. For
/// `#[schemars(schema_with = "conditions")]`.
pub fn conditions(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "type": "array",
        "nullable": true,
        "items": condition(),
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["type"],
    })
}

/// Adds a default status that marks an object as not observed yet. Otherwise a waiting tool would
/// consider it done. For kinds whose lifecycle declares `kstatus;`.
#[must_use]
pub fn unobserved(mut definition: CustomResourceDefinition) -> CustomResourceDefinition {
    for version in &mut definition.spec.versions {
        let schema = version.schema.as_mut();
        let schema = schema.and_then(|schema| schema.open_api_v3_schema.as_mut());
        let fields = schema.and_then(|schema| schema.properties.as_mut());
        let status = fields.and_then(|fields| fields.get_mut("status"));
        if let Some(status) = status {
            status.default = Some(JSON(json!({ OBSERVED_GENERATION: -1 })));
        }
    }
    definition
}

/// `Condition` of `meta/v1`, in the words of the API's own definition.
fn condition() -> Schema {
    json_schema!({
        "description": "Condition contains details for one aspect of the current state of this API Resource.",
        "type": "object",
        "properties": {
            "lastTransitionTime": {
                "description": "lastTransitionTime is the last time the condition transitioned from one status to another. This should be when the underlying condition changed.  If that is not known, then using the time when the API field changed is acceptable.",
                "type": "string",
                "format": "date-time",
            },
            "message": {
                "description": "message is a human readable message indicating details about the transition. This may be an empty string.",
                "type": "string",
            },
            "observedGeneration": {
                "description": "observedGeneration represents the .metadata.generation that the condition was set based upon. For instance, if .metadata.generation is currently 12, but the .status.conditions[x].observedGeneration is 9, the condition is out of date with respect to the current state of the instance.",
                "type": "integer",
                "format": "int64",
            },
            "reason": {
                "description": "reason contains a programmatic identifier indicating the reason for the condition's last transition. Producers of specific condition types may define expected values and meanings for this field, and whether the values are considered a guaranteed API. The value should be a CamelCase string. This field may not be empty.",
                "type": "string",
            },
            "status": {
                "description": "status of the condition, one of True, False, Unknown.",
                "type": "string",
            },
            "type": {
                "description": "type of condition in CamelCase or in foo.example.com/CamelCase.",
                "type": "string",
            },
        },
        "required": ["lastTransitionTime", "message", "reason", "status", "type"],
    })
}
