//! Limits that a real API server sets to the parts: under which level of Pod Security it admits their Pods, and which rights it finds in each account.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, ensure};
use k8s_openapi::api::authorization::v1::SubjectAccessReview;
use kube::Api;
use kube::api::PostParams;
use lifecycle_runtime::yaml;
use lifecycle_tests::api_server::ApiServer;
use lifecycle_tests::harness::{Case, Need, case};
use lifecycle_tests::helm::Helm;
use lifecycle_tests::process::output;
use serde_json::{Value, json};

use crate::texts;

const NEEDS: &[Need] = &[Need::Binaries, Need::Helm];

const NAMESPACE: &str = "listener-operator";

/// All that a right may be for.
const VERBS: [&str; 8] = [
    "get",
    "list",
    "watch",
    "create",
    "update",
    "patch",
    "delete",
    "deletecollection",
];

/// Resources that no account is to reach, although a mistake in a role might let it: a group and a resource.
const FORBIDDEN: [(&str, &str); 7] = [
    ("", "secrets"),
    ("", "pods/exec"),
    ("", "nodes/proxy"),
    ("", "serviceaccounts/token"),
    ("apps", "deployments"),
    ("rbac.authorization.k8s.io", "clusterroles"),
    ("rbac.authorization.k8s.io", "rolebindings"),
];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "b10_the_level_restricted_admits_the_controllers_and_not_the_node",
            NEEDS,
            levels,
        ),
        case(
            "b7_each_account_has_the_rights_of_its_manifest_and_no_other",
            &[Need::Binaries],
            accounts,
        ),
    ]
}

fn deploy(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../deploy")
        .join(path)
}

/// The Pod that a workload makes; `kind` is that of the workload.
fn pod(text: &str, kind: &str) -> Result<Value> {
    let documents = yaml::all::<Value>(text)?;
    let workload = documents.into_iter().find(|found| found["kind"] == kind);
    let workload = workload.with_context(|| format!("no {kind}"))?;
    let template = &workload["spec"]["template"];
    Ok(json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": { "name": "pod", "labels": template["metadata"]["labels"] },
        "spec": template["spec"],
    }))
}

/// Lets the API server judge a Pod in a namespace, and keeps nothing of it.
fn judge(server: &ApiServer, namespace: &str, pod: &Value) -> Result<Output> {
    let file = server.folder().join("pod.json");
    fs::write(&file, pod.to_string())?;
    let mut kubectl = server.kubectl();
    kubectl.args(["create", "--dry-run=server", "--namespace", namespace]);
    let output = kubectl.arg("--filename").arg(&file).output();
    output.context("cannot run kubectl")
}

async fn levels() -> Result<()> {
    let server = ApiServer::start().await?;
    for level in ["restricted", "baseline", "privileged"] {
        let label = format!("pod-security.kubernetes.io/enforce={level}");
        output(server.kubectl().args(["create", "namespace", level]))?;
        let words = ["label", "namespace", level, &label];
        output(server.kubectl().args(words))?;
    }
    let helm = Helm::new(None)?;
    let chart = |name| texts::rendered(&helm, (name, "default", &[]));
    let file = |path| fs::read_to_string(deploy(path)).context("a manifest cannot be read");
    let (listeners, sites) = (chart("listener-operator")?, chart("skupper")?);
    for (what, text) in [
        ("the chart of Listeners", &listeners),
        ("the chart of sites", &sites),
        ("install", &file("install/controller.yaml")?),
        ("skupper", &file("skupper/controller.yaml")?),
    ] {
        let judged = judge(&server, "restricted", &pod(text, "Deployment")?)?;
        let told = String::from_utf8_lossy(&judged.stderr);
        ensure!(judged.status.success(), "the controller of {what}: {told}");
    }
    for (what, text) in [
        ("the chart", &listeners),
        ("install", &file("install/node.yaml")?),
    ] {
        let node = pod(text, "DaemonSet")?;
        let judged = judge(&server, "privileged", &node)?;
        let told = String::from_utf8_lossy(&judged.stderr);
        ensure!(judged.status.success(), "the node of {what}: {told}");
        // The check follows docs/install.md; without it the test would not prove the levels above.
        for level in ["restricted", "baseline"] {
            let judged = judge(&server, level, &node)?;
            let told = String::from_utf8_lossy(&judged.stderr);
            let is_refused = !judged.status.success() && told.contains("violates PodSecurity");
            ensure!(is_refused, "{level} admits the node of {what}: {told}");
        }
    }
    Ok(())
}

