//! Refusals in the words of the real API server. Depends on the `Status` object, and not on
//! requests.

use serde_json::{Map, Value, json};

use super::kinds::Kind;
use crate::schema::{self, Refusal};

/// One reason of a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cause {
    /// Such as `FieldValueInvalid`.
    pub(crate) reason: String,
    /// Description of the error in the field, without its path.
    pub(crate) message: String,
    /// The path, such as `spec.ports[0].port`.
    pub(crate) field: String,
}

impl Cause {
    fn new(reason: &str, field: impl Into<String>, message: impl Into<String>) -> Self {
        Self {
            reason: reason.to_owned(),
            message: message.into(),
            field: field.into(),
        }
    }

    pub(crate) fn invalid(field: impl Into<String>, value: &Value, detail: &str) -> Self {
        let message = format!("Invalid value: {}: {detail}", format_value(value));
        Self::new("FieldValueInvalid", field, message)
    }

    /// As `invalid`, once for each error of the value.
    pub(crate) fn all_invalid<E: AsRef<str>>(
        field: impl Into<String>,
        value: &Value,
        errors: impl IntoIterator<Item = E>,
    ) -> Vec<Self> {
        let (field, errors) = (field.into(), errors.into_iter());
        errors
            .map(|error| Self::invalid(field.as_str(), value, error.as_ref()))
            .collect()
    }

    /// The error of a text that is set and none of these, in a field of the object at a path.
    pub(crate) fn not_among(object: &Value, at: &str, field: &str, known: &[&str]) -> Option<Self> {
        let found = &object[field];
        let text = found.as_str().unwrap_or_default();
        let is_wrong = !text.is_empty() && !known.contains(&text);
        is_wrong.then(|| Self::unsupported(format!("{at}.{field}"), found, known))
    }

    pub(crate) fn required(field: impl Into<String>, detail: &str) -> Self {
        Self::new(
            "FieldValueRequired",
            field,
            labelled("Required value", detail),
        )
    }

    pub(crate) fn forbidden(field: impl Into<String>, detail: &str) -> Self {
        Self::new("FieldValueForbidden", field, labelled("Forbidden", detail))
    }

    pub(crate) fn duplicate(field: impl Into<String>, value: &Value) -> Self {
        let message = format!("Duplicate value: {}", format_value(value));
        Self::new("FieldValueDuplicate", field, message)
    }

    pub(crate) fn unsupported(field: impl Into<String>, value: &Value, known: &[&str]) -> Self {
        Self::unsupported_text(field, &format_value(value), known)
    }

    /// As `invalid`, of a value that is shown in the form of its Go type.
    pub(crate) fn invalid_text(field: impl Into<String>, shown: &str, detail: &str) -> Self {
        let message = format!("Invalid value: {shown}: {detail}");
        Self::new("FieldValueInvalid", field, message)
    }

    /// As `unsupported`, of a value that is shown in the form of its Go type.
    pub(crate) fn unsupported_text(field: impl Into<String>, shown: &str, known: &[&str]) -> Self {
        let known: Vec<String> = known.iter().map(|word| format!("{word:?}")).collect();
        let known = known.join(", ");
        let message = format!("Unsupported value: {shown}: supported values: {known}");
        Self::new("FieldValueNotSupported", field, message)
    }

    pub(crate) fn not_found(field: impl Into<String>, value: &str) -> Self {
        Self::new("FieldValueNotFound", field, format!("Not found: {value:?}"))
    }

    pub(crate) fn too_long(field: impl Into<String>, limit: usize) -> Self {
        let message = format!("Too long: may not be more than {limit} bytes");
        Self::new("FieldValueTooLong", field, message)
    }

    fn json(&self) -> Value {
        let mut cause = Map::new();
        for (key, word) in [
            ("reason", &self.reason),
            ("message", &self.message),
            ("field", &self.field),
        ] {
            if !word.is_empty() {
                cause.insert(key.to_owned(), word.as_str().into());
            }
        }
        Value::Object(cause)
    }
}

fn labelled(label: &str, detail: &str) -> String {
    if detail.is_empty() {
        label.to_owned()
    } else {
        format!("{label}: {detail}")
    }
}

/// A value as the messages of the real server show it.
fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => format!("{text:?}"),
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => value.to_string(),
    }
}

