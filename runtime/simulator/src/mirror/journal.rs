//! One write to a copy: the request, the object before it, and the object after it.

use http::{Method, Request, header};
use serde_json::Value;

use super::copy::name_in;
use crate::server::Server;
use crate::server::object::name;
use crate::server::request::{self, Target};

/// Groups and kinds that only report events, and do not change the state.
const ASIDE: [(&str, &str); 3] = [
    ("", "events"),
    ("events.k8s.io", "events"),
    ("coordination.k8s.io", "leases"),
];

/// One write: its request and its reply.
#[derive(Clone, Debug)]
pub struct Write {
    /// `POST`, `PUT`, `PATCH` or `DELETE`.
    pub method: Method,
    /// Path with query.
    pub uri: String,
    /// `Content-Type`, which names the kind of patch. Empty if absent.
    pub content_type: String,
    /// Body of the request.
    pub body: Vec<u8>,
    /// The group of the object; empty of the core group.
    pub group: String,
    /// As paths name its kind.
    pub plural: String,
    /// As objects name their kind.
    pub kind: String,
    /// Its namespace; empty if it is cluster-scoped.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// `status` and the like; empty of the object itself.
    pub subresource: String,
    /// Field manager of the write.
    pub manager: String,
    /// The HTTP code of the answer.
    pub code: u16,
    /// Message of a refusal.
    pub refusal: Option<String>,
    /// Object before the write, without `apiVersion` and `kind`.
    pub before: Option<Value>,
    /// Object after the write; `None` if it is gone.
    pub after: Option<Value>,
}

/// Returns true if objects of this kind only report activity, as events and leases do.
pub(super) fn is_aside(of: &Target) -> bool {
    ASIDE.contains(&(of.group.as_str(), of.plural.as_str()))
}

impl Write {
    /// Returns the write that a request is about to make. Returns `None` if the request stores
    /// nothing, or only reports activity.
    pub(super) fn begin(server: &Server, asked: &Request<Vec<u8>>) -> Option<Self> {
        let target = request::target(asked.uri().path())?;
        let query = asked.uri().query().unwrap_or_default();
        let pairs = form_urlencoded::parse(query.as_bytes()).into_owned();
        let (mut manager, mut is_dry) = (String::new(), false);
        for (key, value) in pairs {
            match key.as_str() {
                "fieldManager" => manager = value,
                "dryRun" => is_dry = true,
                _ => {}
            }
        }
        let Target { group, plural, .. } = &target;
        let kind = server.kind_of((group, plural))?;
        if is_dry || is_aside(&target) {
            return None;
        }
        let name = match target.name.as_str() {
            "" => name_in(asked.body()).unwrap_or_default(),
            name => name.to_owned(),
        };
        let content_type = asked.headers().get(header::CONTENT_TYPE);
        let content_type = content_type.and_then(|value| value.to_str().ok());
        Some(Self {
            method: asked.method().clone(),
            uri: asked.uri().to_string(),
            content_type: content_type.unwrap_or_default().to_owned(),
            body: asked.body().clone(),
            before: server.stored((group, plural), (&target.namespace, &name)),
            group: target.group,
            plural: target.plural,
            kind,
            namespace: target.namespace,
            name,
            subresource: target.subresource,
            manager,
            code: 0,
            refusal: None,
            after: None,
        })
    }

    /// Records the reply, and the object after it.
    pub(super) fn end(&mut self, server: &Server, code: u16, body: &[u8]) {
        self.code = code;
        let answer: Value = serde_json::from_slice(body).unwrap_or_default();
        if code >= 400 {
            let said = answer["message"].as_str();
            self.refusal = Some(said.unwrap_or("no reason was given").to_owned());
        }
        if self.name.is_empty() {
            self.name = name(&answer).to_owned();
        }
        let place = (self.namespace.as_str(), self.name.as_str());
        self.after = server.stored((&self.group, &self.plural), place);
    }
}
