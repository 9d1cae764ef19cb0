//! The loop: documents and their changes, restarts of the router, refusals, and answers that are none.

use std::time::Duration;

use lifecycle_router::data_plane::DataPlane as _;
use lifecycle_router::state::{KeyCounts, Status};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use serde_json::{Value, json};

use crate::site::{Site, agent_has, changing, listener, turns};
use crate::support::{Agent, PROTON, SHORT};

pub(crate) fn cases() -> Vec<Case> {
    named![single_threaded(PROTON):
        a_document_and_its_edits_are_applied_and_reported,
        sockets_keys_and_links_are_read_back,
        a_router_that_restarts_gets_everything_again,
        entries_of_a_router_that_stays_away_have_failed,
        a_refused_entry_spoils_no_other_and_is_tried_again_when_the_document_changes,
        entries_that_cannot_be_are_not_sent,
        answers_that_are_late_twice_or_garbage_stop_nothing,
        a_router_that_answers_nothing_is_reported_until_it_does,
    ]
}

fn document() -> Value {
    json!([
        ["router", {"id": "west-${HOSTNAME}", "mode": "interior", "metadata": "{\"id\": \"west\", \"version\": \"2\"}"}],
        ["site", {"name": "west", "platform": "kubernetes"}],
        ["address", {"prefix": "mc", "distribution": "multicast"}],
        ["log", {"module": "ROUTER_CORE", "enable": "error+"}],
        ["listener", {"name": "amqp", "host": "localhost", "port": 5672}],
        listener("listener/a", 1024, "a"),
        ["tcpListener", {"name": "multi/m", "port": 1025, "multiAddressStrategy": "priority"}],
        ["listenerAddress", {"name": "m/a", "address": "a", "value": 1, "listener": "multi/m"}],
        ["tcpConnector", {"name": "connector/c", "host": "10.1.2.3", "port": "8443", "address": "c"}],
        ["connector", {"name": "east", "role": "inter-router", "host": "east.example", "port": "55671", "cost": 3}],
    ])
}

async fn a_document_and_its_edits_are_applied_and_reported() {
    let mut agent = Agent::start();
    let fixed = agent.dump();
    let mut document = document();
    let site = Site::new(&agent, &document);
    let state = site.applied(&document).await;
    assert_eq!(state.router.as_deref(), Some("west-${HOSTNAME}"));
    assert_eq!((state.sites.len(), state.sites[0].id.as_str()), (1, "west"));
    assert_eq!(state.sites[0].links[0].cost, 3);
    assert_eq!(state.faults, Vec::<String>::new());
    let entry = |entity: &str, name: &str| state.entry(entity, name).unwrap().clone();
    assert_eq!(entry("tcpListener", "listener/a").key.as_deref(), Some("a"));
    assert_eq!(entry("tcpListener", "multi/m").key, None);
    let address = entry("listenerAddress", "m/a");
    assert_eq!(address.listener.as_deref(), Some("multi/m"));
    let connector = entry("tcpConnector", "connector/c");
    assert_eq!(connector.host.as_deref(), Some("10.1.2.3"));
    assert_eq!(connector.status, Status::Up);
    let revision = state.revision.clone();
    changing(&mut agent);

    document[5][1]["address"] = "b".into();
    site.edit(&document);
    let long = Duration::from_secs(600);
    let changed = site.adaptor.state().after(&revision, long).await;
    assert_ne!(changed.revision, revision);
    site.applied(&document).await;
    assert_eq!(agent.dump()["tcpListener"]["listener/a"]["address"], "b");
    assert_eq!(
        changing(&mut agent),
        [
            "DELETE tcpListener listener/a",
            "CREATE tcpListener listener/a"
        ]
    );
    document[5][1]["observer"] = "none".into();
    site.edit(&document);
    site.applied(&document).await;
    assert_eq!(changing(&mut agent), ["UPDATE tcpListener listener/a"]);

    let elements = document.as_array_mut().unwrap();
    elements.remove(5);
    site.edit(&document);
    let state = site.applied(&document).await;
    assert!(state.entry("tcpListener", "listener/a").is_none());
    assert_eq!(changing(&mut agent), ["DELETE tcpListener listener/a"]);
    site.edit(&json!([]));
    site.applied(&json!([])).await;
    assert_eq!(
        agent.dump(),
        fixed,
        "the router's own entities are as they were"
    );
}

