//! Obstacles to a deletion: finalizers of the operator and of others, held resources, and the
//! unfinished stage of the teardown.

use lifecycle_runtime::machine::policy::Decision;
use serde_json::Value;

use crate::explain::explanation::{Act, Actor, Deletion, Finalizer};
use crate::explain::look::{Inspection, Position};
use crate::explain::written::describe_effect;

/// Known finalizers of other controllers: the owner of each, and the event it waits for.
const KNOWN: [(&str, &str); 9] = [
    (
        "foregroundDeletion",
        "the garbage collector: everything that it owns and that blocks it goes first",
    ),
    (
        "orphan",
        "the garbage collector: it takes its owner references off what it owns",
    ),
    (
        "kubernetes",
        "the namespace controller: everything in the namespace goes first",
    ),
    (
        "kubernetes.io/pvc-protection",
        "kube-controller-manager: no Pod may use the claim any more",
    ),
    (
        "kubernetes.io/pv-protection",
        "kube-controller-manager: no claim may be bound to the volume any more",
    ),
    (
        "service.kubernetes.io/load-balancer-cleanup",
        "the cloud's service controller: the load balancer goes first",
    ),
    (
        "external-provisioner.volume.kubernetes.io/finalizer",
        "csi-provisioner: the volume is deleted at its driver first",
    ),
    (
        "batch.kubernetes.io/job-tracking",
        "the Job controller: the Pod is counted first",
    ),
    (
        "customresourcecleanup.apiextensions.k8s.io",
        "the API server: all objects of the kind go first",
    ),
];

/// Returns the obstacles that block the deletion, or would block it.
pub(crate) fn deletion(look: &Inspection<'_>) -> Deletion {
    let (ir, seen) = (look.ir, &look.observed.observation);
    let world = &seen.world;
    let finalizers = look.subject.meta.finalizers.iter().flatten();
    let finalizers = finalizers.map(|name| finalizer(look, name)).collect();
    let held = (0..ir.vars.len()).filter(|var| !ir.is_free(world, *var));
    let held = held.map(|var| {
        let said = seen.sentences[var].as_deref().unwrap_or(ir.vars[var].doc);
        format!("{} is {}: {said}", ir.vars[var].name, ir.value(world, var))
    });
    let step = ir
        .has_finalizer()
        .then(|| ir.awaited(world, &seen.sentences));
    let note = ir
        .abandons(world)
        .map(|one| format!("{}; left behind: {}", one.why, ir.leftovers(world)));
    let waits = ir.holds_deletion(world).map(|state| {
        let why = ir.suspension_reason(state, world, &seen.sentences);
        format!("held resources stay while it is suspended: {why}")
    });
    Deletion {
        requested: look.is_deleting(),
        finalizers,
        held: held.collect(),
        step: step.flatten(),
        note: waits.or(note),
    }
}

fn finalizer(look: &Inspection<'_>, name: &str) -> Finalizer {
    let ours = look.of.naming.finalizer == name;
    let known = KNOWN.iter().find(|(of, _)| *of == name);
    let whose = match (ours, known) {
        (true, _) => {
            "the operator: it removes the finalizer when nothing is held and every teardown stage is complete".to_owned()
        }
        (false, Some((_, whose))) => (*whose).to_owned(),
        (false, None) => theirs(look, name),
    };
    Finalizer {
        name: name.to_owned(),
        whose,
        ours,
    }
}

/// Describes the owner of a finalizer, from the managed fields or from its name.
fn theirs(look: &Inspection<'_>, name: &str) -> String {
    let by = manager(look.subject.raw.as_deref(), name);
    let domain = name.split('/').next().unwrap_or(name);
    match by {
        Some(by) => format!(
            "not from this operator: field manager `{by}` added it; check the controller that uses this name"
        ),
        None => format!("not from this operator: check the controller of `{domain}`"),
    }
}

fn manager(raw: Option<&Value>, name: &str) -> Option<String> {
    let entries = raw?.pointer("/metadata/managedFields")?.as_array()?;
    let key = format!("v:{}", Value::String(name.to_owned()));
    let has = |entry: &&Value| {
        let fields = entry.pointer("/fieldsV1/f:metadata/f:finalizers");
        fields.is_some_and(|fields| fields.get(&key).is_some())
    };
    let entry = entries.iter().find(has)?;
    Some(entry.get("manager")?.as_str()?.to_owned())
}

/// Returns the actors that must act before the object can go.
pub(crate) fn acts(look: &Inspection<'_>, place: &Position) -> Vec<Act> {
    let act = |who, what| Act { who, what };
    let ours = &look.of.naming.finalizer;
    let finalizers = look.subject.meta.finalizers.iter().flatten();
    let foreign: Vec<&String> = finalizers.filter(|name| *name != ours).collect();
    let world = &look.observed.observation.world;
    let mut all = match place.next {
        Decision::Effect(effect) => {
            vec![act(
                Actor::Operator,
                format!("is to {}", describe_effect(look, effect)),
            )]
        }
        Decision::Release => vec![act(Actor::Operator, "takes its finalizer away".to_owned())],
        Decision::Claim => Vec::new(),
        Decision::Rest if look.ir.has_finalizer() && look.ir.is_claimed(world) => {
            match look.ir.holds_deletion(world) {
                Some(state) => {
                    let name = look.ir.states[state].name;
                    let what = format!("end what suspends it ({name}), and it goes on");
                    vec![act(Actor::Person, what)]
                }
                None => vec![act(
                    Actor::Cluster,
                    "the work in progress must complete before the finalizer is removed".to_owned(),
                )],
            }
        }
        Decision::Rest => Vec::new(),
    };
    for name in foreign {
        let whose = finalizer(look, name).whose;
        all.push(act(
            Actor::OtherController,
            format!("finalizer `{name}`: {whose}"),
        ));
    }
    if all.is_empty() {
        all.push(act(Actor::Cluster, "the API server removes it".to_owned()));
    }
    all
}
