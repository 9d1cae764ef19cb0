//! Rows of nodes, namespaces, events, configuration, rights and leases.

use std::collections::BTreeSet;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::PrinterRow;
use super::age::since;
use super::cells::{age, given, items, joined, name, number, size, text, text_or, time, truth};

pub(super) const PRINTERS: &[PrinterRow] = &[
    (
        "",
        "Node",
        "Name|Status|Roles|Age|Version|+Internal-IP|+External-IP|+OS-Image|+Kernel-Version|+Container-Runtime",
        node,
    ),
    ("", "Namespace", "Name|Status|Age", namespace),
    ("", "ConfigMap", "Name|Data|Age", config_map),
    ("", "Secret", "Name|Type|Data|Age", secret),
    ("", "ServiceAccount", "Name|Age", named),
    (
        "",
        "Event",
        "Last Seen|Type|Reason|Object|+Subobject|+Source|Message|+First Seen|+Count|+Name",
        event,
    ),
    (
        "events.k8s.io",
        "Event",
        "Last Seen|Type|Reason|Object|+Subobject|+Source|Message|+First Seen|+Count|+Name",
        event,
    ),
    ("", "ResourceQuota", "Name|Request|Limit|Age", quota),
    ("coordination.k8s.io", "Lease", "Name|Holder|Age", lease),
    (
        "rbac.authorization.k8s.io",
        "RoleBinding",
        "Name|Role|Age|+Users|+Groups|+ServiceAccounts",
        binding,
    ),
    (
        "rbac.authorization.k8s.io",
        "ClusterRoleBinding",
        "Name|Role|Age|+Users|+Groups|+ServiceAccounts",
        binding,
    ),
    (
        "admissionregistration.k8s.io",
        "MutatingWebhookConfiguration",
        "Name|Webhooks:integer|Age",
        webhooks,
    ),
    (
        "admissionregistration.k8s.io",
        "ValidatingWebhookConfiguration",
        "Name|Webhooks:integer|Age",
        webhooks,
    ),
];

fn named(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![name(object), age(object, now)]
}

fn node(object: &Value, now: Timestamp) -> Vec<Value> {
    let info = &object["status"]["nodeInfo"];
    let unknown = "<unknown>";
    let kernel = text_or(info, "/kernelVersion", unknown);
    let kernel = match text(info, "/architecture") {
        "" => kernel.to_owned(),
        architecture => format!("{kernel} ({architecture})"),
    };
    vec![
        name(object),
        node_status(object).into(),
        node_roles(object).into(),
        age(object, now),
        text(info, "/kubeletVersion").into(),
        node_address(object, "InternalIP").into(),
        node_address(object, "ExternalIP").into(),
        text_or(info, "/osImage", unknown).into(),
        kernel.into(),
        text_or(info, "/containerRuntimeVersion", unknown).into(),
    ]
}

fn node_status(object: &Value) -> String {
    let ready = items(object, "/status/conditions")
        .iter()
        .rfind(|condition| condition["type"] == "Ready");
    let ready = match ready {
        None => "Unknown",
        Some(condition) if condition["status"] == "True" => "Ready",
        Some(_) => "NotReady",
    };
    match truth(object, "/spec/unschedulable", false) {
        true => format!("{ready},SchedulingDisabled"),
        false => ready.to_owned(),
    }
}

fn node_roles(object: &Value) -> String {
    let labels = object["metadata"]["labels"]
        .as_object()
        .into_iter()
        .flatten();
    let roles: BTreeSet<&str> = labels
        .filter_map(
            |(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
                Some(role) => Some(role),
                None if key == "kubernetes.io/role" => value.as_str(),
                None => None,
            },
        )
        .filter(|role| !role.is_empty())
        .collect();
    if roles.is_empty() {
        "<none>".to_owned()
    } else {
        joined(roles)
    }
}

fn node_address<'a>(object: &'a Value, kind: &str) -> &'a str {
    let found = items(object, "/status/addresses")
        .iter()
        .find(|address| address["type"] == kind);
    found.map_or("<none>", |address| text(address, "/address"))
}

