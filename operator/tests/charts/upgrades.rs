//! Releases of the replaced charts, upgraded to the charts of this repository, rolled back,
//! upgraded again, and uninstalled, by Helm on a real API server. Nothing blocks, workloads keep
//! their uids, and only definitions and user objects are left behind.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use lifecycle_tests::api_server::ApiServer;
use lifecycle_tests::harness::{Case, Need, case};
use lifecycle_tests::helm::Helm;
use lifecycle_tests::process::output;
use serde_json::Value;

use crate::folders::{chart, here, replaced};

const NEEDS: &[Need] = &[Need::Binaries, Need::Helm];

const NAMESPACE: &str = "operators";

/// Kinds that a chart may install.
const KINDS: &str = "deployments,daemonsets,services,serviceaccounts,roles,rolebindings,poddisruptionbudgets,networkpolicies,\
                     clusterroles,clusterrolebindings,csidrivers,storageclasses";

/// The API server has no definitions of the Prometheus Operator.
const UNMONITORED: &str = "--set=podMonitor.enabled=false";

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "m31_a_release_of_the_replaced_listener_chart_is_upgraded",
            NEEDS,
            async || listeners(true).await,
        ),
        case(
            "a_release_of_the_replaced_listener_chart_by_helm_3_is_upgraded",
            NEEDS,
            async || listeners(false).await,
        ),
        case(
            "a_release_of_the_existing_skupper_chart_is_upgraded",
            NEEDS,
            skupper,
        ),
    ]
}

/// Objects by kind and name.
type Objects = BTreeMap<String, Value>;

/// A cluster without nodes, and Helm for it.
struct Installed {
    server: ApiServer,
    helm: Helm,
    /// The objects that were there before.
    before: Objects,
}

impl Installed {
    async fn start() -> Result<Self> {
        let server = ApiServer::start().await?;
        let helm = Helm::new(Some(server.admin_kubeconfig()))?;
        output(server.kubectl().args(["create", "namespace", NAMESPACE]))?;
        let mut installed = Self {
            server,
            helm,
            before: BTreeMap::new(),
        };
        installed.before = installed.objects()?;
        Ok(installed)
    }

    /// Helm in the namespace of the release.
    fn helm(&self, words: &[&str]) -> Result<String> {
        self.helm
            .stdout(&[words, &["--namespace", NAMESPACE]].concat())
    }

    /// Nothing came since the beginning but these.
    fn nothing_is_left_but(&self, kept: &[&str]) -> Result<()> {
        let left = self.ours()?;
        ensure!(left.keys().eq(kept), "left behind: {:?}", left.keys());
        Ok(())
    }

    /// All objects of the kinds that a chart installs, by kind and name.
    fn objects(&self) -> Result<Objects> {
        let mut kubectl = self.server.kubectl();
        let words = ["get", KINDS, "--output=json", "--namespace", NAMESPACE];
        let list: Value = serde_json::from_str(&output(kubectl.args(words))?)?;
        let items = list["items"].as_array().context("a list has items")?;
        let named = |item: &Value| {
            let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
            format!(
                "{} {}",
                text(&item["kind"]),
                text(&item["metadata"]["name"])
            )
        };
        Ok(items
            .iter()
            .map(|item| (named(item), item.clone()))
            .collect())
    }

    /// Upgrades a release. One that Helm 4 installed is refused, with a command that makes it possible; that is run then.
    fn upgrade(&self, words: &[&str], is_refused: bool) -> Result<()> {
        if is_refused {
            let before = self.objects()?;
            let told = self.helm.fail(words)?;
            ensure!(
                versions(&before) == versions(&self.objects()?),
                "refused, and yet changed"
            );
            let (_, command) = told.split_once("kubectl ").context(told.clone())?;
            let command = command.lines().next().unwrap_or_default();
            let words = command.split(' ').map(|word| word.trim_matches('\''));
            output(self.server.kubectl().args(words))?;
        }
        self.helm.stdout(words)?;
        Ok(())
    }

    /// The objects that came since the beginning.
    fn ours(&self) -> Result<Objects> {
        let mut objects = self.objects()?;
        objects.retain(|name, _| !self.before.contains_key(name));
        Ok(objects)
    }
}

fn versions(objects: &Objects) -> Vec<&Value> {
    let all = objects.values();
    all.map(|object| &object["metadata"]["resourceVersion"])
        .collect()
}

fn uid(objects: &Objects, name: &str) -> Result<String> {
    let object = objects
        .get(name)
        .with_context(|| format!("there is no {name}"))?;
    Ok(object["metadata"]["uid"].to_string())
}

