//! The rights that follow from the description of a lifecycle: the requests of the runtime for each
//! input and each effect, and no others. A change to `runtime/src/cluster/act.rs`, or to how calls
//! read objects, needs a change here. The suites of all lifecycles check each request against these
//! rights.

use lifecycle_runtime::lifecycle::{Kind, Machine};
use lifecycle_runtime::machine::ir::{
    Effect, Input, Leaves, Lifecycle, Mode, Retired, Verb as Does,
};

use super::{Object, Rights, Verb};

pub(super) fn take(rights: &mut Rights, machine: &dyn Machine) {
    let lifecycle = machine.ir();
    if let Some(kind) = machine.subject() {
        subject(rights, lifecycle, &kind);
    }
    for (at, input) in lifecycle.inputs.iter().enumerate() {
        if let Some(kind) = machine.kind(at) {
            let why = format!("input `{}` of {}", input.name, lifecycle.name);
            rights.allow(Object::from_kind(&kind), reads(lifecycle), why.clone());
            if let Some(leaves) = input.retired {
                rights.allow(
                    Object::from_kind(&kind),
                    leaving(leaves, input),
                    why.clone(),
                );
                if matches!(leaves, Leaves::Released) {
                    owned_anew(rights, &kind, &why);
                }
            }
        }
    }
    for effect in lifecycle.effects {
        for target in lifecycle.of_objects(effect.target) {
            let input = &lifecycle.inputs[target];
            let Some(kind) = machine
                .kind(target)
                .filter(|_| may_write(lifecycle, effect, input))
            else {
                continue;
            };
            let why = format!("effect `{}` of {}", effect.name, lifecycle.name);
            rights.allow(Object::from_kind(&kind), writes(effect, input), why.clone());
            owner(rights, machine, (effect, input), &why);
            let adopts =
                |other: &Effect| other.target == effect.target && matches!(other.verb, Does::Adopt);
            let changes = input.retain.is_some()
                || matches!(input.mode, Mode::Shared)
                || lifecycle.effects.iter().any(adopts);
            if changes && matches!(effect.verb, Does::Apply | Does::Create | Does::Adopt) {
                owned_anew(rights, &kind, &why);
            }
        }
    }
}

/// Adds the delete right that some API servers require to change the owners of an existing object.
fn owned_anew(rights: &mut Rights, kind: &Kind, why: &str) {
    let why = format!("{why} changes the owners of existing objects; required by {INSISTS}");
    rights.allow(Object::from_kind(kind), &[Verb::Delete], why);
}

/// Returns true if the effect may write. Of an applied group, only optional members are ever
/// deleted.
fn may_write(lifecycle: &Lifecycle, effect: &Effect, input: &Input) -> bool {
    let mut effects = lifecycle.effects.iter();
    let is_wanted = |other: &Effect| other.verb == Does::Apply && other.target == effect.target;
    let always = input.group.is_some() && !input.optional && effects.any(is_wanted);
    effect.verb != Does::Delete || !always
}

/// Adds the rights to the subject. It is watched, its status is updated, and it is changed if the
/// lifecycle keeps data in it.
fn subject(rights: &mut Rights, lifecycle: &Lifecycle, kind: &Kind) {
    let name = lifecycle.name;
    let watched = format!("the lifecycle of {name}");
    rights.allow(Object::from_kind(kind), &[Verb::List, Verb::Watch], watched);
    let told = format!("status and events of {name}");
    rights.allow(Object::sub(kind, "status"), &[Verb::Patch], told.clone());
    let events = Object::all("events.k8s.io", "events");
    rights.allow(events, &[Verb::Create], told);
    if lifecycle.has_finalizer() {
        let why = format!("the finalizer of {name}");
        rights.allow(Object::from_kind(kind), &[Verb::Patch], why);
    }
    let records = lifecycle
        .inputs
        .iter()
        .filter(|input| matches!(input.mode, Mode::Record | Mode::Noted));
    for input in records {
        let why = format!("record `{}` of {name}", input.name);
        rights.allow(Object::from_kind(kind), &[Verb::Patch], why);
    }
    let is_on_it = lifecycle.retired.iter().any(|retired| match retired {
        Retired::Finalizer(_) | Retired::Record { .. } | Retired::Annotation { .. } => true,
        Retired::Condition(_) | Retired::Field(_) => false,
    });
    if is_on_it {
        let why = format!("cleanup after an older version of {name}");
        rights.allow(Object::from_kind(kind), &[Verb::Patch], why);
    }
}

/// Adds the finalizers right that some API servers require to write an owner reference that blocks
/// the deletion of the owner.
fn owner(
    rights: &mut Rights,
    machine: &dyn Machine,
    (effect, input): (&Effect, &Input),
    why: &str,
) {
    let refers = matches!(effect.verb, Does::Apply | Does::Create | Does::Adopt);
    let is_ours = matches!(input.mode, Mode::Owned | Mode::Shared);
    if !refers || !is_ours || !input.controller {
        return;
    }
    let owner = match input.owner {
        Some(owner) => machine.kind(owner),
        None => machine.subject(),
    };
    if let Some(owner) = owner {
        let why = format!(
            "{why} makes an owner reference that blocks the deletion of the owner; required by {INSISTS}"
        );
        rights.allow(Object::sub(&owner, "finalizers"), &[Verb::Update], why);
    }
}

/// Plug-in of the API server that requires more rights than the request itself.
pub(super) const INSISTS: &str = "OwnerReferencesPermissionEnforcement";

/// Returns the verbs of reads. A lifecycle of a resource watches its inputs. A call reads objects
/// by name, never lists, and watches while it waits.
fn reads(lifecycle: &Lifecycle) -> &'static [Verb] {
    let waits = lifecycle.calls.iter().any(|call| call.within.is_some());
    match (lifecycle.volume, waits) {
        (false, _) => &[Verb::List, Verb::Watch],
        (true, false) => &[Verb::Get],
        (true, true) => &[Verb::Get, Verb::Watch],
    }
}

/// Returns the verbs of a write. An apply creates absent objects and therefore needs both verbs. It
/// only changes existing objects of other owners.
fn writes(effect: &Effect, input: &Input) -> &'static [Verb] {
    match (effect.verb, input.mode) {
        (Does::Apply | Does::Delete, Mode::Part) | (Does::Adopt, _) => &[Verb::Patch],
        // Where it is not wanted, it is deleted.
        (Does::Apply, _) if input.only_if.is_some() => &[Verb::Create, Verb::Patch, Verb::Delete],
        (Does::Apply | Does::Create, _) => &[Verb::Create, Verb::Patch],
        // Of a shared object, only our own part is removed.
        (Does::Delete, Mode::Shared) => &[Verb::Patch, Verb::Delete],
        (Does::Delete, _) => &[Verb::Delete],
        // A note is a record in the object itself.
        (Does::Call | Does::Note, _) => &[],
    }
}

/// Returns the verbs for the objects of a removed input.
fn leaving(leaves: Leaves, input: &Input) -> &'static [Verb] {
    match (leaves, input.mode) {
        (Leaves::Released, _) | (Leaves::Deleted, Mode::Part) => &[Verb::Patch],
        (Leaves::Deleted, Mode::Shared) => &[Verb::Patch, Verb::Delete],
        (Leaves::Deleted, _) => &[Verb::Delete],
    }
}
