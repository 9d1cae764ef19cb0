//! Rights as manifests. Groups, resources, verbs and names are words of the API, which need no quotes; only the core group is empty.

use std::collections::BTreeMap;

use super::{Object, Rights, Scope, Verb};

/// Recipient of rights: a ServiceAccount of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The name of the ServiceAccount.
    pub name: String,
    /// The namespace of the program.
    pub namespace: String,
    /// Name of the roles and of their bindings.
    pub role: String,
}

/// Holder of rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Holder {
    /// A ServiceAccount in the namespace of the program, by its name.
    ServiceAccount(String),
    /// A person, as the API server calls the user.
    User(String),
    /// No holder yet: the roles exist without a binding.
    Nobody,
}

/// One role and its binding: the role's name, and its scope.
struct RoleTarget<'a> {
    scope: Scope,
    role: String,
    /// `None`: in the cluster.
    namespace: Option<&'a str>,
}

impl RoleTarget<'_> {
    fn kind(&self) -> &'static str {
        match self.namespace {
            None => "ClusterRole",
            Some(_) => "Role",
        }
    }

    fn metadata(&self) -> String {
        let name = format!("metadata:\n  name: {}\n", self.role);
        match self.namespace {
            None => name,
            Some(namespace) => format!("{name}  namespace: {namespace}\n"),
        }
    }

    fn role(&self, rules: &str) -> String {
        let (kind, metadata) = (self.kind(), self.metadata());
        format!("apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}\n{metadata}rules:\n{rules}")
    }

    fn binding(&self, subject: &str) -> String {
        let (kind, metadata, role) = (self.kind(), self.metadata(), &self.role);
        format!(
            "apiVersion: rbac.authorization.k8s.io/v1\nkind: {kind}Binding\n{metadata}roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  \
             kind: {kind}\n  name: {role}\nsubjects:\n{subject}"
        )
    }
}

/// Returns the roles of an account and their bindings to a holder. Roles of watched namespaces are
/// repeated in each.
pub(super) fn manifests(
    rights: &Rights,
    account: &Account,
    holder: &Holder,
    namespaces: &[String],
) -> String {
    let of = |scope, suffix: &str, namespace| RoleTarget {
        scope,
        role: format!("{}{suffix}", account.role),
        namespace,
    };
    // The namespace of the program may be watched as well, so the names differ.
    let watched = namespaces.iter();
    let watched = watched.map(|namespace| of(Scope::Watched, "-watched", Some(namespace.as_str())));
    let mut places = vec![of(Scope::Cluster, "", None)];
    places.extend(watched);
    places.push(of(Scope::Own, "", Some(&account.namespace)));
    let documents = places.into_iter().filter_map(|place| {
        let rules = rules(rights, place.scope);
        (!rules.is_empty()).then(|| {
            let role = place.role(&rules);
            match subject(account, holder) {
                Some(subject) => format!("{role}---\n{}", place.binding(&subject)),
                None => role,
            }
        })
    });
    documents.collect::<Vec<_>>().join("---\n")
}

fn subject(account: &Account, holder: &Holder) -> Option<String> {
    let namespace = &account.namespace;
    match holder {
        Holder::ServiceAccount(name) => Some(format!(
            "  - kind: ServiceAccount\n    name: {name}\n    namespace: {namespace}\n"
        )),
        // Users are called by words of others.
        Holder::User(name) => Some(format!(
            "  - apiGroup: rbac.authorization.k8s.io\n    kind: User\n    name: {}\n",
            serde_json::Value::from(name.as_str())
        )),
        Holder::Nobody => None,
    }
}

fn rules(rights: &Rights, scope: Scope) -> String {
    let mut by_object: BTreeMap<&Object, Vec<Verb>> = BTreeMap::new();
    for (object, verb) in rights.each().filter(|(object, _)| object.scope == scope) {
        by_object.entry(object).or_default().push(verb);
    }
    let rules = by_object.iter();
    rules
        .map(|(object, verbs)| rule(rights, object, verbs))
        .collect()
}

fn rule(rights: &Rights, object: &Object, verbs: &[Verb]) -> String {
    let mut text = String::new();
    for (why, verbs) in reasons(rights, object, verbs) {
        text += &format!("  # {}: {why}\n", join_verbs(&verbs));
    }
    let group = match object.group.as_str() {
        "" => "\"\"",
        group => group,
    };
    text += &format!(
        "  - apiGroups: [{group}]\n    resources: [{}]\n",
        object.resource
    );
    if !object.names.is_empty() {
        text += &format!("    resourceNames: [{}]\n", object.names.join(", "));
    }
    text + &format!("    verbs: [{}]\n", join_verbs(verbs))
}

fn join_verbs(verbs: &[Verb]) -> String {
    let words = verbs.iter().map(|verb| verb.as_str());
    words.collect::<Vec<_>>().join(", ")
}

/// Returns the verbs for each reason. Reasons that need the same verbs share one line.
fn reasons(rights: &Rights, object: &Object, verbs: &[Verb]) -> Vec<(String, Vec<Verb>)> {
    let mut by_reason: BTreeMap<&str, Vec<Verb>> = BTreeMap::new();
    for verb in verbs {
        for why in rights.reasons(object, *verb) {
            by_reason.entry(why).or_default().push(*verb);
        }
    }
    let reasons = by_reason.into_iter();
    let mut reasons: Vec<_> = reasons
        .map(|(why, verbs)| (verbs, why.to_owned()))
        .collect();
    reasons.sort();
    reasons
        .into_iter()
        .map(|(verbs, why)| (why, verbs))
        .collect()
}