fn containers(objects: &Objects, name: &str) -> Vec<String> {
    let containers = objects[name]["spec"]["template"]["spec"]["containers"].as_array();
    let names = containers
        .into_iter()
        .flatten()
        .map(|one| one["name"].as_str());
    names
        .map(|name| name.unwrap_or_default().to_owned())
        .collect()
}

/// Variables of a container, by name.
fn variables<'a>(objects: &'a Objects, name: &str) -> BTreeMap<&'a str, &'a Value> {
    let env = objects[name]["spec"]["template"]["spec"]["containers"][0]["env"].as_array();
    let env = env.into_iter().flatten();
    env.filter_map(|one| Some((one["name"].as_str()?, &one["value"])))
        .collect()
}

const PROVISIONER: &str = "Deployment listener-operator-csi-provisioner";
const DRIVERS: &str = "DaemonSet listener-operator-csi-node-driver";

/// Objects of the replaced chart that stay the same ones.
const KEPT: [&str; 5] = [
    PROVISIONER,
    DRIVERS,
    "CSIDriver listeners.stackable.tech",
    "StorageClass listeners.stackable.tech",
    "ServiceAccount listener-operator-serviceaccount",
];

fn folder(path: &Path) -> String {
    path.display().to_string()
}

fn values(name: &str) -> String {
    format!(
        "--values={}",
        here(&format!("values/{name}.yaml")).display()
    )
}

fn are_the_same(before: &Objects, after: &Objects, kept: &[&str]) -> Result<()> {
    for name in kept {
        ensure!(
            uid(before, name)? == uid(after, name)?,
            "{name} is another one"
        );
    }
    Ok(())
}

async fn listeners(by_helm_4: bool) -> Result<()> {
    let installed = Installed::start().await?;
    let (release, side) = ("listener-operator", format!("--server-side={by_helm_4}"));
    let theirs = folder(&replaced(release));
    let install = ["install", release, &theirs, "--namespace", NAMESPACE, &side];
    installed.helm.stdout(&install)?;
    let before = installed.ours()?;
    let (ours, values) = (
        folder(&chart(release)),
        values("listener-operator-taken-over"),
    );
    let upgrade = ["upgrade", release, &ours, "--namespace", NAMESPACE, &values];
    refused(&installed, &upgrade)?;
    for round in 0..2 {
        // The changes of the command persist on the way back.
        installed.upgrade(&upgrade, by_helm_4 && round == 0)?;
        is_ours(&before, &installed.ours()?)?;
        installed.helm(&["rollback", release, "1"])?;
        is_theirs(&before, &installed.ours()?)?;
    }
    installed.helm.stdout(&upgrade)?;
    installed.helm(&["uninstall", release])?;
    let everything = self::values("listener-operator-everything");
    installed.helm(&["install", "all", &ours, &everything, &side, UNMONITORED])?;
    installed.helm(&["uninstall", "all"])?;
    installed.nothing_is_left_but(&[])
}

/// Upgrades are refused that would give Listeners other addresses, or that Kubernetes would refuse in the middle.
fn refused(installed: &Installed, upgrade: &[&str]) -> Result<()> {
    let before = installed.objects()?;
    for (value, said) in [
        ("preset=stable-nodes", "Add --set preset=ephemeral-nodes"),
        ("labels.stackable\\.tech/vendor=Us", "which is immutable"),
        ("nameOverride=exposer", "which is immutable"),
    ] {
        // A name of its own would be another release: only the label is another one.
        let full = "--set=fullnameOverride=listener-operator";
        let told = installed
            .helm
            .fail(&[upgrade, &["--set", value, full]].concat())?;
        ensure!(told.contains(said), "{value}: {told}");
    }
    let after = installed.objects()?;
    ensure!(
        versions(&before) == versions(&after),
        "refused, and yet changed"
    );
    Ok(())
}

fn is_ours(before: &Objects, after: &Objects) -> Result<()> {
    are_the_same(before, after, &KEPT)?;
    let controller = &after[PROVISIONER]["spec"];
    let strategy = &controller["strategy"];
    ensure!(strategy["type"] == "Recreate", "{strategy}");
    ensure!(containers(after, PROVISIONER) == ["csi-controller-service", "external-provisioner"]);
    let drivers = containers(after, DRIVERS);
    ensure!(
        drivers == ["csi-node-service"],
        "the registrar stays: {drivers:?}"
    );
    let env = variables(after, PROVISIONER);
    let stays = ["OPERATOR_IMAGE", "LISTENER_CLASS_PRESET"]
        .iter()
        .find(|name| env.contains_key(*name));
    ensure!(stays.is_none(), "{stays:?} stays");
    let args = &controller["template"]["spec"]["containers"][0]["args"];
    ensure!(
        args[2] == "--listener-class-preset=ephemeral-nodes",
        "{args}"
    );
    ensure!(after["CSIDriver listeners.stackable.tech"]["spec"]["requiresRepublish"] == true);
    let service = after.get("Service listener-operator");
    ensure!(service.is_none(), "the Service of the webhook stays");
    Ok(())
}

