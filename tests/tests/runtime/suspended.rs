//! An object that a user suspends. Nothing is written for it and nothing outside Kubernetes is
//! queried. The suspension is reported, and work continues once it ends. The tests also cover
//! deletion.

use std::time::Duration;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use kube::api::{DeleteParams, Patch, PatchParams, PostParams};
use kube::{Api, Client, CustomResourceExt};
use lifecycle_runtime::Operator;
use lifecycle_runtime::crds::unobserved;
use lifecycle_runtime::shutdown::Shutdown;
use lifecycle_simulator::server::{Server, User};
use lifecycle_suite::faults::{Faults, Plan};
use lifecycle_tests::harness::Case;
use lifecycle_tests::lifecycles::topic::{self, AtBroker, Broker, Topic, TopicSpec};
use lifecycle_tests::named;
use serde_json::{Value, json};

pub(crate) fn cases() -> Vec<Case> {
    named![paused(): what_is_suspended_is_left_alone_and_told_of, what_was_suspended_from_the_start_is_told_of, a_deletion_gives_back_while_it_is_paused, a_deletion_waits_while_it_is_frozen]
}

/// Longer than an operator waits for anything when all is well.
const QUIET: Duration = Duration::from_secs(90);
/// Time within which every object is evaluated again once.
const RESYNC_IS_OVER: Duration = Duration::from_secs(4200);

struct Home {
    admin: Client,
    faults: Faults,
    broker: Broker,
}

impl Home {
    async fn start(spec: TopicSpec) -> Self {
        let server = Server::new(1);
        let admin = server.client(&User::admin());
        let params = PostParams::default();
        let definitions = Api::all(admin.clone());
        let defined = definitions.create(&params, &unobserved(Topic::crd())).await;
        defined.expect("it is defined");
        let topics: Api<Topic> = Api::default_namespaced(admin.clone());
        let made = topics.create(&params, &Topic::new("t", spec)).await;
        made.expect("it is made");
        let faults = Faults::new(Plan::default(), jiff::Timestamp::UNIX_EPOCH);
        let client = faults.line(true).client(&admin);
        let broker = Broker::default();
        let operator = Operator::new("tests.lifecycle")
            .run(topic::machine(AtBroker(broker.clone())))
            .seed(1)
            .clock(server.clone());
        let (trigger, shutdown) = Shutdown::pair();
        tokio::spawn(async move {
            let _trigger = trigger;
            operator.start(client, shutdown).await
        });
        let home = Self {
            admin,
            faults,
            broker,
        };
        tokio::time::sleep(QUIET).await;
        home
    }

    async fn edit(&self, spec: &Value) {
        let topics: Api<Topic> = Api::default_namespaced(self.admin.clone());
        let params = PatchParams {
            field_manager: Some("somebody".to_owned()),
            ..PatchParams::default()
        };
        let patch = json!({ "spec": spec });
        let patched = topics.patch("t", &params, &Patch::Merge(patch)).await;
        patched.expect("an administrator may edit it");
        tokio::time::sleep(QUIET).await;
    }

    async fn window(&self, frozen: &str) {
        let window = json!({ "apiVersion": "v1", "kind": "ConfigMap", "metadata": { "name": "w" }, "data": { "frozen": frozen } });
        let windows: Api<ConfigMap> = Api::default_namespaced(self.admin.clone());
        let params = PatchParams::apply("somebody").force();
        let applied = windows.patch("w", &params, &Patch::Apply(window)).await;
        applied.expect("an administrator may write it");
        tokio::time::sleep(QUIET).await;
    }

    async fn topic(&self) -> Option<Value> {
        let topics: Api<Topic> = Api::default_namespaced(self.admin.clone());
        let topic = topics.get_opt("t").await.expect("the server answers");
        topic.map(|topic| serde_json::to_value(topic).expect("it is an object"))
    }

    async fn delete(&self) {
        let topics: Api<Topic> = Api::default_namespaced(self.admin.clone());
        let deleted = topics.delete("t", &DeleteParams::default()).await;
        deleted.expect("an administrator may delete it");
        tokio::time::sleep(QUIET).await;
    }

    /// Type, status, reason and generation of each condition.
    async fn conditions(&self) -> Vec<(String, String, String, i64)> {
        let topic = self.topic().await.expect("it is there");
        let rows = topic["status"]["conditions"].as_array().cloned();
        let text = |row: &Value, key: &str| row[key].as_str().unwrap_or_default().to_owned();
        let rows = rows.into_iter().flatten().map(|row| {
            let generation = row["observedGeneration"].as_i64().unwrap_or_default();
            let texts = (
                text(&row, "type"),
                text(&row, "status"),
                text(&row, "reason"),
            );
            (texts.0, texts.1, texts.2, generation)
        });
        rows.collect()
    }
}

