//! Controllers that would write beside this operator: the one of the replaced operator, and another
//! instance of this operator.

use jiff::SignedDuration;
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Container;
use kube::ResourceExt;
use lifecycle_listener::args::Preset;
use lifecycle_listener::presets;

use super::finding::{Chosen, DEPLOYMENT, Finding};
use super::workload::{Part, Workload, asks_for_probes, setting};

const CONTROLLER: Part = Part {
    container: "csi-controller-service",
    mode: "controller",
    role: "provisioner",
};
/// The variable and the option that choose the classes.
const PRESET: (&str, &str) = ("LISTENER_CLASS_PRESET", "--listener-class-preset");
/// Classes of the program of the replaced operator where nothing chooses them.
const USUAL_PRESET: Preset = Preset::EphemeralNodes;
/// Validity of a Lease by default, in seconds.
const LEASE_SECONDS: i32 = 15;

/// A controller of this driver.
pub(crate) struct Controller<'a> {
    deployment: &'a Deployment,
    container: &'a Container,
    is_ours: bool,
}

/// The controllers among Deployments.
///
/// Returns the controllers of either operator among Deployments. A Deployment of the Secret
/// operator has the same containers and roles; a Listener controller sets a preset, or has
/// Listeners in its name. Among these, a controller belongs to this operator if it enables probes,
/// or if one of its Pods holds this operator's Lease; the replaced program has neither. Images are
/// no evidence: they have other names in each registry, and this program may run in the chart of
/// the replaced one.
pub(crate) fn controllers<'a>(
    deployments: &'a [Deployment],
    leases: &[Lease],
    chosen: &Chosen,
) -> Vec<Controller<'a>> {
    let all = deployments.iter().filter_map(|deployment| {
        let workload = workload(deployment);
        let container = workload.container_of(CONTROLLER)?;
        let is_of_driver = setting(container, PRESET).is_some() || workload.names_listeners();
        let (namespace, name) = workload.namespaced_name();
        let of_pod = format!("{name}-");
        let holds = |lease: &Lease| {
            lease.namespace().as_deref() == Some(namespace)
                && holder(lease, chosen).is_some_and(|holder| holder.starts_with(&of_pod))
        };
        is_of_driver.then(|| Controller {
            deployment,
            container,
            is_ours: asks_for_probes(container) || leases.iter().any(holds),
        })
    });
    all.collect()
}

/// The holder of a Lease at the time that was chosen.
pub(crate) fn holder<'a>(lease: &'a Lease, chosen: &Chosen) -> Option<&'a str> {
    let spec = lease.spec.as_ref()?;
    let holder = spec.holder_identity.as_deref().filter(|h| !h.is_empty())?;
    let seconds = spec.lease_duration_seconds.unwrap_or(LEASE_SECONDS);
    let held_for = SignedDuration::from_secs(seconds.into());
    let until = spec.renew_time.as_ref()?.0.checked_add(held_for).ok()?;
    (until > chosen.now).then_some(holder)
}

/// A controller that runs, and its place.
pub(crate) fn running(controller: &Controller<'_>, held: &[&str], chosen: &Chosen) -> Vec<Finding> {
    let (namespace, name) = workload(controller.deployment).namespaced_name();
    let object = object(controller.deployment);
    let spec = controller.deployment.spec.as_ref();
    let replicas = spec.and_then(|spec| spec.replicas).unwrap_or(1);
    let status = controller.deployment.status.as_ref();
    let left = status.and_then(|status| status.replicas).unwrap_or(0);
    let scale = format!("`kubectl --namespace {namespace} scale deployment {name} --replicas 0`");
    // Helm removes objects that the new chart no longer has only after it has created the rest.
    let ends_first = controller.container.name == CONTROLLER.container;
    let of_ours_elsewhere = controller.is_ours && namespace != chosen.namespace;
    match (controller.is_ours, replicas) {
        // The Lease gives more information.
        (true, 1..) if of_ours_elsewhere && !held.contains(&namespace) => vec![Finding::blocks(
            &object,
            "a controller of this operator in another namespace: its Lease is another one, so both would write",
            format!("scale it to zero: {scale}"),
        )],
        (true, _) => Vec::new(),
        (false, 1..) => vec![Finding::blocks(
            &object,
            format!(
                "the controller of the replaced operator, with {}: it knows no Lease, so both would write",
                count(replicas, "replica")
            ),
            if ends_first {
                format!(
                    "upgrade its Helm release in place, which removes it first, so do not scale it; or, without Helm, scale it to zero, {scale}"
                )
            } else {
                format!(
                    "scale it to zero first, {scale}: its release is older than 25.11 and uses another name, so an in-place upgrade would end it too late"
                )
            },
        )],
        (false, _) if left > 0 => vec![Finding::blocks(
            &object,
            format!(
                "the controller of the replaced operator: {} still there",
                count(left, "Pod")
            ),
            "wait until it has none",
        )],
        (false, _) if (namespace, name) == (chosen.namespace.as_str(), DEPLOYMENT) => {
            vec![Finding::note(
                &object,
                "the controller of the replaced operator, without replicas, has the namespace and name of this one",
                "keep a copy of it for the way back; this one takes its place",
            )]
        }
        (false, _) => vec![Finding::note(
            &object,
            "the controller of the replaced operator has no replicas, so it writes nothing",
            "delete it once you will not go back",
        )],
    }
}

