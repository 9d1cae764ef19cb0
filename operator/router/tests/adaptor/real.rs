//! Traits of the real router that were found by hand.

use lifecycle_router::state::Status;
use serde_json::{Value, json};

use crate::site::{Site, agent_has, changing, listener, turns};
use crate::support::Agent;

#[tokio::test]
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
    site.does("tcpListener", "taken", &Status::Idle).await;
    agent_has(&mut agent, "its address is there, too", |dump| {
        dump["tcpListener"]["taken"]["connectionMsg"] == ""
            && dump["listenerAddress"]["taken/a"]["value"] == 1
    })
    .await;
    let sent = changing(&mut agent);
    assert!(!sent.iter().any(|one| one.ends_with("other")), "{sent:?}");
}
