//! Authorization: the stored roles and bindings, and the wording of a refusal. Knows no handlers.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::User;
use super::failure::Failure;
use super::object::{list, namespace, text};
use super::request::ApiRequest;
use super::store::{Store, StoreKey};

pub(crate) const GROUP: &str = "rbac.authorization.k8s.io";

/// Group of users who may do everything, regardless of roles.
pub(crate) const MASTERS: &str = "system:masters";

/// Every user that is known belongs to it.
pub(crate) const AUTHENTICATED: &str = "system:authenticated";

/// Action that a user attempts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Attempt {
    pub(crate) verb: String,
    pub(crate) group: String,
    /// Empty if it is a path that is wanted.
    pub(crate) resource: String,
    pub(crate) subresource: String,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) path: String,
}

impl Attempt {
    pub(crate) fn from_request(asked: &ApiRequest<'_>) -> Self {
        let Some(target) = &asked.target else {
            return Self {
                verb: asked.method.as_str().to_lowercase(),
                path: asked.path.clone(),
                ..Self::default()
            };
        };
        let selected = asked
            .query
            .text("fieldSelector")
            .strip_prefix("metadata.name=");
        let (verb, all) = match (asked.method.as_str(), target.name.is_empty()) {
            ("GET", true) if asked.is_watch() => ("watch", true),
            ("GET", true) => ("list", true),
            ("DELETE", true) => ("deletecollection", true),
            ("GET", false) => ("get", false),
            ("DELETE", false) => ("delete", false),
            ("POST", _) => ("create", false),
            ("PUT", _) => ("update", false),
            ("PATCH", _) => ("patch", false),
            _ => ("", false),
        };
        let of_namespace = target.group.is_empty() && target.plural == "namespaces";
        Self {
            verb: verb.to_owned(),
            group: target.group.clone(),
            resource: target.plural.clone(),
            subresource: target.subresource.clone(),
            namespace: if of_namespace {
                target.name.clone()
            } else {
                target.namespace.clone()
            },
            name: match selected.filter(|_| all) {
                Some(name) => name.to_owned(),
                None => target.name.clone(),
            },
            path: String::new(),
        }
    }

    /// As rules name it.
    fn full(&self) -> String {
        if self.subresource.is_empty() {
            self.resource.clone()
        } else {
            format!("{}/{}", self.resource, self.subresource)
        }
    }

    pub(crate) fn refusal(&self, user: &User) -> Failure {
        let (user, verb) = (&user.name, &self.verb);
        if self.resource.is_empty() {
            let message = format!(
                "forbidden: User {user:?} cannot {verb} path {:?}",
                self.path
            );
            let mut failure = Failure::new(403, "Forbidden", message);
            failure.details = Some(json!({}));
            return failure;
        }
        let scope = match self.namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {namespace:?}"),
        };
        let (full, group) = (self.full(), &self.group);
        let why =
            format!("User {user:?} cannot {verb} resource {full:?} in API group {group:?} {scope}");
        Failure::forbidden_to(&self.group, &self.resource, &self.name, &why)
    }
}

/// One rule of a role.
#[derive(Clone, Debug)]
pub(crate) struct Rule(pub(crate) Value);

impl Rule {
    fn names(&self, field: &str, word: &str) -> bool {
        list(&self.0, field)
            .iter()
            .any(|known| known == "*" || known == word)
    }

    fn allows(&self, attempt: &Attempt) -> bool {
        if !self.names("verbs", &attempt.verb) {
            return false;
        }
        if attempt.resource.is_empty() {
            return list(&self.0, "nonResourceURLs").iter().any(|url| {
                let url = url.as_str().unwrap_or_default();
                let prefix = url.strip_suffix('*');
                url == attempt.path || prefix.is_some_and(|prefix| attempt.path.starts_with(prefix))
            });
        }
        let any = format!("*/{}", attempt.subresource);
        let resource = self.names("resources", &attempt.full())
            || !attempt.subresource.is_empty() && self.names("resources", &any);
        let names = list(&self.0, "resourceNames");
        resource
            && self.names("apiGroups", &attempt.group)
            && (names.is_empty() || names.iter().any(|name| *name == attempt.name.as_str()))
    }
}