fn namespace(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        text(object, "/status/phase").into(),
        age(object, now),
    ]
}

fn config_map(object: &Value, now: Timestamp) -> Vec<Value> {
    let count = size(object, "/data") + size(object, "/binaryData");
    vec![name(object), json!(count), age(object, now)]
}

fn secret(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        text(object, "/type").into(),
        json!(size(object, "/data")),
        age(object, now),
    ]
}

/// Of both groups: the newer one calls the same things by other names.
fn event(object: &Value, now: Timestamp) -> Vec<Value> {
    let either = |old: &'static str, new: &'static str| text_or(object, old, text(object, new));
    let at = |pointer| time(object, pointer);
    let first = at("/firstTimestamp")
        .or_else(|| at("/deprecatedFirstTimestamp"))
        .or_else(|| at("/eventTime"));
    let last = at("/lastTimestamp")
        .or_else(|| at("/deprecatedLastTimestamp"))
        .or(first);
    let count = number(object, "/count")
        .max(number(object, "/deprecatedCount"))
        .max(1);
    let (last, count) = match given(object, "series") {
        None => (last, count),
        Some(series) => (time(series, "/lastObservedTime"), number(series, "/count")),
    };
    let regarding = if object["regarding"].is_null() {
        &object["involvedObject"]
    } else {
        &object["regarding"]
    };
    let kind = text(regarding, "/kind").to_lowercase();
    let target = match text(regarding, "/name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let component = text_or(
        object,
        "/source/component",
        either("/deprecatedSource/component", "/reportingController"),
    );
    let component = if component.is_empty() {
        text(object, "/reportingComponent")
    } else {
        component
    };
    let host = text_or(
        object,
        "/source/host",
        either("/deprecatedSource/host", "/reportingInstance"),
    );
    let source = if host.is_empty() {
        component.to_owned()
    } else {
        format!("{component}, {host}")
    };
    vec![
        since(last, now).into(),
        text(object, "/type").into(),
        text(object, "/reason").into(),
        target.into(),
        text(regarding, "/fieldPath").into(),
        source.into(),
        either("/message", "/note").trim().into(),
        since(first, now).into(),
        count.into(),
        name(object),
    ]
}

fn quota(object: &Value, now: Timestamp) -> Vec<Value> {
    let hard = object["status"]["hard"].as_object().into_iter().flatten();
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    for (resource, hard) in hard {
        let used = object["status"]["used"][resource].as_str().unwrap_or("0");
        let said = format!("{resource}: {used}/{}", super::path::printed(hard));
        let column = if resource.starts_with("limits.") {
            &mut limits
        } else {
            &mut requests
        };
        column.push(said);
    }
    vec![
        name(object),
        requests.join(", ").into(),
        limits.join(", ").into(),
        age(object, now),
    ]
}

fn lease(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        text(object, "/spec/holderIdentity").into(),
        age(object, now),
    ]
}

fn binding(object: &Value, now: Timestamp) -> Vec<Value> {
    let role = format!(
        "{}/{}",
        text(object, "/roleRef/kind"),
        text(object, "/roleRef/name")
    );
    let subjects = items(object, "/subjects");
    let of = |kind: &str| {
        let subjects = subjects.iter().filter(|subject| subject["kind"] == kind);
        let names = subjects.map(|subject| match kind {
            "ServiceAccount" => {
                format!("{}/{}", text(subject, "/namespace"), text(subject, "/name"))
            }
            _ => text(subject, "/name").to_owned(),
        });
        Value::from(names.collect::<Vec<_>>().join(", "))
    };
    vec![
        name(object),
        role.into(),
        age(object, now),
        of("User"),
        of("Group"),
        of("ServiceAccount"),
    ]
}

fn webhooks(object: &Value, now: Timestamp) -> Vec<Value> {
    vec![
        name(object),
        json!(items(object, "/webhooks").len()),
        age(object, now),
    ]
}
