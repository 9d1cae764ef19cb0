//! Recorded cases that have a network status among their inputs, beside the statuses that the existing controller wrote.

use std::fs;
use std::path::Path;

use super::*;

const OWN: &str = "<uid of Site west>";

fn folder() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/upstream"))
}

fn case(name: &str) -> Value {
    let text = fs::read_to_string(folder().join(format!("{name}.yaml"))).expect("it can be read");
    serde_saphyr::from_str(&text).expect("it is YAML")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// The last network status among the inputs.
fn status(case: &Value) -> Option<&str> {
    let later = list(&case["then"]).iter().flat_map(list);
    let inputs = list(&case["input"]).iter().chain(later);
    let mut text = inputs.filter_map(|input| input["data"]["NetworkStatus"].as_str());
    text.next_back()
}

/// The entries that the existing controller wrote, with those of the case beside it.
fn config(case: &Value) -> Vec<Value> {
    let beside = case["beside"].as_str().map(self::case);
    let mut all = beside.as_ref().map(config).unwrap_or_default();
    all.extend_from_slice(list(&case["output"]["entries"]["skupper-router"]));
    all
}

/// The sites as a status of a Site shows them.
fn network(state: &RouterState) -> Value {
    let site = |site: &RouterSite| {
        let links = site.links.iter().map(|link| {
            json!({
                "name": link.name, "remoteSiteId": link.remote_site_id, "remoteSiteName": link.remote_site_name, "operational": link.operational,
            })
        });
        let services = site.services.iter().map(|(key, service)| {
            let mut shown = json!({ "routingKey": key });
            for (side, names) in [
                ("connectors", &service.connectors),
                ("listeners", &service.listeners),
            ] {
                if !names.is_empty() {
                    shown[side] = json!(names);
                }
            }
            shown
        });
        let mut shown = json!({ "id": site.id });
        let texts = [
            ("name", &site.name),
            ("namespace", &site.namespace),
            ("platform", &site.platform),
            ("version", &site.version),
        ];
        for (name, text) in texts {
            text.iter().for_each(|text| shown[name] = json!(text));
        }
        for (name, list) in [
            ("links", Vec::from_iter(links)),
            ("services", Vec::from_iter(services)),
        ] {
            if !list.is_empty() {
                shown[name] = json!(list);
            }
        }
        shown
    };
    let mut sites: Vec<Value> = state.sites.iter().map(site).collect();
    sites.sort_by_key(|site| site["id"].to_string());
    json!(sites)
}

/// The spec of an input, as it was written last.
fn spec<'a>(case: &'a Value, kind: &str, name: &str) -> &'a Value {
    let later = list(&case["then"]).iter().flat_map(list);
    let mut inputs = list(&case["input"]).iter().chain(later).rev();
    let is_it = |input: &&Value| input["kind"] == kind && input["metadata"]["name"] == name;
    &inputs.find(is_it).expect("it is an input")["spec"]
}

/// Compares the result for a network status with the output of the existing controller.
fn check(name: &str) {
    let case = case(name);
    let status = status(&case).expect("it is chosen for that");
    let state = state(OWN, &Value::from(config(&case)).to_string(), Some(status));
    assert_eq!(state.error, None, "{name}");
    // If all events came at once, the controller lost one. It then wrote the expected result after
    // separate events.
    let later = case["one_after_the_other"]["statuses"].as_object();
    let statuses = case["output"]["statuses"]
        .as_object()
        .expect("they are there");
    let statuses = statuses
        .iter()
        .filter(|(key, _)| later.is_none_or(|later| !later.contains_key(*key)));
    for (key, status) in statuses.chain(later.into_iter().flatten()) {
        let (kind, object) = key.split_once(' ').expect("it is a kind and a name");
        match kind {
            "Site" => {
                let mut recorded = status["network"].clone();
                let sites = recorded.as_array_mut().expect("it is a list");
                sites.sort_by_key(|site| site["id"].to_string());
                assert_eq!(network(&state), recorded, "{name}");
                assert_eq!(json!(state.sites.len()), status["sitesInNetwork"], "{name}");
            }
            "Listener" => {
                let key = spec(&case, kind, object)["routingKey"]
                    .as_str()
                    .expect("it has one");
                assert_eq!(
                    state.has_connector(key),
                    status["hasMatchingConnector"] == true,
                    "{name}"
                );
            }
            "Connector" => {
                let key = spec(&case, kind, object)["routingKey"]
                    .as_str()
                    .expect("it has one");
                assert_eq!(
                    state.has_listener(key),
                    status["hasMatchingListener"] == true,
                    "{name}"
                );
            }
            "MultiKeyListener" => {
                let priority = |value: &Value| value["strategy"]["priority"].clone();
                let keys = priority(spec(&case, kind, object))["routingKeys"].clone();
                let reachable = list(&keys)
                    .iter()
                    .filter(|key| key.as_str().is_some_and(|key| state.has_connector(key)));
                let reachable: Vec<&Value> = reachable.collect();
                assert_eq!(
                    json!(reachable),
                    priority(status)["routingKeysReachable"],
                    "{name}"
                );
            }
            "Link" => {
                let entry = &state.entries[&format!("connector/{object}")];
                let is_up = entry.state == EntryState::Up;
                let was_up = status["conditions"]["Operational"][0] == "True";
                // A Link that is in no network status any more stays `Operational` there, which is a mistake.
                if name == "link-lost" {
                    assert_eq!((was_up, is_up, &entry.remote), (true, false, &None));
                    continue;
                }
                assert_eq!(is_up, was_up, "{name}");
                let remote = entry.remote.as_ref();
                assert_eq!(
                    json!(remote.map(|remote| &remote.id)),
                    status["remoteSiteId"],
                    "{name}"
                );
                assert_eq!(
                    json!(remote.and_then(|remote| remote.name.as_ref())),
                    status["remoteSiteName"],
                    "{name}"
                );
            }
            "Certificate" => {}
            other => panic!("{name}: what follows for a {other}?"),
        }
    }
}

#[test]
fn recorded_cases_are_mapped_to_what_was_recorded() {
    let files = fs::read_dir(folder()).expect("it can be read");
    let names = files.filter_map(|file| {
        Some(
            file.expect("it can be read")
                .path()
                .file_stem()?
                .to_str()?
                .to_owned(),
        )
    });
    let mut names: Vec<String> = names
        .filter(|name| name != "README" && status(&case(name)).is_some())
        .collect();
    names.sort();
    names.iter().for_each(|name| check(name));
    assert_eq!(
        names,
        [
            "link-lost",
            "link-operational",
            "listener-expose-pods",
            "listener-expose-pods-gone",
            "listener-expose-pods-off",
            "matched",
            "matched-no-more",
            "multi-key-reachable",
        ]
    );
}

#[test]
fn a_matched_listener_is_up_and_a_lost_one_is_absent() {
    for (name, listener, connector) in [
        ("matched", Some(EntryState::Up), Some(EntryState::Up)),
        ("matched-no-more", None, None),
    ] {
        let case = case(name);
        let state = state(OWN, &Value::from(config(&case)).to_string(), status(&case));
        let entry = |key: &str| state.entries.get(key).map(|entry| entry.state.clone());
        assert_eq!(entry("tcpListener/listener/shop"), listener, "{name}");
        assert_eq!(
            entry("tcpConnector/connector/shop@shop.example.com"),
            connector,
            "{name}"
        );
        assert_eq!(entry("listener/amqps"), Some(EntryState::Up), "{name}");
    }
}
