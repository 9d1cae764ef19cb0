//! Services: cluster IPs and node ports that the API server itself allocates and releases, and the
//! validation of Services.

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;

use rand_pcg::rand_core::Rng;
use serde_json::{Value, json};

use super::allocations::{node_ports, port_number};
use super::failure::{Cause, Failure};
use super::kinds::Kind;
use super::names;
use super::object::{fill, list, map, name, namespace, set, text};
use super::state::State;
use super::store::StoreKey;

/// 10.96.0.0/16, the upper part of which is given to those who do not ask for an address.
const FIRST_IP: u32 = 0x0a60_0001;
const LAST_IP: u32 = 0x0a60_fffe;
const DYNAMIC_IP: u32 = 0x0a60_0101;

const PORTS: std::ops::RangeInclusive<u16> = 30000..=32767;
/// The lower ports are for those who ask for one.
const DYNAMIC_PORT: u16 = 30086;

fn kind_of(service: &Value) -> &str {
    match text(&service["spec"], "type") {
        "" => "ClusterIP",
        kind => kind,
    }
}

fn needs_ip(service: &Value) -> bool {
    kind_of(service) != "ExternalName"
}

fn needs_ports(service: &Value) -> bool {
    match kind_of(service) {
        "NodePort" => true,
        "LoadBalancer" => service["spec"]["allocateLoadBalancerNodePorts"] != false,
        _ => false,
    }
}

fn needs_check_port(service: &Value) -> bool {
    kind_of(service) == "LoadBalancer" && service["spec"]["externalTrafficPolicy"] == "Local"
}

fn takes_ports(service: &Value) -> bool {
    matches!(kind_of(service), "NodePort" | "LoadBalancer")
}

/// Allocates the addresses and ports that a Service leaves open. Refuses those that belong to
/// another Service.
pub(crate) fn allocate(
    state: &mut State,
    kind: &Kind,
    service: &mut Value,
    old: Option<&Value>,
    dry_run: bool,
) -> Result<(), Failure> {
    let key = StoreKey::new(namespace(service), name(service));
    let before = old.cloned().unwrap_or(Value::Null);
    let mut causes = allocate_ip(state, &key, service);
    if causes.is_empty() {
        causes = allocate_ports(state, &key, service, &before);
    }
    if !causes.is_empty() {
        return Err(Failure::invalid(kind, &key.name, &causes));
    }
    if !dry_run {
        state.allocations.settle(&key, service);
    }
    Ok(())
}

fn allocate_ip(state: &mut State, key: &StoreKey, service: &mut Value) -> Vec<Cause> {
    if !needs_ip(service) {
        return Vec::new();
    }
    let asked = text(&service["spec"], "clusterIP").to_owned();
    let asked = match text_of_first(&service["spec"], "clusterIPs") {
        first if asked.is_empty() => first,
        _ => asked,
    };
    let ip = match asked.as_str() {
        "" => free_ip(state, key).to_string(),
        "None" => asked,
        named => {
            let refuse = |why: &str| {
                let detail = format!("failed to allocate IP {named}: {why}");
                vec![Cause::invalid("spec.clusterIPs", &json!([named]), &detail)]
            };
            let number: Option<u32> = named.parse::<Ipv4Addr>().ok().map(u32::from);
            match number {
                Some(number) if !(FIRST_IP..=LAST_IP).contains(&number) => {
                    return refuse("the provided network does not match the current range");
                }
                Some(number)
                    if state
                        .allocations
                        .ips
                        .get(&number)
                        .is_some_and(|owner| owner != key) =>
                {
                    return refuse("provided IP is already allocated");
                }
                _ => asked,
            }
        }
    };
    let headless_alone = ip == "None" && service["spec"].get("selector").is_none();
    let spec = map(service, "spec");
    spec.insert("clusterIP".to_owned(), ip.as_str().into());
    spec.insert("clusterIPs".to_owned(), json!([ip]));
    if headless_alone {
        fill(spec, "ipFamilyPolicy", "RequireDualStack");
        fill(spec, "ipFamilies", json!(["IPv4", "IPv6"]));
    } else {
        fill(spec, "ipFamilyPolicy", "SingleStack");
        fill(spec, "ipFamilies", json!(["IPv4"]));
    }
    Vec::new()
}

