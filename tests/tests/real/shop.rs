//! The operator that `lifecycle-operator new --template shop` writes, against a real API server
//! that enforces its permissions, and the same operator by kube-rs alone. Both go through the same
//! days of a Shop and must bring it to the same ends.

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::batch::v1::Job;
use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Secret};
use k8s_openapi::api::rbac::v1::{ClusterRole, Role};
use kube::api::{DeleteParams, Patch, PatchParams};
use kube::core::NamespaceResourceScope;
use kube::{Api, Client, Resource};
use lifecycle_tests::api_server::{ApiServer, Options};
use lifecycle_tests::audit::{Cost, Entry, Log};
use lifecycle_tests::harness::{Case, Need, case, eventually};
use lifecycle_tests::process::Process;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use shop_operator::lifecycle::Shop;

const EXAMPLE: &str = include_str!("../../../operator/shop/example.yaml");
const RIGHTS: &str = include_str!("../../../operator/shop/deploy/rbac.yaml");
const PROGRAM: &str = "shop-operator";
const ACCOUNT: &str = "system:serviceaccount:shop-operator:shop-operator";
/// Permissions that the admission plugin of the server requires in addition to those of the
/// requests.
const BY_THE_PLUGIN: [&str; 2] = ["delete persistentvolumeclaims", "update shops/finalizers"];
const NAME: &str = "example";
const SOON: Duration = Duration::from_secs(60);
/// Long enough for everything that is going to happen by itself.
const SETTLED: Duration = Duration::from_secs(3);

pub(crate) fn cases() -> Vec<Case> {
    let needs = &[Need::Binaries, Need::ControllerManager];
    vec![
        case(
            "runs_with_the_rights_of_its_manifest_and_no_other",
            needs,
            rights,
        ),
        case(
            "ends_where_a_plain_controller_does_with_fewer_requests",
            needs,
            fewer_requests,
        ),
    ]
}

/// A server with the definition of Shops, and a task that simulates the nodes.
struct TestCluster {
    server: ApiServer,
    client: Client,
    _nodes: tokio::task::JoinHandle<()>,
}

impl TestCluster {
    async fn start() -> Result<Self> {
        // An owner reference that blocks the deletion of its owner needs a right of its own there.
        let plugin = "--enable-admission-plugins=OwnerReferencesPermissionEnforcement";
        let server = ApiServer::start_with(
            Options::default()
                .with_controllers()
                .controller("persistentvolumeclaim-protection-controller")
                .flag(plugin),
        );
        let server = server.await?;
        let nodes = server.client_for("nodes", &["system:masters"]).await?;
        let client = server.client();
        Ok(Self {
            server,
            client,
            _nodes: tokio::spawn(nodes_of(nodes)),
        })
    }

    /// Runs a program as this user until it is dropped.
    fn run(
        &self,
        name: &'static str,
        program: &str,
        user: &str,
        groups: &[&str],
    ) -> Result<Process> {
        let mut command = Command::new(program);
        command.env("KUBECONFIG", self.server.kubeconfig(user, groups)?);
        if name == "shop" {
            command.args(["run", "--operator-namespace", PROGRAM]);
        }
        Process::start(name, command, self.server.folder())
    }

    /// Returns the end of a program's log.
    fn log(&self, name: &str) -> String {
        let path = self.server.folder().join(format!("{name}.log"));
        let text = std::fs::read_to_string(path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().rev().take(20).collect();
        let lines: Vec<&str> = lines.into_iter().rev().collect();
        format!("the log of {name} ends with:\n{}", lines.join("\n"))
    }

    fn apply(&self, yaml: &str) -> Result<()> {
        let file = tempfile::NamedTempFile::new().context("a file for a manifest")?;
        std::fs::write(file.path(), yaml).context("a manifest")?;
        let mut kubectl = self.server.kubectl();
        let output = kubectl
            .args(["apply", "--filename"])
            .arg(file.path())
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "kubectl apply: {said}");
        Ok(())
    }

    fn all<K>(&self) -> Api<K>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>,
    {
        Api::namespaced(self.client.clone(), "default")
    }

