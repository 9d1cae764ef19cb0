//! Random sequences of documents and of requests: whatever came before, the router follows the last
//! document.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use lifecycle_router::api::{Api, Offer, bind};
use lifecycle_router::router::{Options, Router};
use lifecycle_router::state::Status;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::timeout;

use crate::support::{
    Server, TestSite, address, and, connector, is_reset, listener, ping, port, random_bytes,
    read_until_close, with_timeout,
};

const NAMES: [&str; 4] = ["a", "b", "c", "d"];

/// Configuration that a random document requests.
#[derive(Default)]
struct RandomDocument {
    document: Vec<Value>,
    /// Name, port and key of good listeners.
    listeners: Vec<(&'static str, u16, &'static str)>,
    bad: Vec<&'static str>,
    /// Servers by key.
    servers: BTreeMap<&'static str, BTreeSet<&'static str>>,
}

fn random_document(random: &mut Pcg64, servers: &[Server]) -> RandomDocument {
    let mut asked = RandomDocument::default();
    for (number, name) in NAMES.into_iter().enumerate() {
        let key = NAMES[random.random_range(0..3)];
        // A port of its own, so that which of two gets one is no question here.
        let port = port(number as u16 * 2 + random.random_range(0..2));
        match random.random_range(0..6) {
            0 => {}
            1 => {
                let wrong = [
                    json!({"port": "0"}),
                    json!({"type": "udp"}),
                    json!({"sslProfile": "x"}),
                ];
                let wrong = &wrong[random.random_range(0..3)];
                asked.document.push(and(listener(name, port, key), wrong));
                asked.bad.push(name);
            }
            _ => {
                asked.document.push(listener(name, port, key));
                asked.listeners.push((name, port, key));
            }
        }
        let key = NAMES[random.random_range(0..3)];
        if random.random() {
            let to = servers[number].address;
            asked.document.push(connector(name, to, key));
            asked.servers.entry(key).or_default().insert(name);
        }
    }
    if random.random_ratio(1, 4) {
        asked.document.push(json!(["nonsense", 1]));
    }
    asked
}

#[tokio::test]
async fn any_sequence_of_documents_ends_where_the_last_one_says() {
    let mut servers = Vec::new();
    for name in NAMES {
        servers.push(Server::named(name).await);
    }
    let still = Server::echo().await;
    let site = TestSite::new();
    let mut random = Pcg64::seed_from_u64(6);
    let bystander = [
        listener("still", port(20), "still"),
        connector("still", still.address, "still"),
    ];
    site.apply(&json!(bystander)).await;
    let mut open = site.connect(port(20)).await;
    for round in 0..150 {
        let mut asked = random_document(&mut random, &servers);
        asked.document.extend(bystander.clone());
        site.apply(&json!(asked.document)).await;
        for name in &asked.bad {
            assert!(
                matches!(site.status(name), Status::Failed(_)),
                "round {round}: {name}"
            );
        }
        let mut used = BTreeSet::new();
        for (name, port, key) in &asked.listeners {
            used.insert(*port);
            let Some(servers) = asked.servers.get(key) else {
                assert_eq!(site.status(name), Status::Idle, "round {round}: {name}");
                assert!(site.is_refused(*port).await, "round {round}: {name}");
                continue;
            };
            assert_eq!(site.status(name), Status::Up, "round {round}: {name}");
            let answer = read_until_close(site.connect(*port).await).await;
            assert!(servers.contains(answer.as_str()), "round {round}: {answer}");
        }
        for port in (0..8).map(port).filter(|port| !used.contains(port)) {
            assert!(site.is_refused(port).await, "round {round}: {port}");
        }
        ping(&mut open, round).await;
    }
}

