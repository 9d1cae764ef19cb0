//! Rights of a process at the API server: those that follow from its lifecycle, as `manifests rbac`
//! prints them, and those that it used. Each request is checked against them before it leaves. It
//! then goes on as on a server without authorization.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::{Method, Request, StatusCode};
use kube::Client;
use kube::client::Body;
use lifecycle_generate::rights::{Object, Rights, Verb};
use lifecycle_runtime::lifecycle::{Kind, Machine};

/// The name of the Lease of all processes that have one; they are in the namespace `default`.
pub(crate) const LEASE_NAME: &str = "generated-suite";

/// Rights of one process, and the requests that used them.
pub(crate) struct Granted {
    /// Single rights, each with its name. Every request is checked against them.
    rules: Vec<(Object, Verb, String)>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    used: BTreeSet<String>,
    /// Requests beyond the rights.
    beyond: BTreeSet<String>,
}

/// Returns the rights that requests of a lifecycle need, by the names under which the report lists
/// the unused ones.
pub(crate) fn names(machine: &dyn Machine) -> BTreeSet<String> {
    // The additional rights of replicas are the same for all.
    let rights = Rights::for_lifecycles([machine]);
    // A watched kind is listed only if a server does not stream lists.
    let is_watched = |object: &Object| {
        let mut each = rights.each();
        each.any(|(other, verb)| other == object && verb == Verb::Watch)
    };
    let needed = rights.of_requests();
    let needed = needed.filter(|(object, verb)| *verb != Verb::List || !is_watched(object));
    needed.map(|(object, verb)| name(object, verb)).collect()
}

fn name(object: &Object, verb: Verb) -> String {
    format!("right to {} {object}", verb.as_str())
}

impl Granted {
    /// Returns the rights of a lifecycle that runs alone in its process, which may be one of
    /// several replicas.
    pub(crate) fn for_machine(machine: &dyn Machine) -> Self {
        Self::to(&Rights::for_lifecycles([machine]).leading(LEASE_NAME))
    }

