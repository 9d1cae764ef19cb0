//! The state API and its client: admission, and the effect of clients on each other.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use lifecycle_router::api::{Api, Offer, bind};
use lifecycle_router::state::client::{self, Credentials, Error, SERVER_NAME, fetch_state};
use lifecycle_router::state::{State, Status};
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::sleep;

use crate::authority::{Authority, Pair, files, profile};
use crate::support::{Server, TestSite, connector, listener, port, with_timeout};

const PROFILE: &str = "skupper-local-server";

/// Site whose state is served for a controller.
struct ServedState {
    site: TestSite,
    at: SocketAddr,
    serving: JoinHandle<Infallible>,
}

impl Drop for ServedState {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl ServedState {
    async fn new(authority: &Authority, own: &Pair) -> Self {
        let site = TestSite::new();
        let document = json!([
            ["router", {"id": "west"}],
            profile(PROFILE),
            listener("l", port(10), "k"),
        ]);
        site.apply_with(&document, &files(PROFILE, authority, own))
            .await;
        let socket = bind(SocketAddr::new(site.address, 0)).await.unwrap();
        let at = socket.local_addr().unwrap();
        let api = Api::new(site.router.clone(), Offer::All);
        let serving = tokio::spawn(api.serve_tls(socket, PROFILE.to_owned()));
        Self { site, at, serving }
    }
}

fn credentials(authority: &Authority, pair: &Pair) -> Credentials {
    Credentials {
        authority: authority.pem().into_bytes(),
        certificate: pair.chain.clone().into_bytes(),
        key: pair.key.clone().into_bytes(),
    }
}

fn refused(answer: Result<State, Error>) -> String {
    match answer {
        Ok(state) => panic!("{state:?}"),
        Err(error) => lifecycle_router::cause::chain(&error),
    }
}

#[tokio::test]
async fn a_controller_asks_for_the_state_with_keys_of_edwards_curves() {
    let authority = Authority::edwards("site");
    let served = ServedState::new(&authority, &authority.issue_edwards(SERVER_NAME)).await;
    let ours = credentials(&authority, &authority.issue_edwards("controller"));
    let state = fetch_state(served.at, &ours).await.unwrap();
    assert_eq!(state, served.site.state());
    assert_eq!(
        state.entry("tcpListener", "l").unwrap().status,
        Status::Idle
    );
    let server = Server::echo().await;
    let document = json!([
        profile(PROFILE),
        listener("l", port(10), "k"),
        ["tcpListener", {"name": "bad", "port": "0", "address": "k"}],
        connector("c", server.address, "k"),
        "nothing",
    ]);
    let own = files(PROFILE, &authority, &authority.issue_edwards(SERVER_NAME));
    served.site.apply_with(&document, &own).await;
    let after = fetch_state(served.at, &ours).await.unwrap();
    assert_eq!(after, served.site.state());
    assert_ne!(after.revision, state.revision);
    assert_eq!(after.entry("tcpListener", "l").unwrap().status, Status::Up);
    assert_eq!(after.faults.len(), 1);
}

#[tokio::test]
async fn strangers_are_not_told_and_strange_routers_are_not_believed() {
    let (authority, other) = (Authority::edwards("site"), Authority::edwards("other"));
    let served = ServedState::new(&authority, &authority.issue_edwards(SERVER_NAME)).await;
    let ours = authority.issue_edwards("controller");
    let stranger = credentials(&authority, &other.issue_edwards("controller"));
    let why = refused(fetch_state(served.at, &stranger).await);
    assert!(why.contains("alert"), "{why}");
    let distrustful = credentials(&other, &ours);
    let why = refused(fetch_state(served.at, &distrustful).await);
    assert!(why.contains("the TLS handshake with"), "{why}");
    // Without a certificate of its own the client of the library does not even begin.
    let naked = Credentials {
        certificate: Vec::new(),
        ..credentials(&authority, &ours)
    };
    let why = refused(fetch_state(served.at, &naked).await);
    assert!(why.contains("credentials cannot be used"), "{why}");
    let name = rustls::pki_types::ServerName::try_from(SERVER_NAME).unwrap();
    let stream = TcpStream::connect(served.at).await.unwrap();
    let connected = authority.client(None).connect(name, stream).await;
    if let Ok(mut stream) = connected {
        // With TLS 1.3 the client learns of its refusal when it reads.
        stream
            .write_all(b"GET /v1/state HTTP/1.1\r\nhost: r\r\n\r\n")
            .await
            .ok();
        let mut answer = Vec::new();
        let read = with_timeout(stream.read_to_end(&mut answer)).await;
        assert!(read.is_err() && answer.is_empty(), "{read:?} {answer:?}");
    }
    // A router of the same authority that is for another name.
    let elsewhere = ServedState::new(&authority, &authority.issue_edwards("elsewhere")).await;
    let why = refused(fetch_state(elsewhere.at, &credentials(&authority, &ours)).await);
    assert!(why.contains("not valid for name"), "{why}");
}

#[tokio::test]
async fn answers_that_are_none_are_told() {
    let authority = Authority::new("site");
    let own = authority.issue(SERVER_NAME);
    let ours = credentials(&authority, &authority.issue("controller"));
    let endless = format!("HTTP/1.1 200 OK\r\n\r\n{}", "x".repeat(client::LARGEST + 1));
    for (answer, words) in [
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}",
            "something else than a state",
        ),
        (
            "HTTP/1.1 503 No\r\ncontent-length: 5\r\n\r\nlater",
            "answered 503 Service Unavailable: later",
        ),
        (
            "HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}",
            "did not answer",
        ),
        ("nonsense", "did not answer"),
        (&*endless, "more than 16777216 bytes"),
    ] {
        let acceptor = authority.server(&own, true);
        let answer = answer.to_owned();
        let server = Server::new(move |stream| {
            let (acceptor, answer) = (acceptor.clone(), answer.clone());
            async move {
                let mut stream = acceptor.accept(stream).await.unwrap();
                let mut head = [0; 4096];
                let _asked = stream.read(&mut head).await;
                stream.write_all(answer.as_bytes()).await.ok();
                stream.shutdown().await.ok();
            }
        })
        .await;
        let why = refused(fetch_state(server.address, &ours).await);
        assert!(why.contains(words), "{why}");
    }
    let mute = Server::new(async |stream| {
        sleep(Duration::from_secs(3600)).await;
        drop(stream);
    })
    .await;
    let why = refused(fetch_state(mute.address, &ours).await);
    assert!(why.contains("did not answer within 5 s"), "{why}");
    let nobody = SocketAddr::new(crate::support::address(), port(11));
    let why = refused(fetch_state(nobody, &ours).await);
    assert!(why.contains("cannot connect to"), "{why}");
}

