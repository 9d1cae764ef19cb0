//! From a request to the handler of its verb. Knows which verbs a kind has, and none of their rules.

use std::sync::Arc;

use http::Method;
use serde_json::{Value, json};

use super::answer::Answer;
use super::failure::Failure;
use super::kinds::{Kind, Version};
use super::rbac::Attempt;
use super::render::View;
use super::request::{Asked, Target};
use super::state::State;
use super::{create, delete, list, patch, update, watch};

/// A request whose resource is known.
pub(crate) struct Call<'a> {
    pub(crate) asked: &'a Asked<'a>,
    pub(crate) target: &'a Target,
    pub(crate) kind: Arc<Kind>,
    pub(crate) version: Version,
    pub(crate) view: View,
    pub(crate) dry_run: bool,
}

impl Call<'_> {
    /// The body as JSON.
    pub(crate) fn body(&self) -> Result<Value, Failure> {
        match self.asked.content_type.as_str() {
            "" | "application/json" => {}
            _ => return Err(Failure::unsupported_media_type(&["application/json"])),
        }
        self.parse(self.asked.body)
    }

    pub(crate) fn parse(&self, body: &[u8]) -> Result<Value, Failure> {
        let object: Value = serde_json::from_slice(body).map_err(|error| {
            let kind = &self.kind.kind;
            Failure::bad_request(format!(
                "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: {error}"
            ))
        })?;
        if !object.is_object() {
            let kind = &self.kind.kind;
            return Err(Failure::bad_request(format!(
                "the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; json parse error: cannot \
                 unmarshal into an object"
            )));
        }
        Ok(object)
    }

    /// Refuses objects of another kind or version.
    pub(crate) fn check_type(&self, object: &Value) -> Result<(), Failure> {
        let text = |field: &str| object[field].as_str().unwrap_or_default();
        let (api_version, kind) = (text("apiVersion"), text("kind"));
        if api_version.is_empty() && kind.is_empty() && !self.kind.custom {
            return Ok(());
        }
        let wanted = &self.view.api_version;
        if kind != self.kind.kind {
            if self.kind.custom {
                let message = format!(
                    "the object provided is unrecognized (must be of type {}): kind {kind:?} does not match",
                    self.kind.kind
                );
                return Err(Failure::bad_request(message));
            }
            let version = api_version.rsplit('/').next().unwrap_or_default();
            return Err(Failure::bad_request(format!(
                "{kind} in version {version:?} cannot be handled as a {}: converting (v1.{kind}) to (core.{}): unknown conversion",
                self.kind.kind, self.kind.kind
            )));
        }
        if api_version != wanted {
            return Err(Failure::bad_request(format!(
                "the API version in the data ({api_version}) does not match the expected API version ({wanted})"
            )));
        }
        Ok(())
    }

    /// Refuses somebody who may change but not make.
    pub(crate) fn authorize_create(&self, state: &mut State) -> Result<(), Failure> {
        let mut attempt = Attempt::of(self.asked);
        "create".clone_into(&mut attempt.verb);
        state.authorize(self.asked.user, &attempt)
    }

    /// Where the objects of this call are.
    pub(crate) fn namespace(&self) -> &str {
        &self.target.namespace
    }
}

/// Answers a request.
pub(crate) fn dispatch(state: &mut State, asked: &Asked<'_>) -> Answer {
    handle(state, asked).unwrap_or_else(Answer::from)
}

fn handle(state: &mut State, asked: &Asked<'_>) -> Result<Answer, Failure> {
    state.authorize(asked.user, &Attempt::of(asked))?;
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
    match (method.as_str(), named) {
        ("GET", false) if call.asked.is_watch() => watch::watch(state, call),
        ("GET", false) => list::list(state, call),
        ("GET", true) => list::get(state, call),
        ("POST", false) => create::post(state, call),
        ("POST", true) if !call.target.subresource.is_empty() => create::post_under(state, call),
        ("PUT", true) => update::put(state, call),
        ("PATCH", true) => patch::patch(state, call),
        ("DELETE", true) if call.target.subresource.is_empty() => delete::delete(state, call),
        ("DELETE", false) => delete::collection(state, call),
        _ => Err(Failure::method_not_allowed()),
    }
}

fn dry_run(asked: &Asked<'_>) -> Result<bool, Failure> {
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

/// What has no objects behind it.
fn plain(asked: &Asked<'_>) -> Answer {
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
