//! The wiki of the examples against a real API server, with the generated rights: its four regions
//! go on side by side, whatever happens to one of them.

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::StatefulSet;
use k8s_openapi::api::batch::v1::{CronJob, Job};
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Secret};
use k8s_openapi::api::networking::v1::Ingress;
use kube::CustomResourceExt as _;
use kube::api::{DeleteParams, Patch, PatchParams};
use lifecycle_generate::Part;
use lifecycle_generate::manifests;
use lifecycle_runtime::shutdown::{Shutdown, Trigger};
use lifecycle_tests::harness::{Case, Need, case};
use serde_json::{Value, json};

use crate::wiki_operator::{Wiki, logic, machine, operator};
use crate::workloads::{SETTLED, TestCluster};

const NAME: &str = "notes";
const OPERATOR: &str = "wiki-operator";
const ACCOUNT: &str = "system:serviceaccount:wiki-operator:wiki-operator";
const GROUPS: [&str; 2] = [
    "system:serviceaccounts",
    "system:serviceaccounts:wiki-operator",
];
const EXAMPLE: &str = "
apiVersion: examples.test/v1
kind: Wiki
metadata: {name: notes}
spec: {version: v1, host: notes.example.test, backup: '0 3 * * *'}
";
/// The conditions of the root and of each region.
const CONDITIONS: [&str; 5] = ["Prepared", "Migrated", "Available", "Exposed", "BackedUp"];

pub(crate) fn cases() -> Vec<Case> {
    let needs = &[Need::Binaries, Need::ControllerManager];
    vec![
        case("no_region_stops_another", needs, upgrade_beside_failures),
        case("it_drains_its_server_and_keeps_its_data", needs, deletion),
    ]
}

/// The server with the operator at work under its own account. It ends when it is dropped.
struct Wikis {
    place: TestCluster,
    _operator: Trigger,
}

impl Wikis {
    async fn start() -> Result<Self> {
        let place = TestCluster::start().await?;
        place.apply(&serde_json::to_string(&Wiki::crd())?)?;
        place.served::<Wiki>().await?;
        let part = Part::new(OPERATOR, OPERATOR, OPERATOR).runs(machine(logic::Logic));
        place.apply(&manifests::rights(&[&part]))?;
        let client = place.server.client_for(ACCOUNT, &GROUPS).await?;
        let (trigger, shutdown) = Shutdown::pair();
        let running = operator().start(client, shutdown);
        tokio::spawn(async move { running.await.expect("the operator runs") });
        place.apply(EXAMPLE)?;
        Ok(Self {
            place,
            _operator: trigger,
        })
    }