#[tokio::test]
async fn clients_that_only_connect_keep_nobody_out() {
    let authority = Authority::edwards("site");
    let served = ServedState::new(&authority, &authority.issue_edwards(SERVER_NAME)).await;
    let ours = credentials(&authority, &authority.issue_edwards("controller"));
    let mut idle = Vec::new();
    for round in 0..4 {
        for _ in 0..100 {
            idle.push(TcpStream::connect(served.at).await.unwrap());
        }
        let state = fetch_state(served.at, &ours).await;
        assert_eq!(state.unwrap(), served.site.state(), "round {round}");
    }
    // The first of them made room long ago.
    let mut byte = [0];
    let first = &mut idle[0];
    assert!(matches!(
        with_timeout(first.read(&mut byte)).await,
        Ok(0) | Err(_)
    ));
}

#[tokio::test]
async fn clients_that_wait_for_changes_keep_nobody_out() {
    let site = TestSite::new();
    let socket = bind(SocketAddr::new(site.address, 0)).await.unwrap();
    let at = socket.local_addr().unwrap();
    let serving = tokio::spawn(Api::new(site.router.clone(), Offer::All).serve(socket));
    let revision = site.state().revision;
    let wait = format!("GET /v1/state?after={revision}&wait=60s HTTP/1.1\r\nhost: r\r\n\r\n");
    let mut waiting = Vec::new();
    for _ in 0..64 {
        let mut stream = TcpStream::connect(at).await.unwrap();
        stream.write_all(wait.as_bytes()).await.unwrap();
        waiting.push(stream);
    }
    // The first is answered once the last waits.
    sleep(Duration::from_millis(500)).await;
    let mut stream = TcpStream::connect(at).await.unwrap();
    let now = b"GET /v1/state HTTP/1.1\r\nhost: r\r\nconnection: close\r\n\r\n";
    stream.write_all(now).await.unwrap();
    let mut answer = String::new();
    with_timeout(stream.read_to_string(&mut answer))
        .await
        .unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 OK"), "{answer}");
    serving.abort();
}
