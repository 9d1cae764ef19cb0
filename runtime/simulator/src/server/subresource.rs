//! Subresources that are no part of the object: binding and eviction of Pods, tokens of service accounts, and scale.

use serde_json::{Value, json};

use super::answer::Answer;
use super::call::Call;
use super::failure::Failure;
use super::list::find;
use super::object::{self, map, text};
use super::shape::Write;
use super::state::State;
use super::store::Stored;
use super::update::change;
use super::{delete, patch, selectors, strategy};

/// A GET of a subresource.
pub(crate) fn get(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    match call.target.subresource.as_str() {
        "scale" => {
            let stored = find(state, call)?;
            Ok(Answer::json(200, &scale(call, &stored)))
        }
        _ => Err(Failure::method_not_allowed()),
    }
}

/// A POST to a subresource.
pub(crate) fn post(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    match call.target.subresource.as_str() {
        "binding" => bind(state, call),
        "eviction" => evict(state, call),
        "token" => token(state, call),
        _ => Err(Failure::method_not_allowed()),
    }
}

/// A PUT to a subresource.
pub(crate) fn put(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    if call.target.subresource != "scale" {
        return Err(Failure::method_not_allowed());
    }
    let wanted = call.body()?;
    rescale(state, call, &wanted)
}

/// A PATCH of a subresource.
pub(crate) fn patch(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    if call.target.subresource != "scale" {
        return Err(Failure::method_not_allowed());
    }
    let stored = find(state, call)?;
    let wanted = patch::of_scale(call, scale(call, &stored))?;
    rescale(state, call, &wanted)
}

fn rescale(state: &mut State, call: &Call<'_>, wanted: &Value) -> Result<Answer, Failure> {
    let live = find(state, call)?;
    let old = live.value();
    let version = object::meta(wanted, "resourceVersion");
    if !version.is_empty() && version != live.revision.to_string() {
        return Err(Failure::modified(&call.kind, &live.key.name));
    }
    let mut new = old.clone();
    let replicas = wanted["spec"]["replicas"].as_i64().unwrap_or(0);
    let (path, _) = paths(call);
    let (parents, last) = path.rsplit_once('.').unwrap_or(("", &path));
    let mut slot = &mut new;
    for step in parents.split('.').filter(|step| !step.is_empty()) {
        map(slot, step);
        slot = &mut slot[step];
    }
    slot[last] = replicas.into();
    // Handled like the object itself, because this changes its fields.
    let target = super::request::Target {
        subresource: String::new(),
        ..call.target.clone()
    };
    let plain = Call {
        asked: call.asked,
        target: &target,
        kind: call.kind.clone(),
        version: call.version.clone(),
        view: call.view.clone(),
        dry_run: call.dry_run,
    };
    let changed = change(state, &plain, &live, &old, new, Write::Plain)?;
    Ok(Answer::json(200, &scale(call, &changed)))
}

/// Returns the declared subresource `scale` of a custom kind.
fn declared<'a>(call: &'a Call<'_>) -> &'a Value {
    let declared = call.version.declared.as_deref();
    declared.map_or(&Value::Null, |declared| &declared["subresources"]["scale"])
}

/// Returns the paths of the desired and the reported replicas.
fn paths(call: &Call<'_>) -> (String, String) {
    let path = |field: &str, otherwise: &str| match text(declared(call), field) {
        "" => otherwise.to_owned(),
        path => path.trim_start_matches('.').to_owned(),
    };
    (
        path("specReplicasPath", "spec.replicas"),
        path("statusReplicasPath", "status.replicas"),
    )
}

fn value_at<'a>(object: &'a Value, path: &str) -> &'a Value {
    path.split('.').fold(object, |value, step| {
        value.get(step).unwrap_or(&Value::Null)
    })
}

fn scale(call: &Call<'_>, stored: &Stored) -> Value {
    let object = stored.value();
    let (wanted, told) = paths(call);
    let at = |path: &str| value_at(&object, path).as_i64().unwrap_or(0);
    let mut metadata = json!({});
    for field in [
        "name",
        "namespace",
        "uid",
        "resourceVersion",
        "creationTimestamp",
    ] {
        metadata[field] = object["metadata"][field].clone();
    }
    let selector = match call.kind.custom {
        true => match text(declared(call), "labelSelectorPath") {
            "" => String::new(),
            path => {
                let found = value_at(&object, path.trim_start_matches('.'));
                found.as_str().unwrap_or_default().to_owned()
            }
        },
        false => selectors::shown(&object["spec"]["selector"]),
    };
    let mut scale = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
        "spec": {"replicas": at(&wanted)}, "status": {"replicas": at(&told)},
    });
    if !selector.is_empty() {
        scale["status"]["selector"] = selector.into();
    }
    scale
}

/// Gives a Pod its node, once.
fn bind(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    let binding = call.body()?;
    let node = text(&binding["target"], "name").to_owned();
    let live = find(state, call)?;
    let mut pod = live.value();
    let name = &live.key.name;
    if object::is_deleting(&pod) {
        let why = format!("pod {name} is being deleted, cannot be assigned to a host");
        return Err(Failure::conflict(&call.kind, name, &why));
    }
    let there = text(&pod["spec"], "nodeName");
    if !there.is_empty() {
        let why = format!("pod {name} is already assigned to node {there:?}");
        return Err(Failure::conflict(&call.kind, name, &why));
    }
    map(&mut pod, "spec").insert("nodeName".to_owned(), node.into());
    let now = state.now();
    let conditions = map(&mut pod, "status")
        .entry("conditions")
        .or_insert_with(|| json!([]));
    if let Some(conditions) = conditions.as_array_mut() {
        conditions.retain(|condition| condition["type"] != "PodScheduled");
        conditions.push(json!({
            "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now,
        }));
    }
    if !call.dry_run {
        strategy::store(state, &call.kind, live.key.clone(), pod);
    }
    Ok(success(201))
}

fn evict(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    find(state, call)?;
    delete::delete(state, call)?;
    Ok(success(201))
}

fn token(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    let mut request = call.body()?;
    let account = find(state, call)?;
    let seconds = request["spec"]["expirationSeconds"]
        .as_i64()
        .unwrap_or(3600);
    let end = state
        .clock
        .now()
        .checked_add(jiff::SignedDuration::from_secs(seconds))
        .unwrap_or(jiff::Timestamp::MAX);
    request["kind"] = "TokenRequest".into();
    request["apiVersion"] = "authentication.k8s.io/v1".into();
    request["spec"]["expirationSeconds"] = seconds.into();
    request["metadata"] = json!({
        "name": account.key.name, "namespace": account.key.namespace, "creationTimestamp": state.now(),
    });
    request["status"] = json!({
        "token": format!("simulated.{}.{}", account.key.namespace, account.key.name),
        "expirationTimestamp": end.strftime("%Y-%m-%dT%H:%M:%SZ").to_string(),
    });
    Ok(Answer::json(201, &request))
}

fn success(code: u16) -> Answer {
    let status = json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "code": code});
    Answer::json(code, &status)
}
