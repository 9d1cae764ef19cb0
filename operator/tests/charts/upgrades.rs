//! Releases of the replaced charts, upgraded to ours, back, over again, and uninstalled, by Helm on a real API server: nothing is in the way, workloads keep
//! their uids, and nothing is left behind but definitions and what users made.

use std::collections::BTreeMap;

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

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "a_release_of_the_replaced_listener_chart_is_upgraded",
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

/// A cluster without nodes, and Helm for it.
struct Installed {
    server: ApiServer,
    helm: Helm,
    /// What was there before.
    before: BTreeMap<String, Value>,
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

    /// All objects of the kinds that a chart installs, by kind and name.
    fn objects(&self) -> Result<BTreeMap<String, Value>> {
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
        self.helm.say(words)?;
        Ok(())
    }

    /// What came since the beginning.
    fn ours(&self) -> Result<BTreeMap<String, Value>> {
        let mut objects = self.objects()?;
        objects.retain(|name, _| !self.before.contains_key(name));
        Ok(objects)
    }
}

fn versions(objects: &BTreeMap<String, Value>) -> Vec<&Value> {
    let all = objects.values();
    all.map(|object| &object["metadata"]["resourceVersion"])
        .collect()
}

fn uid(objects: &BTreeMap<String, Value>, name: &str) -> Result<String> {
    let object = objects
        .get(name)
        .with_context(|| format!("there is no {name}"))?;
    Ok(object["metadata"]["uid"].to_string())
}

fn containers(objects: &BTreeMap<String, Value>, name: &str) -> Vec<String> {
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
fn variables<'a>(objects: &'a BTreeMap<String, Value>, name: &str) -> BTreeMap<&'a str, &'a Value> {
    let env = objects[name]["spec"]["template"]["spec"]["containers"][0]["env"].as_array();
    let env = env.into_iter().flatten();
    env.filter_map(|one| Some((one["name"].as_str()?, &one["value"])))
        .collect()
}

async fn listeners(by_helm_4: bool) -> Result<()> {
    let side = if by_helm_4 {
        "--server-side=true"
    } else {
        "--server-side=false"
    };
    let installed = Installed::start().await?;
    let (release, values) = (
        "listener-operator",
        here("values/listener-operator-taken-over.yaml"),
    );
    let (theirs, ours) = (replaced(release), chart(release));
    let folder = |path: &std::path::Path| path.display().to_string();
    let install = [
        "install",
        release,
        &folder(&theirs),
        "--namespace",
        NAMESPACE,
        side,
    ];
    installed.helm.say(&install)?;
    let before = installed.ours()?;
    let [deployment, daemon_set] = [
        "Deployment listener-operator-csi-provisioner",
        "DaemonSet listener-operator-csi-node-driver",
    ];
    let values = format!("--values={}", values.display());
    let upgrade = [
        "upgrade",
        release,
        &folder(&ours),
        "--namespace",
        NAMESPACE,
        &values,
    ];
    for round in 0..2 {
        // What the command changed stays on the way back.
        installed.upgrade(&upgrade, by_helm_4 && round == 0)?;
        let after = installed.ours()?;
        for kept in [
            deployment,
            daemon_set,
            "CSIDriver listeners.stackable.tech",
            "StorageClass listeners.stackable.tech",
            "ServiceAccount listener-operator-serviceaccount",
        ] {
            ensure!(
                uid(&before, kept)? == uid(&after, kept)?,
                "{kept} is another one"
            );
        }
        let controller = &after[deployment]["spec"];
        ensure!(
            controller["strategy"]["type"] == "Recreate",
            "{}",
            controller["strategy"]
        );
        ensure!(
            containers(&after, deployment) == ["csi-controller-service", "external-provisioner"]
        );
        ensure!(
            containers(&after, daemon_set) == ["csi-node-service"],
            "the registrar stays: {:?}",
            containers(&after, daemon_set)
        );
        let env = variables(&after, deployment);
        ensure!(
            !env.contains_key("OPERATOR_IMAGE") && !env.contains_key("LISTENER_CLASS_PRESET"),
            "{env:?}"
        );
        let args = &controller["template"]["spec"]["containers"][0]["args"];
        ensure!(
            args[2] == "--listener-class-preset=ephemeral-nodes",
            "{args}"
        );
        ensure!(after["CSIDriver listeners.stackable.tech"]["spec"]["requiresRepublish"] == true);
        ensure!(
            !after.contains_key("Service listener-operator"),
            "the Service of the webhook stays"
        );
        installed
            .helm
            .say(&["rollback", release, "1", "--namespace", NAMESPACE])?;
        let back = installed.ours()?;
        ensure!(
            uid(&before, deployment)? == uid(&back, deployment)?,
            "the way back in round {round}"
        );
        ensure!(containers(&back, daemon_set) == ["csi-node-service", "node-driver-registrar"]);
        ensure!(!back.contains_key("ServiceAccount listener-operator-node-serviceaccount"));
        ensure!(
            back["Deployment listener-operator-csi-provisioner"]["spec"]["template"]["spec"]["serviceAccountName"]
                == "listener-operator-serviceaccount"
        );
    }
    installed.helm.say(&upgrade)?;
    let uninstall = |release: &str| {
        let words = ["uninstall", release, "--namespace", NAMESPACE];
        installed.helm.say(&words)
    };
    uninstall(release)?;
    let everything = here("values/listener-operator-everything.yaml");
    let everything = format!("--values={}", everything.display());
    let words = ["install", "all", upgrade[2], "--namespace", NAMESPACE];
    let words = [&words[..], &[everything.as_str(), side]].concat();
    installed.helm.say(&words)?;
    uninstall("all")?;
    let left = installed.ours()?;
    ensure!(left.is_empty(), "left behind: {:?}", left.keys());
    Ok(())
}