    async fn shop(&self, change: Value) -> Result<()> {
        let patch = Patch::Merge(json!({ "spec": change }));
        let shops = self.all::<Shop>();
        shops.patch(NAME, &PatchParams::default(), &patch).await?;
        Ok(())
    }

    /// Waits until the Shop reports this for its newest specification.
    async fn wait_ready(&self, status: &str, reason: &str) -> Result<()> {
        let shops = self.all::<Shop>();
        let what = format!("Ready is {status} for `{reason}`");
        let told = eventually(&what, SOON, async || {
            let Some(shop) = shops.get_opt(NAME).await? else {
                return Ok(None);
            };
            let generation = shop.metadata.generation;
            let conditions = shop.status.unwrap_or_default().conditions;
            let fits = conditions.iter().any(|one| {
                let is_new = one.observed_generation == generation;
                one.type_ == "Ready" && one.status == status && is_new
            });
            let told = conditions.iter().any(|one| one.reason == reason);
            Ok((fits && (told || reason.is_empty())).then_some(()))
        });
        if let Err(error) = told.await {
            let shop = serde_json::to_value(shops.get_opt(NAME).await?)?;
            let (spec, status) = (&shop["spec"], &shop["status"]);
            return Err(error.context(format!("{spec} {status}")));
        }
        Ok(())
    }

    /// Waits until an object is as desired. `Null` represents an absent object.
    async fn until<K>(&self, name: &str, is: impl Fn(&Value) -> bool) -> Result<Value>
    where
        K: Resource<DynamicType = (), Scope = NamespaceResourceScope>
            + Clone
            + DeserializeOwned
            + serde::Serialize
            + std::fmt::Debug,
    {
        let all = self.all::<K>();
        eventually(&format!("{} {name}", K::kind(&())), SOON, async || {
            let found = serde_json::to_value(all.get_opt(name).await?)?;
            Ok(is(&found).then_some(found))
        })
        .await
    }

    /// Plays the life of a Shop: created, moved to another version, damaged by hand, deleted,
    /// created anew beside its old data, failed and repaired. Returns its states at these points.
    async fn days(&self) -> Result<Vec<Value>> {
        let mut ends = Vec::new();
        self.apply(EXAMPLE)?;
        self.wait_ready("True", "").await?;
        ends.push(self.end("7").await?);
        self.shop(json!({ "version": "8" })).await?;
        self.wait_ready("True", "").await?;
        ends.push(self.end("8").await?);
        let delete = DeleteParams::default();
        self.all::<Deployment>().delete(NAME, &delete).await?;
        self.until::<Deployment>(NAME, Value::is_object).await?;
        self.wait_ready("True", "").await?;
        let by_hand = json!({ "spec": { "template": { "spec": { "containers": [{ "name": "serve", "image": "theirs" }] } } } });
        let servers = self.all::<Deployment>();
        servers
            .patch(NAME, &by("somebody"), &Patch::Strategic(by_hand))
            .await?;
        self.until::<Deployment>(NAME, |server| {
            image(server) == "registry.example.org/shop:8"
        })
        .await?;
        self.wait_ready("True", "").await?;
        self.all::<Secret>().delete(NAME, &delete).await?;
        self.until::<Secret>(NAME, Value::is_object).await?;
        ends.push(self.end("8").await?);
        self.all::<Shop>().delete(NAME, &delete).await?;
        self.until::<Deployment>(NAME, Value::is_null).await?;
        self.until::<Secret>(NAME, Value::is_null).await?;
        let left = self
            .until::<PersistentVolumeClaim>(NAME, Value::is_object)
            .await?;
        ensure!(left["metadata"]["ownerReferences"].is_null(), "{left}");
        self.apply(&EXAMPLE.replace("true", "false"))?;
        self.wait_ready("False", "DataExist").await?;
        self.shop(json!({ "keepData": true })).await?;
        self.wait_ready("True", "").await?;
        ends.push(self.end("7").await?);
        self.shop(json!({ "version": "broken" })).await?;
        self.wait_ready("False", "Failed").await?;
        let server = self.until::<Deployment>(NAME, Value::is_object).await?;
        ensure!(image(&server) == "registry.example.org/shop:7", "{server}");
        self.shop(json!({ "version": "9", "keepData": false }))
            .await?;
        self.wait_ready("True", "").await?;
        ends.push(self.end("9").await?);
        self.all::<Shop>().delete(NAME, &delete).await?;
        self.until::<PersistentVolumeClaim>(NAME, Value::is_null)
            .await?;
        Ok(ends)
    }

