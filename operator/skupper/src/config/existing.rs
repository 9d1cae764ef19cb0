//! Entries of the configuration for the existing skupper-router alone, and what is left out for it. Pure.

use std::collections::BTreeSet;

use lifecycle_specs_skupper::router::LOCAL_SERVER;
use serde_json::{Map, Value, json};

use super::document::secrets_of;
use crate::router::existing::AMQPS;

type Entry = (String, Map<String, Value>);

/// By which entries the existing router is told of changes and asked for its state, and its levels of logging, such as `ROUTER_CORE:debug+,info`.
fn management(levels: Option<&str>) -> Vec<Value> {
    let levels = levels.unwrap_or_default().split(',').map(str::trim);
    let logs = levels.filter(|level| !level.is_empty()).map(|level| {
        let (module, enable) = level.split_once(':').unwrap_or(("DEFAULT", level));
        json!(["log", { "module": module, "enable": enable }])
    });
    let amqp = json!(["listener", { "name": "amqp", "host": "localhost", "port": 5672 }]);
    let amqps = json!(["listener", {
        "name": "amqps", "port": AMQPS, "sslProfile": LOCAL_SERVER, "saslMechanisms": "EXTERNAL",
        "authenticatePeer": true,
    }]);
    [amqp, amqps].into_iter().chain(logs).collect()
}

/// A document for the existing router: with its management, and without what it cannot have. Its adaptor applies nothing at all while the Secret of one profile is missing, so that profile and
/// what names it wait here for these Secrets.
pub fn adapted(document: &Value, levels: Option<&str>, secrets: &BTreeSet<String>) -> Value {
    let entries: Vec<Entry> = serde_json::from_value(document.clone()).unwrap_or_default();
    let of_profiles = secrets_of(&entries);
    let missing = |secret: &String| secret != LOCAL_SERVER && !secrets.contains(secret);
    let waiting = of_profiles.iter().filter(|(_, secret)| missing(secret));
    let waiting: BTreeSet<&str> = waiting.map(|(profile, _)| profile.as_str()).collect();
    let waits = |(entity, attributes): &&Entry| {
        let of = if entity == "sslProfile" {
            "name"
        } else {
            "sslProfile"
        };
        text(attributes, of).is_some_and(|profile| waiting.contains(profile))
    };
    let waits_too = entries
        .iter()
        .filter(waits)
        .filter(|(entity, _)| entity == "tcpListener");
    let closed: BTreeSet<&str> = waits_too.filter_map(|(_, a)| text(a, "name")).collect();
    let of_closed = |(entity, attributes): &&Entry| {
        let listener = text(attributes, "listener").filter(|_| entity == "listenerAddress");
        listener.is_some_and(|listener| closed.contains(listener))
    };
    let kept = entries
        .iter()
        .filter(|entry| !waits(entry) && !of_closed(entry));
    let kept = kept.map(|(entity, attributes)| json!([entity, attributes]));
    kept.chain(management(levels)).collect()
}

fn text<'a>(attributes: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    attributes.get(name)?.as_str()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(secrets: &[&str], expected: &[&str]) {
        let profile = |name: &str| json!(["sslProfile", { "name": name, "certFile": "x" }]);
        let document = json!([
            ["router", { "id": "west" }],
            profile(LOCAL_SERVER), profile("a"), profile("b"), profile("east-profile"),
            ["sslProfile", { "name": "c-profile" }],
            ["connector", { "name": "east", "sslProfile": "east-profile" }],
            ["tcpConnector", { "name": "connector/c", "sslProfile": "c-profile" }],
            ["tcpListener", { "name": "listener/a", "sslProfile": "a" }],
            ["tcpListener", { "name": "multiAddress/b", "sslProfile": "b" }],
            ["listenerAddress", { "name": "b/k", "listener": "multiAddress/b" }],
            ["tcpListener", { "name": "listener/plain" }],
        ]);
        let secrets = secrets.iter().map(|secret| (*secret).to_owned()).collect();
        let kept: Vec<Entry> = serde_json::from_value(adapted(&document, None, &secrets)).unwrap();
        let fixed = |(entity, attributes): &&Entry| {
            let name = text(attributes, "name");
            entity == "router" || [Some(LOCAL_SERVER), Some("amqp"), Some("amqps")].contains(&name)
        };
        assert_eq!(kept.iter().filter(fixed).count(), 4);
        let named = kept.iter().filter(|entry| !fixed(entry));
        let named: Vec<&str> = named.filter_map(|(_, a)| text(a, "name")).collect();
        assert_eq!(named, expected);
    }

    #[test]
    fn what_waits_for_a_secret_is_left_out_and_the_rest_goes_on() {
        check(&[], &["listener/plain"]);
        check(
            &["a", "c"],
            &[
                "a",
                "c-profile",
                "connector/c",
                "listener/a",
                "listener/plain",
            ],
        );
        check(&["east"], &["east-profile", "east", "listener/plain"]);
        let of_b = ["b", "multiAddress/b", "b/k", "listener/plain"];
        check(&["b", "unheard-of"], &of_b);
    }

    #[test]
    fn levels_of_logging_are_told_by_module() {
        let logs = |levels: &str| management(Some(levels)).split_off(2);
        assert_eq!(logs(""), Vec::<Value>::new());
        let log =
            |module: &str, enable: &str| json!(["log", { "module": module, "enable": enable }]);
        assert_eq!(logs("debug+"), [log("DEFAULT", "debug+")]);
        assert_eq!(
            logs("ROUTER_CORE:debug+, info"),
            [log("ROUTER_CORE", "debug+"), log("DEFAULT", "info")]
        );
    }
}
