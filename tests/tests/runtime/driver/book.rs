//! An object owned by its namespace, independent of the Book that requests it.

use k8s_openapi::api::core::v1::{ConfigMap, Namespace};
use kube::CustomResource;
use lifecycle_runtime::{Desired, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "tests.lifecycle",
    version = "v1",
    kind = "Book",
    namespaced,
    status = "BookStatus"
)]
pub(crate) struct BookSpec {
    pub(crate) home: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct BookStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition>,
}

lifecycle! {
    /// A page that belongs to the namespace.
    resource Book;

    observe {
        home: Namespace               by name spec.home;
        page: owned ConfigMap of home by name meta.name;
    }
    states {
        NoHome     when !home               => Error wakes home, self;
        Taken      when page == Foreign     => Error wakes page, self;
        Draining   when page == Terminating => Pending;
        Writing    when page != Current     => Pending;
        goal Ready when page == Current     => Ready;
    }
    effects {
        apply page;
    }
    transitions {
        Draining -> Writing;
        Writing -> Ready;
    }
    status {
        condition Written {
            False "NoHome" when !home;
            False "Taken" when page == Foreign;
            True when page == Current;
            Unknown "Writing" otherwise;
        }
        ready from Written;
    }
}

pub(crate) struct Writer;

impl BookLogic for Writer {
    fn apply_page(&self, at: ApplyPage<'_>) -> Desired<ConfigMap> {
        Desired::from_json(json!({ "data": { "of": at.home.metadata.name } }))
    }
}
