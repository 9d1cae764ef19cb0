//! Request with a known resource, as its handler receives it. Independent of handlers.

use std::sync::Arc;

use serde_json::Value;

use super::failure::Failure;
use super::kinds::{Kind, Version};
use super::rbac::Attempt;
use super::render::View;
use super::request::{ApiRequest, Target};
use super::state::State;

/// Request with a known resource.
pub(crate) struct Call<'a> {
    pub(crate) asked: &'a ApiRequest<'a>,
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

    /// Refuses a user who may change but not create.
    pub(crate) fn authorize_create(&self, state: &mut State) -> Result<(), Failure> {
        let mut attempt = Attempt::from_request(self.asked);
        "create".clone_into(&mut attempt.verb);
        state.authorize(self.asked.user, &attempt)
    }

    /// Returns the namespace of the objects of this call.
    pub(crate) fn namespace(&self) -> &str {
        &self.target.namespace
    }
}