    /// Returns the final state of everything that the Shop has, without values chosen by chance.
    async fn end(&self, version: &str) -> Result<Value> {
        let name = format!("{NAME}-migrate-{version}");
        let job = self.until::<Job>(&name, Value::is_object).await?;
        let server = self.until::<Deployment>(NAME, |server| image(server).ends_with(version));
        let server = server.await?;
        let data = self
            .until::<PersistentVolumeClaim>(NAME, Value::is_object)
            .await?;
        let password = self.until::<Secret>(NAME, Value::is_object).await?;
        let letters = password["data"]["password"].as_str().map(str::len);
        let pod = |object: &Value| object["spec"]["template"]["spec"].clone();
        Ok(json!({
            "job": pod(&job), "server": pod(&server), "strategy": server["spec"]["strategy"],
            "data": data["spec"]["resources"], "owned": data["metadata"]["ownerReferences"].is_array(), "letters": letters,
        }))
    }
}

/// A change under a name of its own.
fn by(manager: &str) -> PatchParams {
    PatchParams {
        field_manager: Some(manager.to_owned()),
        ..PatchParams::default()
    }
}

fn image(server: &Value) -> String {
    let container = &server["spec"]["template"]["spec"]["containers"][0];
    container["image"].as_str().unwrap_or_default().to_owned()
}

