//! Facts that a Link reads from the router.

use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use lifecycle_router::config;
use lifecycle_runtime::lifecycle::CallError;
use serde_json::{Value, json};

use super::*;
use crate::config::document;

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

fn logic() -> Links<NoRouters> {
    Links::new(
        ControllerId::new("skupper", "controller"),
        Arc::new(NoRouters),
    )
}

fn link(spec: Value) -> Link {
    let link = json!({ "metadata": { "name": "east", "namespace": "west" }, "spec": spec });
    serde_json::from_value(link).expect("it is a Link")
}

fn good() -> Link {
    let endpoint = json!({ "name": "inter-router", "host": "east.example.com", "port": "55671" });
    link(json!({ "endpoints": [endpoint], "tlsCredentials": "east" }))
}

fn site() -> Site {
    let site = json!({ "metadata": { "name": "west", "uid": "u" }, "spec": {} });
    serde_json::from_value(site).expect("it is a Site")
}

/// Returns the state that a router reports for the Link as declared.
fn report(link: &Link, state: EntryState, remote: Option<RemoteSite>) -> RouterState {
    let ((entity, attributes), _) =
        links::entry(&SiteIdentity::from_site(&site()), "east", &link.spec)
            .expect("it can be dialled");
    let told = RouterEntry {
        hash: config::hash(&attributes),
        state,
        remote,
    };
    let mut report = RouterState::default();
    let key = document::key(&(entity, attributes));
    report.entries.insert(key, told);
    report
}

fn check(state: EntryState, (health, sentence): (Health, &str), operational: bool) {
    let (link, remote) = (
        good(),
        RemoteSite {
            id: "uid-east".to_owned(),
            name: Some("east".to_owned()),
        },
    );
    let this = This::new(&link);
    let report = report(&link, state, Some(remote));
    let (logic, site) = (logic(), site());
    let sync = logic.sync(this, &site, &report);
    assert_eq!(sync.value, lifecycle::Sync::Current);
    let told = logic.health(this, &site, &report);
    assert_eq!((told.value, told.sentence.as_str()), (health, sentence));
    assert_eq!(logic.room.matched(this, &report).value, operational);
    let remote = logic.remote_site_name(this, &report);
    assert_eq!(remote.as_deref(), Some("east"));
    let remote = logic.remote_site_id(this, &report);
    assert_eq!(remote.as_deref(), Some("uid-east"));
}

/// Row 67 of the acceptance table: a link is operational as long as the router reports it as up.
#[test]
fn s67_a_link_is_operational_as_long_as_the_router_says_so() {
    check(EntryState::Up, (Health::Up, ""), true);
    check(EntryState::Idle, (Health::Dialling, ""), false);
    let lost = EntryState::Failed("it is silent".to_owned());
    let said = "Not operational: it is silent";
    check(lost, (Health::Failed, said), false);
}

#[test]
fn a_router_that_has_applied_another_link_of_the_name_is_behind() {
    let (before, mut now) = (good(), good());
    let report = report(&before, EntryState::Up, None);
    now.spec.cost = Some(2);
    let sync = logic().sync(This::new(&now), &site(), &report);
    assert_eq!(sync.value, lifecycle::Sync::Behind);
    assert_eq!(logic().remote_site_id(This::new(&now), &report), None);
}

#[test]
fn a_proxy_is_the_secret_that_the_setting_names() {
    let proxy = |settings: Value| {
        let link = link(json!({ "endpoints": [], "settings": settings }));
        let proxy = logic().proxy(This::new(&link));
        proxy.map(|proxy| proxy.to_string())
    };
    let named = proxy(json!({ "proxy-configuration": "squid" }));
    assert_eq!(named.as_deref(), Some("Secret `west/squid`"));
    assert_eq!(proxy(json!({ "proxy-configuration": "" })), None);
    assert_eq!(proxy(json!({ "other": "squid" })), None);
}