    async fn change(&self, spec: Value) -> Result<()> {
        let patch = Patch::Merge(json!({ "spec": spec }));
        let wikis = self.place.all::<Wiki>();
        wikis.patch(NAME, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    async fn wiki(&self, is: impl Fn(&Value) -> bool) -> Result<Value> {
        self.place.until::<Wiki>(NAME, is).await
    }

    /// Waits until this version runs and the Wiki is Ready.
    async fn serves(&self, version: &str) -> Result<Value> {
        let is_served = |wiki: &Value| {
            wiki["status"]["version"] == version && has(wiki, "Ready", ("True", "Ready"))
        };
        self.wiki(is_served).await.context(version.to_owned())
    }

    /// Fails if the server refused a request of the operator for lack of a right.
    async fn had_its_rights(&self) -> Result<()> {
        let log = self.place.server.audit().await?.of_user(ACCOUNT);
        let refused = log.only(|entry| entry.code == 403);
        ensure!(refused.is_empty(), "refused:\n{}", refused.lines());
        Ok(())
    }
}

/// Returns true if a condition of the newest generation has a status, and a reason unless it is
/// empty.
fn has(wiki: &Value, name: &str, (status, reason): (&str, &str)) -> bool {
    let conditions = wiki["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|one| {
        one["type"] == name
            && one["observedGeneration"] == wiki["metadata"]["generation"]
            && one["status"] == status
            && (reason.is_empty() || one["reason"] == reason)
    })
}

async fn upgrade_beside_failures() -> Result<()> {
    let wikis = Wikis::start().await?;
    let place = &wikis.place;
    let wiki = wikis.serves("v1").await?;
    for condition in CONDITIONS {
        wikis
            .wiki(|wiki| has(wiki, condition, ("True", "")))
            .await
            .with_context(|| condition.to_owned())?;
    }
    ensure!(
        wiki["status"]["url"] == "http://notes.example.test/",
        "{wiki:#}"
    );

    // A schedule that the server refuses, and then an upgrade.
    wikis.change(json!({ "backup": "every night" })).await?;
    let is_refused = |wiki: &Value| has(wiki, "BackedUp", ("False", "Refused"));
    wikis.wiki(is_refused).await?;
    wikis.change(json!({ "version": "v2" })).await?;
    let wiki = wikis.serves("v2").await?;
    ensure!(has(&wiki, "Exposed", ("True", "")), "{wiki:#}");
    wikis.wiki(is_refused).await?;

    // A version whose migration fails: the one before goes on, and the host changes meanwhile.
    wikis.change(json!({ "version": "broken" })).await?;
    wikis
        .wiki(|wiki| has(wiki, "Migrated", ("False", "Failed")))
        .await?;
    wikis.change(json!({ "host": "new.example.test" })).await?;
    let has_new_host = |ingress: &Value| ingress["spec"]["rules"][0]["host"] == "new.example.test";
    place.until::<Ingress>(NAME, has_new_host).await?;
    let runs_v2 =
        |server: &Value| server["spec"]["template"]["spec"]["containers"][0]["image"] == "wiki:v2";
    place.until::<StatefulSet>(NAME, runs_v2).await?;
    wikis.change(json!({ "version": "v3" })).await?;
    wikis.serves("v3").await?;

    // Neither a host nor a backup any more.
    let none = json!({ "host": null, "backup": null });
    wikis.change(none).await?;
    place.until::<Ingress>(NAME, Value::is_null).await?;
    place.until::<CronJob>(NAME, Value::is_null).await?;
    let wiki = wikis
        .wiki(|wiki| has(wiki, "BackedUp", ("True", "")))
        .await?;
    ensure!(has(&wiki, "Exposed", ("True", "")), "{wiki:#}");

    // A pause during which the version changes.
    wikis
        .change(json!({ "version": "v4", "paused": true }))
        .await?;
    tokio::time::sleep(SETTLED).await;
    place.until::<Job>("notes-to-v4", Value::is_null).await?;
    wikis.change(json!({ "paused": false })).await?;
    wikis.serves("v4").await?;
    wikis.had_its_rights().await
}

async fn deletion() -> Result<()> {
    let wikis = Wikis::start().await?;
    let place = &wikis.place;
    wikis.serves("v1").await?;
    wikis.change(json!({ "keep": true })).await?;
    place
        .until::<PersistentVolumeClaim>(NAME, |claim| {
            claim["metadata"]["ownerReferences"].is_null()
        })
        .await?;
    // So that it is still there when all is over.
    let servers = place.all::<StatefulSet>();
    let held =
        |finalizers: Value| Patch::Merge(json!({ "metadata": { "finalizers": finalizers } }));
    let params = PatchParams::default();
    servers
        .patch(NAME, &params, &held(json!(["tests.example/held"])))
        .await?;
    let all = place.all::<Wiki>();
    all.delete(NAME, &DeleteParams::default()).await?;
    wikis.wiki(Value::is_null).await?;
    place.until::<Job>("notes-to-v1", Value::is_null).await?;
    let going = |server: &Value| server["metadata"]["deletionTimestamp"].is_string();
    let server = place.until::<StatefulSet>(NAME, going).await?;
    ensure!(server["spec"]["replicas"] == 0, "{server:#}");
    servers.patch(NAME, &params, &held(Value::Null)).await?;
    place.until::<Ingress>(NAME, Value::is_null).await?;
    place.until::<CronJob>(NAME, Value::is_null).await?;
    place.until::<Secret>(NAME, Value::is_null).await?;
    let claim = place
        .until::<PersistentVolumeClaim>(NAME, Value::is_object)
        .await?;
    ensure!(claim["metadata"]["ownerReferences"].is_null(), "{claim:#}");
    wikis.had_its_rights().await
}
