//! Objects that are torn down in order. Each stage waits for the one before and reports the reason
//! of its wait, and abandoned cleanup is reported.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, CustomResourceExt};
use lifecycle_runtime::Operator;
use lifecycle_runtime::lifecycle::Machine as Runs;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::server::{Server, User};
use lifecycle_tests::harness::Case;
use lifecycle_tests::lifecycles::database::{
    self, Backup, Database, DatabaseOperator as Backed, DatabaseSpec, Engine,
};
use lifecycle_tests::lifecycles::machine::{
    self, InCluster, InfraMachine, Machine, MachineSpec, OtherCluster,
};
use lifecycle_tests::named;
use serde_json::{Value, json};

pub(crate) fn cases() -> Vec<Case> {
    named![paused(): a_machine_is_drained_and_detached_before_it_is_unmade, what_is_unseen_is_waited_for, a_finalizer_that_somebody_takes_away_comes_back, a_last_backup_is_made_before_a_database_goes, what_cannot_be_given_back_is_told_and_left]
}

/// Longer than an operator waits for anything when all is well.
const QUIET: Duration = Duration::from_secs(90);

struct Home {
    admin: Client,
    other: OtherCluster,
}

impl Home {
    async fn with_definitions(definitions: &[CustomResourceDefinition]) -> (Self, Server) {
        let server = Server::new(1);
        let admin = server.client(&User::admin());
        let all: Api<CustomResourceDefinition> = Api::all(admin.clone());
        for definition in definitions {
            let defined = all.create(&PostParams::default(), definition).await;
            defined.expect("it is defined");
        }
        let other = OtherCluster::default();
        (Self { admin, other }, server)
    }

    fn run(&self, machine: impl Runs, server: &Server) {
        let operator = Operator::new("tests.lifecycle")
            .run(machine)
            .seed(1)
            .clock(server.clone());
        let client = self.admin.clone();
        let (trigger, shutdown) = Shutdown::pair();
        tokio::spawn(async move {
            let _trigger = trigger;
            operator.start(client, shutdown).await
        });
    }

    /// A machine that runs, as a node of the other cluster.
    async fn machine() -> Self {
        let definitions = [Machine::crd(), InfraMachine::crd()];
        let (home, server) = Self::with_definitions(&definitions).await;
        let params = PostParams::default();
        let begins: Api<ConfigMap> = Api::default_namespaced(home.admin.clone());
        let script = json!({ "metadata": { "name": "b" }, "data": { "script": "join" } });
        let script = serde_json::from_value(script).expect("it is one");
        begins.create(&params, &script).await.expect("it is made");
        let spec = MachineSpec {
            bootstrap: "b".to_owned(),
        };
        let machines: Api<Machine> = Api::default_namespaced(home.admin.clone());
        let made = machines.create(&params, &Machine::new("m", spec)).await;
        let uid = made.expect("it is made").metadata.uid.unwrap_or_default();
        home.run(machine::machine(InCluster(home.other.clone())), &server);
        tokio::time::sleep(QUIET).await;
        home.set_status::<InfraMachine>("m", json!({ "booted": true }))
            .await;
        home.other.with_state(|nodes| nodes.join(&uid));
        tokio::time::sleep(QUIET).await;
        home
    }

    /// A database that runs.
    async fn database() -> Self {
        let definitions = [Database::crd(), Engine::crd(), Backup::crd()];
        let (home, server) = Self::with_definitions(&definitions).await;
        let params = PostParams::default();
        let secrets: Api<Secret> = Api::default_namespaced(home.admin.clone());
        let secret = serde_json::from_value(json!({ "metadata": { "name": "s" } }));
        let secret = secret.expect("it is one");
        secrets.create(&params, &secret).await.expect("it is made");
        let spec = DatabaseSpec {
            store: "s".to_owned(),
            size: 10,
        };
        let databases: Api<Database> = Api::default_namespaced(home.admin.clone());
        let made = databases.create(&params, &Database::new("d", spec)).await;
        made.expect("it is made");
        home.run(database::machine(Backed), &server);
        tokio::time::sleep(QUIET).await;
        home
    }

    fn api<K>(&self) -> Api<K>
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>,
    {
        Api::default_namespaced(self.admin.clone())
    }

