//! The Service of a Listener: the fields that we send, and no others.

use std::borrow::Cow;
use std::collections::BTreeMap;

use kube::Resource;
use lifecycle_runtime::This;
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::{ListenerClass, ServiceType};
use serde_json::{Map, Value, json};

use super::flaw::{Flaw, Validity};
use super::overrides;
use super::ports::{self, Port};

const LONGEST_NAME: usize = 63;

/// Returns the desired Service.
pub(super) fn build(this: This<'_, Listener>, class: &ListenerClass) -> Result<Value, Flaw> {
    accept_name(name(this))?;
    let annotations = annotations(this, class);
    let (base, mut service) = merged(this, class, &annotations, &patches(this, class))?;
    keep_identity(&base, &service)?;
    keep_mount(this, &mut service)?;
    accept_ports(&service)?;
    prune(&mut service, false);
    Ok(service)
}

/// The Service as it would be without overrides and annotations of the Listener; null where none could be made.
pub(super) fn by_class_alone(this: This<'_, Listener>, class: &ListenerClass) -> Value {
    let annotations = &class.spec.service_annotations;
    let merged = merged(this, class, annotations, &[by_class(class)]);
    merged.map_or(Value::Null, |(_, service)| service)
}

/// The Service before and after overrides.
fn merged(
    this: This<'_, Listener>,
    class: &ListenerClass,
    annotations: &BTreeMap<String, String>,
    patches: &[Patch<'_>],
) -> Result<(Value, Value), Flaw> {
    let declared = ports::exposed(this.spec.ports.as_deref().unwrap_or_default())?;
    let base = json!({
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {
            "name": name(this),
            "namespace": namespace(this),
            "ownerReferences": [owner(this)],
            "labels": labels(this),
            "annotations": annotations,
        },
        "spec": spec(this, class, resulting_type(class, patches)?, &declared),
    });
    let mut service = base.clone();
    for (place, patch) in patches {
        overrides::merge(&mut service, patch)
            .map_err(|problem| bad_override(format!("{place}: {problem}")))?;
    }
    Ok((base, service))
}

/// Returns the label that identifies the Pods that mount the Listener.
pub(super) fn mount_label(this: This<'_, Listener>) -> String {
    let uid = this.meta.uid.as_deref().unwrap_or_default();
    format!("listener.stackable.tech/mnt.{}", uid.replace('-', ""))
}

fn name<'a>(this: This<'a, Listener>) -> &'a str {
    this.meta.name.as_deref().unwrap_or_default()
}

fn namespace<'a>(this: This<'a, Listener>) -> &'a str {
    this.meta.namespace.as_deref().unwrap_or_default()
}

fn accept_name(name: &str) -> Result<(), Flaw> {
    let length = name.len();
    if length > LONGEST_NAME {
        return Err(Flaw::new(
            Validity::BadName,
            format!(
                "the name has {length} characters and its Service needs the same one, which may have {LONGEST_NAME}; \
                 create a Listener with a shorter name"
            ),
        ));
    }
    if name.contains('.') {
        return Err(Flaw::new(
            Validity::BadName,
            "the name has a dot and its Service needs the same one, which may have none; create a Listener with another name",
        ));
    }
    Ok(())
}

/// An override, and where it is written.
pub(super) type Patch<'a> = (String, Cow<'a, Map<String, Value>>);

/// Returns the applicable overrides; later ones win.
fn patches<'a>(this: This<'a, Listener>, class: &'a ListenerClass) -> Vec<Patch<'a>> {
    std::iter::once(by_class(class))
        .chain(own_overrides(this))
        .collect()
}

fn by_class(class: &ListenerClass) -> Patch<'_> {
    let class_name = class.metadata.name.as_deref().unwrap_or_default();
    (
        format!("`spec.serviceOverrides` of ListenerClass `{class_name}`"),
        Cow::Borrowed(&class.spec.service_overrides),
    )
}

