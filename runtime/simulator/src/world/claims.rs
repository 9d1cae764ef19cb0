//! PersistentVolumeClaims and their volumes: claims made for a Pod, and the binding of both sides.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::cache::{Cache, Change, controlled_by};
use super::kinds::{Kind, ObjectKey};
use super::object::{controller, is_leaving, list, text, uid};
use super::operation::Operation;
use super::pods;
use super::view::View;

/// Annotation that names the node of the first Pod of a claim.
pub(super) const SELECTED: &str = "volume.kubernetes.io/selected-node";
/// Annotation that names the provisioner of a volume for a claim.
pub(super) const PROVISIONER: &str = "volume.kubernetes.io/storage-provisioner";

/// Returns the claims of a Pod by name, and whether each is made for this Pod.
pub(super) fn of_pod(pod: &Value) -> Vec<(String, bool)> {
    let name = text(pod, "/metadata/name").unwrap_or_default();
    let claim = |volume: &Value| {
        if let Some(claim) = text(volume, "/persistentVolumeClaim/claimName") {
            return Some((claim, false));
        }
        volume.get("ephemeral").filter(|e| e.is_object())?;
        Some((format!("{name}-{}", text(volume, "/name")?), true))
    };
    list(pod, "/spec/volumes")
        .iter()
        .filter_map(claim)
        .collect()
}

/// The Pods that mount a claim.
pub(super) fn users<'a>(cache: &'a Cache, claim: &ObjectKey) -> Vec<(&'a ObjectKey, &'a Value)> {
    let kind = Kind::from_name("Pod");
    let all = cache.inside_of(&kind, claim.namespace.as_deref());
    let uses =
        |(_, pod): &(&ObjectKey, &Value)| of_pod(pod).iter().any(|(name, _)| *name == claim.name);
    all.into_iter().filter(uses).collect()
}

/// The StorageClass of a claim.
pub(super) fn class<'a>(cache: &'a Cache, claim: &Value) -> Option<&'a Value> {
    let name = text(claim, "/spec/storageClassName").filter(|n| !n.is_empty())?;
    cache.get(&ObjectKey::new(
        Kind::from_name("StorageClass"),
        None,
        &name,
    ))
}

/// Returns the simulated driver that provisions a claim.
pub(super) fn driver(view: &View<'_>, claim: &Value) -> Option<String> {
    let driver = text(class(view.cache, claim)?, "/provisioner")?;
    let volumes = view.world.volumes.as_ref()?;
    volumes.knows(&driver).then_some(driver)
}

pub(super) fn waits_for_pod(cache: &Cache, claim: &Value) -> bool {
    let class = class(cache, claim);
    let mode = class.and_then(|c| text(c, "/volumeBindingMode"));
    mode.as_deref() == Some("WaitForFirstConsumer")
}

pub(super) fn annotation(object: &Value, name: &str) -> Option<String> {
    let all = object.pointer("/metadata/annotations")?;
    all.get(name)?.as_str().map(str::to_owned)
}

pub(super) fn is_bound(claim: &Value) -> bool {
    text(claim, "/status/phase").as_deref() == Some("Bound")
}

/// The PersistentVolume that a claim is bound to, if it is bound to this claim.
pub(super) fn volume<'a>(cache: &'a Cache, claim: &Value) -> Option<(ObjectKey, &'a Value)> {
    let key = of_claim(claim)?;
    let volume = cache.get(&key)?;
    let is_ours = text(volume, "/spec/claimRef/uid") == Some(uid(claim));
    is_ours.then_some((key, volume))
}

fn of_claim(claim: &Value) -> Option<ObjectKey> {
    let name = text(claim, "/spec/volumeName").filter(|n| !n.is_empty())?;
    Some(ObjectKey::new(
        Kind::from_name("PersistentVolume"),
        None,
        &name,
    ))
}

fn of_volume(volume: &Value) -> Option<ObjectKey> {
    let namespace = text(volume, "/spec/claimRef/namespace")?;
    let name = text(volume, "/spec/claimRef/name")?;
    Some(ObjectKey::new(
        Kind::from_name("PersistentVolumeClaim"),
        Some(&namespace),
        &name,
    ))
}

pub(super) fn concerned(cache: &Cache, change: &Change) -> BTreeSet<ObjectKey> {
    let both = [change.old.as_ref(), change.new.as_ref()];
    let both = both.into_iter().flatten();
    let mut all = BTreeSet::from([change.key.clone()]);
    if change.key.is("Pod") {
        for pod in both {
            let claims = of_pod(pod).into_iter();
            all.extend(claims.map(|(c, _)| change.key.sibling("PersistentVolumeClaim", &c)));
        }
        return all;
    }
    if change.key.is("PersistentVolumeClaim") {
        all.extend(both.filter_map(of_claim));
        let kind = Kind::from_name("PersistentVolume");
        let here = |volume: &Value| of_volume(volume).as_ref() == Some(&change.key);
        let volumes = cache.all(&kind, None).filter(|(_, v)| here(v));
        all.extend(volumes.map(|(key, _)| key.clone()));
        return all;
    }
    if change.key.is("PersistentVolume") {
        all.extend(both.filter_map(of_volume));
        return all;
    }
    if change.key.is("StorageClass") {
        let kind = Kind::from_name("PersistentVolumeClaim");
        return cache.all(&kind, None).map(|(key, _)| key.clone()).collect();
    }
    BTreeSet::new()
}

