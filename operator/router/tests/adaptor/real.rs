//! Traits of the real router that were found by hand.

use lifecycle_router::state::Status;
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use serde_json::{Value, json};

use crate::site::{Site, agent_has, certify, changing, listener, profile, secure, turns};
use crate::support::{AMPLE, Agent, PROTON};

pub(crate) fn cases() -> Vec<Case> {
    named![single_threaded(PROTON):
        a_listener_at_an_occupied_port_is_made_anew_until_the_port_is_free,
        a_refused_update_that_the_router_kept_stays_told_until_something_changes,
        numbers_of_a_profile_that_the_router_would_refuse_are_not_sent,
    ]
}

async fn a_listener_at_an_occupied_port_is_made_anew_until_the_port_is_free() {
    let mut agent = Agent::start();
    let occupied = "Address already in use - listen on 127.0.0.1:1024";
    agent.run(&format!("occupy 1024 {occupied}"));
    let document = json!([
        listener("taken", 1024, "a"),
        ["listenerAddress", {"name": "taken/a", "address": "a", "value": 1, "listener": "taken"}],
        listener("other", 1025, "b"),
    ]);
    let site = Site::new(&agent, &document);
    assert_eq!(site.failed("tcpListener", "taken").await, occupied);
    site.applied(&document).await;
    changing(&mut agent);
    let sent = turns(&mut agent, 30).await;
    let sent: Vec<&Value> = sent
        .iter()
        .filter(|one| one["operation"] != "QUERY")
        .collect();
    let creations = sent.iter().filter(|one| one["operation"] == "CREATE");
    // Two of each try; each turn looks, and few of them try.
    assert!((2..=14).contains(&creations.count()), "{sent:?}");
    assert!(sent.iter().all(|one| one["name"] != "other"), "{sent:?}");
    assert_eq!(site.failed("tcpListener", "taken").await, occupied);
    agent.run("free 1024");
    site.wait_for_status("tcpListener", "taken", &Status::Idle)
        .await;
    agent_has(&mut agent, "its address is there, too", |dump| {
        dump["tcpListener"]["taken"]["connectionMsg"] == ""
            && dump["listenerAddress"]["taken/a"]["value"] == 1
    })
    .await;
    let sent = changing(&mut agent);
    assert!(!sent.iter().any(|one| one.ends_with("other")), "{sent:?}");
}

async fn a_refused_update_that_the_router_kept_stays_told_until_something_changes() {
    let mut agent = Agent::start();
    let mut document = json!([profile("web"), secure(listener("tls", 1024, "a"), "web")]);
    document[0][1]["ordinal"] = 2.into();
    let fill = |source: &std::path::Path| drop(certify(source, "web"));
    let site = Site::start_with(&agent, &document, fill, AMPLE);
    site.wait_for_status("sslProfile", "web", &Status::Up).await;
    agent.run("refuse UPDATE sslProfile 500 CError: Configuration: no");
    document[0][1]["ordinal"] = 3.into();
    site.edit(&document);
    let words =
        "UPDATE sslProfile `web`: the router refused it with status 500: CError: Configuration: no";
    assert_eq!(site.failed("sslProfile", "web").await, words);
    assert_eq!(agent.dump()["sslProfile"]["web"]["ordinal"], 3);
    turns(&mut agent, 5).await;
    assert_eq!(site.failed("sslProfile", "web").await, words);
    site.wait_for_status("tcpListener", "tls", &Status::Idle)
        .await;
    // New files alone are reason enough.
    certify(site.source.path(), "web");
    site.wait_for_status("sslProfile", "web", &Status::Up).await;
}

async fn numbers_of_a_profile_that_the_router_would_refuse_are_not_sent() {
    let mut agent = Agent::start();
    let mut document = json!([profile("web"), secure(listener("tls", 1024, "a"), "web")]);
    let fill = |source: &std::path::Path| drop(certify(source, "web"));
    let site = Site::start_with(&agent, &document, fill, AMPLE);
    site.wait_for_status("sslProfile", "web", &Status::Up).await;
    document[0][1]["ordinal"] = 3.into();
    document[0][1]["oldestValidOrdinal"] = "7".into();
    changing(&mut agent);
    site.edit(&document);
    let words = "sslProfile `web`: `oldestValidOrdinal` 7 is greater than `ordinal` 3, expected it to be at most that";
    assert_eq!(site.failed("sslProfile", "web").await, words);
    turns(&mut agent, 3).await;
    assert_eq!(changing(&mut agent), Vec::<String>::new());
    assert_eq!(agent.dump()["tcpListener"]["tls"]["sslProfile"], "web");
    // Another program gave such numbers: the next files are taken at once.
    agent.run(r#"set sslProfile web {"ordinal": 3, "oldestValidOrdinal": 7}"#);
    for name in ["ordinal", "oldestValidOrdinal"] {
        document[0][1].as_object_mut().unwrap().remove(name);
    }
    site.edit(&document);
    site.wait_for_status("sslProfile", "web", &Status::Up).await;
    certify(site.source.path(), "web");
    agent_has(&mut agent, "the files are loaded", |dump| {
        dump["sslProfile"]["web"]["ordinal"].as_u64() > Some(7)
    })
    .await;
}