/// Simulates nodes and the controllers of workloads. Jobs end, successfully except for those of the
/// version `broken`, and Deployments run.
async fn nodes_of(client: Client) {
    let jobs: Api<Job> = Api::namespaced(client.clone(), "default");
    let servers: Api<Deployment> = Api::namespaced(client, "default");
    loop {
        for job in jobs.list(&Default::default()).await.into_iter().flatten() {
            if job.status.and_then(|status| status.conditions).is_none() {
                let name = job.metadata.name.unwrap_or_default();
                let status = json!({ "status": job_status(!name.ends_with("broken")) });
                // It may have gone meanwhile.
                let _ = jobs
                    .patch_status(&name, &by("nodes"), &Patch::Merge(status))
                    .await;
            }
        }
        for server in servers
            .list(&Default::default())
            .await
            .into_iter()
            .flatten()
        {
            let seen = server.status.and_then(|status| status.observed_generation);
            if seen != server.metadata.generation {
                let status = json!({ "status": {
                    "observedGeneration": server.metadata.generation, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
                }});
                let name = server.metadata.name.unwrap_or_default();
                let _ = servers
                    .patch_status(&name, &by("nodes"), &Patch::Merge(status))
                    .await;
            }
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

fn job_status(well: bool) -> Value {
    let ended =
        |kind: &str| json!({ "type": kind, "status": "True", "reason": "Told", "message": "" });
    let time = "2026-01-01T00:00:00Z";
    match well {
        true => json!({
            "startTime": time, "completionTime": time, "succeeded": 1, "uncountedTerminatedPods": {},
            "conditions": [ended("SuccessCriteriaMet"), ended("Complete")],
        }),
        false => json!({
            "startTime": time, "failed": 1, "uncountedTerminatedPods": {}, "conditions": [ended("FailureTarget"), ended("Failed")],
        }),
    }
}

async fn rights() -> Result<()> {
    let place = TestCluster::start().await?;
    place.apply(RIGHTS)?;
    let groups = [
        "system:serviceaccounts",
        "system:serviceaccounts:shop-operator",
    ];
    let running = place.run("shop", env!("CARGO_BIN_EXE_shop"), ACCOUNT, &groups)?;
    served(&place).await?;
    place.days().await.with_context(|| place.log("shop"))?;
    // A Lease is renewed, and Events are on their way.
    tokio::time::sleep(SETTLED).await;
    running.terminate(Duration::from_secs(20))?;
    let log = place.server.audit().await?.of_user(ACCOUNT);
    let refused = log.only(|entry| entry.code == 403);
    ensure!(refused.is_empty(), "refused:\n{}", refused.lines());
    let unused = unused(&place, &log).await?;
    let expected = BY_THE_PLUGIN.map(str::to_owned).into();
    ensure!(unused == expected, "no request needed {unused:?}");
    Ok(())
}

/// The rights that were granted, and that no request needed.
async fn unused(place: &TestCluster, log: &Log) -> Result<BTreeSet<String>> {
    let wide: Api<ClusterRole> = Api::all(place.client.clone());
    let narrow: Api<Role> = Api::namespaced(place.client.clone(), PROGRAM);
    let wide = wide.get(PROGRAM).await?.rules.unwrap_or_default();
    let narrow = narrow.get(PROGRAM).await?.rules.unwrap_or_default();
    let mut unused = BTreeSet::new();
    for rule in wide.into_iter().chain(narrow) {
        let groups = rule.api_groups.unwrap_or_default();
        for resource in rule.resources.unwrap_or_default() {
            let (plural, part) = resource.split_once('/').unwrap_or((&resource, ""));
            let asked = log.only(|entry| {
                let what = (entry.resource.as_str(), entry.subresource.as_str());
                groups.contains(&entry.group) && what == (plural, part)
            });
            let mut verbs = rule.verbs.clone();
            verbs.retain(|verb| !asked.iter().any(|entry| needs(verb, entry)));
            unused.extend(verbs.iter().map(|verb| format!("{verb} {resource}")));
        }
    }
    Ok(unused)
}

/// Returns true if a request needs this verb. An apply that makes an object needs to create, and a
/// streamed list needs to list.
fn needs(verb: &str, entry: &Entry) -> bool {
    match verb {
        "create" => entry.verb == "create" || entry.verb == "patch" && entry.code == 201,
        "list" => entry.verb == "list" || entry.uri.contains("sendInitialEvents=true"),
        verb => entry.verb == verb,
    }
}

/// Waits until the operator has installed its definition.
async fn served(place: &TestCluster) -> Result<()> {
    let shops = place.all::<Shop>();
    eventually("Shops are served", SOON, async || {
        Ok(shops.list(&Default::default()).await.ok().map(drop))
    })
    .await
}

async fn fewer_requests() -> Result<()> {
    let mut ends = BTreeMap::new();
    let mut counts = BTreeMap::new();
    for (name, program) in [
        ("shop", env!("CARGO_BIN_EXE_shop")),
        ("plain-shop", env!("CARGO_BIN_EXE_plain-shop")),
    ] {
        let place = TestCluster::start().await?;
        place.apply(RIGHTS)?;
        let mut install = Command::new(env!("CARGO_BIN_EXE_shop"));
        install
            .args(["crds", "--install"])
            .env("KUBECONFIG", place.server.admin_kubeconfig());
        ensure!(
            install.output()?.status.success(),
            "the definition is not installed"
        );
        let user = format!("user-{name}");
        let running = place.run(name, program, &user, &["system:masters"])?;
        let days = place.days().await.with_context(|| place.log(name))?;
        ends.insert(name, days);
        tokio::time::sleep(SETTLED).await;
        running.terminate(Duration::from_secs(20))?;
        let log = place.server.audit().await?.of_user(&user);
        let count = |cost: Cost| log.of_cost(cost).len();
        counts.insert(
            name,
            (
                count(Cost::Read),
                count(Cost::Write),
                count(Cost::Watch),
                count(Cost::Event),
            ),
        );
    }
    eprintln!("reads, writes, watches, events: {counts:?}");
    let all = |name: &str| ends.get(name).context("it ran");
    ensure!(all("shop")? == all("plain-shop")?, "{ends:#?}");
    let [ours, plain] =
        ["shop", "plain-shop"].map(|name| counts.get(name).copied().unwrap_or_default());
    ensure!(
        ours.1 <= plain.1,
        "more writes than a plain controller: {counts:?}"
    );
    ensure!(
        ours.0 * 10 <= plain.0,
        "not a tenth of the reads of a plain controller: {counts:?}"
    );
    Ok(())
}