    /// Returns the rights of the volume lifecycles that one process serves, including those for the
    /// kinds that it always watches.
    pub(crate) fn of_all<'a>(
        machines: impl IntoIterator<Item = &'a dyn Machine>,
        watched: &[Kind],
    ) -> Self {
        Self::to(&Rights::for_lifecycles(machines).watching(watched))
    }

    /// Returns a client whose requests are checked against the rights before they are forwarded to
    /// another client.
    pub(crate) fn client(self: &Arc<Self>, below: &Client) -> Client {
        let (granted, below) = (Arc::clone(self), below.clone());
        let namespace = below.default_namespace().to_owned();
        let service = tower::service_fn(move |request: Request<Body>| {
            let (granted, below) = (Arc::clone(&granted), below.clone());
            async move {
                let (method, path) = (request.method().clone(), request.uri().path().to_owned());
                let query = request.uri().query().unwrap_or_default();
                let _told = granted.check_request(&method, &path, is_watch(query));
                let answered = below.send(request).await?;
                if method == Method::PATCH && answered.status() == StatusCode::CREATED {
                    let _told = granted.makes(&path);
                }
                Ok::<_, kube::Error>(answered)
            }
        });
        Client::new(service, namespace)
    }

    /// Returns the requests beyond the rights.
    pub(crate) fn beyond(&self) -> Vec<String> {
        self.state().beyond.iter().cloned().collect()
    }

    fn to(rights: &Rights) -> Self {
        let rules = rights
            .each()
            .map(|(rule, verb)| (rule.clone(), verb, name(rule, verb)));
        Self {
            rules: rules.collect(),
            state: Mutex::default(),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Checks a request. Returns the reason if the request is not permitted; each reason is
    /// returned once.
    pub(crate) fn check_request(
        &self,
        method: &Method,
        path: &str,
        watches: bool,
    ) -> Option<String> {
        let (object, of_one) = object(path)?;
        let verb = match (method, of_one) {
            (&Method::GET, true) => Verb::Get,
            (&Method::GET, false) if watches => Verb::Watch,
            (&Method::GET, false) => Verb::List,
            (&Method::POST, _) => Verb::Create,
            (&Method::PUT, _) => Verb::Update,
            (&Method::PATCH, _) => Verb::Patch,
            (&Method::DELETE, true) => Verb::Delete,
            _ => {
                let text = format!("{method} {path}: no rule is of such requests");
                return self.once(text);
            }
        };
        self.needs(&object, verb)
    }

    /// A patch has made an object that was not there, which needs another right.
    pub(crate) fn makes(&self, path: &str) -> Option<String> {
        let (object, _) = object(path)?;
        self.needs(&Object::all(&object.group, &object.resource), Verb::Create)
    }

    /// Returns the names of the rights that were used so far.
    pub(crate) fn used(&self) -> BTreeSet<String> {
        self.state().used.clone()
    }

    fn needs(&self, object: &Object, verb: Verb) -> Option<String> {
        let rules = self
            .rules
            .iter()
            .filter(|(rule, may, _)| *may == verb && rule.covers(object));
        let rules: Vec<&String> = rules.map(|(_, _, name)| name).collect();
        if rules.is_empty() {
            let text = format!(
                "the {} is not among what `manifests rbac` grants",
                name(object, verb)
            );
            return self.once(text);
        }
        let mut state = self.state();
        for rule in rules {
            if !state.used.contains(rule) {
                state.used.insert(rule.clone());
            }
        }
        None
    }

    fn once(&self, text: String) -> Option<String> {
        self.state().beyond.insert(text.clone()).then_some(text)
    }
}

/// Returns true if the query of a list requests a watch.
pub(crate) fn is_watch(query: &str) -> bool {
    query
        .split('&')
        .any(|pair| matches!(pair, "watch=true" | "watch=1"))
}

/// Parses a path into the object, and true if it names one object; `None` if everybody may read it.
fn object(path: &str) -> Option<(Object, bool)> {
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let (group, rest) = match parts.as_slice() {
        ["api", _, rest @ ..] => ("", rest),
        ["apis", group, _, rest @ ..] => (*group, rest),
        _ => return None,
    };
    let (namespace, rest) = match rest {
        ["namespaces", _, "status" | "finalize"] => (None, rest),
        ["namespaces", namespace, rest @ ..] if !rest.is_empty() => (Some(*namespace), rest),
        rest => (None, rest),
    };
    let (resource, name) = match rest {
        [] => return None,
        [plural] => ((*plural).to_owned(), None),
        [plural, name] => ((*plural).to_owned(), Some(*name)),
        [plural, name, sub @ ..] => (format!("{plural}/{}", sub.join("/")), Some(*name)),
    };
    let object = Object::all(group, &resource).named(name);
    // Where the process itself is.
    let object = match namespace {
        Some("default") => object.own(),
        Some(_) | None => object,
    };
    Some((object, name.is_some()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted() -> Granted {
        let services = Object::all("", "services");
        let status = Object::all("", "namespaces/status");
        let rights = Rights::default()
            .and(services, &[Verb::List, Verb::Patch], "a test")
            .and(status, &[Verb::Patch], "a test")
            .leading(LEASE_NAME);
        Granted::to(&rights)
    }

    #[test]
    fn what_is_granted_is_of_use_and_what_is_not_is_told_once() {
        let granted = granted();
        let one = "/api/v1/namespaces/ns/services/web";
        assert_eq!(granted.check_request(&Method::PATCH, one, false), None);
        assert_eq!(
            granted.check_request(&Method::GET, "/api/v1/services", false),
            None
        );
        let used: Vec<_> = granted.used().into_iter().collect();
        assert_eq!(used, ["right to list services", "right to patch services"]);
        let made = granted.makes(one);
        let said = "the right to create services is not among what `manifests rbac` grants";
        assert_eq!(made.as_deref(), Some(said));
        assert_eq!(granted.makes(one), None);
        let watched = granted.check_request(&Method::GET, "/api/v1/services", true);
        assert!(watched.is_some_and(|said| said.contains("watch services")));
        let all = granted.check_request(&Method::DELETE, "/api/v1/namespaces/ns/services", false);
        assert!(all.is_some_and(|said| said.contains("no rule")));
    }

    #[test]
    fn subresources_groups_and_names_count() {
        let granted = granted();
        let asks = |method: &Method, path: &str| granted.check_request(method, path, false);
        assert_eq!(asks(&Method::PATCH, "/api/v1/namespaces/ns/status"), None);
        assert!(asks(&Method::PATCH, "/api/v1/namespaces/ns").is_some());
        assert!(asks(&Method::PATCH, "/api/v1/namespaces/ns/services/web/status").is_some());
        assert!(
            asks(
                &Method::PATCH,
                "/apis/example.org/v1/namespaces/ns/services/web"
            )
            .is_some()
        );
        let leases = "/apis/coordination.k8s.io/v1/namespaces";
        assert_eq!(
            asks(
                &Method::PUT,
                &format!("{leases}/default/leases/{LEASE_NAME}")
            ),
            None
        );
        assert!(asks(&Method::PUT, &format!("{leases}/default/leases/other")).is_some());
        assert!(asks(&Method::PUT, &format!("{leases}/far/leases/{LEASE_NAME}")).is_some());
    }

    #[test]
    fn what_everybody_may_read_needs_no_right() {
        let granted = granted();
        for path in ["/api", "/apis", "/apis/example.org/v1", "/version"] {
            assert_eq!(
                granted.check_request(&Method::GET, path, false),
                None,
                "{path}"
            );
        }
    }
}
