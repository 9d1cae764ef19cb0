//! Deletion: preconditions, finalizers, grace periods, and the part that the propagation policy
//! leaves to the garbage collector.

use std::sync::Arc;

use serde_json::{Value, json};

use super::answer::Answer;
use super::call::Call;
use super::failure::{Cause, Failure};
use super::kinds::Kind;
use super::list::{Selection, find};
use super::object::{self, metadata, set_finalizers, text};
use super::state::State;
use super::store::{StoreKey, Stored};
use super::{crds, strategy};

const ORPHAN: &str = "orphan";
const FOREGROUND: &str = "foregroundDeletion";

/// Namespaces that are never deleted.
const IMMORTAL: [&str; 3] = ["default", "kube-public", "kube-system"];

/// Options of a deletion.
#[derive(Clone, Debug, Default)]
struct Options {
    uid: String,
    version: String,
    grace: Option<i64>,
    policy: String,
    dry_run: bool,
}

/// A DELETE of one object.
pub(crate) fn delete(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    let options = options(call)?;
    let kind = &call.kind;
    let name = &call.target.name;
    if kind.is("", "namespaces") && IMMORTAL.contains(&name.as_str()) {
        return Err(Failure::forbidden(
            kind,
            name,
            "this namespace may not be deleted",
        ));
    }
    let live = find(state, call)?;
    let (last, gone) = remove(state, kind, &live, &options)?;
    if !gone || kind.traits.returns_deleted {
        return Ok(Answer::bytes(200, call.view.object(&last)));
    }
    let uid = last.value()["metadata"]["uid"].clone();
    let mut details = json!({"name": name, "kind": kind.plural, "uid": uid});
    if !kind.group.is_empty() {
        details["group"] = kind.group.as_str().into();
    }
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details,
    });
    Ok(Answer::json(200, &status))
}

/// A DELETE of all objects that are selected.
pub(crate) fn collection(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    let kind = &call.kind;
    if kind.virtual_only
        || ["namespaces", "services"].contains(&&*kind.store) && kind.plural == "namespaces"
    {
        return Err(Failure::method_not_allowed());
    }
    let options = options(call)?;
    let selection = Selection::from_call(call)?;
    let all = state.store.all(&kind.store, &selection.namespace);
    let selected: Vec<Arc<Stored>> = all
        .filter(|stored| selection.matches(stored))
        .cloned()
        .collect();
    let revision = state.store.revision();
    for live in &selected {
        remove(state, kind, live, &options)?;
    }
    Ok(Answer::bytes(
        200,
        call.view.list(&selected, revision, None),
    ))
}

fn options(call: &Call<'_>) -> Result<Options, Failure> {
    let query = &call.asked.query;
    let body = if call.asked.body.is_empty() {
        json!({})
    } else {
        call.parse(call.asked.body)?
    };
    // A body, even an empty one, replaces all options of the query.
    let given = !call.asked.body.is_empty();
    let either = |field: &str| match text(&body, field) {
        "" if !given => query.text(field).to_owned(),
        text => text.to_owned(),
    };
    let from_query = query.number("gracePeriodSeconds")?;
    let grace = body["gracePeriodSeconds"].as_i64();
    let mut policy = either("propagationPolicy");
    let orphans = body["orphanDependents"].as_bool();
    if let Some(orphans) = orphans {
        policy = if orphans { "Orphan" } else { "Background" }.to_owned();
    }
    let known = ["Background", "Foreground", "Orphan"];
    if !policy.is_empty() && !known.contains(&policy.as_str()) {
        let field = "propagationPolicy";
        let shown = ["Foreground", "Background", "Orphan", "nil"];
        let cause = Cause::unsupported(field, &policy.as_str().into(), &shown);
        return Err(Failure::invalid_kind(
            "meta.k8s.io",
            "DeleteOptions",
            "",
            &[cause],
        ));
    }
    let dry_run = if given {
        object::list(&body, "dryRun").iter().any(|one| one == "All")
    } else {
        call.dry_run
    };
    Ok(Options {
        uid: text(&body["preconditions"], "uid").to_owned(),
        version: text(&body["preconditions"], "resourceVersion").to_owned(),
        grace: grace.or(from_query
            .filter(|_| !given)
            .and_then(|seconds| i64::try_from(seconds).ok())),
        policy,
        dry_run,
    })
}

