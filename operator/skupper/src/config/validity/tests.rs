//! Errors reported for small specs, and the check that all of them are reported.

use serde_json::{Value, json};

use super::*;

fn listened(spec: Value) -> Because<listener::Validity> {
    let mut whole = json!({ "routingKey": "k", "host": "backend", "port": 80 });
    for (key, value) in spec.as_object().expect("it is an object") {
        whole[key] = value.clone();
    }
    let spec = serde_json::from_value(whole).expect("it is a spec");
    listener(&spec, Platform::Kubernetes)
}

#[test]
fn outside_kubernetes_a_host_is_an_address_or_a_name() {
    let check = |host: &str, expected: listener::Validity| {
        let spec = json!({ "routingKey": "k", "host": host, "port": 80 });
        let spec = serde_json::from_value(spec).expect("it is a spec");
        let answer = listener(&spec, Platform::Linux);
        assert_eq!(answer.value, expected, "{host}: {}", answer.sentence);
        let is_told = answer.sentence.contains(host) && !answer.sentence.is_empty();
        assert_eq!(
            is_told,
            expected != listener::Validity::Fine,
            "{}",
            answer.sentence
        );
    };
    for host in ["0.0.0.0", "127.0.0.1", "::1", "localhost", "a.example.org"] {
        check(host, listener::Validity::Fine);
    }
    check("", listener::Validity::Unfit);
    for host in ["{bad}", "1.2.3", "a b", "-a", &"a".repeat(64)] {
        check(host, listener::Validity::Unfit);
    }
}

#[test]
fn what_a_listener_asks_for_is_said_to_be_wrong_before_anything_is_written() {
    let check = |spec: Value, expected: listener::Validity, part: &str| {
        let answer = listened(spec);
        assert_eq!(answer.value, expected);
        assert!(answer.sentence.contains(part), "{}", answer.sentence);
    };
    check(json!({}), listener::Validity::Fine, "");
    check(json!({ "type": "tcp" }), listener::Validity::Fine, "");
    check(
        json!({ "port": 0 }),
        listener::Validity::Unfit,
        "spec.port 0 is",
    );
    check(json!({ "port": 70000 }), listener::Validity::Unfit, "70000");
    check(
        json!({ "port": 99_999_999_999_i64 }),
        listener::Validity::Unfit,
        "99999999999",
    );
    check(
        json!({ "host": "{bad}" }),
        listener::Validity::Unfit,
        "{bad}",
    );
    check(
        json!({ "host": "a.b" }),
        listener::Validity::Unfit,
        "lower case",
    );
    let no_host = "spec.host is required";
    check(json!({ "host": "" }), listener::Validity::Unfit, no_host);
    for name in ["9a", "5gc-amf", "1"] {
        check(json!({ "host": name }), listener::Validity::Fine, "");
    }
    for name in ["-a", "a-", "A"] {
        check(
            json!({ "host": name }),
            listener::Validity::Unfit,
            "start and end",
        );
    }
    check(
        json!({ "host": "a".repeat(63) }),
        listener::Validity::Fine,
        "",
    );
    check(
        json!({ "host": "a".repeat(64) }),
        listener::Validity::Unfit,
        "63",
    );
    check(json!({ "type": "udp" }), listener::Validity::Unfit, "udp");
    check(json!({ "type": "sctp" }), listener::Validity::Unfit, "tcp");
}

/// Row 4 of the acceptance table: the field is checked at admission, the setting is a free text.
#[test]
fn s04_an_observer_of_the_settings_is_a_known_one() {
    let check = |spec: Value, expected: listener::Validity| {
        let answer = listened(spec);
        assert_eq!(answer.value, expected, "{}", answer.sentence);
    };
    let set = |observer: &str| json!({ "settings": { "observer": observer } });
    for known in ["auto", "none", "http1", "http2"] {
        check(set(known), listener::Validity::Fine);
    }
    for unknown in ["bogus", "", "HTTP1"] {
        check(set(unknown), listener::Validity::Unfit);
    }
    let both = json!({ "observer": "http2", "settings": { "observer": "bogus" } });
    check(both, listener::Validity::Fine);
    let said = listened(set("bogus")).sentence;
    assert!(said.contains("\"bogus\""), "{said}");
}

/// Row 58 of the acceptance table: if client certificates are required and nothing can verify them,
/// no client may get in.
#[test]
fn s58_certificates_of_clients_are_not_asked_for_in_plaintext() {
    let check = |spec: Value, expected: listener::Validity| {
        let answer = listened(spec);
        assert_eq!(answer.value, expected, "{}", answer.sentence);
        let is_told = answer
            .sentence
            .contains("spec.requireClientCert needs spec.tlsCredentials");
        assert_eq!(
            is_told,
            expected != listener::Validity::Fine,
            "{}",
            answer.sentence
        );
    };
    let nothing = listener::Validity::Unfit;
    check(json!({ "requireClientCert": true }), nothing);
    check(
        json!({ "requireClientCert": true, "tlsCredentials": "" }),
        nothing,
    );
    let fine = listener::Validity::Fine;
    check(json!({ "requireClientCert": false }), fine);
    check(
        json!({ "requireClientCert": true, "tlsCredentials": "tls" }),
        fine,
    );
}

