//! A request as those may read it who look at what a program asks of its API server. What is secret is not in it.

use http::Request;
use serde_json::Value;

use super::User;
use super::protobuf;
use super::rbac::Attempt;
use super::request::Asked;

/// A request that was answered.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// As RBAC names who asked.
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
    /// What was sent.
    pub body: RecordedBody,
}

/// What was sent.
#[derive(Clone, Debug, PartialEq)]
pub enum RecordedBody {
    /// Nothing.
    Empty,
    /// This.
    Value(Value),
    /// Something secret, of which nothing is told.
    LeftOut,
}

/// What holds secrets: no part of such a body is told, for a patch or an annotation may hold them as well as `data`.
const SECRET: [(&str, &str); 2] = [("", "secrets"), ("authentication.k8s.io", "tokenreviews")];

impl Recorded {
    pub(crate) fn of(user: &User, request: &Request<Vec<u8>>, code: u16) -> Self {
        let asked = Asked::new(user, request);
        let uri = request.uri();
        let path = uri.path_and_query().map_or(uri.path(), |all| all.as_str());
        let body = body(&asked);
        Self {
            user: user.name.clone(),
            verb: Attempt::of(&asked).verb,
            path: path.to_owned(),
            agent: asked.agent,
            code,
            body,
        }
    }
}

fn body(asked: &Asked<'_>) -> RecordedBody {
    if asked.body.is_empty() {
        return RecordedBody::Empty;
    }
    if asked.target.as_ref().is_some_and(|target| {
        let of = (target.group.as_str(), target.plural.as_str());
        SECRET.contains(&of)
    }) {
        return RecordedBody::LeftOut;
    }
    let value = match asked.content_type.as_str() {
        protobuf::MEDIA_TYPE => protobuf::decode(asked.body),
        _ => serde_json::from_slice(asked.body).ok(),
    };
    // YAML, as an apply may be.
    let text = || String::from_utf8_lossy(asked.body).into_owned();
    RecordedBody::Value(value.unwrap_or_else(|| Value::String(text())))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn recorded(method: &str, path: &str, body: &str) -> Recorded {
        let request = Request::builder().method(method).uri(path);
        let request = request.header("user-agent", "kubectl/v1.36");
        let request = request.body(body.as_bytes().to_vec()).unwrap();
        Recorded::of(&User::admin(), &request, 200)
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
        // Of another group: no Secret of Kubernetes.
        let other = recorded(
            "POST",
            "/apis/example.org/v1/namespaces/a/secrets",
            r#"{"a": 1}"#,
        );
        assert_eq!(other.body, RecordedBody::Value(json!({ "a": 1 })));
    }
}
