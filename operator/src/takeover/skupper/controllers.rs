//! Controllers of Skupper sites that would write beside this one: the existing one, and another
//! instance of this one. Pure.

use std::collections::BTreeMap;

use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::core::v1::Container;

use super::chosen::Chosen;
use super::spaces::Space;
use crate::takeover::finding::Finding;
use crate::takeover::workload::{Workload, asks_for_probes, command_words, runs, setting};

/// The container of a controller, in either chart.
const CONTAINER: &str = "controller";
/// The label of a controller, in either chart.
const LABEL: (&str, &str) = ("application", "skupper-controller");
/// The program of the existing one.
const PROGRAM: &str = "/app/controller";
/// Its option for grants, with one dash or two.
const GRANTS: &str = "enable-grants";
/// How many namespaces one line names.
const NAMED: usize = 5;

/// A controller of sites.
pub(crate) struct Controller<'a> {
    deployment: &'a Deployment,
    container: &'a Container,
    is_ours: bool,
}

/// Returns the controllers among Deployments. A controller belongs to this operator by its command
/// line or its probes, because this program may run in the chart of the existing one.
pub(crate) fn controllers(deployments: &[Deployment]) -> Vec<Controller<'_>> {
    let all = deployments.iter().filter_map(|deployment| {
        let workload = workload(deployment);
        let containers = &workload.pods()?.containers;
        let container = containers.iter().find(|one| one.name == CONTAINER)?;
        let is_labelled = workload.is_labelled(LABEL.0, LABEL.1);
        let says_so = runs(container, "skupper");
        let is_theirs = command_words(container)
            .any(|word| word == PROGRAM || word.trim_start_matches('-').starts_with(GRANTS));
        let is_ours = says_so || (is_labelled && asks_for_probes(container));
        (is_labelled || says_so || is_theirs).then_some(Controller {
            deployment,
            container,
            is_ours,
        })
    });
    all.collect()
}

impl Controller<'_> {
    fn namespaced_name(&self) -> (&str, &str) {
        workload(self.deployment).namespaced_name()
    }

    /// Returns the name by which ConfigMaps refer to it. Without a configured name, the existing
    /// controller has the name of its Deployment, and this operator's controller has the default
    /// one.
    fn full_name(&self) -> String {
        let (namespace, deployment) = self.namespaced_name();
        let option = if self.is_ours {
            "controller-name"
        } else {
            "name"
        };
        let usual = if self.is_ours { LABEL.1 } else { deployment };
        let name = declared_value(self.container, "CONTROLLER_NAME", option).flatten();
        format!("{namespace}/{}", name.unwrap_or(usual))
    }

    /// The only namespaces that it watches; none if it watches all, or if that cannot be read off.
    fn watched(&self) -> Vec<&str> {
        let several = declared_value(self.container, "WATCH_NAMESPACES", "watch-namespaces");
        let several = several.flatten().filter(|_| self.is_ours);
        let one = match declared_value(self.container, "WATCH_NAMESPACE", "watch-namespace") {
            Some(None) => takes_own_namespace(self.container).then(|| self.namespaced_name().0),
            Some(said) => said,
            None => None,
        };
        let names = several
            .into_iter()
            .chain(one)
            .flat_map(|text| text.split(','));
        names
            .map(str::trim)
            .filter(|name| !name.is_empty())
            .collect()
    }

    /// Returns true if it manages a namespace whose ConfigMap names this controller, or none.
    fn takes(&self, namespace: &str, named: Option<&str>) -> bool {
        let watched = self.watched();
        if !watched.is_empty() && !watched.contains(&namespace) {
            return false;
        }
        match named {
            // This operator treats an empty text as absent, and the existing one treats it as a
            // name.
            Some("") => self.is_ours,
            Some(named) => in_full(namespace, named, self.is_ours) == self.full_name(),
            None => !self.needs_name(),
        }
    }

    /// Returns true if it ignores namespaces that name no controller.
    fn needs_name(&self) -> bool {
        let option = "sites-require-annotation";
        let is_bare = |word: &str| word.trim_start_matches('-') == option;
        let said = declared_value(self.container, "SITES_REQUIRE_ANNOTATION", option);
        command_words(self.container).any(is_bare) || said.flatten() == Some("true")
    }
}

/// The controller that a ConfigMap names. The existing one takes a name without a namespace for one of the same namespace.
fn in_full(namespace: &str, named: &str, is_ours: bool) -> String {
    match named.contains('/') || is_ours {
        true => named.to_owned(),
        false => format!("{namespace}/{named}"),
    }
}

/// Returns the findings of a controller, and of the namespaces that it would write beside this one.
pub(crate) fn running(
    controller: &Controller<'_>,
    spaces: &BTreeMap<String, Space<'_>>,
    chosen: &Chosen,
) -> Vec<Finding> {
    let (namespace, name) = controller.namespaced_name();
    let object = format!("Deployment {namespace}/{name}");
    let spec = controller.deployment.spec.as_ref();
    let replicas = spec.and_then(|spec| spec.replicas).unwrap_or(1);
    let status = controller.deployment.status.as_ref();
    let left = status.and_then(|status| status.replicas).unwrap_or(0);
    let is_same = controller.full_name() == chosen.full_name();
    let who = match controller.is_ours {
        true => "another controller of this project",
        false => "the existing controller",
    };
    match replicas {
        // Its Lease keeps the new one from writing until it has ended.
        _ if controller.is_ours && is_same => Vec::new(),
        1.. if is_same => vec![Finding::blocks(
            &object,
            format!(
                "{who}, with {}, has the name of this one, {}: both would write the same namespaces",
                count(replicas, "replica"),
                controller.full_name()
            ),
            format!(
                "scale it to zero, `kubectl --namespace {namespace} scale deployment {name} --replicas 0`, or upgrade its Helm release in place"
            ),
        )],
        1.. => check_companion(controller, spaces, (&object, who), chosen),
        _ if left > 0 => vec![Finding::blocks(
            &object,
            format!("{who}: {} still there", count(left, "Pod")),
            "wait until it has none",
        )],
        _ if is_same => vec![Finding::note(
            &object,
            format!("{who}, without replicas, has the namespace and name of this one"),
            "keep a copy of it for the way back; this one takes its place",
        )],
        _ => vec![Finding::note(
            &object,
            format!("{who} has no replicas, so it writes nothing"),
            "delete it once you will not go back",
        )],
    }
}

