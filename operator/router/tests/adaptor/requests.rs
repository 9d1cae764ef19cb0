//! Requests and their answers, with the types of values and the pages of queries.

use lifecycle_router::adaptor::Entity;
use lifecycle_router::adaptor::amqp::Error;
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;
use serde_json::{Value, json};

use crate::support::{Agent, PROTON, attributes};

pub(crate) fn cases() -> Vec<Case> {
    named![single_threaded(PROTON):
        a_query_has_the_entities_of_a_type_without_empty_attributes,
        an_entity_is_created_read_updated_and_deleted,
        a_request_is_as_the_protocol_has_it,
        every_status_that_is_none_of_success_is_an_error_that_names_the_request,
        a_long_answer_comes_in_pages,
        an_agent_that_knows_no_pages_gives_each_entity_once,
        a_large_entity_and_a_large_answer_arrive_whole,
    ]
}

fn names(rows: &[lifecycle_router::adaptor::Attributes]) -> Vec<&str> {
    rows.iter()
        .map(|row| row["name"].as_str().unwrap())
        .collect()
}

async fn a_query_has_the_entities_of_a_type_without_empty_attributes() {
    let agent = Agent::start();
    let mut client = agent.client().await;
    let listeners = client.query("listener").await.unwrap();
    assert_eq!(names(&listeners), ["@9090", "amqp", "amqps"]);
    assert_eq!(listeners[0]["port"], "9090");
    assert_eq!(listeners[0]["cost"], 1);
    assert_eq!(listeners[0]["http"], true);
    assert!(!listeners[0].contains_key("sslProfile"), "{listeners:?}");
    assert!(client.query("tcpConnector").await.unwrap().is_empty());
    client.close().await;
}

async fn an_entity_is_created_read_updated_and_deleted() {
    let mut agent = Agent::start();
    let mut client = agent.client().await;
    let given = attributes(
        json!({"port": "1024", "address": "backend", "authenticatePeer": true, "backlog": 7}),
    );
    let listener = Entity::TcpListener;
    client.create(listener, "listener/b", &given).await.unwrap();
    let row = client.read(listener, "listener/b").await.unwrap();
    assert_eq!(row["port"], "1024");
    assert_eq!(row["backlog"], 7);
    assert_eq!(row["authenticatePeer"], true);
    assert_eq!(row["observer"], "auto");
    assert_eq!(row["operStatus"], "down");
    let observer = attributes(json!({"observer": "none"}));
    client
        .update(listener, "listener/b", &observer)
        .await
        .unwrap();
    let stored = agent.dump()["tcpListener"]["listener/b"].clone();
    assert_eq!(stored["observer"], "none");
    client.delete(listener, "listener/b").await.unwrap();
    assert_eq!(agent.dump()["tcpListener"], json!({}));
}

async fn a_request_is_as_the_protocol_has_it() {
    let mut agent = Agent::start();
    let mut client = agent.client().await;
    let given = attributes(json!({"listener": "multi/x", "address": "k", "value": 3}));
    client
        .create(Entity::ListenerAddress, "x/k", &given)
        .await
        .unwrap();
    client.delete(Entity::ListenerAddress, "x/k").await.unwrap();
    client.query("router.address").await.unwrap();
    let kind = "io.skupper.router.listenerAddress";
    assert_eq!(
        Value::from(agent.requests()),
        json!([
            {"operation": "CREATE", "type": kind, "name": "x/k", "offset": null, "count": null,
                "body": {"listener": "multi/x", "address": "k", "value": 3}},
            {"operation": "DELETE", "type": kind, "name": "x/k", "offset": null, "count": null, "body": {}},
            {"operation": "QUERY", "type": "io.skupper.router.router.address", "name": null, "offset": 0, "count": 500,
                "body": {"attributeNames": []}},
        ])
    );
}

/// The status and the message of an error.
fn refusal(result: Result<(), Error>) -> (u16, String) {
    let error = result.unwrap_err();
    assert!(!error.is_lost());
    let text = error.to_string();
    let Error::Refused { code, .. } = error else {
        panic!("{error:?}");
    };
    (code, text)
}

