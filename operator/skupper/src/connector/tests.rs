//! Facts that a Connector reads from Pods and from the router.

use lifecycle_router::config;
use lifecycle_runtime::lifecycle::CallError;
use lifecycle_specs_skupper::router::{EntryState, RouterEntry};
use serde_json::{Value, json};

use super::*;
use k8s_openapi::api::core::v1::ConfigMap;

struct NoRouters;

impl Routers for NoRouters {
    async fn fetch_state(
        &self,
        _: Vec<&Pod>,
        _: Vec<&ConfigMap>,
    ) -> Result<RouterState, CallError> {
        Err(CallError::Failed("nobody".to_owned()))
    }
}

fn connector(spec: Value) -> Connector {
    let mut whole = json!({ "routingKey": "backend", "port": 80 });
    for (key, value) in spec.as_object().expect("it is an object") {
        whole[key] = value.clone();
    }
    let connector = json!({ "metadata": { "name": "c" }, "spec": whole });
    serde_json::from_value(connector).expect("it is a Connector")
}

fn pod(name: &str, ip: &str) -> Pod {
    let pod = json!({
        "metadata": { "name": name, "uid": format!("uid-{name}"), "labels": { "app": "a" } },
        "status": { "phase": "Running", "podIP": ip, "conditions": [{ "type": "Ready", "status": "True" }] },
    });
    serde_json::from_value(pod).expect("it is a Pod")
}

#[test]
fn it_leads_to_a_host_or_to_the_pods_of_its_selector() {
    let logic = Connectors::new(
        ControllerId::new("skupper", "controller"),
        Arc::new(NoRouters),
    );
    let pods = [pod("a-1", "10.0.0.2"), pod("a-0", "10.0.0.1")];
    let pods: Vec<&Pod> = pods.iter().collect();
    let chosen = |spec: Value| {
        let connector = connector(spec);
        let this = This::new(&connector);
        let names = logic.selected_pods(this, &pods);
        let names = names.map(|all| all.into_iter().map(|pod| pod.name).collect::<Vec<_>>());
        (logic.chosen(this, &pods).value, names)
    };
    assert_eq!(chosen(json!({ "host": "h" })), (Chosen::Host, None));
    let names = vec!["a-0".to_owned(), "a-1".to_owned()];
    assert_eq!(
        chosen(json!({ "selector": "app=a" })),
        (Chosen::Some, Some(names))
    );
    assert_eq!(chosen(json!({ "selector": "app=b" })), (Chosen::None, None));
}

/// Each Pod is an entry of its own: it is current when all are, and fails when one does.
#[test]
fn all_of_its_entries_count() {
    let logic = Connectors::new(
        ControllerId::new("skupper", "controller"),
        Arc::new(NoRouters),
    );
    let pods = [pod("a-0", "10.0.0.1"), pod("a-1", "10.0.0.2")];
    let pods: Vec<&Pod> = pods.iter().collect();
    let connector = connector(json!({ "selector": "app=a" }));
    let this = This::new(&connector);
    let site: Site =
        serde_json::from_value(json!({ "metadata": { "name": "west", "uid": "u" }, "spec": {} }))
            .expect("it is a Site");
    let declared = DeclaredConnector {
        name: "c",
        spec: &connector.spec,
        pods: &selected(&connector.spec, &pods),
    };
    let mut report = RouterState::default();
    for entry in document::connector_entries(&SiteIdentity::from_site(&site), declared) {
        assert_eq!(
            logic.sync(this, &site, &pods, &report).value,
            lifecycle::Sync::Behind
        );
        let hash = config::hash(&entry.1);
        let told = RouterEntry {
            hash,
            state: EntryState::Up,
            remote: None,
        };
        report.entries.insert(document::key(&entry), told);
    }
    assert_eq!(
        logic.sync(this, &site, &pods, &report).value,
        lifecycle::Sync::Current
    );
    assert_eq!(logic.health(this, &site, &pods, &report).value, Health::Up);
    for entry in report.entries.values_mut().take(1) {
        entry.state = EntryState::Failed("no such host".to_owned());
    }
    let failed = logic.health(this, &site, &pods, &report);
    assert_eq!(
        (failed.value, failed.sentence.as_str()),
        (Health::Failed, "no such host")
    );
}