pub(super) fn operations(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(object) = view.cache.get(key) else {
        return Vec::new();
    };
    match key.kind.kind.as_str() {
        "Pod" => made_for(view, key, object),
        "PersistentVolumeClaim" => of_one_claim(view, key, object),
        _ => of_one_volume(view, key, object),
    }
}

/// Returns operations that create the claims of a Pod.
fn made_for(view: &View<'_>, key: &ObjectKey, pod: &Value) -> Vec<Operation> {
    if is_leaving(pod) || pods::is_over(pod) {
        return Vec::new();
    }
    let mut operations = Vec::new();
    for volume in list(pod, "/spec/volumes") {
        let Some(template) = volume.pointer("/ephemeral/volumeClaimTemplate") else {
            continue;
        };
        let name = text(volume, "/name").unwrap_or_default();
        let at = key.sibling("PersistentVolumeClaim", &format!("{}-{name}", key.name));
        if view.cache.get(&at).is_some() {
            continue;
        }
        let mut claim = at.kind.object(&at);
        for field in ["labels", "annotations"] {
            if let Some(given) = template.pointer(&format!("/metadata/{field}")) {
                claim["metadata"][field] = given.clone();
            }
        }
        claim["metadata"]["ownerReferences"] = controlled_by(key, pod);
        claim["spec"] = template["spec"].clone();
        operations.push(Operation::Create(at, claim));
    }
    operations
}

/// Returns true if a claim was made for this very Pod.
pub(super) fn is_made_for(claim: &Value, pod: &Value) -> bool {
    controller(claim) == Some(uid(pod))
}

fn of_one_claim(view: &View<'_>, key: &ObjectKey, claim: &Value) -> Vec<Operation> {
    if is_leaving(claim) {
        return Vec::new();
    }
    let Some(at) = of_claim(claim) else {
        return unbound(view, key, claim);
    };
    let phase = text(claim, "/status/phase");
    match volume(view.cache, claim) {
        Some((_, volume)) if phase.as_deref() != Some("Bound") => {
            let spec = &volume["spec"];
            let bound = json!({ "phase": "Bound", "accessModes": spec["accessModes"], "capacity": spec["capacity"] });
            vec![status(key, bound)]
        }
        None if phase.as_deref() == Some("Bound") && view.cache.get(&at).is_none() => {
            vec![status(key, json!({ "phase": "Lost" }))]
        }
        Some(_) | None => Vec::new(),
    }
}

fn unbound(view: &View<'_>, key: &ObjectKey, claim: &Value) -> Vec<Operation> {
    let kind = Kind::from_name("PersistentVolume");
    let mut volumes = view.cache.all(&kind, None);
    let is_ours = |volume: &Value| text(volume, "/spec/claimRef/uid") == Some(uid(claim));
    if let Some((at, _)) = volumes.find(|(_, volume)| is_ours(volume)) {
        let yes = json!({ "pv.kubernetes.io/bind-completed": "yes", "pv.kubernetes.io/bound-by-controller": "yes" });
        let bound = json!({ "metadata": { "uid": uid(claim), "annotations": yes }, "spec": { "volumeName": at.name } });
        return vec![Operation::Patch(key.clone(), None, bound)];
    }
    let is_due = !waits_for_pod(view.cache, claim) || annotation(claim, SELECTED).is_some();
    match driver(view, claim) {
        Some(driver) if is_due && annotation(claim, PROVISIONER).as_ref() != Some(&driver) => {
            let asked = json!({ PROVISIONER: driver });
            let asked = json!({ "metadata": { "uid": uid(claim), "annotations": asked } });
            vec![Operation::Patch(key.clone(), None, asked)]
        }
        Some(_) | None => Vec::new(),
    }
}

fn of_one_volume(view: &View<'_>, key: &ObjectKey, volume: &Value) -> Vec<Operation> {
    let phase = text(volume, "/status/phase").unwrap_or_default();
    let said = |wanted: &str| match phase == wanted {
        true => Vec::new(),
        false => vec![status(key, json!({ "phase": wanted }))],
    };
    if is_leaving(volume) && phase != "Bound" {
        return Vec::new();
    }
    let (Some(at), Some(of)) = (of_volume(volume), text(volume, "/spec/claimRef/uid")) else {
        return said("Available");
    };
    match view.cache.get(&at) {
        Some(claim) if uid(claim) == of => said("Bound"),
        Some(_) => said("Released"),
        None if phase == "Released" => Vec::new(),
        // The cache may be behind.
        None => said("Released")
            .into_iter()
            .map(|operation| Operation::IfGone(vec![(at.clone(), of.clone())], Box::new(operation)))
            .collect(),
    }
}

fn status(key: &ObjectKey, status: Value) -> Operation {
    Operation::Patch(key.clone(), Some("status"), json!({ "status": status }))
}
