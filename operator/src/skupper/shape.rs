//! Whether what is declared can be carried out at all. What the API server would refuse later is said here at once.

use lifecycle_router::config::Host;
use lifecycle_runtime::Because;
use lifecycle_runtime::selector::LabelSelector;
use lifecycle_specs::skupper::attached::{AttachedConnectorSpec, Shape as Attached};
use lifecycle_specs::skupper::attached_binding::{AttachedConnectorBindingSpec, Shape as Accepted};
use lifecycle_specs::skupper::connector::{ConnectorSpec, Shape as Served};
use lifecycle_specs::skupper::listener::{ListenerSpec, Shape as Offered};
use lifecycle_specs::skupper::site::{Shape as Carried, SiteSpec};

use super::document::named;
use super::platform::Platform;

/// As long as the name of a Service may be.
const LONGEST: usize = 63;
const ACCESS: [&str; 9] = [
    "default",
    "local",
    "loadbalancer",
    "route",
    "nodeport",
    "ingress",
    "ingress-nginx",
    "contour-http-proxy",
    "gateway",
];

/// Of a Listener.
pub fn listener(spec: &ListenerSpec, platform: Platform) -> Because<Offered> {
    let lacks = [
        ("routingKey", spec.routing_key.is_empty()),
        ("host", spec.host.is_empty()),
    ];
    if let Some(sentence) = missing(&lacks, Some(spec.port)) {
        return Because::new(Offered::Incomplete, sentence);
    }
    if let Some(sentence) = no_port(spec.port) {
        return Because::new(Offered::BadPort, sentence);
    }
    if let Some(sentence) = bad_host(&spec.host, platform) {
        return Because::new(Offered::BadHost, sentence);
    }
    match other_kind(spec.kind.as_deref()) {
        Some(sentence) => Because::new(Offered::BadType, sentence),
        None => Because::plain(Offered::Fine),
    }
}

fn bad_host(host: &str, platform: Platform) -> Option<String> {
    match platform {
        Platform::Kubernetes => (!is_label(host)).then(|| {
            format!(
                "spec.host \"{host}\" cannot be the name of a Service: it must consist of at most {LONGEST} lower case letters, digits or '-', start with a letter, and end with a letter or digit"
            )
        }),
        Platform::Linux => Host::parse(host.to_owned()).is_err().then(|| {
            format!(
                "spec.host \"{host}\" is neither an IP address nor a host name of letters, digits, '-' and '.': say where to listen, such as 127.0.0.1, or 0.0.0.0 for all addresses"
            )
        }),
    }
}

/// Of a Connector.
pub fn connector(spec: &ConnectorSpec) -> Because<Served> {
    let lacks = [("routingKey", spec.routing_key.is_empty())];
    match missing(&lacks, Some(spec.port)) {
        Some(sentence) => Because::new(Served::Incomplete, sentence),
        None => target(spec),
    }
}

/// Of an AttachedConnector, which serves what this Connector would if it had a routing key.
pub fn attached(spec: &AttachedConnectorSpec, connector: &ConnectorSpec) -> Because<Attached> {
    let lacks = [
        ("siteNamespace", spec.site_namespace.is_empty()),
        ("selector", spec.selector.is_empty()),
    ];
    if let Some(sentence) = missing(&lacks, Some(spec.port)) {
        return Because::new(Attached::Incomplete, sentence);
    }
    target(connector).map(|shape| match shape {
        Served::Fine => Attached::Fine,
        Served::Incomplete | Served::NoTarget | Served::BadSelector => Attached::BadSelector,
        Served::BadPort => Attached::BadPort,
        Served::BadType => Attached::BadType,
    })
}

/// Of an AttachedConnectorBinding.
pub fn binding(spec: &AttachedConnectorBindingSpec) -> Because<Accepted> {
    let lacks = [
        ("connectorNamespace", spec.connector_namespace.is_empty()),
        ("routingKey", spec.routing_key.is_empty()),
    ];
    match missing(&lacks, None) {
        Some(sentence) => Because::new(Accepted::Incomplete, sentence),
        None => Because::plain(Accepted::Fine),
    }
}

