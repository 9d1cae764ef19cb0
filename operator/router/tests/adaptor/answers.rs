//! Answers that are late, foreign, repeated or garbage: none of them is taken for another, and the client goes on.

use lifecycle_router::adaptor::Entity;
use lifecycle_router::adaptor::amqp::{Client, Error};
use lifecycle_tests::harness::Case;
use lifecycle_tests::named;

use crate::support::{Agent, PROTON, SHORT, error_chain};

pub(crate) fn cases() -> Vec<Case> {
    named![single_threaded(PROTON):
        an_answer_that_does_not_come_is_an_error_after_the_limit,
        a_late_answer_is_not_taken_for_the_next_one,
        a_second_answer_to_one_request_is_dropped,
        answers_without_an_open_request_are_dropped,
        garbage_is_an_error_that_says_what_was_expected,
        an_answer_that_cannot_be_decoded_is_garbage_too,
        a_request_that_the_router_does_not_take_is_an_error,
        a_request_that_is_given_up_leaves_the_client_usable,
    ]
}

async fn is_usable(client: &mut Client) {
    let rows = client.query("listener").await.unwrap();
    assert_eq!(rows.len(), 3);
    let rows = client.query("connector").await.unwrap();
    assert_eq!(rows.len(), 1);
}

async fn an_answer_that_does_not_come_is_an_error_after_the_limit() {
    let mut agent = Agent::start();
    let mut client = agent.client().await;
    agent.run("stall");
    let ample = agent.options().limit;
    client.set_limit(SHORT);
    let error = client.delete(Entity::TcpListener, "l").await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "DELETE tcpListener `l`: the router did not answer within 200ms; query before a repetition"
    );
    assert!(!error.is_lost());
    let error = client.query("listener").await.unwrap_err();
    assert!(matches!(error, Error::Late { .. }), "{error:?}");
    agent.run("resume");
    client.set_limit(ample);
    is_usable(&mut client).await;
}

async fn a_late_answer_is_not_taken_for_the_next_one() {
    let mut agent = Agent::start();
    let mut client = agent.client().await;
    agent.run("late");
    client.set_limit(SHORT);
    let error = client.query("listener").await.unwrap_err();
    assert!(matches!(error, Error::Late { .. }), "{error:?}");
    client.set_limit(agent.options().limit);
    let rows = client.query("connector").await.unwrap();
    assert_eq!(rows.len(), 1);
    agent.run("late");
    client.set_limit(SHORT);
    client.query("connector").await.unwrap_err();
    agent.run("flush");
    client.set_limit(agent.options().limit);
    is_usable(&mut client).await;
}

async fn a_second_answer_to_one_request_is_dropped() {
    let mut agent = Agent::start();
    let mut client = agent.client().await;
    for _ in 0..5 {
        agent.run("twice");
        is_usable(&mut client).await;
    }
}

async fn answers_without_an_open_request_are_dropped() {
    let mut agent = Agent::start();
    let mut client = agent.client().await;
    agent.run("foreign");
    is_usable(&mut client).await;
    // More than the credit of the link, or it would stop.
    for _ in 0..300 {
        agent.run("foreign");
    }
    for _ in 0..150 {
        is_usable(&mut client).await;
    }
}

async fn garbage_is_an_error_that_says_what_was_expected() {
    let mut agent = Agent::start();
    let mut client = agent.client().await;
    for (kind, expected) in [
        (
            "body",
            "its body is a single value, expected a map with texts as keys",
        ),
        (
            "empty",
            "its body is empty, expected a map with texts as keys",
        ),
        (
            "keys",
            "its body is a map with other keys, expected a map with texts as keys",
        ),
        (
            "properties",
            "it has no `statusCode`, expected one among its application properties",
        ),
        (
            "status",
            "it has no `statusCode`, expected one among its application properties",
        ),
        (
            "status-type",
            "its `statusCode` is \"two hundred\", expected a whole number from 100 to 599",
        ),
        (
            "status-range",
            "its `statusCode` is -1099511627776, expected a whole number from 100 to 599",
        ),
        (
            "lengths",
            "row 0 of its `results` is no list of 28 values, one for each of `attributeNames`",
        ),
        ("results", "its `results` are no list"),
        ("no-results", "its `results` are no list"),
        (
            "row",
            "row 0 of its `results` is no list of 28 values, one for each of `attributeNames`",
        ),
        ("names", "its `attributeNames` are no list of texts"),
    ] {
        agent.run(&format!("garbage {kind}"));
        let error = client.query("listener").await.unwrap_err();
        let prefix = "QUERY listener: the answer of the router is not as the protocol has it: ";
        assert_eq!(error_chain(&error), format!("{prefix}{expected}"), "{kind}");
        assert!(!error.is_lost());
        is_usable(&mut client).await;
    }
}

async fn an_answer_that_cannot_be_decoded_is_garbage_too() {
    let mut agent = Agent::start();
    let mut client = agent.client().await;
    for _ in 0..3 {
        agent.run("garbage undecodable");
        let error = client.query("listener").await.unwrap_err();
        assert!(
            error_chain(&error).contains("it cannot be decoded: "),
            "{error:?}"
        );
        is_usable(&mut client).await;
    }
}

async fn a_request_that_the_router_does_not_take_is_an_error() {
    let mut agent = Agent::start();
    let mut client = agent.client().await;
    for (command, outcome) in [("reject", "rejected"), ("modify", "modified")] {
        agent.run(command);
        let error = client.delete(Entity::TcpListener, "l").await.unwrap_err();
        assert!(matches!(error, Error::NotAccepted { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            format!(
                "DELETE tcpListener `l`: the router did not accept the request but answered `{outcome}`; repeat it"
            )
        );
        assert!(!error.is_lost());
        is_usable(&mut client).await;
    }
}

async fn a_request_that_is_given_up_leaves_the_client_usable() {
    let mut agent = Agent::start();
    let mut client = agent.client().await;
    agent.run("stall");
    {
        let mut query = std::pin::pin!(client.query("listener"));
        while agent.requests().is_empty() {
            assert!(run_on(query.as_mut()).await.is_none());
        }
    }
    agent.run("resume");
    is_usable(&mut client).await;
}

/// Lets a future run a little; its output if it ended.
async fn run_on<F: Future>(future: std::pin::Pin<&mut F>) -> Option<F::Output> {
    tokio::select! {
        biased;
        output = future => Some(output),
        () = tokio::task::yield_now() => None,
    }
}