/// Returns the applicable overrides of the Listener itself.
pub(super) fn own_overrides<'a>(this: This<'a, Listener>) -> impl Iterator<Item = Patch<'a>> {
    fields_of_overrides(this)
        .filter(move |(_, patch)| overrides::concerns(patch, namespace(this), name(this)))
        .map(|(position, patch)| {
            let place = format!("`spec.objectOverrides[{position}]`");
            (place, Cow::Owned(patch))
        })
}

fn fields_of_overrides(
    this: This<'_, Listener>,
) -> impl Iterator<Item = (usize, Map<String, Value>)> {
    let all = this.spec.object_overrides.iter().enumerate();
    all.map(|(position, one)| (position, one.fields()))
}

/// Names the first override of the Listener that names an object other than its Service, and so has
/// no effect; `None` if all apply.
pub(super) fn unmatched_override(this: This<'_, Listener>) -> Option<String> {
    let mut unmatched = fields_of_overrides(this)
        .filter(|(_, patch)| !overrides::concerns(patch, namespace(this), name(this)));
    let (position, patch) = unmatched.next()?;
    let more = match unmatched.count() {
        0 => String::new(),
        more => format!(" (and {more} more)"),
    };
    let missed = overrides::missed(&patch, namespace(this), name(this)).into_iter();
    let fields: Vec<String> = missed
        .map(|(field, wanted)| format!("{field} `{wanted}`"))
        .collect();
    Some(format!(
        "`spec.objectOverrides[{position}]`{more} has no effect, for it is about another object: set {}, or remove it",
        fields.join(", ")
    ))
}

/// The type decides which fields of the class are sent, so overrides of it count first.
fn resulting_type(class: &ListenerClass, patches: &[Patch<'_>]) -> Result<ServiceType, Flaw> {
    let said = |(_, patch): &Patch<'_>| {
        let said = patch.get("spec").and_then(|spec| spec.get("type"));
        said.filter(|said| !said.is_null()).cloned()
    };
    match patches.iter().rev().find_map(said) {
        None => Ok(class.spec.service_type),
        Some(said) => serde_json::from_value(said.clone()).map_err(|_| {
            bad_override(format!(
                "overrides set type {said}; choose ClusterIP, NodePort or LoadBalancer"
            ))
        }),
    }
}

fn owner(this: This<'_, Listener>) -> Value {
    json!({
        "apiVersion": Listener::api_version(&()),
        "kind": Listener::kind(&()),
        "name": name(this),
        "uid": this.meta.uid,
        "controller": true,
        "blockOwnerDeletion": true,
    })
}

/// Those of the class win: an administrator relies on them.
fn annotations(this: This<'_, Listener>, class: &ListenerClass) -> BTreeMap<String, String> {
    let mut annotations = this.spec.service_annotations.clone();
    annotations.extend(class.spec.service_annotations.clone());
    annotations
}

/// Returns the labels. Our three win over inherited ones: product operators delete objects that
/// carry their labels and that they did not make.
fn labels(this: This<'_, Listener>) -> BTreeMap<String, String> {
    let mut labels = this.meta.labels.clone().unwrap_or_default();
    for (key, value) in [
        ("app.kubernetes.io/instance", name(this)),
        ("app.kubernetes.io/name", "listener"),
        (
            "app.kubernetes.io/managed-by",
            "listeners.stackable.tech_listener",
        ),
    ] {
        labels.insert(key.to_owned(), value.to_owned());
    }
    labels
}