/// The rules and the subjects of a binding, and its namespace. An empty namespace means the whole
/// cluster.
#[derive(Clone, Debug)]
struct Grant {
    namespace: String,
    subjects: Vec<Value>,
    rules: Vec<Rule>,
}

impl Grant {
    fn is_for(&self, user: &User) -> bool {
        self.subjects.iter().any(|subject| {
            let own = match text(subject, "namespace") {
                "" => &self.namespace,
                named => named,
            };
            let wanted = text(subject, "name");
            match text(subject, "kind") {
                "User" => user.name == wanted,
                "Group" => {
                    wanted == AUTHENTICATED || user.groups.iter().any(|group| group == wanted)
                }
                "ServiceAccount" => {
                    !own.is_empty() && user.name == format!("system:serviceaccount:{own}:{wanted}")
                }
                _ => false,
            }
        })
    }
}

/// All grants, as they were at a version.
#[derive(Clone, Debug, Default)]
pub(crate) struct Grants {
    version: u64,
    grants: Vec<Grant>,
}

const STORES: [&str; 4] = [
    "clusterrolebindings.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "rolebindings.rbac.authorization.k8s.io",
    "roles.rbac.authorization.k8s.io",
];

impl Grants {
    fn read(objects: &Store, version: u64) -> Self {
        let rules = |store: &str, key: &StoreKey| -> Vec<Rule> {
            let role = objects.get(store, key).map(|role| role.value());
            let rules = role.iter().flat_map(|role| list(role, "rules").to_vec());
            rules.map(Rule).collect()
        };
        let mut grants = Vec::new();
        for store in [STORES[0], STORES[2]] {
            for binding in objects.all(store, "") {
                let binding = binding.value();
                let role = &binding["roleRef"];
                let rules = if text(role, "kind") == "ClusterRole" {
                    rules(STORES[1], &StoreKey::new("", text(role, "name")))
                } else {
                    rules(
                        STORES[3],
                        &StoreKey::new(namespace(&binding), text(role, "name")),
                    )
                };
                grants.push(Grant {
                    namespace: namespace(&binding).to_owned(),
                    subjects: list(&binding, "subjects").to_vec(),
                    rules,
                });
            }
        }
        Self { version, grants }
    }

    /// All grants, read again if a role or a binding has changed.
    fn current(&mut self, objects: &Store) -> &[Grant] {
        let versions = STORES.iter().map(|store| objects.last(store));
        let version = versions.max().unwrap_or(0);
        if self.version != version {
            *self = Self::read(objects, version);
        }
        &self.grants
    }

    /// Returns true if a user may do something.
    pub(crate) fn allow(&mut self, objects: &Store, user: &User, attempt: &Attempt) -> bool {
        if user.groups.iter().any(|group| group == MASTERS) {
            return true;
        }
        let mut there = self.current(objects).iter().filter(|grant| {
            (grant.namespace.is_empty()
                || grant.namespace == attempt.namespace && !attempt.resource.is_empty())
                && grant.is_for(user)
        });
        there.any(|grant| grant.rules.iter().any(|rule| rule.allows(attempt)))
    }

    /// Returns the rules of a user in a namespace.
    pub(crate) fn rules(&mut self, objects: &Store, user: &User, namespace: &str) -> Vec<Rule> {
        let there = self.current(objects).iter().filter(|grant| {
            (grant.namespace.is_empty() || grant.namespace == namespace) && grant.is_for(user)
        });
        there.flat_map(|grant| grant.rules.clone()).collect()
    }
}

/// Returns rules grouped by equal verbs, as a review reports them.
pub(crate) fn review_rules(rules: &[Rule], paths: bool) -> Vec<Value> {
    let field = if paths {
        "nonResourceURLs"
    } else {
        "resources"
    };
    let of_kind = rules.iter().filter(|rule| !list(&rule.0, field).is_empty());
    let mut seen: BTreeMap<String, Value> = BTreeMap::new();
    for rule in of_kind {
        seen.entry(rule.0.to_string())
            .or_insert_with(|| rule.0.clone());
    }
    seen.into_values().collect()
}