async fn every_status_that_is_none_of_success_is_an_error_that_names_the_request() {
    let mut agent = Agent::start();
    let mut client = agent.client().await;
    let given = attributes(json!({"port": "1", "address": "a", "host": "h"}));
    let connector = Entity::TcpConnector;
    client.create(connector, "c", &given).await.unwrap();
    assert_eq!(
        refusal(client.create(connector, "c", &given).await),
        (400, "CREATE tcpConnector `c`: the router refused it with status 400: adding c duplicates unique attribute 'name'".to_owned())
    );
    assert_eq!(
        refusal(client.update(connector, "c", &given).await),
        (501, "UPDATE tcpConnector `c`: the router refused it with status 501: Operation 'UPDATE' not implemented for \
            'io.skupper.router.tcpConnector'".to_owned())
    );
    assert_eq!(
        refusal(client.delete(connector, "d").await),
        (
            404,
            "DELETE tcpConnector `d`: the router refused it with status 404: No entity with name=d"
                .to_owned()
        )
    );
    let unknown = attributes(json!({"port": "1", "address": "a", "colour": "red"}));
    let (code, text) = refusal(client.create(connector, "d", &unknown).await);
    assert_eq!(code, 400);
    assert!(text.contains(": Unknown attribute 'colour' for "), "{text}");
    let read_only = attributes(json!({"port": "1", "address": "a", "operStatus": "up"}));
    let (code, _) = refusal(client.create(Entity::TcpListener, "l", &read_only).await);
    assert_eq!(code, 400);
    client
        .create(Entity::TcpListener, "l", &attributes(json!({"port": "1"})))
        .await
        .unwrap();
    let fixed = attributes(json!({"address": "other"}));
    let (code, text) = refusal(client.update(Entity::TcpListener, "l", &fixed).await);
    assert_eq!(code, 400);
    assert!(text.contains("Cannot update attribute 'address'"), "{text}");
    let (code, text) = refusal(client.query("tcpBridge").await.map(drop));
    assert_eq!(code, 400);
    assert!(
        text.starts_with("QUERY tcpBridge: the router refused it with status 400: "),
        "{text}"
    );
    assert_eq!(agent.run("refuse * tcpConnector 503 out of luck"), "ok");
    assert_eq!(
        refusal(client.delete(connector, "c").await),
        (
            503,
            "DELETE tcpConnector `c`: the router refused it with status 503: out of luck"
                .to_owned()
        )
    );
    client.delete(connector, "c").await.unwrap();
}

fn add_addresses(agent: &mut Agent, count: usize) {
    for at in 0..count {
        let row = json!({"name": format!("Mkey-{at:04}"), "key": format!("Mkey-{at:04}"), "remoteCount": at});
        agent.run(&format!("add router.address {row}"));
    }
}

fn offsets(agent: &mut Agent) -> Vec<u64> {
    let requests = agent.requests();
    requests
        .iter()
        .map(|request| request["offset"].as_u64().unwrap())
        .collect()
}

async fn a_long_answer_comes_in_pages() {
    let mut agent = Agent::start();
    add_addresses(&mut agent, 23);
    for (page, expected) in [
        (10, vec![0, 10, 20]),
        (23, vec![0, 23]),
        (24, vec![0]),
        (1, (0..=23).collect()),
    ] {
        let mut client = agent.client_with_page(page).await;
        let rows = client.query("router.address").await.unwrap();
        let counts: Vec<u64> = rows
            .iter()
            .map(|row| row["remoteCount"].as_u64().unwrap())
            .collect();
        assert_eq!(counts, (0..23).collect::<Vec<_>>(), "pages of {page}");
        assert_eq!(offsets(&mut agent), expected, "pages of {page}");
    }
}

async fn an_agent_that_knows_no_pages_gives_each_entity_once() {
    let mut agent = Agent::start();
    for (page, expected) in [(1, vec![0]), (2, vec![0]), (3, vec![0, 3]), (4, vec![0])] {
        let mut client = agent.client_with_page(page).await;
        let rows = client.query("listener").await.unwrap();
        assert_eq!(names(&rows), ["@9090", "amqp", "amqps"], "pages of {page}");
        assert_eq!(offsets(&mut agent), expected, "pages of {page}");
    }
}

async fn a_large_entity_and_a_large_answer_arrive_whole() {
    let agent = Agent::start();
    let mut client = agent.client().await;
    let site = "s".repeat(200_000);
    for at in 0..20 {
        let given = attributes(json!({"port": "1", "address": "ä\u{1f680}", "siteId": site}));
        client
            .create(Entity::TcpConnector, &format!("c{at}"), &given)
            .await
            .unwrap();
    }
    let rows = client.query("tcpConnector").await.unwrap();
    assert_eq!(rows.len(), 20);
    assert!(
        rows.iter()
            .all(|row| row["siteId"] == *site && row["address"] == "ä\u{1f680}")
    );
}
