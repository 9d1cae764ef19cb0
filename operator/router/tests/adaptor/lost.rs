//! Connections that cannot be made, and those that end.

use std::net::TcpListener;

use lifecycle_router::adaptor::Entity;
use lifecycle_router::adaptor::amqp::{Client, Error, Options};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;

use crate::support::{AMPLE, Agent, PROTON, SHORT};

pub(crate) fn cases() -> Vec<Case> {
    let mut all = named![single_threaded(PROTON):
        a_connection_that_the_router_closes_is_lost_and_another_works,
        a_connection_that_ends_during_a_request_is_lost,
        a_router_that_restarts_has_lost_what_was_created,
        a_router_that_gives_no_address_for_answers_is_no_agent,
    ];
    all.extend(named![single_threaded(&[]):
        a_port_without_a_router_is_an_error_that_names_it,
        a_router_that_is_silent_or_speaks_otherwise_is_no_agent,
    ]);
    all
}

async fn is_lost(client: &mut Client) {
    for _ in 0..2 {
        let error = client.delete(Entity::Connector, "east").await.unwrap_err();
        assert!(matches!(error, Error::Lost { .. }), "{error:?}");
        assert!(error.is_lost());
        assert_eq!(
            error.to_string(),
            "DELETE connector `east`: the connection to the router was lost before it answered; connect again and query"
        );
    }
}

async fn a_connection_that_the_router_closes_is_lost_and_another_works() {
    let mut agent = Agent::start();
    for how in ["drop", "cut", "detach"] {
        let mut client = agent.client().await;
        client.query("listener").await.unwrap();
        agent.run(how);
        is_lost(&mut client).await;
        let mut client = agent.client().await;
        assert_eq!(client.query("listener").await.unwrap().len(), 3, "{how}");
    }
}

async fn a_connection_that_ends_during_a_request_is_lost() {
    let mut agent = Agent::start();
    for how in ["drop", "cut", "detach"] {
        let mut client = agent.client().await;
        agent.run("stall");
        let query = tokio::spawn(async move { client.query("listener").await });
        while agent.requests().is_empty() {
            tokio::task::yield_now().await;
        }
        agent.run(how);
        let error = query.await.unwrap().unwrap_err();
        assert!(matches!(error, Error::Lost { .. }), "{how}: {error:?}");
        agent.run("resume");
    }
}

async fn a_router_that_restarts_has_lost_what_was_created() {
    let mut agent = Agent::start();
    let port = agent.port;
    let mut client = agent.client().await;
    let given = crate::support::attributes(serde_json::json!({"port": "1", "address": "a"}));
    client
        .create(Entity::TcpListener, "l", &given)
        .await
        .unwrap();
    agent.kill();
    is_lost(&mut client).await;
    client.close().await;
    let agent = Agent::start_on(port);
    let mut client = agent.client().await;
    assert!(client.query("tcpListener").await.unwrap().is_empty());
}

async fn a_port_without_a_router_is_an_error_that_names_it() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let options = Options {
        host: "127.0.0.1".to_owned(),
        port,
        limit: AMPLE,
        ..Options::default()
    };
    let error = Client::connect(&options).await.unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error:?}");
    assert_eq!(
        error.to_string(),
        format!(
            "cannot connect to the management agent of the router at 127.0.0.1:{port}: check that the router runs and has a listener `amqp` there"
        )
    );
}

async fn a_router_that_is_silent_or_speaks_otherwise_is_no_agent() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let options = Options {
        host: "127.0.0.1".to_owned(),
        port: listener.local_addr().unwrap().port(),
        limit: SHORT,
        ..Options::default()
    };
    let error = Client::connect(&options).await.unwrap_err();
    assert!(matches!(error, Error::ConnectLate { .. }), "{error:?}");
    let talks = std::thread::spawn(move || {
        for _ in 0..2 {
            let (mut socket, _) = listener.accept().unwrap();
            let _written =
                std::io::Write::write_all(&mut socket, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    let options = Options {
        limit: AMPLE,
        ..options
    };
    let error = Client::connect(&options).await.unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error:?}");
    talks.join().unwrap();
}

async fn a_router_that_gives_no_address_for_answers_is_no_agent() {
    let mut agent = Agent::start();
    agent.run("nameless");
    let error = Client::connect(&agent.options()).await.unwrap_err();
    assert!(matches!(error, Error::Connect { .. }), "{error:?}");
    agent.run("named");
    let mut client = agent.client().await;
    assert_eq!(client.query("listener").await.unwrap().len(), 3);
}