async fn skupper() -> Result<()> {
    let installed = Installed::start().await?;
    let folder = |path: std::path::PathBuf| path.display().to_string();
    let (theirs, ours) = (folder(replaced("skupper")), folder(chart("skupper")));
    installed
        .helm
        .say(&["install", "skupper", &theirs, "--namespace", NAMESPACE])?;
    // The existing controller makes it by itself; tokens that were handed out name its address.
    let service = [
        "create",
        "service",
        "clusterip",
        "skupper-grant-server",
        "--tcp=9090",
        "--namespace",
        NAMESPACE,
    ];
    output(installed.server.kubectl().args(service))?;
    let before = installed.ours()?;
    let [deployment, service] = [
        "Deployment skupper-controller",
        "Service skupper-grant-server",
    ];
    let values = format!(
        "--values={}",
        here("values/skupper-existing.yaml").display()
    );
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
        for kept in [deployment, service, "ServiceAccount skupper-controller"] {
            ensure!(
                uid(&before, kept)? == uid(&after, kept)?,
                "{kept} is another one"
            );
        }
        let container = &after[deployment]["spec"]["template"]["spec"]["containers"][0];
        ensure!(
            container["command"].is_null(),
            "the command of the existing image stays"
        );
        ensure!(container["args"][0] == "run", "{}", container["args"]);
        let env = variables(&after, deployment);
        ensure!(
            env["DATA_PLANE"] == "skupper-router" && env["ROUTER_ADAPTOR"] == "kube-adaptor",
            "{env:?}"
        );
        installed
            .helm
            .say(&["rollback", "skupper", "1", "--namespace", NAMESPACE])?;
        let back = installed.ours()?;
        ensure!(uid(&before, deployment)? == uid(&back, deployment)?);
        ensure!(
            back[deployment]["spec"]["template"]["spec"]["containers"][0]["command"][0]
                == "/app/controller"
        );
    }
    installed
        .helm
        .say(&["uninstall", "skupper", "--namespace", NAMESPACE])?;
    let left = installed.ours()?;
    ensure!(
        left.keys().collect::<Vec<_>>() == [service],
        "left behind: {:?}",
        left.keys()
    );
    let delete = [
        "delete",
        "service",
        "skupper-grant-server",
        "--namespace",
        NAMESPACE,
    ];
    output(installed.server.kubectl().args(delete))?;
    let everything = format!(
        "--values={}",
        here("values/skupper-everything.yaml").display()
    );
    installed.helm.say(&[
        "install",
        "skupper",
        &ours,
        "--namespace",
        NAMESPACE,
        &everything,
    ])?;
    installed.helm.say(&[
        "upgrade",
        "skupper",
        &ours,
        "--namespace",
        NAMESPACE,
        "--reset-values",
    ])?;
    let after = installed.ours()?;
    ensure!(
        after.contains_key(service),
        "the Service of grants goes at the second upgrade"
    );
    ensure!(
        !after.contains_key("Role skupper-controller")
            && after.contains_key("ClusterRole skupper-controller")
    );
    installed
        .helm
        .say(&["uninstall", "skupper", "--namespace", NAMESPACE])?;
    let left = installed.ours()?;
    ensure!(left.is_empty(), "left behind: {:?}", left.keys());
    Ok(())
}
