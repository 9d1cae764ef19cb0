//! The kinds that the fixtures in `rules/` declare lifecycles of, so that each fixture shows its lifecycle and nothing else.

pub use k8s_openapi::api::batch::v1::Job;
pub use k8s_openapi::api::core::v1::{ConfigMap, Node, PersistentVolume, Secret, Service};
use kube::CustomResource;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Key of the label by which sets are found.
pub const NAME: &str = "example.com/name";

/// Desired state of a Thing.
#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Thing",
    namespaced,
    status = "ThingStatus"
)]
pub struct ThingSpec {
    /// Name of the ConfigMap that describes it.
    pub class: String,
    /// How often its store is asked.
    pub interval: Option<String>,
    /// After how many seconds it has taken too long.
    pub timeout: Option<i64>,
}

/// Desired state of a Place, which is cluster-scoped.
#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(group = "example.com", version = "v1", kind = "Place")]
pub struct PlaceSpec {
    /// Name of the ConfigMap that describes it.
    pub class: String,
}

/// Desired state of a Keeper, whose lifecycle keeps promises of others.
#[derive(Clone, Debug, CustomResource, Deserialize, JsonSchema, Serialize)]
#[kube(
    group = "example.com",
    version = "v1",
    kind = "Keeper",
    namespaced,
    derive = "PartialEq"
)]
#[derive(PartialEq)]
pub struct KeeperSpec {
    /// Name of the ConfigMap that describes it.
    pub class: String,
}

/// The lifecycle of a Keeper.
pub mod keeper {
    use super::{ConfigMap, Keeper, Service};
    use lifecycle_runtime::lifecycle;

    lifecycle! {
        resource Keeper;

        observe {
            class: ConfigMap by name spec.class;
            service: owned Service by name meta.name;
        }
        facts {
            /// True if another controller manages it.
            others: bool from class given class else false;
        }
        states {
            Elsewhere when others => Ignored;
            NoClass when !class => Error wakes class;
            Taken when service == Foreign => Error wakes service;
            Leaving when service == Terminating => Pending;
            Serving when service in { Absent, Stale } => Pending;
            goal Ready when service == Current => Ready;
        }
        effects { apply service from class; }
    }
}

/// Observed state of a Thing.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema, Serialize)]
pub struct ThingStatus {
    /// Pending, Ready or Error.
    pub phase: Option<String>,
}

/// Answer of a poll.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Info {
    /// Name of the resource in the environment.
    pub name: String,
}

/// A shared value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spot {
    /// Node on which it is.
    pub node: String,
}
