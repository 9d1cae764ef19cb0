//! From a request to the handler of its verb. Knows which verbs a kind has, and none of their rules.

use http::Method;
use serde_json::json;

use super::answer::Answer;
use super::call::Call;
use super::failure::Failure;
use super::rbac::Attempt;
use super::render::View;
use super::request::ApiRequest;
use super::state::State;
use super::{create, delete, list, patch, subresource, update, watch};

/// Answers a request.
pub(crate) fn dispatch(state: &mut State, asked: &ApiRequest<'_>) -> Answer {
    handle(state, asked).unwrap_or_else(Answer::from)
}

fn handle(state: &mut State, asked: &ApiRequest<'_>) -> Result<Answer, Failure> {
    state.authorize(asked.user, &Attempt::from_request(asked))?;
    let Some(target) = &asked.target else {
        return Ok(plain(asked));
    };
    let kind = state.kinds.get(&target.group, &target.plural);
    let version = kind.and_then(|kind| kind.version(&target.version).cloned());
    let (Some(kind), Some(version)) = (kind.cloned(), version.filter(|version| version.served))
    else {
        let known = state
            .kinds
            .all()
            .any(|kind| kind.group == target.group && kind.version(&target.version).is_some());
        // Where some kinds are served the answer is an object.
        return if known && target.group.is_empty() {
            Err(Failure::no_such_resource())
        } else {
            Ok(not_served())
        };
    };
    let known = target.subresource.is_empty() || version.has(&target.subresource);
    if !known && kind.custom {
        return Err(Failure::not_found(&kind, &target.name));
    }
    if !known || (!kind.namespaced && !target.namespace.is_empty() && kind.plural != "namespaces") {
        return Err(Failure::no_such_resource());
    }
    let call = Call {
        view: View::new(&kind, &target.version),
        dry_run: dry_run(asked)?,
        asked,
        target,
        kind,
        version,
    };
    route(state, &call)
}

fn route(state: &mut State, call: &Call<'_>) -> Result<Answer, Failure> {
    let named = !call.target.name.is_empty();
    let lacks_namespace = call.kind.namespaced && call.target.namespace.is_empty();
    let method = &call.asked.method;
    if lacks_namespace && (named || !(method == Method::GET || method == Method::POST)) {
        return Err(Failure::method_not_allowed());
    }
    // Parts of the object are read and changed as it is; the other subresources are things of their own.
    let within = call.target.subresource.as_str();
    let is_read = ["", "status"].contains(&within);
    let is_changed = ["", "status", "finalize"].contains(&within);
    match (method.as_str(), named) {
        ("GET", false) if call.asked.is_watch() => watch::watch(state, call),
        ("GET", false) => list::list(state, call),
        ("GET", true) if is_read => list::get(state, call),
        ("GET", true) => subresource::get(state, call),
        ("POST", false) => create::post(state, call),
        ("POST", true) if !within.is_empty() => subresource::post(state, call),
        ("PUT", true) if is_changed => update::put(state, call),
        ("PUT", true) => subresource::put(state, call),
        ("PATCH", true) if is_changed => patch::patch(state, call),
        ("PATCH", true) => subresource::patch(state, call),
        ("DELETE", true) if within.is_empty() => delete::delete(state, call),
        ("DELETE", false) => delete::collection(state, call),
        _ => Err(Failure::method_not_allowed()),
    }
}

fn dry_run(asked: &ApiRequest<'_>) -> Result<bool, Failure> {
    match asked.query.text("dryRun") {
        "" => Ok(false),
        "All" => Ok(true),
        other => {
            let cause = super::failure::Cause::unsupported("dryRun", &json!([other]), &["All"]);
            let kind = match asked.method.as_str() {
                "POST" => "CreateOptions",
                "PUT" => "UpdateOptions",
                "PATCH" => "PatchOptions",
                _ => "DeleteOptions",
            };
            Err(Failure::invalid_kind("meta.k8s.io", kind, "", &[cause]))
        }
    }
}

/// Answers a request for a path that has no objects behind it.
fn plain(asked: &ApiRequest<'_>) -> Answer {
    match asked.path.trim_end_matches('/') {
        "/healthz" | "/livez" | "/readyz" => Answer::text(200, "ok"),
        "/version" => Answer::json(
            200,
            &json!({
                "major": "1", "minor": "36", "gitVersion": "v1.36.3", "gitCommit": "", "gitTreeState": "clean",
                "buildDate": "2026-01-01T00:00:00Z", "goVersion": "", "compiler": "", "platform": "simulated",
            }),
        ),
        _ => not_served(),
    }
}

fn not_served() -> Answer {
    Answer::text(404, "404 page not found\n")
}