fn text_of_first(value: &Value, field: &str) -> String {
    let first = list(value, field).first();
    first.and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn free_ip(state: &mut State, key: &StoreKey) -> Ipv4Addr {
    let mut random = state.draw(&["ip", &key.namespace, &key.name]);
    let span = LAST_IP - DYNAMIC_IP + 1;
    let start = random.next_u32() % span;
    let candidates = (0..span).map(|step| DYNAMIC_IP + (start + step) % span);
    let mut free = candidates.filter(|ip| !state.allocations.ips.contains_key(ip));
    free.next().unwrap_or(LAST_IP).into()
}

fn allocate_ports(
    state: &mut State,
    key: &StoreKey,
    service: &mut Value,
    before: &Value,
) -> Vec<Cause> {
    let held = node_ports(before);
    let mut causes = Vec::new();
    // Those that are named come first, so that none of them is given away. Ports that differ in the protocol alone may share one.
    let mut taken: BTreeMap<u16, BTreeSet<String>> = BTreeMap::new();
    for (index, port) in list(&service["spec"], "ports").iter().enumerate() {
        let Some(number) = port_number(port, "nodePort") else {
            continue;
        };
        let path = format!("spec.ports[{index}].nodePort");
        let owner = state.allocations.ports.get(&number);
        let protocols = taken.entry(number).or_default();
        if !PORTS.contains(&number) && !held.contains(&number) {
            let detail =
                "provided port is not in the valid range. The range of valid ports is 30000-32767";
            causes.push(Cause::invalid(path, &port["nodePort"], detail));
        } else if owner.is_some_and(|owner| owner != key) {
            let detail = "provided port is already allocated";
            causes.push(Cause::invalid(path, &port["nodePort"], detail));
        }
        protocols.insert(text(port, "protocol").to_owned());
    }
    if !causes.is_empty() {
        return causes;
    }
    if needs_ports(service) {
        give_ports(state, key, service, before.is_null(), &mut taken);
    }
    if needs_check_port(service) {
        let spec = &service["spec"];
        if port_number(spec, "healthCheckNodePort").is_none() {
            let port = free_port(state, key, &taken);
            map(service, "spec").insert("healthCheckNodePort".to_owned(), port.into());
        }
    }
    Vec::new()
}

/// New Services share one node port between the protocols of one port; changed ones do not.
fn give_ports(
    state: &mut State,
    key: &StoreKey,
    service: &mut Value,
    shares: bool,
    taken: &mut BTreeMap<u16, BTreeSet<String>>,
) {
    let mut ports = list(&service["spec"], "ports").to_vec();
    let mut of_port: BTreeMap<u64, u16> = BTreeMap::new();
    for port in &mut ports {
        let protocol = text(port, "protocol").to_owned();
        let wanted = port["port"].as_u64().unwrap_or(0);
        let given = match port_number(port, "nodePort") {
            Some(named) => named,
            None => {
                let shared = of_port.get(&wanted).copied().filter(|shared| {
                    shares
                        && !taken
                            .get(shared)
                            .is_some_and(|used| used.contains(&protocol))
                });
                shared.unwrap_or_else(|| free_port(state, key, taken))
            }
        };
        of_port.entry(wanted).or_insert(given);
        taken.entry(given).or_default().insert(protocol);
        port["nodePort"] = given.into();
    }
    map(service, "spec").insert("ports".to_owned(), ports.into());
}

fn free_port(state: &mut State, key: &StoreKey, taken: &BTreeMap<u16, BTreeSet<String>>) -> u16 {
    let mut random = state.draw(&["port", &key.namespace, &key.name]);
    let span = PORTS.end() - DYNAMIC_PORT + 1;
    let start = u16::try_from(random.next_u32() % u32::from(span)).unwrap_or(0);
    let candidates = (0..span).map(|step| DYNAMIC_PORT + (start + step) % span);
    let lower = *PORTS.start()..DYNAMIC_PORT;
    let mut free = candidates
        .chain(lower)
        .filter(|port| !state.allocations.ports.contains_key(port) && !taken.contains_key(port));
    free.next().unwrap_or(*PORTS.end())
}

/// Keeps the allocated fields that a change does not name, and drops the fields that the new type
/// does not use.
pub(crate) fn carry(old: &Value, new: &mut Value) {
    keep_allocated(old, new);
    drop_useless(old, new);
}

fn keep_allocated(old: &Value, new: &mut Value) {
    let before = &old["spec"];
    if needs_ip(old) && needs_ip(new) {
        let spec = map(new, "spec");
        if spec
            .get("clusterIP")
            .and_then(Value::as_str)
            .unwrap_or_default()
            .is_empty()
        {
            set(spec, "clusterIP", before.get("clusterIP").cloned());
        }
        let same = spec.get("clusterIP") == before.get("clusterIP");
        if same && spec.get("clusterIPs").is_none_or(|ips| *ips == json!([])) {
            set(spec, "clusterIPs", before.get("clusterIPs").cloned());
        }
        for field in ["ipFamilies", "ipFamilyPolicy"] {
            if let Some(value) = before.get(field) {
                fill(spec, field, value.clone());
            }
        }
    }
    if needs_ports(old) && needs_ports(new) {
        let mut used: BTreeSet<u16> = node_ports(old)
            .intersection(&node_ports(new))
            .copied()
            .collect();
        let named: BTreeMap<&str, Option<u16>> = list(before, "ports")
            .iter()
            .map(|port| (text(port, "name"), port_number(port, "nodePort")))
            .collect();
        let mut ports = list(&new["spec"], "ports").to_vec();
        for port in &mut ports {
            if port_number(port, "nodePort").is_some() {
                continue;
            }
            let known = named.get(text(port, "name")).copied().flatten();
            if let Some(known) = known.filter(|known| used.insert(*known)) {
                port["nodePort"] = known.into();
            }
        }
        if new["spec"].get("ports").is_some() {
            map(new, "spec").insert("ports".to_owned(), ports.into());
        }
    }
    if needs_check_port(old)
        && needs_check_port(new)
        && port_number(&new["spec"], "healthCheckNodePort").is_none()
    {
        let value = before.get("healthCheckNodePort").cloned();
        set(map(new, "spec"), "healthCheckNodePort", value);
    }
}

/// Returns true if a Service is reachable from outside the cluster.
fn is_reachable(service: &Value) -> bool {
    let has_addresses = !list(&service["spec"], "externalIPs").is_empty();
    takes_ports(service) || (kind_of(service) == "ClusterIP" && has_addresses)
}

fn drop_useless(old: &Value, new: &mut Value) {
    let before = &old["spec"];
    let is_same = |new: &Value, field: &str| before.get(field) == new["spec"].get(field);
    if needs_ip(old) && !needs_ip(new) && is_same(new, "clusterIP") {
        for field in ["clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"] {
            map(new, "spec").remove(field);
        }
    }
    if takes_ports(old) && !takes_ports(new) && node_ports(old) == node_ports(new) {
        let slot = map(new, "spec").get_mut("ports");
        for port in slot.and_then(Value::as_array_mut).into_iter().flatten() {
            port.as_object_mut().map(|port| port.remove("nodePort"));
        }
    }
    if needs_check_port(old) && !needs_check_port(new) && is_same(new, "healthCheckNodePort") {
        map(new, "spec").remove("healthCheckNodePort");
    }
    let was_balanced = kind_of(old) == "LoadBalancer" && kind_of(new) != "LoadBalancer";
    for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
        if was_balanced && is_same(new, field) {
            map(new, "spec").remove(field);
        }
    }
    if is_reachable(old) && !is_reachable(new) && is_same(new, "externalTrafficPolicy") {
        map(new, "spec").remove("externalTrafficPolicy");
    }
    if needs_ip(old) && !needs_ip(new) && is_same(new, "internalTrafficPolicy") {
        map(new, "spec").remove("internalTrafficPolicy");
    }
    if kind_of(new) != "LoadBalancer" {
        map(new, "status").insert("loadBalancer".to_owned(), json!({}));
    }
    let affinity = |service: &Value| service["spec"]["sessionAffinity"] == "ClientIP";
    if affinity(old) && !affinity(new) && is_same(new, "sessionAffinityConfig") {
        map(new, "spec").remove("sessionAffinityConfig");
    }
}

