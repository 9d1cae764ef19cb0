//! Validation of Ingresses and NetworkPolicies.

use serde_json::Value;

use crate::server::failure::Cause;
use crate::server::names;
use crate::server::object::{list, text};
use crate::server::selectors;

const OLD_CLASS: &str = "kubernetes.io/ingress.class";

/// Sequences that a path must not contain, and endings that it must not have.
const SEQUENCES: [&str; 5] = ["//", "/./", "/../", "%2f", "%2F"];
const ENDINGS: [&str; 2] = ["/..", "/."];

/// Returns the error of a new Ingress that names its class in two ways.
pub(crate) fn of_new_ingress(object: &Value) -> Option<Cause> {
    let old = &object["metadata"]["annotations"][OLD_CLASS];
    let both = old.is_string() && !object["spec"]["ingressClassName"].is_null();
    let detail = "can not be set when the class field is also set";
    both.then(|| Cause::invalid(format!("annotations.{OLD_CLASS}"), old, detail))
}

/// Returns the errors of an Ingress.
pub(crate) fn ingress(object: &Value) -> Vec<Cause> {
    let spec = &object["spec"];
    let mut causes = Vec::new();
    let rules = list(spec, "rules");
    if rules.is_empty() && spec["defaultBackend"].is_null() {
        let detail = "either `defaultBackend` or `rules` must be specified";
        causes.push(Cause::invalid("spec", &spec["rules"], detail));
    }
    if spec["defaultBackend"].is_object() {
        causes.extend(backend(&spec["defaultBackend"], "spec.defaultBackend"));
    }
    for (index, rule) in rules.iter().enumerate() {
        causes.extend(of_rule(rule, &format!("spec.rules[{index}]")));
    }
    for (index, tls) in list(spec, "tls").iter().enumerate() {
        let at = format!("spec.tls[{index}]");
        for (index, host) in list(tls, "hosts").iter().enumerate() {
            let wrong = names::host(host.as_str().unwrap_or_default());
            causes.extend(Cause::all_invalid(
                format!("{at}.hosts[{index}]"),
                host,
                wrong,
            ));
        }
        causes.extend(named(tls, "secretName", &at));
    }
    causes.extend(named(spec, "ingressClassName", "spec"));
    causes
}

/// Returns the errors of a field that may name an object.
fn named(value: &Value, field: &str, at: &str) -> Vec<Cause> {
    let name = text(value, field);
    if name.is_empty() {
        return Vec::new();
    }
    Cause::all_invalid(
        format!("{at}.{field}"),
        &name.into(),
        names::subdomain(name),
    )
}

fn of_rule(rule: &Value, at: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let host = text(rule, "host");
    if !host.is_empty() {
        let path = format!("{at}.host");
        if host.parse::<std::net::IpAddr>().is_ok() {
            let detail = "must be a DNS name, not an IP address";
            causes.push(Cause::invalid(path.as_str(), &host.into(), detail));
        }
        causes.extend(Cause::all_invalid(path, &host.into(), names::host(host)));
    }
    if !rule["http"].is_object() {
        return causes;
    }
    let paths = list(&rule["http"], "paths");
    if paths.is_empty() {
        causes.push(Cause::required(format!("{at}.http.paths"), ""));
    }
    for (index, path) in paths.iter().enumerate() {
        causes.extend(of_path(path, &format!("{at}.http.paths[{index}]")));
    }
    causes
}

fn of_path(one: &Value, at: &str) -> Vec<Cause> {
    if one["pathType"].is_null() {
        let detail = "pathType must be specified";
        return vec![Cause::required(format!("{at}.pathType"), detail)];
    }
    let mut causes = Vec::new();
    let path = text(one, "path");
    let mut wrong = |detail: &str| {
        causes.push(Cause::invalid(format!("{at}.path"), &path.into(), detail));
    };
    let kind = text(one, "pathType");
    match kind {
        "Exact" | "Prefix" => {
            if !path.starts_with('/') {
                wrong("must be an absolute path");
            }
            for part in SEQUENCES.iter().filter(|part| path.contains(**part)) {
                wrong(&format!("must not contain '{part}'"));
            }
            for part in ENDINGS.iter().filter(|part| path.ends_with(**part)) {
                wrong(&format!("cannot end with '{part}'"));
            }
        }
        "ImplementationSpecific" if !path.is_empty() && !path.starts_with('/') => {
            wrong("must be an absolute path");
        }
        "ImplementationSpecific" => {}
        other => {
            let known = ["Exact", "ImplementationSpecific", "Prefix"];
            let path = format!("{at}.pathType");
            causes.push(Cause::unsupported(path, &other.into(), &known));
        }
    }
    causes.extend(backend(&one["backend"], &format!("{at}.backend")));
    causes
}

