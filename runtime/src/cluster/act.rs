//! Requests, one per write to the API server. Each is guarded so that it changes only the observed
//! version.

use http::Request;
use kube::core::Request as Path;
use kube::core::params::{
    DeleteParams, Patch, PatchParams, PostParams, Preconditions, PropagationPolicy,
};
use kube::core::request::Error;
use serde_json::{Value, json};

use super::observe::{Job, Plan};
use super::store::Name;
use crate::lifecycle::{Kind, Stored};
use crate::machine::compare::migrated;
use lifecycle_client::names;

/// A write on its way.
pub type Sent = Result<Request<Vec<u8>>, Error>;

/// Returns the API path of an object: the path of its collection, and its escaped name.
fn locate_object(kind: &Kind, name: &Name) -> Result<(Path, String), Error> {
    let invalid = |error: names::Error| Error::Validation(error.to_string());
    let namespace = name.namespace.as_deref().filter(|_| kind.namespaced);
    let namespace = namespace.map(names::of_namespace).transpose();
    let namespace = namespace.map_err(invalid)?;
    let last = names::of_object(&kind.group, &kind.kind, &name.name).map_err(invalid)?;
    Ok((Path::new(kind.path(namespace.as_deref())), last))
}

fn forced(manager: &str) -> PatchParams {
    PatchParams::apply(manager).force()
}

/// The one write of a plan; `None` for a call, which is no request to the API server.
pub fn write(plan: &Plan, kind: &Kind) -> Option<Sent> {
    let (path, name) = match locate_object(kind, &plan.name) {
        Ok(at) => at,
        Err(error) => return Some(Err(error)),
    };
    let live = plan.live.as_deref();
    let mut body = plan.body.clone();
    match plan.job {
        // With this version, an existing object is a conflict, forced or not.
        Job::Create => body["metadata"]["resourceVersion"] = json!("1"),
        Job::Update | Job::Withdraw => {
            body["metadata"]["uid"] = json!(live.and_then(|l| l.meta.uid.as_deref()));
        }
        Job::Revise => {
            body["metadata"]["uid"] = json!(live.and_then(|l| l.meta.uid.as_deref()));
            let version = live.and_then(|l| l.meta.resource_version.as_deref());
            body["metadata"]["resourceVersion"] = json!(version);
        }
        Job::Delete => return Some(path.delete(&name, &exactly(live?))),
        Job::Migrate => return Some(migrate((&path, &name), plan, live?)),
        Job::Record => return Some(record((&path, &name), plan, live?)),
        Job::Adopt | Job::Disown | Job::Tidy => return Some(owned((&path, &name), plan, live?)),
        Job::Call => return None,
    }
    let params = forced(&plan.manager);
    Some(path.patch(&name, &params, &Patch::Apply(body)))
}

fn exactly(live: &Stored) -> DeleteParams {
    DeleteParams {
        preconditions: Some(Preconditions {
            uid: live.meta.uid.clone(),
            resource_version: live.meta.resource_version.clone(),
        }),
        propagation_policy: Some(PropagationPolicy::Background),
        ..DeleteParams::default()
    }
}

/// Builds a request guarded by the version that was read, because resources held under an older
/// record must not be forgotten.
fn record((path, name): (&Path, &str), plan: &Plan, live: &Stored) -> Sent {
    let patch = json!({ "metadata": {
        "uid": live.meta.uid,
        "resourceVersion": live.meta.resource_version,
        "annotations": plan.body["metadata"]["annotations"],
    } });
    let params = PatchParams {
        field_manager: Some(plan.manager.clone()),
        ..PatchParams::default()
    };
    path.patch(name, &params, &Patch::Merge(patch))
}

/// Builds a request guarded by the version that was read, so that a new controller keeps the
/// object.
fn owned((path, name): (&Path, &str), plan: &Plan, live: &Stored) -> Sent {
    let mut patch = plan.body.clone();
    patch["metadata"]["uid"] = json!(live.meta.uid);
    patch["metadata"]["resourceVersion"] = json!(live.meta.resource_version);
    let params = PatchParams {
        field_manager: Some(plan.manager.clone()),
        ..PatchParams::default()
    };
    path.patch(name, &params, &Patch::Merge(patch))
}

/// Builds a request guarded by the version that was read. Otherwise, it would undo concurrent
/// changes of others.
fn migrate((path, name): (&Path, &str), plan: &Plan, live: &Stored) -> Sent {
    let raw = live.raw.as_deref().unwrap_or(&Value::Null);
    let patch = json!({ "metadata": {
        "uid": live.meta.uid,
        "resourceVersion": live.meta.resource_version,
        "managedFields": migrated(raw, &plan.manager, &plan.replaced, plan.exclusive),
    } });
    path.patch(name, &PatchParams::default(), &Patch::Merge(patch))
}