/// Returns the errors of the status of a Service.
pub(crate) fn of_status(service: &Value) -> Vec<Cause> {
    let path = "status.loadBalancer.ingress";
    let ingress = list(&service["status"]["loadBalancer"], "ingress");
    if !ingress.is_empty() && kind_of(service) != "LoadBalancer" {
        let detail = "may only be used when `spec.type` is 'LoadBalancer'";
        return vec![Cause::forbidden(path, detail)];
    }
    let mut causes = Vec::new();
    for (index, address) in ingress.iter().enumerate() {
        if !text(address, "ip").is_empty() && text(address, "ipMode").is_empty() {
            let detail = "must be specified when `ip` is set";
            causes.push(Cause::required(format!("{path}[{index}].ipMode"), detail));
        }
    }
    causes
}

/// Returns the errors of a Service.
pub(crate) fn validate(old: Option<&Value>, service: &Value) -> Vec<Cause> {
    let spec = &service["spec"];
    let mut causes = Vec::new();
    let kinds = ["ClusterIP", "ExternalName", "LoadBalancer", "NodePort"];
    if !kinds.contains(&kind_of(service)) {
        causes.push(Cause::unsupported("spec.type", &spec["type"], &kinds));
    }
    let headless = text(spec, "clusterIP") == "None";
    if list(spec, "ports").is_empty() && !headless && needs_ip(service) {
        causes.push(Cause::required("spec.ports", ""));
    }
    if kind_of(service) == "LoadBalancer" && headless {
        let detail = "may not be set to 'None' for LoadBalancer services";
        causes.push(Cause::invalid("spec.clusterIPs[0]", &"None".into(), detail));
    }
    if kind_of(service) == "ExternalName" {
        if text(spec, "externalName").is_empty() {
            causes.push(Cause::required("spec.externalName", ""));
        }
        if !text(spec, "clusterIP").is_empty() && text(spec, "clusterIP") != "None" {
            let detail = "may not be set for ExternalName services";
            causes.push(Cause::forbidden("spec.clusterIP", detail));
        }
    }
    causes.extend(of_ports(service));
    let affinities = ["ClientIP", "None"];
    let affinity = text(spec, "sessionAffinity");
    if !affinities.contains(&affinity) && !affinity.is_empty() {
        causes.push(Cause::unsupported(
            "spec.sessionAffinity",
            &affinity.into(),
            &affinities,
        ));
    }
    causes.extend(of_policies(service));
    if let Some(old) = old {
        causes.extend(of_change(old, service));
    }
    causes
}

