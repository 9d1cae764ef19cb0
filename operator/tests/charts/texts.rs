//! Objects that the charts install, by values: as whole texts, which `BLESS=1 cargo test --workspace --test charts texts` writes anew; and which values they refuse.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, ensure};
use lifecycle_runtime::yaml;
use lifecycle_tests::harness::{Case, Need, case};
use lifecycle_tests::helm::Helm;
use serde_json::Value;

use crate::folders::{chart, here};

const NEEDS: &[Need] = &[Need::Helm];

/// Chart, the values with which it is rendered, and the API versions that the cluster has besides
/// the default ones.
pub(crate) type Rendering = (&'static str, &'static str, &'static [&'static str]);

const RENDERINGS: [Rendering; 8] = [
    ("listener-operator", "default", &[]),
    ("listener-operator", "minimal", &[]),
    ("listener-operator", "everything", &[]),
    (
        "listener-operator",
        "openshift",
        &["security.openshift.io/v1"],
    ),
    ("listener-operator", "scoped", &[]),
    ("skupper", "default", &[]),
    ("skupper", "existing", &[]),
    ("skupper", "everything", &[]),
];

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "m32_b10_b11_b50_charts_install_what_is_written_here",
            NEEDS,
            async || installed(),
        ),
        case(
            "charts_refuse_values_that_mean_nothing",
            NEEDS,
            async || refused(),
        ),
        case(
            "b7_b38_rights_are_no_more_than_those_of_the_replaced_charts",
            NEEDS,
            async || rights(),
        ),
    ]
}

/// The words that render a chart.
fn helm_args(rendering: Rendering) -> Vec<String> {
    let (name, values, versions) = rendering;
    let release = if name == "skupper" {
        "skupper"
    } else {
        "listener-operator"
    };
    let mut words = vec![
        "template".to_owned(),
        release.to_owned(),
        chart(name).display().to_string(),
        "--namespace=operators".to_owned(),
        "--kube-version=1.36.0".to_owned(),
    ];
    let file = here(&format!("values/{name}-{values}.yaml"));
    if file.exists() {
        words.push(format!("--values={}", file.display()));
    }
    words.extend(
        versions
            .iter()
            .map(|version| format!("--api-versions={version}")),
    );
    words
}

pub(crate) fn rendered(helm: &Helm, rendering: Rendering) -> Result<String> {
    let words = helm_args(rendering);
    helm.stdout(&words.iter().map(String::as_str).collect::<Vec<_>>())
}

fn installed() -> Result<()> {
    let helm = Helm::new(None)?;
    for rendering in RENDERINGS {
        let (name, values, _) = rendering;
        let folder = chart(name).display().to_string();
        helm.stdout(&["lint", "--strict", &folder])?;
        let text = rendered(&helm, rendering)?;
        let documents = yaml::all::<Value>(&text)?;
        ensure!(documents.len() > 4, "{name} with {values} is no chart");
        let path = here(&format!("golden/{name}-{values}.yaml"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&path, &text)?;
        }
        let wanted = fs::read_to_string(&path).unwrap_or_default();
        ensure!(
            text == wanted,
            "{} is not what the chart installs: see the head of texts.rs",
            path.display()
        );
    }
    Ok(())
}

/// Value, and the expected message.
const REFUSED: [(&str, &str, &str); 10] = [
    ("listener-operator", "preset=nodes", "preset"),
    ("listener-operator", "presets=none", "presets"),
    ("listener-operator", "kubeletDir=kubelet", "kubeletDir"),
    (
        "listener-operator",
        "watchNamespaces={a,B}",
        "watchNamespaces",
    ),
    ("listener-operator", "csiNodeDriver.replicas=2", "replicas"),
    (
        "listener-operator",
        "image.repository=oci.stackable.tech/sdp",
        "has the images of the replaced operator",
    ),
    (
        "listener-operator",
        "serviceAccount.create=false",
        "name the account that both parts run as",
    ),
    ("skupper", "scope=all", "scope"),
    ("skupper", "dataPlane=envoy", "dataPlane"),
    (
        "skupper",
        "controllerImage=quay.io/skupper/controller:2.2.1",
        "an image of the existing controller",
    ),
];

fn refused() -> Result<()> {
    let helm = Helm::new(None)?;
    for (name, value, said) in REFUSED {
        let folder = chart(name).display().to_string();
        let told = helm.fail(&["template", name, &folder, "--set", value])?;
        ensure!(told.contains(said), "{value}: {told}");
    }
    Ok(())
}