/// A refusal: a `Status` object and its code.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Failure {
    pub(crate) code: u16,
    pub(crate) reason: &'static str,
    pub(crate) message: String,
    pub(crate) details: Option<Value>,
    /// For lists that expired while they were paged.
    pub(crate) remainder: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: u16, reason: &'static str, message: impl Into<String>) -> Self {
        Self {
            code,
            reason,
            message: message.into(),
            details: None,
            remainder: None,
        }
    }

    fn with_details(mut self, kind: &Kind, name: &str) -> Self {
        self.details = Some(details(&kind.group, &kind.plural, name, &[]));
        self
    }

    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} {name:?} not found", kind.resource());
        Self::new(404, "NotFound", message).with_details(kind, name)
    }

    pub(crate) fn exists(kind: &Kind, name: &str, deleting: bool) -> Self {
        let prefix = if deleting {
            "object is being deleted: "
        } else {
            ""
        };
        let message = format!("{prefix}{} {name:?} already exists", kind.resource());
        Self::new(409, "AlreadyExists", message).with_details(kind, name)
    }

    pub(crate) fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        let resource = kind.resource();
        let message = format!("Operation cannot be fulfilled on {resource} {name:?}: {why}");
        Self::new(409, "Conflict", message).with_details(kind, name)
    }

    /// Returns the failure of a deletion's precondition. It names the kind, not the resource.
    pub(crate) fn precondition(kind: &Kind, name: &str, why: &str) -> Self {
        let shown = qualified(&kind.kind, &kind.group);
        let message = format!("Operation cannot be fulfilled on {shown} {name:?}: {why}");
        let mut failure = Self::new(409, "Conflict", message);
        failure.details = Some(details(&kind.group, &kind.kind, name, &[]));
        failure
    }

    /// The object is not the version that the request names.
    pub(crate) fn modified(kind: &Kind, name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::conflict(kind, name, why)
    }

    pub(crate) fn invalid(kind: &Kind, name: &str, causes: &[Cause]) -> Self {
        Self::invalid_kind(&kind.group, &kind.kind, name, causes)
    }

    pub(crate) fn invalid_kind(group: &str, kind: &str, name: &str, causes: &[Cause]) -> Self {
        let mut lines: Vec<String> = Vec::new();
        for cause in causes {
            let line = if cause.field.is_empty() {
                cause.message.clone()
            } else {
                format!("{}: {}", cause.field, cause.message)
            };
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        let list = match lines.as_slice() {
            [] => "<nil>".to_owned(),
            [line] => line.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        let shown = qualified(kind, group);
        let mut failure = Self::new(
            422,
            "Invalid",
            format!("{shown} {name:?} is invalid: {list}"),
        );
        failure.details = Some(details(group, kind, name, causes));
        failure
    }

    pub(crate) fn bad_request(message: impl Into<String>) -> Self {
        Self::new(400, "BadRequest", message)
    }

    pub(crate) fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let message = match name {
            "" => format!("{} is forbidden: {why}", kind.resource()),
            name => format!("{} {name:?} is forbidden: {why}", kind.resource()),
        };
        Self::new(403, "Forbidden", message).with_details(kind, name)
    }

    /// As `forbidden`, where the kind need not be served.
    pub(crate) fn forbidden_to(group: &str, plural: &str, name: &str, why: &str) -> Self {
        let resource = qualified(plural, group);
        let message = match name {
            "" => format!("{resource} is forbidden: {why}"),
            name => format!("{resource} {name:?} is forbidden: {why}"),
        };
        let mut failure = Self::new(403, "Forbidden", message);
        failure.details = Some(details(group, plural, name, &[]));
        failure
    }

    /// Nothing new may be made in a namespace that goes.
    pub(crate) fn terminating(kind: &Kind, name: &str, namespace: &str) -> Self {
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let mut failure = Self::forbidden(kind, name, &why);
        let cause = Cause {
            reason: "NamespaceTerminating".to_owned(),
            message: format!("namespace {namespace} is being terminated"),
            field: "metadata.namespace".to_owned(),
        };
        failure.details = Some(details(&kind.group, &kind.plural, name, &[cause]));
        failure
    }

    pub(crate) fn method_not_allowed() -> Self {
        let message = "the server does not allow this method on the requested resource";
        let mut failure = Self::new(405, "MethodNotAllowed", message);
        failure.details = Some(json!({}));
        failure
    }

    pub(crate) fn not_acceptable() -> Self {
        let message = "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf";
        Self::new(406, "NotAcceptable", message)
    }

    pub(crate) fn no_such_resource() -> Self {
        let mut failure = Self::new(
            404,
            "NotFound",
            "the server could not find the requested resource",
        );
        failure.details = Some(json!({}));
        failure
    }

    pub(crate) fn unsupported_media_type(known: &[&str]) -> Self {
        let message = format!(
            "the body of the request was in an unknown format - accepted media types include: {}",
            known.join(", ")
        );
        Self::new(415, "UnsupportedMediaType", message)
    }

    /// The version that a watch or list names is no longer kept.
    pub(crate) fn expired(message: impl Into<String>) -> Self {
        Self::new(410, "Expired", message)
    }

    /// Returns a failure without a reason, like the reply to an unexpected error.
    pub(crate) fn unforeseen(message: impl Into<String>) -> Self {
        Self::new(500, "", message)
    }

    /// The patch cannot be used, in the words that clients know.
    pub(crate) fn unprocessable() -> Self {
        let mut failure = Self::new(
            422,
            "Invalid",
            "the server rejected our request due to an error in our request",
        );
        failure.details = Some(json!({}));
        failure
    }

    /// The `Status` object.
    pub(crate) fn json(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if let Some(remainder) = &self.remainder {
            status["metadata"]["continue"] = remainder.as_str().into();
        }
        if !self.reason.is_empty() {
            status["reason"] = self.reason.into();
        }
        if let Some(details) = &self.details {
            status["details"] = details.clone();
        }
        status
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let mut failure = Self::new(refusal.code, refusal.reason, refusal.message);
        let causes: Vec<Cause> = refusal.causes.into_iter().map(Cause::from).collect();
        if !causes.is_empty() {
            failure.details = Some(details("", "", "", &causes));
        }
        failure
    }
}

impl From<schema::Cause> for Cause {
    fn from(cause: schema::Cause) -> Self {
        Self {
            reason: cause.reason,
            message: cause.message,
            field: cause.field,
        }
    }
}

fn qualified(word: &str, group: &str) -> String {
    if group.is_empty() {
        word.to_owned()
    } else {
        format!("{word}.{group}")
    }
}

fn details(group: &str, kind: &str, name: &str, causes: &[Cause]) -> Value {
    let mut details = Map::new();
    for (key, word) in [("name", name), ("group", group), ("kind", kind)] {
        if !word.is_empty() {
            details.insert(key.to_owned(), word.into());
        }
    }
    if !causes.is_empty() {
        let causes: Vec<Value> = causes.iter().map(Cause::json).collect();
        details.insert("causes".to_owned(), causes.into());
    }
    Value::Object(details)
}