fn of_ports(service: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let ports = list(&service["spec"], "ports");
    let mut known: BTreeSet<&str> = BTreeSet::new();
    let mut seen: BTreeSet<(u64, &str)> = BTreeSet::new();
    for (index, port) in ports.iter().enumerate() {
        let path = |field: &str| format!("spec.ports[{index}].{field}");
        let name = text(port, "name");
        if name.is_empty() && ports.len() > 1 {
            causes.push(Cause::required(path("name"), ""));
        } else if !name.is_empty() {
            let wrong = names::label(name);
            causes.extend(Cause::all_invalid(path("name"), &name.into(), wrong));
            if !known.insert(name) {
                causes.push(Cause::duplicate(path("name"), &name.into()));
            }
        }
        if !(1..=65535).contains(&port["port"].as_i64().unwrap_or(0)) {
            let shown = port.get("port").cloned().unwrap_or_else(|| 0.into());
            let detail = "must be between 1 and 65535, inclusive";
            causes.push(Cause::invalid(path("port"), &shown, detail));
        }
        let protocol = text(port, "protocol");
        if !names::PROTOCOLS.contains(&protocol) {
            let (path, protocol) = (path("protocol"), protocol.into());
            causes.push(Cause::unsupported(path, &protocol, &names::PROTOCOLS));
        }
        if let Some(target) = port["targetPort"].as_i64()
            && !(1..=65535).contains(&target)
        {
            let detail = "must be between 1 and 65535, inclusive";
            causes.push(Cause::invalid(path("targetPort"), &target.into(), detail));
        }
        if !takes_ports(service) && port_number(port, "nodePort").is_some() {
            let detail = format!("may not be used when `type` is '{}'", kind_of(service));
            causes.push(Cause::forbidden(path("nodePort"), &detail));
        }
        if !seen.insert((port["port"].as_u64().unwrap_or(0), protocol)) {
            // As the Go type is printed, with the fields that make the key.
            let shown = format!(
                "{{\"Name\":\"\",\"Protocol\":{},\"AppProtocol\":null,\"Port\":{},\"TargetPort\":0,\"NodePort\":0}}",
                port["protocol"], port["port"]
            );
            causes.push(Cause {
                reason: "FieldValueDuplicate".to_owned(),
                message: format!("Duplicate value: {shown}"),
                field: format!("spec.ports[{index}]"),
            });
        }
    }
    causes
}

