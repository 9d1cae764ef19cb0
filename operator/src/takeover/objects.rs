//! Classes, the namespace and volumes: their condition when this operator starts.

use k8s_openapi::api::core::v1::{Namespace, PersistentVolume};
use kube::ResourceExt;
use kube::api::DynamicObject;
use lifecycle_listener::controller::NAME;
use lifecycle_listener::presets::{self, Comparison};
use lifecycle_listener::volume;

use super::finding::{Chosen, Finding};

/// Label that enforces a level of Pod Security.
const ENFORCE: &str = "pod-security.kubernetes.io/enforce";
const PRIVILEGED: &str = "privileged";

/// The classes of the preset.
pub(crate) fn classes(live: &[DynamicObject], chosen: &Chosen) -> Vec<Finding> {
    let mut findings = Vec::new();
    for wanted in presets::classes(chosen.preset) {
        let name = wanted.name_any();
        let object = format!("ListenerClass {name}");
        let Some(live) = live.iter().find(|one| one.name_any() == name) else {
            let pinned = match wanted.spec.pinned_node_ports {
                true => ", and each Pod stays on its node",
                false => "",
            };
            let service_type = wanted.spec.service_type.as_str();
            let found = format!("it is missing and will be created: {service_type}{pinned}");
            let todo = "create it beforehand if you want it otherwise: it is never changed";
            findings.push(Finding::note(&object, found, todo));
            continue;
        };
        match presets::compared(live, &wanted, chosen.preset) {
            Comparison::Equal => {}
            Comparison::Differs(note) => findings.push(Finding::note(
                &object,
                format!("it differs from the preset and stays as it is: {note}"),
                "",
            )),
            Comparison::Unreadable => findings.push(Finding::blocks(
                &object,
                "its spec is not one of a ListenerClass, so no Listener can be exposed by it",
                "correct it",
            )),
        }
    }
    findings
}

/// The namespace of the new operator.
pub(crate) fn namespace(live: &[Namespace], chosen: &Chosen) -> Option<Finding> {
    let object = format!("Namespace {}", chosen.namespace);
    let Some(live) = live.first() else {
        let found = "it does not exist; deploy/install/controller.yaml creates `listener-operator`";
        let todo = "nothing, if that is the one you mean";
        return Some(Finding::note(&object, found, todo));
    };
    let level = live
        .labels()
        .get(ENFORCE)
        .filter(|level| *level != PRIVILEGED)?;
    let name = &chosen.namespace;
    Some(Finding::blocks(
        &object,
        format!(
            "Pod Security is enforced at the level `{level}`, which admits no Pod of the DaemonSet: they use `hostPath` volumes"
        ),
        format!("`kubectl label namespace {name} {ENFORCE}={PRIVILEGED} --overwrite`"),
    ))
}

/// The volumes that get labels.
pub(crate) fn volumes(live: &[PersistentVolume]) -> Option<Finding> {
    let unlabelled: Vec<_> = live
        .iter()
        .filter(|one| volume::is_unlabelled(one))
        .collect();
    let first = unlabelled.first()?.name_any();
    let found = match unlabelled.len() {
        1 => "its Listener is not named by labels; the controller adds them when it begins to lead, if the Listener exists".to_owned(),
        many => format!("and {} more of {NAME}: their Listeners are not named by labels; when the controller begins to lead, it adds the labels to each whose Listener exists", many - 1),
    };
    Some(Finding::note(
        &format!("PersistentVolume {first}"),
        found,
        "",
    ))
}