fn is_theirs(before: &Objects, back: &Objects) -> Result<()> {
    are_the_same(before, back, &KEPT)?;
    ensure!(containers(back, DRIVERS) == ["csi-node-service", "node-driver-registrar"]);
    ensure!(!back.contains_key("ServiceAccount listener-operator-node-serviceaccount"));
    let account = &back[PROVISIONER]["spec"]["template"]["spec"]["serviceAccountName"];
    ensure!(account == "listener-operator-serviceaccount", "{account}");
    Ok(())
}

const CONTROLLER: &str = "Deployment skupper-controller";
const GRANTS: &str = "Service skupper-grant-server";

async fn skupper() -> Result<()> {
    let installed = Installed::start().await?;
    let (theirs, ours) = (folder(&replaced("skupper")), folder(&chart("skupper")));
    installed.helm(&["install", "skupper", &theirs])?;
    // The existing controller makes it by itself; tokens that were handed out name its address.
    let service = ["service", "skupper-grant-server", "--namespace", NAMESPACE];
    let create = [
        &[
            "create",
            "service",
            "clusterip",
            "skupper-grant-server",
            "--tcp=9090",
        ],
        &service[2..],
    ]
    .concat();
    output(installed.server.kubectl().args(create))?;
    let before = installed.ours()?;
    let values = values("skupper-existing");
    let upgrade = [
        "upgrade",
        "skupper",
        &ours,
        "--namespace",
        NAMESPACE,
        &values,
    ];
    for round in 0..2 {
        installed.upgrade(&upgrade, round == 0)?;
        let after = installed.ours()?;
        are_the_same(
            &before,
            &after,
            &[CONTROLLER, GRANTS, "ServiceAccount skupper-controller"],
        )?;
        let container = &after[CONTROLLER]["spec"]["template"]["spec"]["containers"][0];
        let (command, args) = (&container["command"], &container["args"]);
        ensure!(command.is_null() && args[0] == "run", "{command} {args}");
        let env = variables(&after, CONTROLLER);
        let chosen = (env["DATA_PLANE"], env["ROUTER_ADAPTOR"]);
        ensure!(
            chosen.0 == "skupper-router" && chosen.1 == "kube-adaptor",
            "{chosen:?}"
        );
        installed.helm(&["rollback", "skupper", "1"])?;
        let back = installed.ours()?;
        are_the_same(&before, &back, &[CONTROLLER])?;
        let command = &back[CONTROLLER]["spec"]["template"]["spec"]["containers"][0]["command"];
        ensure!(command[0] == "/app/controller", "{command}");
    }
    // Beside it, under a name of its own.
    let beside = [
        "install",
        "beside",
        &ours,
        "--set=controllerName=ours",
        "--set=grantServer.serviceType=NodePort",
    ];
    installed.helm(&beside)?;
    ensure!(installed.ours()?.contains_key("ClusterRole ours"));
    installed.helm(&["uninstall", "beside"])?;
    installed.helm(&["uninstall", "skupper"])?;
    installed.nothing_is_left_but(&[GRANTS])?;
    output(installed.server.kubectl().arg("delete").args(service))?;
    scopes(&installed, &ours)
}

/// Tests the upgrade of a release for one namespace to one for all. The assignment of the namespace
/// to its controller stays.
fn scopes(installed: &Installed, ours: &str) -> Result<()> {
    let everything = values("skupper-everything");
    installed.helm(&["install", "skupper", ours, &everything, UNMONITORED])?;
    ensure!(installed.ours()?.contains_key("Role skupper-controller"));
    installed.helm(&["upgrade", "skupper", ours, "--reset-values"])?;
    let after = installed.ours()?;
    ensure!(
        after.contains_key(GRANTS),
        "the Service of grants goes at the second upgrade"
    );
    ensure!(!after.contains_key("Role skupper-controller"));
    ensure!(after.contains_key("ClusterRole skupper-controller"));
    installed.helm(&["uninstall", "skupper"])?;
    let words = [
        "get",
        "configmap",
        "skupper",
        "--output=jsonpath={.data.controller}",
    ];
    let kept = output(
        installed
            .server
            .kubectl()
            .args(words)
            .args(["--namespace", NAMESPACE]),
    )?;
    ensure!(kept == "operators/skupper-controller", "{kept}");
    installed.nothing_is_left_but(&[])
}
