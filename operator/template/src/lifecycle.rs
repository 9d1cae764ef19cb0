//! The spec and status of a Website, and its lifecycle: its inputs, its states, and its effects.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::{CustomResource, CustomResourceExt};
use lifecycle_runtime::lifecycle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Website.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "web.example.org",
    version = "v1alpha1",
    kind = "Website",
    plural = "websites",
    singular = "website",
    namespaced,
    status = "WebsiteStatus",
    printcolumn(
        name = "Ready",
        type_ = "string",
        json_path = ".status.conditions[?(@.type=='Ready')].status"
    ),
    printcolumn(
        name = "Age",
        type_ = "date",
        json_path = ".metadata.creationTimestamp"
    )
)]
pub struct WebsiteSpec {
    /// The image that its Pods run.
    pub image: String,
    /// How many Pods there are.
    #[serde(default = "one")]
    #[schemars(range(min = 0))]
    pub replicas: i32,
}

fn one() -> i32 {
    1
}

/// Observed state of a Website.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct WebsiteStatus {
    /// Available, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

lifecycle! {
    /// Pods that run an image, kept by a Deployment.
    resource Website;

    observe {                                                // each line is a watch
        deployment: owned Deployment by name meta.name;
    }
    facts {                                                  // each is a method in `logic.rs`
        /// How far the Pods are.
        rollout: { Going, Stuck, Done } from deployment given deployment == Current else Going;
    }
    states {                                                 // read like a match: the first that fits
        Taken      when deployment == Foreign           => Error wakes deployment, self;
        Draining   when deployment == Terminating       => Pending;
        Applying   when deployment in { Absent, Stale } => Pending;
        RollingOut when rollout == Going                => Pending overdue 10min;
        Stuck      when rollout == Stuck                => Error wakes deployment, self;
        goal Up    when rollout == Done                 => Ready;
    }
    effects {                                                // each is one write; what it writes is said in `logic.rs`
        apply deployment;
    }
    promises {                                               // what others do, here the controller of Deployments
        rolls_out: rollout == Going sets { rollout = Done } or { rollout = Stuck };
    }
    transitions {
        Draining   -> Applying;
        Applying   -> RollingOut | Stuck | Up;
        RollingOut -> Stuck | Up;
    }
    status {
        condition Available {
            True                    when rollout == Done;
            False "NameTaken"       when deployment == Foreign;
            False "RolloutStuck"    when rollout == Stuck;
            Unknown "RollingOut"    otherwise;
        }
        ready from Available;
    }
}

/// The definitions of the operator.
pub fn definitions() -> Vec<CustomResourceDefinition> {
    vec![Website::crd()]
}