    async fn set_status<K>(&self, name: &str, status: Value)
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        let patch = Patch::Merge(json!({ "status": status }));
        let params = PatchParams::default();
        let told = self.api::<K>().patch_status(name, &params, &patch).await;
        told.expect("an administrator may say so");
        tokio::time::sleep(QUIET).await;
    }

    async fn delete<K>(&self, name: &str)
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + serde::de::DeserializeOwned,
    {
        let deleted = self.api::<K>().delete(name, &DeleteParams::default()).await;
        deleted.expect("an administrator may delete it");
        tokio::time::sleep(QUIET).await;
    }

    async fn get<K>(&self, name: &str) -> Option<Value>
    where
        K: kube::Resource<Scope = kube::core::NamespaceResourceScope, DynamicType = ()>
            + Clone
            + std::fmt::Debug
            + serde::Serialize
            + serde::de::DeserializeOwned,
    {
        let found = self.api::<K>().get_opt(name).await;
        let found = found.expect("the server answers");
        found.map(|found| json!(found))
    }

    /// Returns the content of a machine's condition `Ready`.
    async fn ready(&self) -> (String, String) {
        let machine = self.get::<Machine>("m").await.expect("it is there");
        let rows = machine["status"]["conditions"].as_array().cloned();
        let mut rows = rows.into_iter().flatten();
        let ready = rows.find(|row| row["type"] == "Ready").unwrap_or_default();
        let text = |key: &str| ready[key].as_str().unwrap_or_default().to_owned();
        (text("reason"), text("message"))
    }

    async fn events(&self) -> Vec<(String, String)> {
        let events: Api<Event> = self.api();
        let found = events.list(&ListParams::default()).await;
        let found = found.expect("the server answers").items.into_iter();
        let told = found.map(|event| {
            let (reason, note) = (event.reason, event.note);
            (reason.unwrap_or_default(), note.unwrap_or_default())
        });
        told.collect()
    }
}

async fn a_machine_is_drained_and_detached_before_it_is_unmade() {
    let home = Home::machine().await;
    assert_eq!(home.ready().await.0, "Ready");
    home.delete::<Machine>("m").await;
    let told = home.ready().await;
    assert_eq!(told.0, "Deleting");
    assert_eq!(
        told.1,
        "the deletion waits: `drain` is not over: it is when `served == Drained`; pods are leaving it"
    );
    assert!(home.get::<InfraMachine>("m").await.is_some());
    let attached = || {
        home.other
            .with_state(|nodes| nodes.0.values().any(|node| node.attached))
    };
    assert!(attached(), "nothing is detached before it is drained");
    home.other.with_state(|nodes| {
        let all: Vec<String> = nodes.0.keys().cloned().collect();
        all.iter().for_each(|uid| nodes.leave(uid));
    });
    tokio::time::sleep(QUIET).await;
    assert!(!attached());
    assert_eq!(home.get::<InfraMachine>("m").await, None);
    assert_eq!(home.get::<Machine>("m").await, None);
}

async fn what_is_unseen_is_waited_for() {
    let home = Home::machine().await;
    home.other.set_down(true);
    home.delete::<Machine>("m").await;
    let told = home.ready().await;
    assert_eq!(told.0, "Deleting");
    assert!(
        told.1
            .starts_with("the deletion waits: `drain` is not over"),
        "{}",
        told.1
    );
    assert!(home.get::<InfraMachine>("m").await.is_some());
}

async fn a_finalizer_that_somebody_takes_away_comes_back() {
    let home = Home::machine().await;
    let finalizers = |machine: &Value| machine["metadata"]["finalizers"].clone();
    let before = home.get::<Machine>("m").await.expect("it is there");
    assert_eq!(finalizers(&before).as_array().map(Vec::len), Some(1));
    let patch = Patch::Merge(json!({ "metadata": { "finalizers": null } }));
    let machines = home.api::<Machine>();
    let taken = machines.patch("m", &PatchParams::default(), &patch).await;
    taken.expect("an administrator may take it");
    tokio::time::sleep(QUIET).await;
    let after = home.get::<Machine>("m").await.expect("it is there");
    assert_eq!(finalizers(&after), finalizers(&before));
}

async fn a_last_backup_is_made_before_a_database_goes() {
    let home = Home::database().await;
    assert_eq!(home.get::<Backup>("d").await, None);
    home.delete::<Database>("d").await;
    assert!(home.get::<Backup>("d").await.is_some());
    assert!(home.get::<Engine>("d").await.is_some());
    home.set_status::<Backup>("d", json!({ "saved": true }))
        .await;
    assert_eq!(home.get::<Engine>("d").await, None);
    assert_eq!(home.get::<Database>("d").await, None);
    let events = home.events().await;
    assert!(
        events.iter().all(|(reason, _)| reason != "Abandoned"),
        "{events:?}"
    );
}

async fn what_cannot_be_given_back_is_told_and_left() {
    let home = Home::database().await;
    home.delete::<Database>("d").await;
    home.delete::<Secret>("s").await;
    assert_eq!(home.get::<Database>("d").await, None);
    let events = home.events().await;
    let mut told = events.iter().filter(|(reason, _)| reason == "Abandoned");
    let (_, note) = told.next().expect("it is told");
    assert_eq!(
        note,
        "the credentials of the store are gone, so no last backup can be made; left behind: `save` until `saved == Yes || engine in { Absent, Foreign }`, `drop` until `engine in { Absent, Foreign }`"
    );
    assert_eq!(told.next(), None, "it is told once");
}
