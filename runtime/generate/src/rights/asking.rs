//! The rights of a person who queries a cluster: for `explain`, and for `plan`, alone or with a dry
//! run on the API server. A change to the reads of `explain` or `plan` of `lifecycle-inspect` needs
//! a change here. A test runs both with exactly these rights.

use lifecycle_runtime::lifecycle::{Kind, Machine};
use lifecycle_runtime::machine::ir::{Input, Lookup, Rpc, Verb as Does};

use super::{Object, Rights, Verb};

const DEFINITIONS: (&str, &str) = ("apiextensions.k8s.io", "customresourcedefinitions");
/// Resources that only report activity. They are written in the copy alone.
const ASIDE: [(&str, &str); 3] = [
    ("", "events"),
    ("events.k8s.io", "events"),
    ("coordination.k8s.io", "leases"),
];

fn is(object: &Object, (group, resource): (&str, &str)) -> bool {
    object.group == group && object.resource == resource
}

fn is_aside(object: &Object) -> bool {
    ASIDE.iter().any(|one| is(object, *one))
}

/// Adds the reads of an explanation: the object itself, and the inputs of its lifecycle. For a
/// volume that is made for claims, the claim is read.
pub(super) fn explained(rights: &mut Rights, machine: &dyn Machine) {
    let ir = machine.ir();
    let makes_volumes = ir.calls.iter().any(|call| call.rpc == Rpc::CreateVolume);
    match machine.subject() {
        Some(kind) => {
            let why = format!("the {} that is explained", ir.name);
            rights.allow(Object::from_kind(&kind), &[Verb::Get], why);
        }
        None if makes_volumes => {
            let claims = Object::all("", "persistentvolumeclaims");
            let why = format!("the claim that is explained by {}", ir.name);
            rights.allow(claims, &[Verb::Get], why);
        }
        // A node that mounts nothing needs no explanation.
        None => return,
    }
    for (at, kind) in kinds(machine) {
        let verbs = finds(machine, at, &ir.inputs[at]);
        let why = format!("input `{}` of {}", ir.inputs[at].name, ir.name);
        rights.allow(Object::from_kind(&kind), &verbs, why);
    }
}

/// Returns the verbs by which objects of an input are found without a watch. Each member of a
/// written set is also looked up by name.
fn finds(machine: &dyn Machine, at: usize, input: &Input) -> Vec<Verb> {
    let ir = machine.ir();
    let mut writes = ir.effects.iter().filter(|effect| ir.writes(effect, at));
    let makes = writes.any(|effect| matches!(effect.verb, Does::Apply | Does::Create));
    match input.lookup {
        Lookup::Name(_) | Lookup::Ref | Lookup::Key => vec![Verb::Get],
        // Many of one namespace are listed.
        Lookup::Names | Lookup::Refs => vec![Verb::Get, Verb::List],
        Lookup::Labels(_) | Lookup::Owner | Lookup::Namespace | Lookup::Equal if makes => {
            vec![Verb::Get, Verb::List]
        }
        Lookup::Labels(_) | Lookup::Owner | Lookup::Namespace | Lookup::Equal => vec![Verb::List],
    }
}

fn kinds(machine: &dyn Machine) -> impl Iterator<Item = (usize, Kind)> {
    let inputs = 0..machine.ir().inputs.len();
    inputs.filter_map(|at| Some((at, machine.kind(at)?)))
}

/// Adds the reads that start the copy of a cluster.
pub(super) fn begun(rights: &mut Rights) {
    let definitions = Object::all(DEFINITIONS.0, DEFINITIONS.1);
    let served = "which kinds the cluster has".to_owned();
    rights.allow(definitions, &[Verb::List], served);
    let namespaces = Object::all("", "namespaces");
    let there = "which namespaces there are; without it, each that is named is taken to be there";
    rights.allow(namespaces, &[Verb::List], there.to_owned());
}

/// Adds the reads that copy the inputs of a lifecycle: every kind that is watched in the copy is
/// listed. Volumes are not planned.
pub(super) fn planned(rights: &mut Rights, machine: &dyn Machine) {
    let ir = machine.ir();
    let Some(subject) = machine.subject() else {
        return;
    };
    let why = format!("the lifecycle of {}", ir.name);
    rights.allow(Object::from_kind(&subject), &[Verb::List], why);
    for (at, kind) in kinds(machine) {
        let why = format!("input `{}` of {}", ir.inputs[at].name, ir.name);
        rights.allow(Object::from_kind(&kind), &[Verb::List], why);
    }
}

/// Adds the reads that copy the inputs of the author's own code. An object that the code writes is
/// read before.
pub(super) fn planned_besides(rights: &mut Rights, own: &Rights) {
    for (object, verbs) in &own.rules {
        if is_aside(object) || is(object, DEFINITIONS) {
            continue;
        }
        for (verb, whys) in verbs {
            let read = match verb {
                Verb::List | Verb::Watch => Verb::List,
                // A creator that may already read objects of the kind needs no further read right.
                Verb::Create if reads_another(own, object) => continue,
                Verb::Get | Verb::Create | Verb::Update | Verb::Patch | Verb::Delete => Verb::Get,
            };
            let object = Object {
                resource: base(&object.resource),
                ..object.clone()
            };
            for why in whys {
                rights.allow(object.clone(), &[read], why.clone());
            }
        }
    }
}

fn reads_another(own: &Rights, object: &Object) -> bool {
    own.rules.iter().any(|(other, verbs)| {
        is(other, (&object.group, &object.resource))
            && other.scope == object.scope
            && verbs.contains_key(&Verb::Get)
    })
}

/// Adds the rights for a dry run on the API server: each write, and a read of the version of the
/// changed object.
pub(super) fn judged(rights: &mut Rights, writes: &Rights) {
    for (object, verbs) in &writes.rules {
        if is_aside(object) {
            continue;
        }
        for (verb, whys) in verbs {
            let changes = match verb {
                Verb::Get | Verb::List | Verb::Watch => continue,
                Verb::Create => false,
                Verb::Update | Verb::Patch | Verb::Delete => true,
            };
            for why in whys {
                rights.allow(object.clone(), &[*verb], why.clone());
            }
            let is_written = !object.resource.ends_with("/finalizers");
            if changes && is_written {
                let now = Object {
                    resource: base(&object.resource),
                    ..object.clone()
                };
                let why = "the version of what would be changed".to_owned();
                rights.allow(now, &[Verb::Get], why);
            }
        }
    }
}

/// The resource of a subresource.
fn base(resource: &str) -> String {
    let base = resource.split_once('/').map_or(resource, |(base, _)| base);
    base.to_owned()
}
