//! Parser of requests: path, query and headers. Knows no objects.

use std::collections::BTreeMap;

use http::{Method, Request, header};

use super::User;
use super::failure::Failure;

/// Request to the API server, apart from the objects themselves.
#[derive(Clone, Debug)]
#[allow(
    dead_code,
    reason = "`accept` requests tables, and rights belong to a user"
)]
pub(crate) struct ApiRequest<'a> {
    pub(crate) user: &'a User,
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) target: Option<Target>,
    pub(crate) query: Query,
    pub(crate) content_type: String,
    pub(crate) accept: String,
    pub(crate) agent: String,
    pub(crate) body: &'a [u8],
}

/// The resource that a path names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Target {
    pub(crate) group: String,
    pub(crate) version: String,
    pub(crate) namespace: String,
    pub(crate) plural: String,
    pub(crate) name: String,
    pub(crate) subresource: String,
    /// Path after the subresource.
    pub(crate) rest: String,
}

/// The part of a URL after `?`.
#[derive(Clone, Debug, Default)]
pub(crate) struct Query(BTreeMap<String, String>);

impl Query {
    fn parse(text: &str) -> Self {
        let mut query = BTreeMap::new();
        for (key, value) in form_urlencoded::parse(text.as_bytes()) {
            // As in Go, the first of several values counts.
            query
                .entry(key.into_owned())
                .or_insert_with(|| value.into_owned());
        }
        Self(query)
    }

    pub(crate) fn text(&self, key: &str) -> &str {
        self.0.get(key).map_or("", String::as_str)
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }

    /// Go's habit: anything but `false` and `0` is true, the empty text included.
    pub(crate) fn flag(&self, key: &str) -> bool {
        let value = self.0.get(key).map(|value| value.to_lowercase());
        value.is_some_and(|value| value != "false" && value != "0")
    }

    pub(crate) fn number(&self, key: &str) -> Result<Option<u64>, Failure> {
        match self.text(key) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| {
                Failure::bad_request(format!(
                    "strconv.ParseInt: parsing {text:?}: invalid syntax"
                ))
            }),
        }
    }
}

impl<'a> ApiRequest<'a> {
    pub(crate) fn new(user: &'a User, request: &'a Request<Vec<u8>>) -> Self {
        let header = |name: header::HeaderName| {
            let value = request.headers().get(name);
            value
                .and_then(|value| value.to_str().ok())
                .unwrap_or_default()
                .to_owned()
        };
        let uri = request.uri();
        let content_type = header(header::CONTENT_TYPE);
        let content_type = content_type.split(';').next().unwrap_or_default().trim();
        Self {
            user,
            method: request.method().clone(),
            path: uri.path().to_owned(),
            target: target(uri.path()),
            query: Query::parse(uri.query().unwrap_or_default()),
            content_type: content_type.to_owned(),
            accept: header(header::ACCEPT),
            agent: header(header::USER_AGENT),
            body: request.body(),
        }
    }

    /// Returns the manager of the written fields.
    pub(crate) fn manager(&self) -> &str {
        match self.query.text("fieldManager") {
            "" => self.agent.split('/').next().unwrap_or_default(),
            manager => manager,
        }
    }

    pub(crate) fn is_watch(&self) -> bool {
        self.query.flag("watch")
    }
}

/// The resource that a path names, if it has the form of one.
pub(crate) fn target(path: &str) -> Option<Target> {
    let decoded: Vec<String> = path
        .split('/')
        .filter(|part| !part.is_empty())
        .map(decode)
        .collect();
    let parts: Vec<&str> = decoded.iter().map(String::as_str).collect();
    let (group, version, rest) = match parts.as_slice() {
        ["api", version, rest @ ..] => ("", *version, rest),
        ["apis", group, version, rest @ ..] => (*group, *version, rest),
        _ => return None,
    };
    let mut target = Target {
        group: group.to_owned(),
        version: version.to_owned(),
        ..Target::default()
    };
    let rest = match rest {
        ["namespaces", _, "status" | "finalize", ..] => rest,
        ["namespaces", namespace, inner @ ..] if !inner.is_empty() => {
            (*namespace).clone_into(&mut target.namespace);
            inner
        }
        rest => rest,
    };
    let mut rest = rest.iter();
    (*rest.next()?).clone_into(&mut target.plural);
    for slot in [&mut target.name, &mut target.subresource] {
        if let Some(part) = rest.next() {
            (*part).clone_into(slot);
        }
    }
    target.rest = rest.as_slice().join("/");
    Some(target)
}

/// `%2F` to `/`; a plus sign stays one.
fn decode(part: &str) -> String {
    let escaped = part.replace('+', "%2B");
    let text = format!("{}=", escaped.replace('=', "%3D").replace('&', "%26"));
    let mut pairs = form_urlencoded::parse(text.as_bytes());
    pairs
        .next()
        .map_or_else(String::new, |(key, _)| key.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expected: [&str; 6]) {
        let found = target(path).expect("a resource");
        let found = [
            &found.group,
            &found.version,
            &found.namespace,
            &found.plural,
            &found.name,
            &found.subresource,
        ];
        assert_eq!(found, expected, "{path}");
    }

    #[test]
    fn paths_name_resources() {
        check("/api/v1/nodes", ["", "v1", "", "nodes", "", ""]);
        check(
            "/api/v1/nodes/a/status",
            ["", "v1", "", "nodes", "a", "status"],
        );
        check(
            "/api/v1/namespaces/a",
            ["", "v1", "", "namespaces", "a", ""],
        );
        check(
            "/api/v1/namespaces/a/finalize",
            ["", "v1", "", "namespaces", "a", "finalize"],
        );
        check(
            "/apis/example.com/v1/namespaces/a/things/b/status",
            ["example.com", "v1", "a", "things", "b", "status"],
        );
        check(
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aa",
            [
                "rbac.authorization.k8s.io",
                "v1",
                "",
                "clusterroles",
                "system:a",
                "",
            ],
        );
        assert_eq!(target("/apis/apps/v1"), None);
        assert_eq!(target("/version"), None);
    }
}
