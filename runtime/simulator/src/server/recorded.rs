//! Record of a request, for readers who examine the requests of a program to its API server. It
//! contains no secrets.

use http::Request;
use serde_json::Value;

use super::User;
use super::protobuf;
use super::rbac::Attempt;
use super::request::ApiRequest;

/// A request that was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// Name of the user, as in RBAC.
    pub user: String,
    /// As rules of RBAC name it: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`; of a path that is no resource, the
    /// method.
    pub verb: String,
    /// The path with its query.
    pub path: String,
    /// The program, as it names itself.
    pub agent: String,
    /// The HTTP code of the answer.
    pub code: u16,
    /// Body of the request.
    pub body: RecordedBody,
}

/// Body of a recorded request.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedBody {
    /// Nothing.
    Empty,
    /// This.
    Value(Value),
    /// Secret content that is not recorded.
    LeftOut,
}

/// Kinds that hold secrets, by group, resource and kind. No part of such a body is recorded,
/// because a patch or an annotation may hold secrets as well as `data`.
const SECRET: [(&str, &str, &str); 2] = [
    ("", "secrets", "Secret"),
    ("authentication.k8s.io", "tokenreviews", "TokenReview"),
];

impl Recorded {
    pub(crate) fn from_request(user: &User, request: &Request<Vec<u8>>, code: u16) -> Self {
        let asked = ApiRequest::new(user, request);
        let uri = request.uri();
        let path = uri.path_and_query().map_or(uri.path(), |all| all.as_str());
        let body = body(&asked);
        Self {
            user: user.name.clone(),
            verb: Attempt::from_request(&asked).verb,
            path: path.to_owned(),
            agent: asked.agent,
            code,
            body,
        }
    }
}

fn body(asked: &ApiRequest<'_>) -> RecordedBody {
    if asked.body.is_empty() {
        return RecordedBody::Empty;
    }
    if asked.target.as_ref().is_some_and(|target| {
        let of = (target.group.as_str(), target.plural.as_str());
        SECRET
            .iter()
            .any(|(group, plural, _)| of == (*group, *plural))
    }) {
        return RecordedBody::LeftOut;
    }
    let value = match asked.content_type.as_str() {
        protobuf::MEDIA_TYPE => protobuf::decode(asked.body),
        _ => serde_json::from_slice(asked.body).ok(),
    };
    // YAML, as an apply may be.
    let text = || String::from_utf8_lossy(asked.body).into_owned();
    let value = value.unwrap_or_else(|| Value::String(text()));
    match is_secret(&value) {
        true => RecordedBody::LeftOut,
        false => RecordedBody::Value(value),
    }
}

/// Returns true if a body, or something in it, names a secret kind. It may have been sent to a
/// wrong path.
fn is_secret(body: &Value) -> bool {
    match body {
        Value::Object(object) => {
            let text = |field: &str| object.get(field).and_then(Value::as_str);
            let items = object.get("items").and_then(Value::as_array);
            let is_kind = text("kind").is_some_and(|kind| holds(text("apiVersion"), kind));
            is_kind || items.is_some_and(|items| items.iter().any(is_secret))
        }
        Value::Array(items) => items.iter().any(is_secret),
        // The text is not parsed, so naming such a kind is enough.
        Value::String(text) => {
            let mut words = text.split(|letter: char| !letter.is_alphanumeric());
            words.any(|word| holds(None, word))
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Returns true if a kind, or a list of it, holds secrets. Without a version the kind may be of any
/// group.
fn holds(version: Option<&str>, kind: &str) -> bool {
    let group = version.map(|version| version.rsplit_once('/').map_or("", |(group, _)| group));
    let kind = kind.strip_suffix("List").unwrap_or(kind);
    let mut all = SECRET.iter();
    all.any(|(of, _, secret)| *secret == kind && group.is_none_or(|group| group == *of))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn recorded(method: &str, path: &str, body: &str) -> Recorded {
        let request = Request::builder().method(method).uri(path);
        let request = request.header("user-agent", "kubectl/v1.36");
        let request = request.body(body.as_bytes().to_vec()).unwrap();
        Recorded::from_request(&User::admin(), &request, 200)
    }

    #[test]
    fn a_request_is_told_as_rbac_names_it() {
        let found = recorded("GET", "/api/v1/namespaces/a/pods?watch=1", "");
        let expected = ("watch", "/api/v1/namespaces/a/pods?watch=1");
        assert_eq!((found.verb.as_str(), found.path.as_str()), expected);
        assert_eq!((found.agent.as_str(), found.code), ("kubectl/v1.36", 200));
        assert_eq!(found.body, RecordedBody::Empty);
        assert_eq!(recorded("GET", "/version", "").verb, "get");
        let made = recorded("POST", "/api/v1/namespaces/a/configmaps", r#"{"data": {}}"#);
        assert_eq!(made.body, RecordedBody::Value(json!({ "data": {} })));
        let applied = recorded("PATCH", "/api/v1/namespaces/a/configmaps/b", "data: {}");
        assert_eq!(applied.verb, "patch");
        assert_eq!(applied.body, RecordedBody::Value(json!("data: {}")));
    }

    #[test]
    fn nothing_is_told_of_a_secret() {
        let all = "/api/v1/namespaces/a/secrets";
        for (method, path) in [
            ("POST", all.to_owned()),
            ("PATCH", format!("{all}/b")),
            ("PUT", format!("{all}/b")),
            (
                "POST",
                "/apis/authentication.k8s.io/v1/tokenreviews".to_owned(),
            ),
        ] {
            let found = recorded(method, &path, r#"{"stringData": {"password": "x"}}"#);
            assert_eq!(found.body, RecordedBody::LeftOut, "{method} {path}");
        }
        // The body is a Secret although its path does not accept one.
        let wrong = "/api/v1/namespaces/a/configmaps";
        let secret = r#"{"apiVersion": "v1", "kind": "Secret", "stringData": {"password": "x"}}"#;
        let list = format!(r#"{{"apiVersion": "v1", "kind": "List", "items": [{{}}, {secret}]}}"#);
        let typed =
            r#"{"apiVersion": "v1", "kind": "SecretList", "items": [{"data": {"a": "eA=="}}]}"#;
        let yaml = "kind: Secret\nstringData: {password: x}\n";
        for body in [
            secret,
            &list,
            typed,
            yaml,
            r#"{"kind": "Secret"}"#,
            &format!("[{secret}]"),
        ] {
            for path in [wrong, "/nowhere"] {
                let found = recorded("POST", path, body);
                assert_eq!(found.body, RecordedBody::LeftOut, "{path} {body}");
            }
        }
        let refers = json!({ "kind": "Pod", "spec": { "ref": { "kind": "Secret", "name": "a" } } });
        let found = recorded("POST", wrong, &refers.to_string());
        assert_eq!(found.body, RecordedBody::Value(refers));
        let other = json!({ "apiVersion": "example.org/v1", "kind": "Secret", "a": 1 });
        let found = recorded("POST", wrong, &other.to_string());
        assert_eq!(found.body, RecordedBody::Value(other));
        // Of another group: no Secret of Kubernetes.
        let other = recorded(
            "POST",
            "/apis/example.org/v1/namespaces/a/secrets",
            r#"{"a": 1}"#,
        );
        assert_eq!(other.body, RecordedBody::Value(json!({ "a": 1 })));
    }
}
