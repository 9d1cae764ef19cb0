//! Protection of claims while Pods use them, and of volumes while they are bound. The server adds a
//! finalizer, which goes with the last user.

use std::collections::BTreeSet;

use serde_json::Value;

use super::cache::Change;
use super::claims::{of_pod, users};
use super::garbage::without_finalizer;
use super::kinds::ObjectKey;
use super::object::{has_finalizer, is_leaving, text};
use super::operation::Operation;
use super::pods;
use super::view::View;

const CLAIM_IS_USED: &str = "kubernetes.io/pvc-protection";
const VOLUME_IS_BOUND: &str = "kubernetes.io/pv-protection";

pub(super) fn concerned(change: &Change) -> BTreeSet<ObjectKey> {
    if change.key.is("Pod") {
        let both = [change.old.as_ref(), change.new.as_ref()];
        let claims = both.into_iter().flatten().flat_map(of_pod);
        return claims
            .map(|(claim, _)| change.key.sibling("PersistentVolumeClaim", &claim))
            .collect();
    }
    let kept = change.key.is("PersistentVolumeClaim") || change.key.is("PersistentVolume");
    kept.then(|| change.key.clone()).into_iter().collect()
}

pub(super) fn operations(view: &View<'_>, key: &ObjectKey) -> Vec<Operation> {
    let Some(object) = view.cache.get(key).filter(|object| is_leaving(object)) else {
        return Vec::new();
    };
    let (finalizer, is_kept) = match key.kind.kind.as_str() {
        "PersistentVolumeClaim" => (CLAIM_IS_USED, is_used(view, key)),
        "PersistentVolume" => (VOLUME_IS_BOUND, is_bound(object)),
        _ => return Vec::new(),
    };
    match has_finalizer(object, finalizer) && !is_kept {
        true => vec![without_finalizer(key, object, finalizer)],
        false => Vec::new(),
    }
}

fn is_used(view: &View<'_>, claim: &ObjectKey) -> bool {
    let users = users(view.cache, claim);
    users.iter().any(|(_, pod)| !pods::is_over(pod))
}

fn is_bound(volume: &Value) -> bool {
    text(volume, "/status/phase").as_deref() == Some("Bound")
}