fn backend(backend: &Value, at: &str) -> Vec<Cause> {
    let service = &backend["service"];
    let blamed = |detail: &str| vec![Cause::invalid(at, &"".into(), detail)];
    match (backend["resource"].is_object(), service.is_object()) {
        (true, true) => return blamed("cannot set both resource and service backends"),
        (false, false) => return blamed("resource or service backend is required"),
        (true, false) => return Vec::new(),
        (false, true) => {}
    }
    let mut causes = Vec::new();
    let name = text(service, "name");
    let path = format!("{at}.service.name");
    if name.is_empty() {
        causes.push(Cause::required(path, ""));
    } else {
        causes.extend(Cause::all_invalid(path, &name.into(), names::label(name)));
    }
    let port = text(&service["port"], "name");
    let number = service["port"]["number"].as_i64().unwrap_or(0);
    match (port.is_empty(), number == 0) {
        (false, false) => causes.extend(blamed("cannot set both port name & port number")),
        (false, true) => {
            let path = format!("{at}.service.port.name");
            causes.extend(Cause::all_invalid(
                path,
                &port.into(),
                names::port_name(port),
            ));
        }
        (true, false) => {
            let path = format!("{at}.service.port.number");
            let wrong = names::port_number(number);
            causes.extend(Cause::all_invalid(path, &number.into(), wrong));
        }
        (true, true) => causes.push(Cause::required(at, "port name or number is required")),
    }
    causes
}

/// Returns the errors of a NetworkPolicy.
pub(crate) fn policy(object: &Value) -> Vec<Cause> {
    let spec = &object["spec"];
    let mut causes = selectors::validate(&spec["podSelector"], "spec.podSelector");
    for (direction, peers) in [("ingress", "from"), ("egress", "to")] {
        for (index, rule) in list(spec, direction).iter().enumerate() {
            let at = format!("spec.{direction}[{index}]");
            for (index, port) in list(rule, "ports").iter().enumerate() {
                causes.extend(of_policy_port(port, &format!("{at}.ports[{index}]")));
            }
            for (index, peer) in list(rule, peers).iter().enumerate() {
                causes.extend(of_peer(peer, &format!("{at}.{peers}[{index}]")));
            }
        }
    }
    let kinds = list(spec, "policyTypes");
    if kinds.len() > 2 {
        let detail = "may not specify more than two policyTypes";
        let shown = &spec["policyTypes"];
        causes.push(Cause::invalid("spec.policyTypes", shown, detail));
        return causes;
    }
    for (index, kind) in kinds.iter().enumerate() {
        let known = ["Egress", "Ingress"];
        if !known.iter().any(|known| kind == known) {
            let path = format!("spec.policyTypes[{index}]");
            causes.push(Cause::unsupported(path, kind, &known));
        }
    }
    causes
}

fn of_policy_port(port: &Value, at: &str) -> Vec<Cause> {
    let wrong = Cause::not_among(port, at, "protocol", &names::PROTOCOLS);
    let mut causes = Vec::from_iter(wrong);
    if let Some(number) = port["port"].as_i64() {
        let wrong = names::port_number(number);
        let path = format!("{at}.port");
        causes.extend(Cause::all_invalid(path, &number.into(), wrong));
        let end = &port["endPort"];
        if end.as_i64().is_some_and(|end| end < number) {
            let detail = "must be greater than or equal to `port`";
            // The real server shows the port here.
            let path = format!("{at}.endPort");
            causes.push(Cause::invalid(path, &number.into(), detail));
        }
    }
    causes
}

fn of_peer(peer: &Value, at: &str) -> Vec<Cause> {
    let mut causes = Vec::new();
    let mut found = 0;
    for field in ["podSelector", "namespaceSelector"] {
        if peer[field].is_object() {
            found += 1;
            causes.extend(selectors::validate(&peer[field], &format!("{at}.{field}")));
        }
    }
    if peer["ipBlock"].is_object() {
        if found > 0 {
            let detail = "may not specify both ipBlock and another peer";
            causes.push(Cause::forbidden(at, detail));
        }
        found += 1;
        if text(&peer["ipBlock"], "cidr").is_empty() {
            causes.push(Cause::required(format!("{at}.ipBlock.cidr"), ""));
        }
    }
    if found == 0 {
        causes.push(Cause::required(at, "must specify a peer"));
    }
    causes
}