#[tokio::test]
async fn traffic_goes_on_or_is_aborted_while_documents_change_but_is_never_cut_in_silence() {
    let (one, two) = (Server::echo().await, Server::echo().await);
    let site = TestSite::new();
    let documents = [
        json!([
            listener("l", port(30), "k"),
            connector("one", one.address, "k")
        ]),
        json!([
            listener("l", port(30), "k"),
            connector("two", two.address, "k")
        ]),
        json!([
            listener("l", port(30), "k"),
            connector("one", one.address, "k"),
            connector("two", two.address, "k"),
        ]),
        json!([connector("one", one.address, "k")]),
    ];
    let mut random = Pcg64::seed_from_u64(7);
    let (mut whole, mut aborted) = (0, 0);
    for round in 0..60 {
        site.apply(&documents[random.random_range(0..3)]).await;
        let mut stream = site.connect(port(30)).await;
        let bytes = random_bytes(100_000, round);
        let next = &documents[random.random_range(0..4)];
        let (from, to) = stream.split();
        let (mut from, mut to) = (from, to);
        let writing = async {
            if to.write_all(&bytes).await.is_ok() {
                to.shutdown().await.ok();
            }
        };
        let mut heard = Vec::new();
        let ((), read, ()) = with_timeout(async {
            tokio::join!(writing, from.read_to_end(&mut heard), site.apply(next))
        })
        .await;
        assert!(heard == bytes[..heard.len()], "round {round}");
        match read {
            Ok(_) => {
                assert_eq!(heard.len(), bytes.len(), "round {round}: cut in silence");
                whole += 1;
            }
            Err(_) => aborted += 1,
        }
    }
    assert!(whole > 0, "{aborted} were aborted");
}

#[tokio::test]
async fn requests_that_are_nonsense_hurt_no_other() {
    let at = std::net::SocketAddr::new(address(), port(40));
    let socket = bind(at).await.unwrap();
    let router = Router::new(Options::default());
    tokio::spawn(Api::new(router, Offer::All).serve(socket));
    let mut random = Pcg64::seed_from_u64(8);
    let well = b"GET /v1/state?after=x&wait=10s HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    for seed in 0..300 {
        let mut stream = TcpStream::connect(at).await.unwrap();
        let mut bytes = well.to_vec();
        match random.random_range(0..4) {
            0 => bytes = random_bytes(random.random_range(1..500), seed),
            1 => bytes.truncate(random.random_range(1..bytes.len())),
            2 => {
                let changed = random.random_range(0..bytes.len());
                bytes[changed] = random.random();
            }
            _ => {
                let many = format!(
                    "x-{seed}: {}\r\n",
                    "y".repeat(random.random_range(1..40_000))
                );
                bytes.splice(bytes.len() - 2.., many.into_bytes());
            }
        }
        stream.write_all(&bytes).await.ok();
        if random.random() {
            let mut answer = Vec::new();
            let read = stream.read_to_end(&mut answer);
            timeout(Duration::from_millis(20), read).await.ok();
            assert!(
                answer.is_empty() || answer.starts_with(b"HTTP/1.1 "),
                "seed {seed}"
            );
        }
    }
    let mut stream = TcpStream::connect(at).await.unwrap();
    stream.write_all(well).await.unwrap();
    let answer = read_until_close(stream).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
}

#[tokio::test]
async fn a_crowd_at_the_state_leaves_room_again() {
    let at = std::net::SocketAddr::new(address(), port(41));
    let socket = bind(at).await.unwrap();
    let router = Router::new(Options::default());
    tokio::spawn(Api::new(router, Offer::All).serve(socket));
    let mut crowd = Vec::new();
    for _ in 0..64 {
        crowd.push(TcpStream::connect(at).await.unwrap());
    }
    let mut turned_away = TcpStream::connect(at).await.unwrap();
    let mut rest = Vec::new();
    let ended = with_timeout(turned_away.read_to_end(&mut rest)).await;
    assert!(rest.is_empty() && (ended.is_ok() || is_reset(&mut turned_away).await));
    drop(crowd);
    with_timeout(async {
        loop {
            let mut stream = TcpStream::connect(at).await.unwrap();
            let request = b"GET /metrics HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
            let mut answer = String::new();
            if stream.write_all(request).await.is_ok()
                && stream.read_to_string(&mut answer).await.is_ok()
                && answer.starts_with("HTTP/1.1 200 OK")
            {
                return;
            }
        }
    })
    .await;
}