#[test]
fn a_connector_needs_a_host_or_a_selector_that_can_be_read() {
    let check = |spec: Value, expected: connector::Validity| {
        let mut whole = json!({ "routingKey": "k", "port": 80 });
        for (key, value) in spec.as_object().expect("it is an object") {
            whole[key] = value.clone();
        }
        let spec = serde_json::from_value(whole).expect("it is a spec");
        assert_eq!(connector(&spec).value, expected, "{spec:?}");
    };
    check(json!({ "host": "h" }), connector::Validity::Fine);
    check(
        json!({ "selector": "app=a,tier in (x, y)" }),
        connector::Validity::Fine,
    );
    check(json!({}), connector::Validity::NoTarget);
    check(json!({ "host": "" }), connector::Validity::NoTarget);
    check(
        json!({ "selector": "a b" }),
        connector::Validity::BadSelector,
    );
    check(
        json!({ "host": "h", "port": -1 }),
        connector::Validity::BadPort,
    );
    check(
        json!({ "host": "h", "type": "udp" }),
        connector::Validity::BadType,
    );
}

#[test]
fn all_that_is_missing_is_named() {
    let required = |names: &[&str]| {
        let lines = names.iter().map(|name| format!("spec.{name} is required"));
        lines.collect::<Vec<_>>().join("\n")
    };
    let said = listener(&ListenerSpec::default(), Platform::Kubernetes);
    let all = required(&["routingKey", "host", "port"]);
    assert_eq!(
        (said.value, said.sentence),
        (listener::Validity::Unfit, all)
    );
    let said = connector(&ConnectorSpec::default());
    let all = required(&["routingKey", "port"]);
    assert_eq!(
        (said.value, said.sentence),
        (connector::Validity::Incomplete, all)
    );
    let said = attached(&AttachedConnectorSpec::default(), &ConnectorSpec::default());
    let all = required(&["siteNamespace", "selector", "port"]);
    assert_eq!(
        (said.value, said.sentence),
        (attached::Validity::Incomplete, all)
    );
    let said = binding(&AttachedConnectorBindingSpec::default());
    let all = required(&["connectorNamespace", "routingKey"]);
    assert_eq!(
        (said.value, said.sentence),
        (attached_binding::Validity::Incomplete, all)
    );
}

#[test]
fn a_site_says_what_it_does_not_do() {
    let check = |spec: Value, expected: site::Validity, sentence: &str| {
        let answer = site(&serde_json::from_value(spec).expect("it is a spec"));
        assert_eq!(
            (answer.value, answer.sentence.as_str()),
            (expected, sentence)
        );
    };
    check(json!({}), site::Validity::Fine, "");
    check(json!({ "linkAccess": "none" }), site::Validity::Fine, "");
    check(json!({ "linkAccess": "default" }), site::Validity::Fine, "");
    let both = "Edge sites cannot have HA enabled";
    check(
        json!({ "edge": true, "ha": true }),
        site::Validity::Unfit,
        both,
    );
    let pair = "spec.ha is not supported, so the site has one router: leave it out";
    check(json!({ "ha": true }), site::Validity::Unfit, pair);
    let access = "Unsupported value for LinkAccess: carrier-pigeon";
    let spec = json!({ "linkAccess": "carrier-pigeon" });
    check(spec, site::Validity::Unfit, access);
}

#[test]
fn a_site_is_in_the_way_only_by_what_keeps_it_from_serving() {
    let check = |status: &str, message: &str, observed: i64, expected: &str| {
        let site = json!({
            "metadata": { "name": "west", "generation": 2 }, "spec": { "ha": true },
            "status": { "conditions": [{
                "type": "Configured", "status": status, "reason": "Error", "message": message,
                "observedGeneration": observed, "lastTransitionTime": "2026-01-01T00:00:00Z",
            }] },
        });
        let answer = blocked(&serde_json::from_value(site).expect("it is a Site"));
        let answer = (answer.value, answer.sentence.as_str());
        assert_eq!(answer, (!expected.is_empty(), expected));
    };
    let pair = "spec.ha is not supported, so the site has one router: leave it out";
    check("False", pair, 2, "");
    check("True", "OK", 2, "");
    let said = "No active site in namespace: Site west: a is in the way; b is in the way";
    let lines = "a is in the way\nb is in the way";
    check("False", lines, 2, said);
    check("False", &format!("{pair}\n{lines}"), 2, said);
    check("False", lines, 1, "");
    assert!(!blocked(&Site::default()).value);
}

