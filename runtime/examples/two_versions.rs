//! One kind in two versions of its API, converted by two functions. Fields that the older version
//! cannot express are kept in an annotation and come back.

use kube::CustomResource;
use lifecycle_runtime::conversion::Conversion;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// As it was first: a size in words.
pub(crate) mod v1alpha1 {
    use super::*;

    /// A parcel.
    #[derive(
        CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema,
    )]
    #[kube(
        group = "examples.test",
        version = "v1alpha1",
        kind = "Parcel",
        namespaced
    )]
    pub(crate) struct ParcelSpec {
        pub(crate) size: String,
    }
}

/// As it is now: in millimetres.
pub(crate) mod v1 {
    use super::*;

    /// A parcel.
    #[derive(
        CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema,
    )]
    #[kube(group = "examples.test", version = "v1", kind = "Parcel", namespaced)]
    pub(crate) struct ParcelSpec {
        pub(crate) millimetres: u32,
    }
}

/// Converts from the older version, as exactly as possible.
fn up(old: v1alpha1::Parcel) -> Result<v1::Parcel, String> {
    let millimetres = match old.spec.size.as_str() {
        "small" => 200,
        "large" => 600,
        other => return Err(format!("no parcel is {other}: small and large are known")),
    };
    Ok(v1::Parcel::new("", v1::ParcelSpec { millimetres }))
}

/// To the older one.
fn down(new: v1::Parcel) -> Result<v1alpha1::Parcel, String> {
    let size = match new.spec.millimetres {
        0..=400 => "small",
        _ => "large",
    };
    let size = size.to_owned();
    Ok(v1alpha1::Parcel::new("", v1alpha1::ParcelSpec { size }))
}

/// Conversion that a webhook answers with (`lifecycle_cli::process::webhook`).
pub(crate) fn parcels() -> Conversion {
    Conversion::through::<v1::Parcel>()
        .version(up, down)
        .build()
}