/// A resource of a group, and a verb.
type Right = (String, String, String);

fn right(group: &str, resource: &str, verb: &str) -> Right {
    (group.to_owned(), resource.to_owned(), verb.to_owned())
}

/// The rights that the ClusterRole of the chart of the Stackable Listener operator grants, with definitions maintained.
const REPLACED: [(&str, &str, &str); 17] = [
    ("", "events", "get list watch create update patch"),
    ("events.k8s.io", "events", "create patch"),
    ("", "services", "get list watch create patch delete"),
    (
        "",
        "persistentvolumes",
        "get list watch create patch delete",
    ),
    ("", "nodes", "get list watch"),
    ("", "persistentvolumeclaims", "get list watch"),
    ("", "endpoints", "get list watch"),
    ("", "nodes/proxy", "get"),
    ("storage.k8s.io", "csinodes", "get list watch"),
    ("storage.k8s.io", "storageclasses", "get list watch"),
    ("", "pods", "get patch"),
    (
        "listeners.stackable.tech",
        "listenerclasses",
        "get list watch create patch",
    ),
    (
        "listeners.stackable.tech",
        "listeners",
        "get list watch create patch delete",
    ),
    ("listeners.stackable.tech", "listeners/status", "patch"),
    ("listeners.stackable.tech", "listeners/finalizers", "update"),
    ("listeners.stackable.tech", "podlisteners", "create patch"),
    (
        "apiextensions.k8s.io",
        "customresourcedefinitions",
        "list watch create patch",
    ),
];

/// Rights that the charts of this repository grant beyond that, and their reasons.
const BEYOND: [(&str, &str, &str, &str); 5] = [
    (
        "",
        "pods",
        "list watch",
        "a node watches its Pods, instead of asking for one at each mount",
    ),
    (
        "discovery.k8s.io",
        "endpointslices",
        "list watch",
        "instead of endpoints, which Kubernetes deprecates",
    ),
    (
        "listeners.stackable.tech",
        "podlisteners",
        "get list watch delete",
        "a mount writes only what differs",
    ),
    (
        "",
        "persistentvolumeclaims",
        "update",
        "csi-provisioner gives a claim back whose node cannot have it",
    ),
    (
        "coordination.k8s.io",
        "leases",
        "get create update",
        "of several replicas one writes; in the own namespace",
    ),
];

fn listed<'a>(rows: impl Iterator<Item = (&'a str, &'a str, &'a str)>) -> BTreeSet<Right> {
    let each = rows.flat_map(|(group, resource, verbs)| {
        verbs
            .split(' ')
            .map(move |verb| right(group, resource, verb))
    });
    each.collect()
}

fn rights() -> Result<()> {
    let helm = Helm::new(None)?;
    let text = rendered(&helm, ("listener-operator", "default", &[]))?;
    let mut ours = BTreeSet::new();
    for role in yaml::all::<Value>(&text)? {
        for rule in role["rules"].as_array().into_iter().flatten() {
            let list = |field: &str| -> Result<Vec<String>> {
                serde_json::from_value(rule[field].clone()).context("a rule is a list of words")
            };
            for group in list("apiGroups")? {
                for resource in list("resources")? {
                    let verbs = list("verbs")?.into_iter();
                    ours.extend(verbs.map(|verb| right(&group, &resource, &verb)));
                }
            }
        }
    }
    let theirs = listed(REPLACED.into_iter());
    let beyond = listed(
        BEYOND
            .into_iter()
            .map(|(group, resource, verbs, _)| (group, resource, verbs)),
    );
    let unexplained: Vec<_> = ours
        .difference(&theirs)
        .filter(|one| !beyond.contains(*one))
        .collect();
    ensure!(
        unexplained.is_empty(),
        "beyond the replaced chart, for no reason: {unexplained:?}"
    );
    let unused: Vec<_> = beyond.difference(&ours).collect();
    ensure!(
        unused.is_empty(),
        "reasons for what is not granted: {unused:?}"
    );
    for narrower in [
        ("", "nodes/proxy", "get"),
        ("", "endpoints", "list"),
        ("", "services", "delete"),
    ] {
        let (group, resource, verb) = narrower;
        ensure!(
            !ours.contains(&right(group, resource, verb)),
            "{narrower:?} is granted again"
        );
    }
    Ok(())
}