/// Deletes an object, or marks it where something has to happen before.
fn remove(
    state: &mut State,
    kind: &Arc<Kind>,
    live: &Arc<Stored>,
    options: &Options,
) -> Result<(Arc<Stored>, bool), Failure> {
    let old = live.value();
    let key = &live.key;
    check(kind, live, &old, options)?;
    let mut new = old.clone();
    let finalizers = finalizers(&old, options);
    set_finalizers(&mut new, &finalizers);
    let grace = strategy::grace(kind, &old, options.grace);
    let waits = !finalizers.is_empty()
        || !object::list(&old["spec"], "finalizers").is_empty() && kind.is("", "namespaces")
        || grace.is_some_and(|seconds| seconds > 0)
        || kind.is("apiextensions.k8s.io", "customresourcedefinitions")
            && !object::is_deleting(&old);
    // An object with a grace period reports its end.
    if !waits && grace.is_some() && !options.dry_run {
        mark(state, kind, &old, &mut new, 0);
        strategy::store(state, kind, key.clone(), new.clone());
    }
    if !waits {
        if options.dry_run {
            return Ok((live.clone(), true));
        }
        let last = if grace.is_some() { new } else { old };
        return Ok((strategy::bury(state, kind, key, last), true));
    }
    mark(state, kind, &old, &mut new, grace.unwrap_or(0));
    if new == old {
        return Ok((live.clone(), false));
    }
    if options.dry_run {
        return Ok((Arc::new(Stored::draft(kind, key.clone(), new)), false));
    }
    let marked = strategy::store(state, kind, key.clone(), new);
    if kind.is("apiextensions.k8s.io", "customresourcedefinitions") {
        empty(state, &marked.value());
    }
    Ok((marked, false))
}

/// Sets when and how the object is to go.
fn mark(state: &State, kind: &Kind, old: &Value, new: &mut Value, grace: i64) {
    let before = old["metadata"]["deletionGracePeriodSeconds"].as_i64();
    let first = !object::is_deleting(old);
    // A second deletion may only shorten the remaining time.
    if first || before.is_some_and(|before| grace < before) {
        let seconds = jiff::SignedDuration::from_secs(grace);
        let end = state
            .clock
            .now()
            .checked_add(seconds)
            .unwrap_or(jiff::Timestamp::MAX);
        let end = end.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        let metadata = metadata(new);
        metadata.insert("deletionTimestamp".to_owned(), end.into());
        if !kind.is("", "namespaces") {
            metadata.insert("deletionGracePeriodSeconds".to_owned(), grace.into());
        }
    }
    if first {
        if let Some(generation) = old["metadata"]["generation"].as_i64() {
            metadata(new).insert("generation".to_owned(), (generation + 1).into());
        }
        strategy::prepare_deleting(kind, new);
    }
}

fn check(kind: &Kind, live: &Stored, old: &Value, options: &Options) -> Result<(), Failure> {
    let name = &live.key.name;
    let uid = object::meta(old, "uid");
    if !options.uid.is_empty() && options.uid != uid {
        let why = format!(
            "the UID in the precondition ({}) does not match the UID in record ({uid}). The object might have been deleted and then recreated",
            options.uid
        );
        return Err(Failure::precondition(kind, name, &why));
    }
    let version = live.revision.to_string();
    if !options.version.is_empty() && options.version != version {
        let why = format!(
            "the ResourceVersion in the precondition ({}) does not match the ResourceVersion in record ({version}). The object might have been modified",
            options.version
        );
        return Err(Failure::precondition(kind, name, &why));
    }
    Ok(())
}

/// Returns the finalizers with which the object waits for the garbage collector, without the
/// unneeded ones.
fn finalizers(old: &Value, options: &Options) -> Vec<String> {
    let mut finalizers = object::finalizers(old);
    if options.policy.is_empty() {
        return finalizers;
    }
    finalizers.retain(|finalizer| finalizer != ORPHAN && finalizer != FOREGROUND);
    match options.policy.as_str() {
        "Orphan" => finalizers.push(ORPHAN.to_owned()),
        "Foreground" => finalizers.push(FOREGROUND.to_owned()),
        _ => {}
    }
    finalizers
}

/// Deletes the objects of a definition that is being deleted.
fn empty(state: &mut State, definition: &Value) {
    let spec = &definition["spec"];
    let (group, plural) = (text(spec, "group"), text(&spec["names"], "plural"));
    let Some(kind) = state.kinds.get(group, plural).cloned() else {
        return;
    };
    let keys: Vec<StoreKey> = state
        .store
        .all(&kind.store, "")
        .map(|stored| stored.key.clone())
        .collect();
    for key in keys {
        plainly(state, &kind, &key);
    }
    crds::finish(state, &kind);
}

/// Deletes an object as the server itself does, without preconditions and without grace.
fn plainly(state: &mut State, kind: &Arc<Kind>, key: &StoreKey) {
    let Some(live) = state.store.get(&kind.store, key).cloned() else {
        return;
    };
    let removed = remove(state, kind, &live, &Options::default());
    removed.expect("without preconditions nothing is refused");
}
