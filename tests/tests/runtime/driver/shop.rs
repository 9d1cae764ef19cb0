//! An ordinary operator: a Shop has settings, a password, a disk, a server and a door, each an object of its own.

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::{ConfigMap, PersistentVolumeClaim, Secret, Service};
use kube::CustomResource;
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "tests.lifecycle",
    version = "v1",
    kind = "Shop",
    namespaced,
    status = "ShopStatus"
)]
pub(crate) struct ShopSpec {
    pub(crate) image: String,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct ShopStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition>,
}

lifecycle! {
    /// A shop with a disk, a password and a door.
    resource Shop;

    observe {
        settings: owned ConfigMap             by name meta.name;
        password: owned Secret                by name meta.name;
        storage:  owned PersistentVolumeClaim by name meta.name;
        server:   owned Deployment            by name meta.name given settings == Current && password == Current && storage == Current;
        door:     owned Service               by name meta.name;
    }
    facts {
        available: bool from server given server == Current else false;
    }
    states {
        Taken      when settings == Foreign || password == Foreign || storage == Foreign || server == Foreign || door == Foreign
                   => Error wakes settings, password, storage, server, door, self;
        Draining   when settings == Terminating || password == Terminating || storage == Terminating || server == Terminating || door == Terminating => Pending;
        Making     when settings != Current || password != Current || storage != Current || server != Current || door != Current => Pending;
        Starting   when !available => Pending overdue 10min;
        goal Ready when available  => Ready;
    }
    effects {
        apply settings;
        apply password;
        apply storage;
        apply server;
        apply door;
    }
    promises {
        starts: server == Current && !available sets { available = true };
    }
    transitions {
        Draining -> Taken | Making;
        Making -> Taken | Draining | Starting | Ready;
        Starting -> Ready;
    }
    status {
        condition Available {
            False "Taken" when settings == Foreign || password == Foreign || storage == Foreign || server == Foreign || door == Foreign;
            True when available && settings == Current && password == Current && storage == Current && server == Current && door == Current;
            Unknown "Working" otherwise;
        }
        ready from Available;
    }
}

pub(crate) struct ShopOperator;

impl ShopLogic for ShopOperator {
    fn available(&self, _: This<'_, Shop>, server: &Deployment) -> Because<bool> {
        let status = server.status.as_ref();
        let runs = status.and_then(|status| status.available_replicas) == Some(1);
        Because::new(runs, "no Pod of the Deployment is available")
    }

    fn apply_settings(&self, at: ApplySettings<'_>) -> Desired<ConfigMap> {
        Desired::from_json(json!({ "data": { "image": at.this.spec.image } }))
    }

    fn apply_password(&self, _: ApplyPassword<'_>) -> Desired<Secret> {
        Desired::from_json(json!({ "data": { "password": "c2VjcmV0" } }))
    }

    fn apply_storage(&self, _: ApplyStorage<'_>) -> Desired<PersistentVolumeClaim> {
        let resources = json!({ "requests": { "storage": "1Gi" } });
        let spec = json!({ "accessModes": ["ReadWriteOnce"], "resources": resources });
        Desired::from_json(json!({ "spec": spec }))
    }

    fn apply_server(&self, at: ApplyServer<'_>) -> Desired<Deployment> {
        let name = at.this.meta.name.as_ref();
        let labels = json!({ "app": name });
        let container = json!({ "name": "server", "image": at.this.spec.image });
        let pod =
            json!({ "metadata": { "labels": labels }, "spec": { "containers": [container] } });
        let spec = json!({ "replicas": 1, "selector": { "matchLabels": labels }, "template": pod });
        Desired::from_json(json!({ "spec": spec }))
    }

    fn apply_door(&self, at: ApplyDoor<'_>) -> Desired<Service> {
        let selector = json!({ "app": at.this.meta.name });
        let ports = json!([{ "name": "http", "port": 80 }]);
        Desired::from_json(json!({ "spec": { "selector": selector, "ports": ports } }))
    }
}