/// Returns the finding that its preset would have created other classes. `missing` returns true if
/// a class does not exist.
pub(crate) fn preset(
    controller: &Controller<'_>,
    missing: impl Fn(&str) -> bool,
    chosen: &Chosen,
) -> Vec<Finding> {
    if controller.is_ours {
        return Vec::new();
    }
    let object = object(controller.deployment);
    let option = format!("--listener-class-preset={}", presets::name(chosen.preset));
    let value = match setting(controller.container, PRESET) {
        None => Some(USUAL_PRESET),
        Some(value) => value.and_then(|value| clap::ValueEnum::from_str(value, false).ok()),
    };
    let Some(before) = value else {
        let found = format!(
            "its preset cannot be read off its command line or environment; this operator would run with {option}"
        );
        let todo = "compare the two, as `helm get values --all` shows the first, before a class is missing";
        return vec![Finding::note(&object, found, todo)];
    };
    if before == chosen.preset {
        return Vec::new();
    }
    let was = presets::name(before);
    let wanted = presets::classes(chosen.preset);
    let others = presets::classes(before).into_iter().filter_map(|old| {
        let new = wanted.iter().find(|new| new.name_any() == old.name_any())?;
        (new.spec != old.spec)
            .then(|| (old.name_any(), old.spec.service_type, new.spec.service_type))
    });
    let lost: Vec<String> = others
        .filter(|(name, _, _)| missing(name))
        .map(|(name, old, new)| {
            let (old, new) = (old.as_str(), new.as_str());
            format!("`{name}` is missing and would be created as {new} instead of {old}")
        })
        .collect();
    match lost.is_empty() {
        true => vec![Finding::note(
            &object,
            format!("its preset is {was}, and this operator would run with {option}"),
            "nothing, for each class that differs between the two is there, and classes are never changed",
        )],
        false => vec![Finding::blocks(
            &object,
            format!(
                "its preset is {was}, and this operator would run with {option}: ListenerClass {}, so its Listeners would get other addresses",
                lost.join("; ")
            ),
            format!(
                "set it in the chart (preset={was}) or in deploy/install/controller.yaml (--listener-class-preset={was}), and check again with --listener-class-preset={was}"
            ),
        )],
    }
}

/// Returns the finding for a controller of this operator in another namespace, by its Lease.
pub(crate) fn second(lease: &Lease, chosen: &Chosen) -> Option<Finding> {
    let namespace = lease.namespace().unwrap_or_default();
    let holder = holder(lease, chosen).filter(|_| namespace != chosen.namespace)?;
    let object = format!("Lease {namespace}/{}", lease.name_any());
    Some(Finding::blocks(
        &object,
        format!(
            "a controller of this operator runs there and holds it, as {holder}: its Lease is not the one of namespace {}, so both would write",
            chosen.namespace
        ),
        format!("stop that controller, or install into its namespace: --namespace {namespace}"),
    ))
}

fn workload(deployment: &Deployment) -> Workload<'_> {
    let template = deployment.spec.as_ref().map(|spec| &spec.template);
    Workload::new(&deployment.metadata, template)
}

fn object(deployment: &Deployment) -> String {
    let (namespace, name) = workload(deployment).namespaced_name();
    format!("Deployment {namespace}/{name}")
}

fn count(number: i32, what: &str) -> String {
    match number {
        1 => format!("1 {what}"),
        _ => format!("{number} {what}s"),
    }
}