/// A group, a resource and a verb.
type Right = (String, String, String);

/// The rights of the ClusterRoles in a manifest. Rules for objects of some names are left out: they allow nothing where no name is given.
fn granted(path: &str) -> Result<BTreeSet<Right>> {
    let mut rights = BTreeSet::new();
    for document in yaml::all::<Value>(&fs::read_to_string(deploy(path))?)? {
        let rules = document["rules"].as_array().into_iter().flatten();
        let rules = rules.filter(|rule| rule["resourceNames"].is_null());
        for rule in rules.filter(|_| document["kind"] == "ClusterRole") {
            let list = |field: &str| -> Result<Vec<String>> {
                serde_json::from_value(rule[field].clone()).context("a rule is a list of words")
            };
            for group in list("apiGroups")? {
                for resource in list("resources")? {
                    let verbs = list("verbs")?.into_iter();
                    rights.extend(verbs.map(|verb| (group.clone(), resource.clone(), verb)));
                }
            }
        }
    }
    ensure!(rights.len() > 10, "{path} grants little: {rights:?}");
    Ok(rights)
}

/// Queries the API server for every verb of these resources, in all namespaces.
async fn allowed(
    server: &ApiServer,
    account: &str,
    resources: &BTreeSet<(String, String)>,
) -> Result<BTreeSet<Right>> {
    let reviews: Api<SubjectAccessReview> = Api::all(server.client());
    let mut allowed = BTreeSet::new();
    for (group, resource) in resources {
        for verb in VERBS {
            let (name, part) = resource.split_once('/').unwrap_or((resource.as_str(), ""));
            let review = serde_json::from_value(json!({
                "metadata": {},
                "spec": {
                    "user": format!("system:serviceaccount:{NAMESPACE}:{account}"),
                    "groups": ["system:serviceaccounts", format!("system:serviceaccounts:{NAMESPACE}"), "system:authenticated"],
                    "resourceAttributes": { "group": group, "resource": name, "subresource": part, "verb": verb },
                },
            }))?;
            let review = reviews.create(&PostParams::default(), &review).await?;
            if review.status.is_some_and(|status| status.allowed) {
                allowed.insert((group.clone(), resource.clone(), verb.to_owned()));
            }
        }
    }
    Ok(allowed)
}

async fn accounts() -> Result<()> {
    let server = ApiServer::start().await?;
    let mut kubectl = server.kubectl();
    output(kubectl.args(["apply", "--filename"]).arg(deploy("install")))?;
    let rows = [
        (
            "listener-operator-controller",
            granted("install/controller.yaml")?,
        ),
        ("listener-operator-node", granted("install/node.yaml")?),
        ("default", BTreeSet::new()),
    ];
    let all = rows.iter().flat_map(|(_, rights)| rights);
    let mut resources: BTreeSet<(String, String)> = all
        .map(|(group, resource, _)| (group.clone(), resource.clone()))
        .collect();
    let forbidden = FORBIDDEN.map(|(group, resource)| (group.to_owned(), resource.to_owned()));
    for one in &forbidden {
        ensure!(!resources.contains(one), "{one:?} is granted");
    }
    resources.extend(forbidden);
    for (account, wanted) in rows {
        let found = allowed(&server, account, &resources).await?;
        let differ: Vec<&Right> = found.symmetric_difference(&wanted).collect();
        ensure!(
            differ.is_empty(),
            "{account} may do {found:?}, its manifest differs by {differ:?}"
        );
    }
    Ok(())
}