/// One of another name, which goes on: the namespaces that both would write, and those that each has.
fn check_companion(
    controller: &Controller<'_>,
    spaces: &BTreeMap<String, Space<'_>>,
    (object, who): (&str, &str),
    chosen: &Chosen,
) -> Vec<Finding> {
    let id = chosen.id();
    let (theirs, ours) = (controller.full_name(), chosen.full_name());
    let mut findings = Vec::new();
    let mut kept = Vec::new();
    for (name, space) in spaces {
        let named = space.named();
        let is_watched = chosen.watches(name);
        let is_ours = is_watched && id.other(space.config).is_none();
        let is_theirs = controller.takes(name, named);
        let here = format!("Namespace {name}");
        if is_ours && is_theirs {
            findings.push(Finding::blocks(
                &here,
                format!("{who}, {theirs}, and this one, {ours}, would both write it: ConfigMap `skupper` does not name the controller that manages it"),
                format!("name one of them, {}; for this one use `{ours}`, which the other controller reads at its next start", name_it(name, space, &theirs)),
            ));
        } else if is_ours && named == Some(ours.as_str()) {
            let (namespace, name) = controller.namespaced_name();
            findings.push(Finding::note(
                &here,
                format!("ConfigMap `skupper` gives it to this controller; {who}, {theirs}, reads that when it starts, and may write until then"),
                format!("restart that one if it has not started since: `kubectl --namespace {namespace} rollout restart deployment {name}`"),
            ));
        } else if is_theirs {
            kept.push(name.as_str());
        }
    }
    findings.push(Finding::note(
        object,
        format!(
            "{who}, {theirs}, with {}, {}",
            count_of(controller),
            keeps(&kept)
        ),
        "",
    ));
    findings
}

fn count_of(controller: &Controller<'_>) -> String {
    let spec = controller.deployment.spec.as_ref();
    let replicas = spec.and_then(|spec| spec.replicas).unwrap_or(1);
    count(replicas, "replica")
}

/// The namespaces that stay with a controller.
fn keeps(names: &[&str]) -> String {
    let all = names.iter().take(NAMED).copied();
    let all: Vec<&str> = all.collect();
    match names.len() {
        0 => "keeps no namespace for itself".to_owned(),
        many if many > NAMED => format!("keeps {} and {} more", all.join(", "), many - NAMED),
        _ => format!("keeps {}", all.join(", ")),
    }
}

/// Returns the command that assigns a namespace to a controller.
fn name_it(namespace: &str, space: &Space<'_>, controller: &str) -> String {
    match space.config {
        None => format!(
            "`kubectl --namespace {namespace} create configmap skupper --from-literal controller={controller}`"
        ),
        Some(_) => format!(
            "`kubectl --namespace {namespace} patch configmap skupper --type merge --patch '{{\"data\":{{\"controller\":\"{controller}\"}}}}'`"
        ),
    }
}

/// Returns the findings of namespaces that name a missing controller, and that are therefore not
/// managed.
pub(crate) fn unmanaged(
    all: &[Controller<'_>],
    spaces: &BTreeMap<String, Space<'_>>,
    chosen: &Chosen,
) -> Vec<Finding> {
    let id = chosen.id();
    let lonely = spaces.iter().filter_map(|(name, space)| {
        let is_watched = chosen.watches(name);
        let other = id.other(space.config).filter(|_| is_watched)?;
        let is_there = all.iter().any(|one| one.takes(name, Some(other)));
        (!is_there).then(|| {
            let found = format!("ConfigMap `skupper` assigns it to controller {other}, which has no Deployment: neither that controller nor this one manages it");
            let todo = format!("for this one to manage it, {}", name_it(name, space, &chosen.full_name()));
            Finding::note(&format!("Namespace {name}"), found, todo)
        })
    });
    lonely.collect()
}

/// The value of a variable, or of an option with one dash or two, which goes before it; `Some(None)` if the variable takes it from elsewhere.
fn declared_value<'a>(
    container: &'a Container,
    variable: &str,
    option: &str,
) -> Option<Option<&'a str>> {
    let (two, one) = (format!("--{option}"), format!("-{option}"));
    let by_option = setting(container, ("", &two)).or_else(|| setting(container, ("", &one)));
    by_option.or_else(|| setting(container, (variable, &two)))
}

/// Returns true if `WATCH_NAMESPACE` is the namespace of the Pod, as the chart sets it for one
/// namespace.
fn takes_own_namespace(container: &Container) -> bool {
    let mut all = container.env.iter().flatten();
    let variable = all.find(|one| one.name == "WATCH_NAMESPACE");
    let source = variable.and_then(|one| one.value_from.as_ref()?.field_ref.as_ref());
    source.is_some_and(|field| field.field_path == "metadata.namespace")
}

fn workload(deployment: &Deployment) -> Workload<'_> {
    let template = deployment.spec.as_ref().map(|spec| &spec.template);
    Workload::new(&deployment.metadata, template)
}

fn count(number: i32, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
