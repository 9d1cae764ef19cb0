//! Validation of the containers and volumes of a Pod or of a Pod template.

use std::collections::BTreeSet;

use serde_json::Value;

use super::failure::Cause;
use super::names;
use super::object::{list, text};

/// Kinds of volumes in the order in which the real server checks them.
const VOLUMES: [&str; 12] = [
    "emptyDir",
    "hostPath",
    "secret",
    "nfs",
    "iscsi",
    "persistentVolumeClaim",
    "downwardAPI",
    "configMap",
    "projected",
    "csi",
    "ephemeral",
    "image",
];

/// The source of a volume, and the field that it must name something in.
const NAMED: [(&str, &str); 5] = [
    ("hostPath", "path"),
    ("secret", "secretName"),
    ("persistentVolumeClaim", "claimName"),
    ("configMap", "name"),
    ("csi", "driver"),
];

/// Returns the errors of the volumes of a Pod.
pub(crate) fn of_volumes(spec: &Value, at: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut names = BTreeSet::new();
    for (index, volume) in list(spec, "volumes").iter().enumerate() {
        let at = format!("{at}.volumes[{index}]");
        let mut found = VOLUMES.iter().filter(|kind| volume.get(**kind).is_some());
        found.next();
        for more in found {
            let detail = "may not specify more than 1 volume type";
            causes.push(Cause::forbidden(format!("{at}.{more}"), detail));
        }
        for (source, field) in NAMED {
            let source_of = &volume[source];
            if source_of.is_object() && text(source_of, field).is_empty() {
                causes.push(Cause::required(format!("{at}.{source}.{field}"), ""));
            }
        }
        causes.extend(of_name(volume, &at, &mut names));
    }
    causes
}

/// Returns the errors of all containers of a Pod.
pub(crate) fn of_containers(spec: &Value, at: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    if list(spec, "containers").is_empty() {
        causes.push(Cause::required(format!("{at}.containers"), ""));
    }
    let mut names = BTreeSet::new();
    for field in ["containers", "initContainers"] {
        for (index, container) in list(spec, field).iter().enumerate() {
            let at = format!("{at}.{field}[{index}]");
            causes.extend(of_name(container, &at, &mut names));
            causes.extend(of_image(container, &at));
            causes.extend(of_ports(container, &at));
            causes.extend(of_environment(container, &at));
            causes.extend(of_mounts(container, list(spec, "volumes"), &at));
            causes.extend(of_probes(container, &at));
        }
    }
    causes
}

/// A name of its own that may stand in a DNS name.
fn of_name<'a>(one: &'a Value, at: &str, known: &mut BTreeSet<&'a str>) -> Vec<Cause> {
    let path = format!("{at}.name");
    let name = text(one, "name");
    if name.is_empty() {
        return vec![Cause::required(path, "")];
    }
    let mut causes = Cause::all_invalid(path.as_str(), &name.into(), names::label(name));
    if !known.insert(name) {
        causes.push(Cause::duplicate(path, &name.into()));
    }
    causes
}

fn of_image(container: &Value, at: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let image = text(container, "image");
    if image.is_empty() {
        causes.push(Cause::required(format!("{at}.image"), ""));
    } else if image.trim() != image {
        let detail = "must not have leading or trailing whitespace";
        causes.push(Cause::invalid(format!("{at}.image"), &image.into(), detail));
    }
    let known = ["Always", "IfNotPresent", "Never"];
    causes.extend(Cause::not_among(container, at, "imagePullPolicy", &known));
    causes
}

fn of_ports(container: &Value, at: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut known_names = BTreeSet::new();
    for (index, port) in list(container, "ports").iter().enumerate() {
        let at = format!("{at}.ports[{index}]");
        let name = text(port, "name");
        if !name.is_empty() {
            let wrong = names::port_name(name);
            let is_right = wrong.is_empty();
            let path = format!("{at}.name");
            causes.extend(Cause::all_invalid(path.as_str(), &name.into(), wrong));
            if is_right && !known_names.insert(name) {
                causes.push(Cause::duplicate(path, &name.into()));
            }
        }
        let number = port["containerPort"].as_i64().unwrap_or(0);
        let path = format!("{at}.containerPort");
        if number == 0 {
            causes.push(Cause::required(path, ""));
        } else {
            let wrong = names::port_number(number);
            causes.extend(Cause::all_invalid(path, &number.into(), wrong));
        }
        if let Some(number) = port["hostPort"].as_i64().filter(|number| *number != 0) {
            let wrong = names::port_number(number);
            let path = format!("{at}.hostPort");
            causes.extend(Cause::all_invalid(path, &number.into(), wrong));
        }
        causes.extend(Cause::not_among(port, &at, "protocol", &names::PROTOCOLS));
    }
    causes
}

fn of_environment(container: &Value, at: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    for (index, variable) in list(container, "env").iter().enumerate() {
        let at = format!("{at}.env[{index}]");
        if text(variable, "name").is_empty() {
            causes.push(Cause::required(format!("{at}.name"), ""));
        }
        if variable["valueFrom"].is_object() && !text(variable, "value").is_empty() {
            let detail = "may not be specified when `value` is not empty";
            let path = format!("{at}.valueFrom");
            causes.push(Cause::invalid(path, &"".into(), detail));
        }
    }
    causes
}

fn of_mounts(container: &Value, volumes: &[Value], at: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut paths = BTreeSet::new();
    for (index, mount) in list(container, "volumeMounts").iter().enumerate() {
        let at = format!("{at}.volumeMounts[{index}]");
        let volume = text(mount, "name");
        if volume.is_empty() {
            causes.push(Cause::required(format!("{at}.name"), ""));
        }
        if !volumes.iter().any(|one| text(one, "name") == volume) {
            causes.push(Cause::not_found(format!("{at}.name"), volume));
        }
        let path = text(mount, "mountPath");
        if path.is_empty() {
            causes.push(Cause::required(format!("{at}.mountPath"), ""));
        }
        if !paths.insert(path) {
            let detail = "must be unique";
            let field = format!("{at}.mountPath");
            causes.push(Cause::invalid(field, &path.into(), detail));
        }
    }
    causes
}

fn of_probes(container: &Value, at: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    for field in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let probe = &container[field];
        if !probe.is_object() {
            continue;
        }
        let handlers = ["exec", "httpGet", "tcpSocket", "grpc"];
        let mut found = handlers.iter().filter(|one| probe[**one].is_object());
        if found.next().is_none() {
            let detail = "must specify a handler type";
            causes.push(Cause::required(format!("{at}.{field}"), detail));
        }
        for more in found {
            let detail = "may not specify more than 1 handler type";
            causes.push(Cause::forbidden(format!("{at}.{field}.{more}"), detail));
        }
        let successes = &probe["successThreshold"];
        if field != "readinessProbe" && successes.as_i64().is_some_and(|count| count != 1) {
            let path = format!("{at}.{field}.successThreshold");
            causes.push(Cause::invalid(path, successes, "must be 1"));
        }
    }
    causes
}