async fn sockets_keys_and_links_are_read_back() {
    let mut agent = Agent::start();
    let document = document();
    let site = Site::new(&agent, &document);
    site.applied(&document).await;
    site.wait_for_status("tcpListener", "listener/a", &Status::Idle)
        .await;
    site.wait_for_status("listenerAddress", "m/a", &Status::Idle)
        .await;
    assert_eq!(site.state().keys["a"].connectors, 0);
    let occupied = "Address already in use - proton:io";
    agent.run(&format!(
        r#"set tcpListener multi/m {{"operStatus": "down", "connectionMsg": "{occupied}"}}"#
    ));
    let failed = site.failed("tcpListener", "multi/m").await;
    assert_eq!(failed, occupied);
    agent.run(r#"set tcpListener multi/m {"operStatus": "up", "connectionMsg": ""}"#);
    agent.run(r#"set tcpListener listener/a {"operStatus": "up"}"#);
    agent.run(r#"add router.address {"name": "Ma", "key": "Ma", "inProcess": 0, "subscriberCount": 1, "remoteCount": 2}"#);
    agent.run(r#"add router.address {"name": "Ma.pod", "key": "Ma.pod", "inProcess": 1, "subscriberCount": 0, "remoteCount": 0}"#);
    agent.run(r#"add router.address {"name": "Mmc/sfe.all", "key": "Mmc/sfe.all", "inProcess": 1, "subscriberCount": 0, "remoteCount": 0}"#);
    for name in ["sfe.ykLbz:0", "vfcr.ykLbz:0"] {
        agent.run(&format!(r#"add router.address {{"name": "M{name}", "key": "M{name}", "inProcess": 1, "subscriberCount": 0, "remoteCount": 0}}"#));
    }
    agent.run(r#"add connection {"name": "c1", "host": "east.example:55671", "role": "inter-router", "dir": "out", "container": "east-pod", "opened": true, "active": true}"#);
    let link = site.wait_for_status("connector", "east", &Status::Up).await;
    assert_eq!(link.container.as_deref(), Some("east-pod"));
    site.wait_for_status("tcpListener", "listener/a", &Status::Up)
        .await;
    site.wait_for_status("listenerAddress", "m/a", &Status::Up)
        .await;
    let state = site.state();
    let counts = |connectors, listeners| KeyCounts {
        connectors,
        listeners,
    };
    assert_eq!(state.keys["a"], counts(3, 2));
    assert_eq!(state.keys["a.pod"], counts(1, 0));
    assert_eq!(state.keys["c"], counts(0, 0));
    let keys: Vec<&str> = state.keys.keys().map(String::as_str).collect();
    assert_eq!(keys, ["a", "a.pod", "c"]);
    assert!(state.sites[0].links[0].operational);
    agent.run(r#"set tcpListener listener/a {"operStatus": "down"}"#);
    let why = site.failed("tcpListener", "listener/a").await;
    assert!(why.starts_with("the router has no socket for it"), "{why}");
    agent.run(r#"set tcpListener listener/a {"operStatus": "up"}"#);
    site.wait_for_status("tcpListener", "listener/a", &Status::Up)
        .await;
    agent.run("remove connection c1");
    let link = site
        .wait_for_status("connector", "east", &Status::Idle)
        .await;
    assert_eq!(link.container, None);
}

async fn a_router_that_restarts_gets_everything_again() {
    let mut agent = Agent::start();
    let port = agent.port;
    let document = document();
    let mut site = Site::new(&agent, &document);
    site.applied(&document).await;
    let whole = agent.dump();
    agent.run("forget");
    agent_has(&mut agent, "all is there again", |dump| *dump == whole).await;
    for how in ["drop", "cut", "detach"] {
        agent.run("forget");
        agent.run(how);
        agent_has(&mut agent, how, |dump| *dump == whole).await;
    }
    agent.kill();
    let why = site.until("the loss is reported", |state| state.error.is_some());
    let why = why.await.error.unwrap();
    assert!(why.contains("router"), "{why}");
    let mut agent = Agent::start_on(port);
    agent_has(&mut agent, "another router has it", |dump| *dump == whole).await;
    site.applied(&document).await;
    site.stop();
    assert_eq!(agent.dump(), whole, "its end leaves the router as it is");
}

async fn entries_of_a_router_that_stays_away_have_failed() {
    let mut agent = Agent::start();
    let port = agent.port;
    let document = document();
    let site = Site::new(&agent, &document);
    site.applied(&document).await;
    for name in ["a", "a.pod"] {
        agent.run(&format!(
            r#"add router.address {{"name": "M{name}", "key": "M{name}", "inProcess": 1}}"#
        ));
    }
    site.until("the keys are there", |state| {
        state.keys.contains_key("a.pod") && state.keys["a"].connectors == 1
    })
    .await;
    agent.kill();
    let why = site.failed("tcpListener", "listener/a").await;
    assert!(
        why.contains("cannot connect to the management agent"),
        "{why}"
    );
    let keys = site.state().keys;
    let names: Vec<&str> = keys.keys().map(String::as_str).collect();
    assert_eq!(names, ["a", "c"], "those that the document names");
    assert!(
        keys.values().all(|counts| *counts == KeyCounts::default()),
        "{keys:?}"
    );
    let _agent = Agent::start_on(port);
    site.wait_for_status("tcpListener", "listener/a", &Status::Idle)
        .await;
}

async fn a_refused_entry_spoils_no_other_and_is_tried_again_when_the_document_changes() {
    let mut agent = Agent::start();
    let mut document = document();
    document[5][1]["colour"] = "red".into();
    document[9][1]["port"] = "55672".into();
    let site = Site::new(&agent, &document);
    let why = site.failed("tcpListener", "listener/a").await;
    assert_eq!(
        why,
        "CREATE tcpListener `listener/a`: the router refused it with status 400: Unknown attribute 'colour' for 'io.skupper.router.tcpListener'"
    );
    let state = site.applied(&document).await;
    assert_eq!(
        state.entry("tcpConnector", "connector/c").unwrap().status,
        Status::Up
    );
    assert_eq!(agent.dump()["connector"]["east"]["port"], "55672");
    // Each turn looks; only some of them send it again.
    let creations = |requests: &[Value]| {
        let sent = requests.iter().filter(|one| one["operation"] == "CREATE");
        sent.count()
    };
    let sent = creations(&turns(&mut agent, 30).await);
    assert!(sent < 10, "{sent}");
    document[5][1].as_object_mut().unwrap().remove("colour");
    site.edit(&document);
    site.wait_for_status("tcpListener", "listener/a", &Status::Idle)
        .await;
    agent_has(&mut agent, "the entry is there", |dump| {
        dump["tcpListener"]["listener/a"]["port"] == "1024"
    })
    .await;
}

async fn entries_that_cannot_be_are_not_sent() {
    let mut agent = Agent::start();
    let mut document = document();
    document[5][1]["port"] = "70000".into();
    document[9][1]["sslProfile"] = "missing".into();
    let site = Site::new(&agent, &document);
    let why = site.failed("tcpListener", "listener/a").await;
    assert!(why.contains("70000"), "{why}");
    let why = site.failed("connector", "east").await;
    assert_eq!(why, "sslProfile `missing` does not exist");
    site.wait_for_status("tcpConnector", "connector/c", &Status::Up)
        .await;
    assert_eq!(agent.dump()["tcpListener"]["listener/a"], Value::Null);
}

async fn answers_that_are_late_twice_or_garbage_stop_nothing() {
    let mut agent = Agent::start();
    let mut document = document();
    let site = Site::start_with(&agent, &document, |_| {}, Duration::from_secs(1));
    site.applied(&document).await;
    let kinds = [
        "twice",
        "foreign",
        "late",
        "reject",
        "modify",
        "garbage body",
        "garbage empty",
        "garbage status",
        "garbage lengths",
        "garbage no-results",
        "garbage undecodable",
    ];
    for (at, how) in kinds.into_iter().enumerate() {
        agent.run(how);
        document[5][1]["address"] = format!("key-{at}").into();
        site.edit(&document);
        let key = format!("key-{at}");
        agent_has(&mut agent, how, |dump| {
            dump["tcpListener"]["listener/a"]["address"] == *key
        })
        .await;
        site.applied(&document).await;
    }
}

async fn a_router_that_answers_nothing_is_reported_until_it_does() {
    let mut agent = Agent::start();
    let document = document();
    let site = Site::start_with(&agent, &document, |_| {}, SHORT);
    site.until("it is applied", |state| state.configuration.is_some())
        .await;
    agent.run("stall");
    let state = site
        .until("it is reported", |state| state.error.is_some())
        .await;
    let why = state.error.unwrap();
    assert!(
        why.contains("did not answer within") || why.contains("did not complete"),
        "{why}"
    );
    agent.run("resume");
    site.applied(&document).await;
    // The agent cannot keep up with the limit of this test on a slow machine, but with some of its turns.
    site.wait_for_status("tcpConnector", "connector/c", &Status::Up)
        .await;
}