#[test]
fn what_a_link_asks_for_is_said_to_be_wrong_before_anything_is_dialled() {
    let check = |edge: bool, spec: Value, expected: link::Validity, part: &str| {
        let spec = serde_json::from_value(spec).expect("it is a spec");
        let answer = link(&spec, edge, DataPlane::Embedded, None);
        assert_eq!(answer.value, expected, "{}", answer.sentence);
        assert!(answer.sentence.contains(part), "{}", answer.sentence);
    };
    let to = |name: &str, host: Value, port: Value| json!({ "endpoints": [{ "name": name, "host": host, "port": port }], "tlsCredentials": "east" });
    let at = |host: &str, port: &str| to("inter-router", json!(host), json!(port));
    use link::Validity::{BadHost, BadPort, Fine, NoCredentials, NoEndpoint, Proxy};
    check(false, at("east.example.com", "55671"), Fine, "");
    check(false, at("fd00::1", "1"), Fine, "");
    let edge = to("edge", json!("10.0.0.1"), json!("45671"));
    check(true, edge.clone(), Fine, "");
    let lacks = "name \"inter-router\", which a site that is no edge site dials: it has \"edge\"";
    check(false, edge, NoEndpoint, lacks);
    check(true, at("10.0.0.1", "1"), NoEndpoint, "\"edge\"");
    check(false, json!({}), NoEndpoint, "no endpoint has a name");
    check(false, at("{bad}", "1"), BadHost, "{bad}");
    check(
        false,
        to("inter-router", json!(null), json!("1")),
        BadHost,
        "host \"\"",
    );
    for port in ["0", "70000", "many", "", "+1", "-1", " 1", "1.0"] {
        check(
            false,
            at("10.0.0.1", port),
            BadPort,
            &format!("port \"{port}\""),
        );
    }
    check(
        false,
        to("inter-router", json!("h"), json!(null)),
        BadPort,
        "port \"\"",
    );
    let mut bare = at("10.0.0.1", "1");
    bare["tlsCredentials"] = json!("");
    check(
        false,
        bare,
        NoCredentials,
        "spec.tlsCredentials is required",
    );
    let mut proxied = at("10.0.0.1", "1");
    proxied["settings"] = json!({ "proxy-configuration": "squid" });
    check(false, proxied, Proxy, "\"squid\" is not supported");
}

#[test]
fn the_existing_router_alone_dials_through_a_proxy() {
    let link = |plane, data: Option<&Value>| {
        let endpoint = json!({ "name": "inter-router", "host": "10.0.0.1", "port": "1" });
        let spec = json!({
            "endpoints": [endpoint], "tlsCredentials": "east",
            "settings": { "proxy-configuration": "squid" },
        });
        let spec = serde_json::from_value(spec).expect("it is a spec");
        let secret = data.map(|data| json!({ "data": data }));
        let secret: Option<Secret> =
            secret.map(|secret| serde_json::from_value(secret).expect("it is a Secret"));
        let answer = super::link(&spec, false, plane, secret.as_ref());
        (answer.value, answer.sentence)
    };
    let fine = json!({ "host": "MTAuMC4wLjk=", "port": "MzEyOA==" });
    let check = |plane, data: Option<&Value>, part: &str| {
        let (value, said) = link(plane, data);
        assert_eq!(value, link::Validity::Proxy, "{said}");
        assert!(said.contains(part), "{said}");
    };
    check(DataPlane::Embedded, None, "is not supported");
    check(DataPlane::Embedded, Some(&fine), "is not supported");
    check(DataPlane::SkupperRouter, None, proxies::MISSING);
    check(DataPlane::SkupperRouter, Some(&json!({})), "host \"\"");
    let (value, said) = link(DataPlane::SkupperRouter, Some(&fine));
    assert_eq!((value, said.as_str()), (link::Validity::Fine, ""));
}

#[test]
fn a_machine_is_linked_to_as_it_is() {
    let spec = |access: &str| -> SiteSpec {
        serde_json::from_value(json!({ "linkAccess": access })).unwrap()
    };
    for (access, on_cluster, on_machine) in [
        ("default", true, true),
        ("nodeport", true, false),
        ("none", false, false),
        ("", false, false),
    ] {
        let linked = |platform| is_linked(platform, &spec(access));
        assert_eq!(linked(Platform::Kubernetes), on_cluster, "{access}");
        assert_eq!(linked(Platform::Linux), on_machine, "{access}");
    }
    let answer = site_on(Platform::Linux, &spec("nodeport"));
    assert_eq!(answer.value, site::Validity::Unfit);
    // It does not prevent the site from being served.
    let told = json!({
        "metadata": { "name": "west" }, "spec": { "linkAccess": "nodeport" },
        "status": { "conditions": [{
            "type": "Configured", "status": "False", "reason": "Error", "message": answer.sentence,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }] },
    });
    assert!(!blocked(&serde_json::from_value(told).unwrap()).value);
}
