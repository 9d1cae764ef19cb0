//! A kind in two versions of its API. Neither version can express everything that the other one
//! does.

#![allow(missing_docs, reason = "its names say what they are")]

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::core::crd::merge_crds;
use kube::{CustomResource, CustomResourceExt};
use lifecycle_runtime::conversion::Conversion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// As it was first.
pub mod v1alpha1 {
    use super::*;

    #[derive(
        CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema,
    )]
    #[kube(
        group = "gates.tests",
        version = "v1alpha1",
        kind = "Gate",
        namespaced,
        status = "GateStatus"
    )]
    #[serde(rename_all = "camelCase")]
    pub struct GateSpec {
        /// In whole centimetres.
        pub width: u32,
        pub colour: Option<String>,
        #[serde(default)]
        pub guards: Vec<String>,
    }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
    pub struct GateStatus {
        pub is_open: bool,
    }
}

/// As it is now.
pub mod v1 {
    use super::*;

    #[derive(
        CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema,
    )]
    #[kube(
        group = "gates.tests",
        version = "v1",
        kind = "Gate",
        namespaced,
        status = "GateStatus"
    )]
    #[serde(rename_all = "camelCase")]
    pub struct GateSpec {
        pub millimetres: u64,
        pub paint: Option<Paint>,
        #[serde(default)]
        pub guards: Vec<String>,
    }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
    pub struct Paint {
        pub colour: String,
        #[serde(default)]
        pub coats: u8,
    }

    #[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
    pub enum Leaf {
        #[default]
        Closed,
        Open,
        Ajar,
    }

    #[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
    pub struct GateStatus {
        #[serde(default)]
        pub leaf: Leaf,
    }
}

/// Converts an older gate. It has no millimetres and no coats of paint.
///
/// # Errors
/// Never returns an error: an older gate can always be converted.
pub fn up(gate: v1alpha1::Gate) -> Result<v1::Gate, String> {
    let colour = gate.spec.colour;
    let spec = v1::GateSpec {
        millimetres: u64::from(gate.spec.width) * 10,
        paint: colour.map(|colour| v1::Paint { colour, coats: 0 }),
        guards: gate.spec.guards,
    };
    let mut converted = v1::Gate::new("", spec);
    converted.status = gate.status.map(|status| v1::GateStatus {
        leaf: if status.is_open {
            v1::Leaf::Open
        } else {
            v1::Leaf::Closed
        },
    });
    Ok(converted)
}

/// Loses both.
///
/// # Errors
/// Returns an error for a gate with a guard called `nobody`, which the older version does not have.
pub fn down(gate: v1::Gate) -> Result<v1alpha1::Gate, String> {
    if gate.spec.guards.iter().any(|guard| guard == "nobody") {
        return Err("an older gate is guarded by somebody".to_owned());
    }
    let spec = v1alpha1::GateSpec {
        width: u32::try_from(gate.spec.millimetres / 10).unwrap_or(u32::MAX),
        colour: gate.spec.paint.map(|paint| paint.colour),
        guards: gate.spec.guards,
    };
    let mut converted = v1alpha1::Gate::new("", spec);
    converted.status = gate.status.map(|status| v1alpha1::GateStatus {
        is_open: status.leaf != v1::Leaf::Closed,
    });
    Ok(converted)
}

/// The way between them.
pub fn gates() -> Conversion {
    Conversion::through::<v1::Gate>().version(up, down).build()
}

/// Returns the definition with both versions. The newer one is stored.
pub fn definition() -> CustomResourceDefinition {
    let all = vec![v1alpha1::Gate::crd(), v1::Gate::crd()];
    merge_crds(all, "v1").expect("they are one kind")
}
