//! A simulated cluster with the operator of an example in it.

use std::path::Path;
use std::time::Duration;

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DynamicObject, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use kube::{Client, Resource};
use lifecycle_cli::cluster::manifests::{self, Manifest};
use lifecycle_runtime::Operator;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_simulator::world::World;
use lifecycle_simulator::{Server, User};
use serde_json::Value;

/// Nothing that happens at all takes longer.
const PATIENCE: Duration = Duration::from_secs(60);
const AGAIN: Duration = Duration::from_millis(5);

/// The cluster; all ends when it is dropped.
pub(crate) struct Simulated {
    pub(crate) client: Client,
    operator: Option<Trigger>,
    world: tokio::task::JoinHandle<()>,
}

impl Simulated {
    /// With an operator at work, and objects.
    pub(crate) async fn with_operator(
        operator: Operator,
        definition: CustomResourceDefinition,
        objects: &str,
    ) -> Self {
        let mut simulated = Self::alone(definition, "").await;
        let (trigger, shutdown) = Shutdown::pair();
        let running = operator.start(simulated.client.clone(), shutdown);
        tokio::spawn(async move { running.await.unwrap() });
        simulated.operator = Some(trigger);
        simulated.apply(objects).await;
        simulated
    }

    /// Starts the server without an operator of ours.
    pub(crate) async fn alone(definition: CustomResourceDefinition, objects: &str) -> Self {
        let server = Server::new(1);
        server.set_clock(jiff::Timestamp::now());
        let client = server.client(&User::admin());
        let definitions: Api<CustomResourceDefinition> = Api::all(client.clone());
        let params = PostParams::default();
        definitions.create(&params, &definition).await.unwrap();
        let world = tokio::spawn(World::full().run(client.clone()));
        let simulated = Self {
            client,
            operator: None,
            world,
        };
        simulated.apply(objects).await;
        simulated
    }

    /// Applies more.
    pub(crate) async fn apply(&self, objects: &str) {
        for manifest in Manifest::parse(Path::new("objects"), objects).unwrap() {
            manifests::apply_one(&self.client, &manifest).await.unwrap();
        }
    }

    /// Waits until an object is as wanted, and returns it.
    pub(crate) async fn until<K: Resource<DynamicType = ()>>(
        &self,
        name: &str,
        wanted: impl Fn(&Value) -> bool,
    ) -> Value {
        let kind = GroupVersionKind::gvk(&K::group(&()), &K::version(&()), &K::kind(&()));
        let plural = K::plural(&());
        let resource = ApiResource::from_gvk_with_plural(&kind, &plural);
        let api: Api<DynamicObject> =
            Api::namespaced_with(self.client.clone(), "default", &resource);
        let found = tokio::time::timeout(PATIENCE, async {
            loop {
                let object = api.get_opt(name).await.unwrap();
                let object = serde_json::to_value(object).unwrap();
                if wanted(&object) {
                    return object;
                }
                tokio::time::sleep(AGAIN).await;
            }
        });
        found
            .await
            .unwrap_or_else(|_| panic!("{name} is not as wanted"))
    }

    /// Waits until an object is Ready for a reason, and returns it.
    pub(crate) async fn ready<K: Resource<DynamicType = ()>>(&self, name: &str) -> Value {
        self.until::<K>(name, |object| {
            condition(object, "Ready").is_some_and(|one| one["status"] == "True")
        })
        .await
    }
}

impl Drop for Simulated {
    fn drop(&mut self) {
        self.world.abort();
    }
}

/// A condition of an object, of its present generation.
pub(crate) fn condition<'a>(object: &'a Value, name: &str) -> Option<&'a Value> {
    let conditions = object["status"]["conditions"].as_array()?;
    let of = &object["metadata"]["generation"];
    conditions
        .iter()
        .find(|one| one["type"] == name && one["observedGeneration"] == *of)
}
