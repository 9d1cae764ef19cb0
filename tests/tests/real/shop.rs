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
use kube::Api;
use kube::api::{DeleteParams, Patch, PatchParams};
use lifecycle_tests::audit::{Cost, Entry, Log};
use lifecycle_tests::harness::{Case, Need, case, eventually};
use lifecycle_tests::process::Process;
use serde_json::{Value, json};
use shop_operator::lifecycle::Shop;

use crate::workloads::{SETTLED, SOON, TestCluster, by};

const EXAMPLE: &str = include_str!("../../../operator/shop/example.yaml");
const RIGHTS: &str = include_str!("../../../operator/shop/deploy/rbac.yaml");
const PROGRAM: &str = "shop-operator";
const ACCOUNT: &str = "system:serviceaccount:shop-operator:shop-operator";
/// Permissions that the admission plugin of the server requires in addition to those of the
/// requests.
const BY_THE_PLUGIN: [&str; 2] = ["delete persistentvolumeclaims", "update shops/finalizers"];
const NAME: &str = "example";

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

impl TestCluster {
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

fn image(server: &Value) -> String {
    let container = &server["spec"]["template"]["spec"]["containers"][0];
    container["image"].as_str().unwrap_or_default().to_owned()
}

async fn rights() -> Result<()> {
    let place = TestCluster::start().await?;
    place.apply(RIGHTS)?;
    let groups = [
        "system:serviceaccounts",
        "system:serviceaccounts:shop-operator",
    ];
    let running = place.run("shop", env!("CARGO_BIN_EXE_shop"), ACCOUNT, &groups)?;
    place.served::<Shop>().await?;
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
