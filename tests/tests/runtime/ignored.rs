//! An object that becomes another controller's. From then on nothing is written for it in any case,
//! until it is ours again.

use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Service};
use k8s_openapi::api::events::v1::Event;
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, CustomResourceExt};
use lifecycle_runtime::Operator;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::server::{Server, User};
use lifecycle_suite::faults::{Faults, Plan};
use serde_json::{Value, json};

use super::driver::lamp::{self, Electrician, Lamp, LampSpec};

pub(crate) fn cases() -> Vec<Case> {
    named![paused(): what_becomes_another_controllers_gets_no_further_write_until_it_is_ours_again, what_was_never_ours_is_not_even_told_of]
}

/// Longer than an operator waits for anything when all is well.
const QUIET: Duration = Duration::from_secs(30);
/// Time within which every object is evaluated again once.
const RESYNC_IS_OVER: Duration = Duration::from_secs(4200);

struct Home {
    admin: Client,
    faults: Faults,
}

impl Home {
    async fn settle(&self) -> usize {
        let mut writes = usize::MAX;
        while writes != self.faults.writes() {
            writes = self.faults.writes();
            tokio::time::sleep(QUIET).await;
        }
        writes
    }

    async fn edit<K>(&self, name: &str, patch: &Value)
    where
        K: kube::Resource<DynamicType = (), Scope = k8s_openapi::NamespaceResourceScope>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        let api: Api<K> = Api::default_namespaced(self.admin.clone());
        let params = PatchParams {
            field_manager: Some("somebody".to_owned()),
            ..PatchParams::default()
        };
        let patched = api.patch(name, &params, &Patch::Merge(patch)).await;
        patched.expect("an administrator may edit it");
    }

    async fn keeper(&self, keeper: Option<&str>) {
        let data = json!({ "data": { "keeper": keeper } });
        self.edit::<ConfigMap>("g", &data).await;
    }

    async fn lamp(&self) -> Lamp {
        let api: Api<Lamp> = Api::default_namespaced(self.admin.clone());
        api.get("l").await.expect("the lamp is there")
    }

    async fn ports(&self) -> Option<Vec<i32>> {
        let api: Api<Service> = Api::default_namespaced(self.admin.clone());
        let cord = api.get_opt("l").await.expect("the server answers")?;
        let ports = cord.spec.and_then(|spec| spec.ports).unwrap_or_default();
        Some(ports.iter().map(|port| port.port).collect())
    }

    async fn events(&self) -> usize {
        let api: Api<Event> = Api::default_namespaced(self.admin.clone());
        let events = api.list(&Default::default()).await;
        events.expect("the server answers").items.len()
    }
}

async fn start_home() -> Home {
    let server = Server::new(1);
    let admin = server.client(&User::admin());
    let params = PostParams::default();
    let definitions = Api::all(admin.clone());
    let defined = definitions.create(&params, &Lamp::crd()).await;
    defined.expect("it is defined");
    let grid = json!({ "metadata": { "name": "g" }, "data": { "web": "80" } });
    let grid: ConfigMap = serde_json::from_value(grid).expect("a grid");
    let grids: Api<ConfigMap> = Api::default_namespaced(admin.clone());
    grids.create(&params, &grid).await.expect("it is made");
    let spec = LampSpec {
        grid: "g".to_owned(),
    };
    let lamps: Api<Lamp> = Api::default_namespaced(admin.clone());
    let lamp = lamps.create(&params, &Lamp::new("l", spec)).await;
    lamp.expect("it is made");
    let faults = Faults::new(Plan::default(), jiff::Timestamp::UNIX_EPOCH);
    let client = faults.line(true).client(&admin);
    let operator = Operator::new("tests.lifecycle")
        .run(lamp::machine(Electrician))
        .seed(1)
        .clock(server.clone());
    let (trigger, shutdown) = Shutdown::pair();
    tokio::spawn(async move {
        let _trigger = trigger;
        operator.start(client, shutdown).await
    });
    Home { admin, faults }
}

async fn what_becomes_another_controllers_gets_no_further_write_until_it_is_ours_again() {
    let home = start_home().await;
    home.settle().await;
    assert_eq!(home.ports().await, Some(vec![80]));
    home.keeper(Some("somebody")).await;
    let (writes, events, told) = (home.settle().await, home.events().await, home.lamp().await);
    assert!(writes > 1, "it was made and told of before");
    home.edit::<Service>("l", &json!({ "spec": { "selector": { "app": "theirs" } } }))
        .await;
    home.edit::<Service>(
        "l",
        &json!({ "spec": { "ports": [{ "name": "a", "port": 81 }] } }),
    )
    .await;
    home.settle().await;
    let cords: Api<Service> = Api::default_namespaced(home.admin.clone());
    let deleted = cords.delete("l", &DeleteParams::default()).await;
    deleted.expect("an administrator may delete it");
    home.edit::<Lamp>("l", &json!({ "metadata": { "labels": { "a": "b" } } }))
        .await;
    tokio::time::sleep(RESYNC_IS_OVER).await;
    home.settle().await;
    assert_eq!(home.faults.writes(), writes, "{}", home.faults.journal());
    assert_eq!((home.ports().await, home.events().await), (None, events));
    let lamp = home.lamp().await;
    assert_eq!(lamp.status, told.status, "what was told stays");
    assert_eq!(lamp.metadata.finalizers, None);
    home.keeper(None).await;
    home.settle().await;
    assert_eq!(home.ports().await, Some(vec![80]), "it is ours again");
}

async fn what_was_never_ours_is_not_even_told_of() {
    let home = start_home().await;
    home.keeper(Some("somebody")).await;
    let lamps: Api<Lamp> = Api::default_namespaced(home.admin.clone());
    let spec = LampSpec {
        grid: "g".to_owned(),
    };
    home.settle().await;
    let writes = home.faults.writes();
    let (params, lamp) = (PostParams::default(), Lamp::new("m", spec));
    let made = lamps.create(&params, &lamp).await;
    made.expect("it is made");
    tokio::time::sleep(RESYNC_IS_OVER).await;
    assert_eq!(home.faults.writes(), writes, "{}", home.faults.journal());
    let lamp = lamps.get("m").await.expect("it is there");
    assert_eq!(lamp.status, None);
}
