//! A Deployment or a DaemonSet by its command lines, environment and labels, which identify a part
//! of the replaced operator.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// Label by which its chart distinguishes its two parts.
const ROLE: &str = "app.kubernetes.io/role";
/// The name of the containers of both parts before release 25.11.
const BEFORE_25_11: &str = "listener-operator";
/// The label with the name of the chart.
const CHART: &str = "app.kubernetes.io/name";
/// Variable and option that enable probes in this operator's programs.
const PROBES: (&str, &str) = ("HEALTH_PROBE_BIND_ADDRESS", "--health-probe-bind-address");

/// A part as its chart calls it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// Its container.
    pub(crate) container: &'static str,
    /// The word after `run`.
    pub(crate) mode: &'static str,
    /// The value of its label.
    pub(crate) role: &'static str,
}

/// A Deployment or a DaemonSet.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Workload<'a> {
    metadata: &'a ObjectMeta,
    template: Option<&'a PodTemplateSpec>,
}

impl<'a> Workload<'a> {
    /// Of an object with this template.
    pub(crate) fn new(metadata: &'a ObjectMeta, template: Option<&'a PodTemplateSpec>) -> Self {
        Self { metadata, template }
    }

    /// Namespace and name.
    pub(crate) fn namespaced_name(self) -> (&'a str, &'a str) {
        (text(&self.metadata.namespace), text(&self.metadata.name))
    }

    /// The specification of its Pods.
    pub(crate) fn pods(self) -> Option<&'a PodSpec> {
        self.template?.spec.as_ref()
    }

    /// The container of this part: by its name, and by its command line or the role of the workload. Before release 25.11 the chart gave the containers of
    /// both parts its own name, and its workloads other roles.
    pub(crate) fn container_of(self, part: Part) -> Option<&'a Container> {
        let has_role = self.labels(ROLE).any(|role| role == part.role);
        let mut containers = self.pods()?.containers.iter();
        containers.find(|one| {
            let is_named = one.name == part.container;
            is_named && has_role || (is_named || one.name == BEFORE_25_11) && runs(one, part.mode)
        })
    }

    /// Returns true if its name, chart or account names the Listener operator.
    pub(crate) fn names_listeners(self) -> bool {
        let account = self.pods().map(|pods| text(&pods.service_account_name));
        let name = [self.namespaced_name().1].into_iter().chain(account);
        let mut names = name.chain(self.labels(CHART));
        names.any(|name| name.contains("listener"))
    }

    /// Returns true if it or its Pods have this label.
    pub(crate) fn is_labelled(self, key: &'static str, value: &str) -> bool {
        self.labels(key).any(|one| one == value)
    }

    fn labels(self, key: &'static str) -> impl Iterator<Item = &'a str> {
        let of_pods = self
            .template
            .and_then(|template| template.metadata.as_ref());
        let all = [Some(self.metadata), of_pods].into_iter().flatten();
        let labels = all.filter_map(|metadata| metadata.labels.as_ref());
        labels
            .filter_map(move |labels: &'a BTreeMap<String, String>| Some(labels.get(key)?.as_str()))
    }
}

/// Returns true if a container enables probes, which the program of the replaced operator does not
/// support.
pub(crate) fn asks_for_probes(container: &Container) -> bool {
    let (variable, option) = PROBES;
    variables(container).any(|(name, _)| name == variable)
        || command_words(container).any(|word| word.starts_with(option))
}

/// The value of an option, or else of its variable; `Some(None)` if the variable takes it from elsewhere.
pub(crate) fn setting<'a>(
    container: &'a Container,
    (variable, option): (&str, &str),
) -> Option<Option<&'a str>> {
    let mut words = command_words(container);
    while let Some(word) = words.next() {
        match word.strip_prefix(option).map(|rest| rest.strip_prefix('=')) {
            Some(Some(value)) => return Some(Some(value)),
            Some(None) if word == option => return Some(words.next()),
            Some(None) | None => {}
        }
    }
    variables(container).find_map(|(name, value)| (name == variable).then_some(value))
}

/// The words of its command line, also of one that is given to a shell.
pub(crate) fn command_words(container: &Container) -> impl Iterator<Item = &str> {
    let command = container.command.iter().flatten();
    let all = command.chain(container.args.iter().flatten());
    all.flat_map(|words| words.split_whitespace())
}

fn variables(container: &Container) -> impl Iterator<Item = (&str, Option<&str>)> {
    let all = container.env.iter().flatten();
    all.map(|one| (one.name.as_str(), one.value.as_deref()))
}

/// Returns true if a container runs this part of a program. Options of `run` may come before the
/// mode.
pub(crate) fn runs(container: &Container, mode: &str) -> bool {
    let mut words = command_words(container);
    words.any(|word| word == "run") && words.any(|word| word == mode)
}

fn text(text: &Option<String>) -> &str {
    text.as_deref().unwrap_or_default()
}