/// The whole status of an object in the version that was seen.
pub(crate) fn status(kind: &Kind, subject: &Stored, manager: &str, status: &Value) -> Sent {
    let body = json!({
        "apiVersion": kind.api_version(),
        "kind": kind.kind,
        "metadata": {
            "name": subject.meta.name,
            "namespace": subject.meta.namespace,
            "resourceVersion": subject.meta.resource_version,
        },
        "status": status,
    });
    let (path, name) = locate_object(kind, &Name::from_meta(&subject.meta))?;
    path.patch_subresource("status", &name, &forced(manager), &Patch::Apply(body))
}

/// Builds the status update as a merge. A null in it removes the field, regardless of its writer.
pub(crate) fn merged_status(kind: &Kind, subject: &Stored, manager: &str, status: &Value) -> Sent {
    let version = &subject.meta.resource_version;
    let patch = json!({ "metadata": { "resourceVersion": version }, "status": status });
    let (path, name) = locate_object(kind, &Name::from_meta(&subject.meta))?;
    let params = PatchParams {
        field_manager: Some(manager.to_owned()),
        ..PatchParams::default()
    };
    path.patch_subresource("status", &name, &params, &Patch::Merge(patch))
}

/// Puts our finalizer on the object, or takes it away; those of older versions go in either case.
pub(crate) fn finalizer(
    kind: &Kind,
    subject: &Stored,
    (ours, retired): (&str, &[String]),
    claim: bool,
) -> Sent {
    let there = subject.meta.finalizers.iter().flatten();
    let kept = there.filter(|name| *name != ours && !retired.contains(name));
    let mut finalizers: Vec<&str> = kept.map(String::as_str).collect();
    if claim {
        finalizers.push(ours);
    }
    let patch = json!({ "metadata": {
        "uid": subject.meta.uid,
        "resourceVersion": subject.meta.resource_version,
        "finalizers": finalizers,
    } });
    let (path, name) = locate_object(kind, &Name::from_meta(&subject.meta))?;
    path.patch(&name, &PatchParams::default(), &Patch::Merge(patch))
}

/// Message for people who inspect an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct News {
    pub(crate) warning: bool,
    pub(crate) reason: String,
    pub(crate) note: String,
}

/// Source of an event.
#[derive(Clone, Debug)]
pub(crate) struct Reporter<'a> {
    pub(crate) controller: &'a str,
    pub(crate) action: &'a str,
    pub(crate) instance: &'a str,
}

/// The longest note that the API server takes.
const LONGEST_NOTE: usize = 1024;

/// An event about an object; those about objects without a namespace live in `default`.
pub(crate) fn event(
    kind: &Kind,
    about: (&Name, Option<&str>),
    news: &News,
    by: &Reporter<'_>,
    (time, number): (String, u64),
) -> Sent {
    let (name, uid) = about;
    let namespace = name.namespace.as_deref().unwrap_or("default");
    let note: String = news.note.chars().take(LONGEST_NOTE).collect();
    // Our suffix takes 17 characters, and a name may have 253.
    let stem: String = name.name.chars().take(236).collect();
    let body = json!({
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "metadata": { "name": format!("{stem}.{number:016x}"), "namespace": namespace },
        "eventTime": time,
        "reportingController": by.controller,
        "reportingInstance": by.instance,
        "action": by.action,
        "reason": news.reason,
        "note": note,
        "type": if news.warning { "Warning" } else { "Normal" },
        "regarding": {
            "apiVersion": kind.api_version(),
            "kind": kind.kind,
            "namespace": name.namespace,
            "name": name.name,
            "uid": uid,
        },
    });
    let namespace = names::of_namespace(namespace);
    let namespace = namespace.map_err(|error| Error::Validation(error.to_string()))?;
    let path = Path::new(format!(
        "/apis/events.k8s.io/v1/namespaces/{namespace}/events"
    ));
    path.create(&PostParams::default(), body.to_string().into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;
    use k8s_openapi::api::core::v1::Secret;

    #[test]
    fn a_path_leads_to_no_other_namespace() {
        let kind = Kind::for_type::<Secret>();
        let name = Name {
            namespace: Some("../../nodes".to_owned()),
            name: "a".to_owned(),
        };
        assert!(locate_object(&kind, &name).is_err());
        let news = News {
            warning: false,
            reason: "R".to_owned(),
            note: String::new(),
        };
        let by = Reporter {
            controller: "c",
            action: "A",
            instance: "i",
        };
        let told = event(&kind, (&name, Some("u")), &news, &by, (String::new(), 1));
        assert!(told.is_err());
    }
}
