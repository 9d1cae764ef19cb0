//! Parts of a live cluster that are copied already. It copies more on request: one object, or all
//! of a kind.

use std::collections::BTreeSet;

use http::Request;
use kube::Client;
use kube::core::Request as Path;
use kube::core::params::{GetParams, ListParams};
use kube::core::request::Error as Unbuilt;
use lifecycle_client::kube::one_line;
use lifecycle_client::names;
use serde_json::{Value, json};

use crate::server::Server;
use crate::server::object::{name, namespace};
use crate::server::request::Target;

/// How many objects one answer of the live server may hold.
const PAGE: u32 = 500;
const DEFINITIONS: (&str, &str) = ("apiextensions.k8s.io", "customresourcedefinitions");
const NAMESPACES: (&str, &str) = ("", "namespaces");

/// Request to the live server that failed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{verb} {resource}: {why}")]
pub struct Unread {
    /// `get` or `list`.
    pub verb: &'static str,
    /// `services`, `listeners.skupper.io`, with the name and namespace of a requested object.
    pub resource: String,
    /// Answer of the live server, in one line.
    pub why: String,
    /// The right to do so is missing.
    pub forbidden: bool,
}

/// Objects that were copied.
pub(super) struct Copied {
    /// Group, plural, and a namespace or an empty text for all.
    lists: BTreeSet<(String, String, String)>,
    /// Group, plural, namespace and name of each object that was taken over, or looked for in vain.
    seen: BTreeSet<(String, String, String, String)>,
}

impl Copied {
    /// Copies definitions, without which no kind of theirs is served, and namespaces, if they may be listed.
    pub(super) async fn begin(server: &Server, live: &Client) -> Result<Self, Unread> {
        let mut copied = Self {
            lists: BTreeSet::new(),
            seen: BTreeSet::new(),
        };
        let of = |(group, plural): (&str, &str)| Target {
            group: group.to_owned(),
            version: "v1".to_owned(),
            plural: plural.to_owned(),
            ..Target::default()
        };
        copied.all((server, live), &of(DEFINITIONS)).await?;
        // Where they may not be listed, those that are needed are read one by one, or made.
        let _read = copied.all((server, live), &of(NAMESPACES)).await;
        Ok(copied)
    }

    fn has_list(&self, of: &Target) -> bool {
        let key = |namespace: &str| (of.group.clone(), of.plural.clone(), namespace.to_owned());
        self.lists.contains(&key("")) || self.lists.contains(&key(&of.namespace))
    }

    /// Copies all objects that a list would show.
    pub(super) async fn all(
        &mut self,
        (server, live): (&Server, &Client),
        wanted: &Target,
    ) -> Result<(), Unread> {
        if self.has_list(wanted) || server.kind_of((&wanted.group, &wanted.plural)).is_none() {
            return Ok(());
        }
        let mut page = ListParams::default().limit(PAGE);
        loop {
            let request = path(wanted).and_then(|path| path.list(&page));
            let answered = send_request(live, request).await;
            let answered = answered.map_err(|error| unread("list", wanted, "", &error));
            let Some(mut list) = answered? else {
                break;
            };
            for object in list["items"].as_array_mut().into_iter().flatten() {
                self.take(server, wanted, object.take());
            }
            match list["metadata"]["continue"].as_str().unwrap_or_default() {
                "" => break,
                token => page = page.continue_token(token),
            }
        }
        self.lists.insert((
            wanted.group.clone(),
            wanted.plural.clone(),
            wanted.namespace.clone(),
        ));
        Ok(())
    }

    /// Copies one object if it exists.
    pub(super) async fn copy_object(
        &mut self,
        (server, live): (&Server, &Client),
        wanted: &Target,
        name: &str,
    ) -> Result<(), Unread> {
        self.namespace((server, live), &wanted.namespace).await?;
        let key = key(wanted, &wanted.namespace, name);
        let Some(kind) = server.kind_of((&wanted.group, &wanted.plural)) else {
            return Ok(());
        };
        if self.has_list(wanted) || self.seen.contains(&key) {
            return Ok(());
        }
        let answered = send_request(live, get(wanted, &kind, name)).await;
        let object = answered.map_err(|error| unread("get", wanted, name, &error))?;
        if let Some(object) = object {
            self.take(server, wanted, object);
        }
        self.seen.insert(key);
        Ok(())
    }

