//! The lifecycle of `docs/recipes.md`: an object that exists only sometimes.

#![allow(dead_code, reason = "the lifecycle is compiled and not run")]

use k8s_openapi::api::core::v1::Service;
use k8s_openapi::api::networking::v1::Ingress;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::{Desired, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A page, and the host that serves it.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "examples.test",
    version = "v1",
    kind = "Page",
    namespaced,
    status = "PageStatus"
)]
pub(crate) struct PageSpec {
    pub(crate) host: Option<String>,
}

/// Observed state of a Page.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct PageStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<Condition>,
}

lifecycle! {
    /// A web page, with a route from outside where it names a host.
    resource Page;

    observe {
        web:     owned Service by name meta.name;
        ingress: owned Ingress by name meta.name if spec.host;
    }
    facts {
        taken = any(web, ingress) == Foreign;
    }
    states {
        Taken      when taken                                => Error wakes web, ingress;
        Removing   when ingress == Terminating               => Pending;
        Making     when web != Current || ingress != Current => Pending;
        goal Ready when all(web, ingress) == Current         => Ready;
    }
    effects {
        apply web;
        apply ingress from web;
    }
}

struct Logic;

impl PageLogic for Logic {
    fn apply_web(&self, _: ApplyWeb<'_>) -> Desired<Service> {
        Desired::from_json(json!({ "spec": { "ports": [{ "port": 80 }] } }))
    }

    fn apply_ingress(&self, at: ApplyIngress<'_>) -> Desired<Ingress> {
        let rule = json!({ "host": at.this.spec.host });
        Desired::from_json(json!({ "spec": { "rules": [rule] } }))
    }
}
