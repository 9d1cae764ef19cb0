//! What blocks a deletion: finalizers of ours and of others, what is held, and the step of the teardown that is not over.

use lifecycle_runtime::machine::policy::Decision;
use serde_json::Value;

use crate::explanation::{Act, Deletion, Finalizer, Who};
use crate::look::{Look, Place};
use crate::written::does;

/// What is known of finalizers that are not ours: whose they are, and what they wait for.
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

/// What blocks it, or would.
pub(crate) fn deletion(look: &Look<'_>) -> Deletion {
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
        let why = ir.why(state, world, &seen.sentences);
        format!("what is held stays while it is suspended: {why}")
    });
    Deletion {
        requested: look.is_deleting(),
        finalizers,
        held: held.collect(),
        step: step.flatten(),
        note: waits.or(note),
    }
}

fn finalizer(look: &Look<'_>, name: &str) -> Finalizer {
    let ours = look.of.naming.finalizer == name;
    let known = KNOWN.iter().find(|(of, _)| *of == name);
    let whose = match (ours, known) {
        (true, _) => {
            "the operator's: it goes when nothing is held and every step is over".to_owned()
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

/// Whoever put it there, as the managed fields tell, or as its name does.
fn theirs(look: &Look<'_>, name: &str) -> String {
    let by = manager(look.subject.raw.as_deref(), name);
    let domain = name.split('/').next().unwrap_or(name);
    match by {
        Some(by) => format!(
            "not ours: field manager `{by}` put it there; look at what runs under that name"
        ),
        None => format!("not ours: look at the controller of `{domain}`"),
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

/// Who must act for it to go.
pub(crate) fn acts(look: &Look<'_>, place: &Place) -> Vec<Act> {
    let act = |who, what| Act { who, what };
    let ours = &look.of.naming.finalizer;
    let finalizers = look.subject.meta.finalizers.iter().flatten();
    let foreign: Vec<&String> = finalizers.filter(|name| *name != ours).collect();
    let world = &look.observed.observation.world;
    let mut all = match place.next {
        Decision::Effect(effect) => {
            vec![act(Who::Operator, format!("is to {}", does(look, effect)))]
        }
        Decision::Release => vec![act(Who::Operator, "takes its finalizer away".to_owned())],
        Decision::Claim => Vec::new(),
        Decision::Rest if look.ir.has_finalizer() && look.ir.is_claimed(world) => {
            match look.ir.holds_deletion(world) {
                Some(state) => {
                    let name = look.ir.states[state].name;
                    let what = format!("end what suspends it ({name}), and it goes on");
                    vec![act(Who::Person, what)]
                }
                None => vec![act(
                    Who::Cluster,
                    "what was begun must be over before the finalizer goes".to_owned(),
                )],
            }
        }
        Decision::Rest => Vec::new(),
    };
    for name in foreign {
        let whose = finalizer(look, name).whose;
        all.push(act(
            Who::OtherController,
            format!("finalizer `{name}`: {whose}"),
        ));
    }
    if all.is_empty() {
        all.push(act(Who::Cluster, "the API server removes it".to_owned()));
    }
    all
}