    /// Ensures that a namespace exists if the live cluster has it. An unreadable namespace is
    /// assumed to exist.
    pub(super) async fn namespace(
        &mut self,
        (server, live): (&Server, &Client),
        wanted: &str,
    ) -> Result<(), Unread> {
        let of = Target {
            version: "v1".to_owned(),
            plural: NAMESPACES.1.to_owned(),
            ..Target::default()
        };
        let key = key(&of, "", wanted);
        if wanted.is_empty() || self.has_list(&of) || self.seen.contains(&key) {
            return Ok(());
        }
        match send_request(live, get(&of, "Namespace", wanted)).await {
            Ok(Some(object)) => self.take(server, &of, object),
            Ok(None) => {}
            Err(error) if is_forbidden(&error) => self.take(server, &of, stub(wanted)),
            Err(error) => return Err(unread("get", &of, wanted, &error)),
        }
        self.seen.insert(key);
        Ok(())
    }

    /// Takes an object over, unless it was seen before: it may have been written to since.
    fn take(&mut self, server: &Server, of: &Target, object: Value) {
        let place = namespace(&object);
        if !self.seen.insert(key(of, place, name(&object))) {
            return;
        }
        if !place.is_empty() && server.stored(NAMESPACES, ("", place)).is_none() {
            let made = server.restore(NAMESPACES, stub(place));
            debug_assert!(made.is_ok(), "{made:?}");
        }
        // The kind is served, and a listed object has a name.
        let restored = server.restore((&of.group, &of.plural), object);
        debug_assert!(restored.is_ok(), "{restored:?}");
    }
}

/// Returns a namespace whose name alone is known.
fn stub(name: &str) -> Value {
    json!({
        "metadata": { "name": name, "labels": { "kubernetes.io/metadata.name": name } },
        "spec": { "finalizers": ["kubernetes"] },
        "status": { "phase": "Active" },
    })
}

fn key(of: &Target, namespace: &str, name: &str) -> (String, String, String, String) {
    (
        of.group.clone(),
        of.plural.clone(),
        namespace.to_owned(),
        name.to_owned(),
    )
}

/// Returns the name in the body of a create request.
pub(super) fn name_in(body: &[u8]) -> Option<String> {
    let object: Value = serde_json::from_slice(body).ok()?;
    let name = name(&object);
    (!name.is_empty()).then(|| name.to_owned())
}

/// Returns the API path of the objects, as the request names it.
fn path(of: &Target) -> Result<Path, Unbuilt> {
    let version = match of.group.as_str() {
        "" => format!("/api/{}", of.version),
        group => format!("/apis/{group}/{}", of.version),
    };
    let place = match of.namespace.as_str() {
        "" => String::new(),
        namespace => {
            let namespace = names::of_namespace(namespace).map_err(invalid)?;
            format!("namespaces/{namespace}/")
        }
    };
    Ok(Path::new(format!("{version}/{place}{}", of.plural)))
}

fn get(of: &Target, kind: &str, name: &str) -> Result<Request<Vec<u8>>, Unbuilt> {
    let name = names::of_object(&of.group, kind, name).map_err(invalid)?;
    path(of)?.get(&name, &GetParams::default())
}

fn invalid(error: names::Error) -> Unbuilt {
    Unbuilt::Validation(error.to_string())
}

/// Returns the reply of the live server, or `None` if the object does not exist.
async fn send_request(
    live: &Client,
    request: Result<Request<Vec<u8>>, Unbuilt>,
) -> Result<Option<Value>, kube::Error> {
    let request = request.map_err(kube::Error::BuildRequest)?;
    match live.request::<Value>(request).await {
        Err(kube::Error::Api(status)) if status.code == 404 => Ok(None),
        answered => answered.map(Some),
    }
}

fn is_forbidden(error: &kube::Error) -> bool {
    matches!(error, kube::Error::Api(status) if status.code == 403)
}

fn unread(verb: &'static str, of: &Target, name: &str, error: &kube::Error) -> Unread {
    let kind = match of.group.as_str() {
        "" => of.plural.clone(),
        group => format!("{}.{group}", of.plural),
    };
    let named = match (name, of.namespace.as_str()) {
        ("", "") => kind,
        ("", namespace) => format!("{kind} in namespace `{namespace}`"),
        (name, "") => format!("{kind} `{name}`"),
        (name, namespace) => format!("{kind} `{namespace}/{name}`"),
    };
    Unread {
        verb,
        resource: named,
        why: match is_forbidden(error) {
            true => "the right to do so is missing".to_owned(),
            false => one_line(error),
        },
        forbidden: is_forbidden(error),
    }
}