/// What must be said and is not, a line each. An object may come without `spec`; where only the port is 0, somebody has said so.
fn missing(lacks: &[(&str, bool)], port: Option<i32>) -> Option<String> {
    let named = lacks.iter().filter(|(_, lacks)| *lacks);
    let mut names: Vec<&str> = named.map(|(name, _)| *name).collect();
    if !names.is_empty() && port == Some(0) {
        names.push("port");
    }
    let lines = names.iter().map(|name| format!("spec.{name} is required"));
    let lines: Vec<String> = lines.collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

fn target(spec: &ConnectorSpec) -> Because<Served> {
    let selector = named(spec.selector.as_ref());
    if named(spec.host.as_ref()).is_none() && selector.is_none() {
        let sentence = "Connector must define a non-empty spec.host or spec.selector";
        return Because::new(Served::NoTarget, sentence);
    }
    if let Some(Err(why)) = selector.map(LabelSelector::parse) {
        let sentence = format!("spec.selector cannot be read: {why}");
        return Because::new(Served::BadSelector, sentence);
    }
    if let Some(sentence) = no_port(spec.port) {
        return Because::new(Served::BadPort, sentence);
    }
    match other_kind(spec.kind.as_deref()) {
        Some(sentence) => Because::new(Served::BadType, sentence),
        None => Because::plain(Served::Fine),
    }
}

/// Of a Site.
pub fn site(spec: &SiteSpec) -> Because<Carried> {
    let (edge, pair) = (spec.edge == Some(true), spec.ha == Some(true));
    if edge && pair {
        return Because::new(Carried::Edge, "Edge sites cannot have HA enabled");
    }
    if pair {
        let sentence = "spec.ha is not supported: leave it out";
        return Because::new(Carried::Pair, sentence);
    }
    match access(spec) {
        Some(access) if !ACCESS.contains(&access) => Because::new(
            Carried::BadAccess,
            format!("Unsupported value for LinkAccess: {access}"),
        ),
        Some(_) | None => Because::plain(Carried::Fine),
    }
}

/// How other sites are to reach a Site, if at all.
pub fn access(spec: &SiteSpec) -> Option<&str> {
    named(spec.link_access.as_ref()).filter(|access| *access != "none")
}

fn no_port(port: i32) -> Option<String> {
    let fits = u16::try_from(port).is_ok_and(|port| port > 0);
    (!fits).then(|| format!("spec.port {port} is no port: it must be between 1 and 65535"))
}

fn other_kind(kind: Option<&str>) -> Option<String> {
    let kind = kind.filter(|kind| !kind.is_empty() && *kind != "tcp")?;
    Some(format!(
        "spec.type \"{kind}\" is not supported: leave it out, or say \"tcp\""
    ))
}

/// A label of RFC 1035.
fn is_label(text: &str) -> bool {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    text.len() <= LONGEST
        && text.starts_with(|c: char| c.is_ascii_lowercase())
        && text.chars().all(fits)
        && !text.ends_with('-')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn offered(spec: Value) -> Because<Offered> {
        let mut whole = json!({ "routingKey": "k", "host": "backend", "port": 80 });
        for (key, value) in spec.as_object().expect("it is an object") {
            whole[key] = value.clone();
        }
        let spec = serde_json::from_value(whole).expect("it is a spec");
        listener(&spec, Platform::Kubernetes)
    }

    #[test]
    fn outside_kubernetes_a_host_is_an_address_or_a_name() {
        let check = |host: &str, shape: Offered| {
            let spec = json!({ "routingKey": "k", "host": host, "port": 80 });
            let spec = serde_json::from_value(spec).expect("it is a spec");
            let answer = listener(&spec, Platform::Linux);
            assert_eq!(answer.value, shape, "{host}: {}", answer.sentence);
            let is_told = answer.sentence.contains(host) && !answer.sentence.is_empty();
            assert_eq!(is_told, shape != Offered::Fine, "{}", answer.sentence);
        };
        for host in ["0.0.0.0", "127.0.0.1", "::1", "localhost", "a.example.org"] {
            check(host, Offered::Fine);
        }
        check("", Offered::Incomplete);
        for host in ["{bad}", "1.2.3", "a b", "-a", &"a".repeat(64)] {
            check(host, Offered::BadHost);
        }
    }

    #[test]
    fn what_a_listener_asks_for_is_said_to_be_wrong_before_anything_is_written() {
        let check = |spec: Value, shape: Offered, part: &str| {
            let answer = offered(spec);
            assert_eq!(answer.value, shape);
            assert!(answer.sentence.contains(part), "{}", answer.sentence);
        };
        check(json!({}), Offered::Fine, "");
        check(json!({ "type": "tcp" }), Offered::Fine, "");
        check(json!({ "port": 0 }), Offered::BadPort, "spec.port 0 is");
        check(json!({ "port": 70000 }), Offered::BadPort, "70000");
        check(json!({ "host": "{bad}" }), Offered::BadHost, "{bad}");
        check(json!({ "host": "a.b" }), Offered::BadHost, "lower case");
        let no_host = "spec.host is required";
        check(json!({ "host": "" }), Offered::Incomplete, no_host);
        check(json!({ "host": "9a" }), Offered::BadHost, "start");
        check(json!({ "host": "a".repeat(63) }), Offered::Fine, "");
        check(json!({ "host": "a".repeat(64) }), Offered::BadHost, "63");
        check(json!({ "type": "udp" }), Offered::BadType, "udp");
        check(json!({ "type": "sctp" }), Offered::BadType, "tcp");
    }

    #[test]
    fn a_connector_needs_a_host_or_a_selector_that_can_be_read() {
        let check = |spec: Value, shape: Served| {
            let mut whole = json!({ "routingKey": "k", "port": 80 });
            for (key, value) in spec.as_object().expect("it is an object") {
                whole[key] = value.clone();
            }
            let spec = serde_json::from_value(whole).expect("it is a spec");
            assert_eq!(connector(&spec).value, shape, "{spec:?}");
        };
        check(json!({ "host": "h" }), Served::Fine);
        check(json!({ "selector": "app=a,tier in (x, y)" }), Served::Fine);
        check(json!({}), Served::NoTarget);
        check(json!({ "host": "" }), Served::NoTarget);
        check(json!({ "selector": "a b" }), Served::BadSelector);
        check(json!({ "host": "h", "port": -1 }), Served::BadPort);
        check(json!({ "host": "h", "type": "udp" }), Served::BadType);
    }

    #[test]
    fn all_that_is_missing_is_named() {
        let required = |names: &[&str]| {
            let lines = names.iter().map(|name| format!("spec.{name} is required"));
            lines.collect::<Vec<_>>().join("\n")
        };
        let said = listener(&ListenerSpec::default(), Platform::Kubernetes);
        let all = required(&["routingKey", "host", "port"]);
        assert_eq!((said.value, said.sentence), (Offered::Incomplete, all));
        let said = connector(&ConnectorSpec::default());
        let all = required(&["routingKey", "port"]);
        assert_eq!((said.value, said.sentence), (Served::Incomplete, all));
        let said = attached(&AttachedConnectorSpec::default(), &ConnectorSpec::default());
        let all = required(&["siteNamespace", "selector", "port"]);
        assert_eq!((said.value, said.sentence), (Attached::Incomplete, all));
        let said = binding(&AttachedConnectorBindingSpec::default());
        let all = required(&["connectorNamespace", "routingKey"]);
        assert_eq!((said.value, said.sentence), (Accepted::Incomplete, all));
    }

    #[test]
    fn a_site_says_what_it_does_not_do() {
        let check = |spec: Value, shape: Carried, sentence: &str| {
            let answer = site(&serde_json::from_value(spec).expect("it is a spec"));
            assert_eq!((answer.value, answer.sentence.as_str()), (shape, sentence));
        };
        check(json!({}), Carried::Fine, "");
        check(json!({ "linkAccess": "none" }), Carried::Fine, "");
        check(json!({ "linkAccess": "default" }), Carried::Fine, "");
        let both = "Edge sites cannot have HA enabled";
        check(json!({ "edge": true, "ha": true }), Carried::Edge, both);
        let pair = "spec.ha is not supported: leave it out";
        check(json!({ "ha": true }), Carried::Pair, pair);
        let access = "Unsupported value for LinkAccess: carrier-pigeon";
        let spec = json!({ "linkAccess": "carrier-pigeon" });
        check(spec, Carried::BadAccess, access);
    }
}