fn spec(
    this: This<'_, Listener>,
    class: &ListenerClass,
    service_type: ServiceType,
    declared: &[Port],
) -> Value {
    let mut selector = this.spec.extra_pod_selector_labels.clone();
    selector.insert(mount_label(this), name(this).to_owned());
    let port = |p: &Port| json!({ "name": p.name, "port": p.port, "protocol": p.protocol });
    let mut spec = json!({
        "type": service_type.as_str(),
        "selector": selector,
        "ports": declared.iter().map(port).collect::<Vec<_>>(),
        "publishNotReadyAddresses": this.spec.publishes_not_ready_addresses(),
    });
    let policy = class
        .spec
        .service_external_traffic_policy
        .map(|p| p.as_str());
    match service_type {
        ServiceType::ClusterIP => {}
        ServiceType::NodePort => spec["externalTrafficPolicy"] = json!(policy),
        ServiceType::LoadBalancer => {
            spec["externalTrafficPolicy"] = json!(policy);
            spec["loadBalancerClass"] = json!(class.spec.load_balancer_class);
            spec["allocateLoadBalancerNodePorts"] =
                json!(class.spec.load_balancer_allocate_node_ports);
        }
    }
    spec
}

fn keep_identity(base: &Value, service: &Value) -> Result<(), Flaw> {
    let owner = &base["metadata"]["ownerReferences"][0];
    let owners = service["metadata"]["ownerReferences"].as_array();
    if !owners.is_some_and(|owners| owners.contains(owner)) {
        return Err(bad_override(
            "overrides take away the owner of the Service; leave `metadata.ownerReferences` out",
        ));
    }
    for key in ["instance", "name", "managed-by"].map(|key| format!("app.kubernetes.io/{key}")) {
        let (ours, theirs) = (
            &base["metadata"]["labels"][&key],
            &service["metadata"]["labels"][&key],
        );
        if ours != theirs {
            return Err(bad_override(format!(
                "overrides change label `{key}` from {ours} to {theirs}; leave it out"
            )));
        }
    }
    Ok(())
}

/// A replaced selector finds fewer Pods, never others.
fn keep_mount(this: This<'_, Listener>, service: &mut Value) -> Result<(), Flaw> {
    let key = mount_label(this);
    let mount = &mut service["spec"]["selector"][&key];
    if mount.is_null() {
        *mount = json!(name(this));
    }
    if *mount == name(this) {
        return Ok(());
    }
    Err(bad_override(format!(
        "overrides change what Pods that mount the Listener are found by; leave label `{key}` out of the selector"
    )))
}

fn accept_ports(service: &Value) -> Result<(), Flaw> {
    let said = |port: &Value, field: &str| port[field].as_str().unwrap_or_default().to_owned();
    let port = |port: &Value| Port {
        name: said(port, "name"),
        port: i32::try_from(port["port"].as_i64().unwrap_or_default()).unwrap_or_default(),
        protocol: said(port, "protocol"),
    };
    let ports = service["spec"]["ports"].as_array();
    let ports: Vec<Port> = ports.into_iter().flatten().map(port).collect();
    if ports.is_empty() {
        return Err(Flaw::new(
            Validity::NoPorts,
            "there is no port to expose; set `spec.ports`, or for the Listener of a claim declare container ports in the template of its Pods",
        ));
    }
    ports::accepted(&ports)
        .map_err(|flaw| bad_override(format!("with the overrides, {}", flaw.sentence)))
}

fn bad_override(sentence: impl Into<String>) -> Flaw {
    Flaw::new(Validity::BadOverride, sentence)
}

/// Drops values that the API server would drop. Otherwise they would be ours and yet never stored,
/// and every comparison would differ.
fn prune(value: &mut Value, in_text_map: bool) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields.iter_mut() {
                prune(field, is_text_map(name));
            }
            fields.retain(|name, field| in_text_map || !is_nothing(name, field));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| prune(item, false)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// Returns true for maps from string to string, in which an empty value is valid.
fn is_text_map(name: &str) -> bool {
    matches!(name, "labels" | "annotations" | "selector")
}

fn is_nothing(name: &str, value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(value) => !value && name == "publishNotReadyAddresses",
        Value::Number(value) => {
            value.as_i64() == Some(0) && matches!(name, "nodePort" | "healthCheckNodePort")
        }
        Value::String(value) => value.is_empty(),
        Value::Array(value) => value.is_empty(),
        Value::Object(value) => value.is_empty(),
    }
}

#[cfg(test)]
mod tests;