fn of_policies(service: &Value) -> Vec<Cause> {
    let spec = &service["spec"];
    let mut causes = Vec::new();
    let external = text(spec, "externalTrafficPolicy");
    let policies = ["Cluster", "Local"];
    if !external.is_empty() {
        if !is_reachable(service) {
            let detail = "may only be set for externally-accessible services";
            causes.push(Cause::invalid(
                "spec.externalTrafficPolicy",
                &external.into(),
                detail,
            ));
        } else if !policies.contains(&external) {
            causes.push(Cause::unsupported(
                "spec.externalTrafficPolicy",
                &external.into(),
                &policies,
            ));
        }
    }
    let internal = text(spec, "internalTrafficPolicy");
    if !internal.is_empty() && !policies.contains(&internal) {
        causes.push(Cause::unsupported(
            "spec.internalTrafficPolicy",
            &internal.into(),
            &policies,
        ));
    }
    if kind_of(service) != "LoadBalancer" {
        for field in ["allocateLoadBalancerNodePorts", "loadBalancerClass"] {
            if spec.get(field).is_some() {
                let detail = "may only be used when `type` is 'LoadBalancer'";
                causes.push(Cause::forbidden(format!("spec.{field}"), detail));
            }
        }
    }
    if port_number(spec, "healthCheckNodePort").is_some() && !needs_check_port(service) {
        let detail =
            "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` is 'Local'";
        causes.push(Cause::invalid(
            "spec.healthCheckNodePort",
            &spec["healthCheckNodePort"],
            detail,
        ));
    }
    causes
}

fn of_change(old: &Value, new: &Value) -> Vec<Cause> {
    let mut causes = Vec::new();
    let (before, after) = (&old["spec"], &new["spec"]);
    let ips = |spec: &Value| text(spec, "clusterIP").to_owned();
    if needs_ip(old) && needs_ip(new) && !ips(before).is_empty() && ips(before) != ips(after) {
        let shown = json!([ips(after)]);
        causes.push(Cause::invalid(
            "spec.clusterIPs[0]",
            &shown,
            "may not change once set",
        ));
    }
    if kind_of(old) == "LoadBalancer"
        && kind_of(new) == "LoadBalancer"
        && before.get("loadBalancerClass") != after.get("loadBalancerClass")
    {
        let detail = "may not change once set";
        causes.push(Cause::invalid(
            "spec.loadBalancerClass",
            &after["loadBalancerClass"],
            detail,
        ));
    }
    causes
}
