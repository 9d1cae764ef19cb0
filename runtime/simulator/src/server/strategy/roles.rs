//! Validation of roles and of their bindings.

use serde_json::Value;

use crate::server::failure::Cause;
use crate::server::kinds::Kind;
use crate::server::names;
use crate::server::object::{list, text};

const GROUP: &str = "rbac.authorization.k8s.io";

/// Returns the errors of an object of the group, of any of its four kinds.
pub(crate) fn validate(kind: &Kind, object: &Value) -> Vec<Cause> {
    match kind.plural.as_str() {
        "roles" | "clusterroles" => role(kind.namespaced, object),
        "rolebindings" | "clusterrolebindings" => binding(kind.namespaced, object),
        _ => Vec::new(),
    }
}

fn role(is_namespaced: bool, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (index, rule) in list(object, "rules").iter().enumerate() {
        let at = |field: &str| format!("rules[{index}].{field}");
        let has = |field: &str| !list(rule, field).is_empty();
        if !has("verbs") {
            let detail = "verbs must contain at least one value";
            causes.push(Cause::required(at("verbs"), detail));
        }
        if has("nonResourceURLs") {
            let mut wrong = |detail: &str| {
                let shown = &rule["nonResourceURLs"];
                causes.push(Cause::invalid(at("nonResourceURLs"), shown, detail));
            };
            if is_namespaced {
                wrong("namespaced rules cannot apply to non-resource URLs");
            }
            if has("apiGroups") || has("resources") || has("resourceNames") {
                wrong("rules cannot apply to both regular resources and non-resource URLs");
            }
            continue;
        }
        for (field, one) in [("apiGroups", "api group"), ("resources", "resource")] {
            if !has(field) {
                let detail = format!("resource rules must supply at least one {one}");
                causes.push(Cause::required(at(field), &detail));
            }
        }
    }
    causes
}

fn binding(is_namespaced: bool, object: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let role = &object["roleRef"];
    if text(role, "apiGroup") != GROUP {
        let path = "roleRef.apiGroup";
        causes.push(Cause::unsupported(path, &role["apiGroup"], &[GROUP]));
    }
    let known: &[&str] = match is_namespaced {
        true => &["Role", "ClusterRole"],
        false => &["ClusterRole"],
    };
    let kind = text(role, "kind");
    if !known.contains(&kind) {
        causes.push(Cause::unsupported("roleRef.kind", &kind.into(), known));
    }
    let name = text(role, "name");
    if name.is_empty() {
        causes.push(Cause::required("roleRef.name", ""));
    }
    for (index, subject) in list(object, "subjects").iter().enumerate() {
        causes.extend(of_subject(
            is_namespaced,
            subject,
            &format!("subjects[{index}]"),
        ));
    }
    causes
}

fn of_subject(is_namespaced: bool, subject: &Value, at: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let name = text(subject, "name");
    if name.is_empty() {
        causes.push(Cause::required(format!("{at}.name"), ""));
    }
    let group = text(subject, "apiGroup");
    let path = format!("{at}.apiGroup");
    match text(subject, "kind") {
        "ServiceAccount" => {
            if !name.is_empty() {
                let (named, wrong) = (format!("{at}.name"), names::subdomain(name));
                causes.extend(Cause::all_invalid(named, &name.into(), wrong));
            }
            if !group.is_empty() {
                causes.push(Cause::unsupported(path, &group.into(), &[""]));
            }
            if !is_namespaced && text(subject, "namespace").is_empty() {
                causes.push(Cause::required(format!("{at}.namespace"), ""));
            }
        }
        "User" | "Group" if group != GROUP => {
            causes.push(Cause::unsupported(path, &group.into(), &[GROUP]));
        }
        "User" | "Group" => {}
        other => {
            let known = ["ServiceAccount", "User", "Group"];
            let path = format!("{at}.kind");
            causes.push(Cause::unsupported(path, &other.into(), &known));
        }
    }
    causes
}
