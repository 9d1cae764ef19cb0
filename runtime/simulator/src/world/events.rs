//! Events about volumes that cannot be made or mounted, and about owners that cannot be. A repeated
//! Event about a volume is counted.

use serde_json::{Value, json};

use super::cache::Cache;
use super::calls::{About, Call, Failure, Verb};
use super::kinds::{Kind, ObjectKey};
use super::object::{letters, number, uid};
use super::operation::Operation;
use super::view::View;

/// Returns the Event of a failed call for an object, if one is due.
pub(super) fn of_failure(
    cache: &Cache,
    about: &ObjectKey,
    (call, failure): (&Call, &Failure),
    now: &str,
) -> Option<Operation> {
    let object = cache.get(about)?;
    let (volume, component) = match &call.about {
        About::Volume { name } => (name, json!({ "component": call.driver })),
        About::Staged { node, volume } | About::Published { node, volume, .. } => {
            (volume, json!({ "component": "kubelet", "host": node }))
        }
        About::Plugin { .. } => return None,
    };
    let (reason, message) = complaint(call.verb(), volume, &failure.said)?;
    let known = letters(&format!("{} {reason} {message}", uid(object)));
    let at = about.sibling("Event", &format!("{}.{known}", about.name));
    if let Some(before) = cache.get(&at) {
        let count = number(before, "/count").unwrap_or(1) + 1;
        let again = json!({ "count": count, "lastTimestamp": now });
        return Some(Operation::Patch(at, None, again));
    }
    Some(Operation::Create(
        at.clone(),
        event(&at, (about, object), (reason, &message), component, now),
    ))
}

/// Returns the Event of the garbage collector about an object, unless it is published already.
pub(super) fn warning(
    view: &View<'_>,
    (about, object): (&ObjectKey, &Value),
    reason: &str,
    message: &str,
) -> Option<Operation> {
    let known = letters(&format!("{} {reason} {message}", uid(object)));
    // An Event about an object without a namespace is in `default`.
    let namespace = about.namespace.as_deref().unwrap_or("default");
    let name = format!("{}.{known}", about.name);
    let at = ObjectKey::new(Kind::from_name("Event"), Some(namespace), &name);
    let source = json!({ "component": "garbage-collector-controller" });
    let event = event(&at, (about, object), (reason, message), source, &view.now);
    match view.cache.get(&at) {
        Some(_) => None,
        None => Some(Operation::Create(at, event)),
    }
}

fn event(
    at: &ObjectKey,
    (about, object): (&ObjectKey, &Value),
    (reason, message): (&str, &str),
    source: Value,
    now: &str,
) -> Value {
    let mut event = at.kind.object(at);
    event["involvedObject"] = json!({
        "apiVersion": about.kind.api_version(), "kind": about.kind.kind, "namespace": about.namespace, "name": about.name,
        "uid": uid(object),
    });
    event["type"] = json!("Warning");
    event["reason"] = json!(reason);
    event["message"] = json!(message);
    event["source"] = source;
    event["count"] = json!(1);
    event["firstTimestamp"] = json!(now);
    event["lastTimestamp"] = json!(now);
    event
}

/// Returns the message of a kubelet about a volume that cannot be mounted.
fn complaint(verb: Verb, volume: &str, said: &str) -> Option<(&'static str, String)> {
    let what = match verb {
        Verb::Stage => "MountVolume.MountDevice",
        Verb::Publish => "MountVolume.SetUp",
        Verb::Create => {
            let said = format!("failed to provision volume: {said}");
            return Some(("ProvisioningFailed", said));
        }
        Verb::Look | Verb::Delete | Verb::Unstage | Verb::Unpublish => return None,
    };
    let said = format!("{what} failed for volume \"{volume}\" : {said}");
    Some(("FailedMount", said))
}