fn spec() -> TopicSpec {
    TopicSpec {
        window: "w".to_owned(),
        partitions: 3,
        paused: false,
    }
}

fn expected_condition(
    kind: &str,
    status: &str,
    reason: &str,
    generation: i64,
) -> (String, String, String, i64) {
    let [kind, status, reason] = [kind, status, reason].map(str::to_owned);
    (kind, status, reason, generation)
}

async fn what_is_suspended_is_left_alone_and_told_of() {
    let home = Home::start(spec()).await;
    let well = [
        expected_condition("Suspended", "False", "Running", 1),
        expected_condition("Stored", "True", "Stored", 1),
        expected_condition("Ready", "True", "Ready", 1),
    ];
    assert_eq!(home.conditions().await, well);
    home.edit(&json!({ "paused": true, "partitions": 12 }))
        .await;
    let suspended = [
        expected_condition("Suspended", "True", "Paused", 2),
        expected_condition("Stored", "True", "Stored", 1),
        expected_condition("Ready", "Unknown", "Paused", 2),
        expected_condition("Reconciling", "True", "Paused", 2),
    ];
    assert_eq!(home.conditions().await, suspended);
    let topic = home.topic().await.expect("it is there");
    assert_eq!(topic["status"]["phase"], "Suspended");
    assert_eq!(
        topic["status"]["observedGeneration"], 1,
        "the rest is of it"
    );
    let message = &topic["status"]["conditions"][2]["message"];
    assert_eq!(message, "spec.paused is true: set it to false to go on");
    let (writes, questions) = (home.faults.writes(), home.broker.questions());
    let secrets: Api<Secret> = Api::default_namespaced(home.admin.clone());
    let deleted = secrets.delete("t", &DeleteParams::default()).await;
    deleted.expect("an administrator may delete it");
    home.broker.with_state(|topics| topics.0.clear());
    tokio::time::sleep(RESYNC_IS_OVER).await;
    assert_eq!(home.faults.writes(), writes, "{}", home.faults.journal());
    assert_eq!(home.broker.questions(), questions, "nobody is asked");
    assert_eq!(home.conditions().await, suspended);
    home.edit(&json!({ "paused": false })).await;
    assert!(home.broker.questions() > questions);
    let kept: Vec<u32> = home
        .broker
        .with_state(|topics| topics.0.values().copied().collect());
    assert_eq!(kept, [12]);
    let well = well.map(|(kind, status, reason, _)| (kind, status, reason, 3));
    assert_eq!(home.conditions().await, well);
}

async fn what_was_suspended_from_the_start_is_told_of() {
    let paused = TopicSpec {
        paused: true,
        ..spec()
    };
    let home = Home::start(paused).await;
    let suspended = [
        expected_condition("Suspended", "True", "Paused", 1),
        expected_condition("Ready", "Unknown", "Paused", 1),
        expected_condition("Reconciling", "True", "Paused", 1),
    ];
    assert_eq!(home.conditions().await, suspended);
    assert_eq!(home.broker.questions(), 0);
    let topic = home.topic().await.expect("it is there");
    assert_eq!(topic["metadata"]["finalizers"], Value::Null);
}

async fn a_deletion_gives_back_while_it_is_paused() {
    let home = Home::start(spec()).await;
    home.edit(&json!({ "paused": true })).await;
    home.delete().await;
    assert_eq!(home.topic().await, None);
    assert!(home.broker.with_state(|topics| topics.0.is_empty()));
}

async fn a_deletion_waits_while_it_is_frozen() {
    let home = Home::start(spec()).await;
    home.window("yes").await;
    let questions = home.broker.questions();
    home.delete().await;
    tokio::time::sleep(RESYNC_IS_OVER).await;
    let told = home.conditions().await;
    assert_eq!(
        told[2],
        expected_condition("Ready", "False", "Deleting", 2),
        "{told:?}"
    );
    let topic = home.topic().await.expect("it waits");
    let message = &topic["status"]["conditions"][2]["message"];
    let waits = "the deletion waits: nothing of the broker is to be changed now";
    assert_eq!(message, waits);
    assert_eq!(home.broker.questions(), questions, "nobody is asked");
    assert_eq!(home.broker.with_state(|topics| topics.0.len()), 1);
    home.window("no").await;
    assert_eq!(home.topic().await, None);
    assert!(home.broker.with_state(|topics| topics.0.is_empty()));
}
