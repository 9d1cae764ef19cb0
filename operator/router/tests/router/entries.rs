//! Entries are added, changed, failed and removed; unaffected entries do not notice.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use lifecycle_router::relay::Patience;
use lifecycle_router::router::Options;
use lifecycle_router::state::Status;
use serde_json::json;
use tokio::net::{TcpListener, TcpSocket, TcpStream};

use crate::support::{
    Server, TestSite, address, and, connector, echo, eventually, is_reset, listener, ping, port,
    read_until_close,
};

#[tokio::test]
async fn s41_without_a_connector_nothing_listens() {
    let site = TestSite::new();
    let server = Server::named("there").await;
    let alone = json!([
        listener("l", port(0), "k"),
        connector("c", server.address, "other")
    ]);
    site.apply(&alone).await;
    assert!(site.is_refused(port(0)).await);
    assert_eq!(site.status("l"), Status::Idle);
    let both = json!([
        listener("l", port(0), "k"),
        connector("c", server.address, "k")
    ]);
    for _ in 0..20 {
        site.apply(&both).await;
        assert_eq!(site.status("l"), Status::Up);
        assert_eq!(read_until_close(site.connect(port(0)).await).await, "there");
        // In the same turn: no connection gets in after `apply` has returned.
        site.apply(&alone).await;
        assert!(site.is_refused(port(0)).await);
        assert_eq!(site.status("l"), Status::Idle);
    }
    let state = site.state();
    assert_eq!(state.keys["k"].listeners, 1);
    assert_eq!(
        (state.keys["k"].connectors, state.keys["other"].connectors),
        (0, 1)
    );
}

#[tokio::test]
async fn s42_a_server_that_is_down_closes_the_client_and_nothing_else() {
    let site = TestSite::new();
    // The address is bound but has no listener.
    let held = TcpListener::bind((address(), 0)).await.unwrap();
    let at = held.local_addr().unwrap();
    drop(held);
    let document = json!([listener("l", port(0), "k"), connector("c", at, "k")]);
    site.apply(&document).await;
    for _ in 0..3 {
        let mut stream = site.connect(port(0)).await;
        assert!(is_reset(&mut stream).await);
    }
    assert_eq!(site.status("l"), Status::Up);
    let note = site
        .state()
        .entry("tcpConnector", "c")
        .unwrap()
        .note
        .clone();
    assert!(note.unwrap().contains("refused"));
    let _server = Server::serve_at(at, async |stream| echo(stream).await).await;
    ping(&mut site.connect(port(0)).await, 5).await;
    assert_eq!(site.state().entry("tcpConnector", "c").unwrap().note, None);
}

#[tokio::test]
async fn s42_a_server_that_never_answers_is_left_after_the_time_for_connecting() {
    let site = TestSite::with_options(Options {
        connect_timeout: Duration::from_millis(300),
        ..Options::default()
    });
    // A queue of one that is full: the system drops further attempts.
    let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    socket.bind(&SocketAddr::new(address(), 0).into()).unwrap();
    socket.listen(0).unwrap();
    let at = socket.local_addr().unwrap().as_socket().unwrap();
    let mut filling = Vec::new();
    loop {
        let tried = TcpStream::connect(at);
        match tokio::time::timeout(Duration::from_millis(500), tried).await {
            Ok(stream) => filling.push(stream.unwrap()),
            Err(_) => break,
        }
    }
    let well = Server::echo().await;
    let alone = json!([listener("l", port(0), "k"), connector("mute", at, "k")]);
    site.apply(&alone).await;
    assert!(is_reset(&mut site.connect(port(0)).await).await);
    let both = json!([
        listener("l", port(0), "k"),
        connector("mute", at, "k"),
        connector("well", well.address, "k"),
    ]);
    site.apply(&both).await;
    // None of them fails: who is not answered by the one is answered by the other.
    for seed in 0..6 {
        ping(&mut site.connect(port(0)).await, seed).await;
    }
    assert_eq!(well.accepted(), 6);
}

#[tokio::test]
async fn with_one_of_two_servers_down_no_client_fails() {
    let site = TestSite::new();
    let held = TcpListener::bind((address(), 0)).await.unwrap();
    let down = held.local_addr().unwrap();
    drop(held);
    let well = Server::echo().await;
    let document = json!([
        listener("l", port(0), "k"),
        connector("down", down, "k"),
        connector("well", well.address, "k"),
    ]);
    site.apply(&document).await;
    for seed in 0..30 {
        ping(&mut site.connect(port(0)).await, seed).await;
    }
    assert_eq!(well.accepted(), 30);
}

#[tokio::test]
async fn s47_after_a_key_edit_new_connections_reach_the_new_key() {
    let site = TestSite::new();
    let (old, new) = (Server::named("old").await, Server::named("new").await);
    let connectors = [
        connector("old", old.address, "k1"),
        connector("new", new.address, "k2"),
    ];
    let document = |key| json!([listener("l", port(0), key), connectors[0], connectors[1]]);
    site.apply(&document("k1")).await;
    let before = site.state();
    assert_eq!(read_until_close(site.connect(port(0)).await).await, "old");
    site.apply(&document("k2")).await;
    assert_eq!(read_until_close(site.connect(port(0)).await).await, "new");
    let after = site.state();
    assert_ne!(before.revision, after.revision);
    let hash = |state: &lifecycle_router::state::State| {
        state.entry("tcpListener", "l").unwrap().hash.clone()
    };
    assert_ne!(hash(&before), hash(&after));
    site.apply(&document("k3")).await;
    assert_eq!(site.status("l"), Status::Idle);
    assert!(site.is_refused(port(0)).await);
}

#[tokio::test]
async fn s50_a_deleted_listener_is_refused_and_its_connections_are_dropped() {
    let site = TestSite::new();
    let server = Server::echo().await;
    let kept = [
        listener("kept", port(1), "k"),
        connector("c", server.address, "k"),
    ];
    site.apply(&json!([listener("l", port(0), "k"), kept[0], kept[1]]))
        .await;
    let mut dropped = site.connect(port(0)).await;
    let mut stays = site.connect(port(1)).await;
    ping(&mut dropped, 1).await;
    ping(&mut stays, 2).await;
    site.apply(&json!(kept)).await;
    assert!(site.is_refused(port(0)).await);
    assert!(is_reset(&mut dropped).await);
    ping(&mut stays, 3).await;
    // A deleted connector drops its connections although the key has another.
    let other = Server::echo().await;
    site.apply(&json!([kept[0], connector("other", other.address, "k")]))
        .await;
    assert!(is_reset(&mut stays).await);
    ping(&mut site.connect(port(1)).await, 4).await;
    assert_eq!(other.accepted(), 1);
}

#[tokio::test]
async fn s51_unrelated_changes_drop_nothing() {
    let site = TestSite::new();
    let server = Server::echo().await;
    let mine = [
        listener("l", port(0), "k"),
        connector("c", server.address, "k"),
    ];
    site.apply(&json!(mine)).await;
    let mut stream = site.connect(port(0)).await;
    ping(&mut stream, 0).await;
    let other = |port, key| {
        let second = connector("other", server.address, key);
        json!([mine[0], mine[1], listener("m", port, key), second])
    };
    for (seed, document) in [
        other(port(1), "x"),
        other(port(2), "x"),
        other(port(2), "k"),
        json!([mine[1], and(mine[0].clone(), &json!({"observer": "http1"}))]),
        json!([mine[0], mine[1], listener("bad", 0, "k"), ["nonsense"]]),
        json!(mine),
    ]
    .iter()
    .enumerate()
    {
        site.apply(document).await;
        ping(&mut stream, seed as u64).await;
        ping(&mut site.connect(port(0)).await, seed as u64).await;
    }
    assert_eq!(site.state().faults, Vec::<String>::new());
}

#[tokio::test]
async fn open_connections_stay_when_the_key_is_no_longer_reachable_by_new_ones() {
    let site = TestSite::new();
    let (one, two) = (Server::echo().await, Server::echo().await);
    let document = |connectors: &[serde_json::Value]| {
        let mut all = vec![listener("l", port(0), "k")];
        all.extend_from_slice(connectors);
        json!(all)
    };
    let (first, second) = (
        connector("one", one.address, "k"),
        connector("two", two.address, "k"),
    );
    site.apply(&document(std::slice::from_ref(&first))).await;
    let mut stream = site.connect(port(0)).await;
    ping(&mut stream, 1).await;
    site.apply(&document(&[first, second.clone()])).await;
    ping(&mut stream, 2).await;
    site.apply(&document(&[second])).await;
    assert!(is_reset(&mut stream).await, "its connector went");
    ping(&mut site.connect(port(0)).await, 3).await;
}

#[tokio::test]
async fn s64_a_port_in_use_is_told_and_had_as_soon_as_it_is_free() {
    let site = TestSite::new();
    let server = Server::echo().await;
    let occupied = TcpListener::bind((site.address, port(0))).await.unwrap();
    let foreign = and(
        listener("foreign", port(2), "k"),
        &json!({"host": "192.0.2.1"}),
    );
    let document = json!([
        listener("l", port(0), "k"),
        listener("well", port(1), "k"),
        foreign,
        connector("c", server.address, "k"),
    ]);
    site.apply(&document).await;
    let Status::Failed(text) = site.status("l") else {
        panic!("{:?}", site.status("l"));
    };
    assert!(
        text.contains(&format!("cannot listen on {}:{}", site.address, port(0))),
        "{text}"
    );
    assert!(text.contains("Address already in use"), "{text}");
    let Status::Failed(text) = site.status("foreign") else {
        panic!("{:?}", site.status("foreign"));
    };
    assert!(text.contains("Cannot assign requested address"), "{text}");
    assert_eq!(site.status("well"), Status::Up);
    ping(&mut site.connect(port(1)).await, 1).await;
    drop(occupied);
    site.until("l", |status| *status == Status::Up).await;
    ping(&mut site.connect(port(0)).await, 2).await;
    // Not reachable and therefore not even tried: no error.
    site.apply(&json!([listener("l", port(0), "k"), foreign]))
        .await;
    assert_eq!(site.status("foreign"), Status::Idle);
}

#[tokio::test]
async fn two_listeners_on_one_port_fail_alone_and_may_swap_ports() {
    let site = TestSite::new();
    let (a, b) = (Server::named("a").await, Server::named("b").await);
    let document = |first: u16, second: u16| {
        json!([
            listener("a", first, "a"),
            listener("b", second, "b"),
            connector("a", a.address, "a"),
            connector("b", b.address, "b"),
        ])
    };
    site.apply(&document(port(0), port(0))).await;
    assert_eq!(site.status("a"), Status::Up);
    assert!(matches!(site.status("b"), Status::Failed(_)));
    site.apply(&document(port(0), port(1))).await;
    assert_eq!(site.status("b"), Status::Up);
    site.apply(&document(port(1), port(0))).await;
    assert_eq!(
        (site.status("a"), site.status("b")),
        (Status::Up, Status::Up)
    );
    assert_eq!(read_until_close(site.connect(port(0)).await).await, "b");
    assert_eq!(read_until_close(site.connect(port(1)).await).await, "a");
}

#[tokio::test]
async fn a_bad_entry_is_an_error_of_that_entry_only() {
    let site = TestSite::new();
    let server = Server::echo().await;
    let bad = [
        json!({"port": "0"}),
        json!({"port": 70000}),
        json!({"port": "-1"}),
        json!({"type": "udp"}),
        json!({"observer": "non"}),
        json!({"host": "{bad}"}),
        json!({"address": ""}),
        json!({"sslProfile": "absent"}),
        json!({"authenticatePeer": true}),
        json!({"autenticatePeer": true}),
        json!({"address": {"nested": 1}}),
    ];
    let mut document = vec![
        listener("well", port(0), "k"),
        connector("c", server.address, "k"),
    ];
    for (number, wrong) in bad.iter().enumerate() {
        document.push(and(listener(&format!("bad{number}"), port(1), "k"), wrong));
    }
    let unresolved = and(
        connector("nowhere", server.address, "k"),
        &json!({"host": "nowhere.invalid"}),
    );
    document.push(unresolved);
    document.push(and(
        listener("named", port(6), "k"),
        &json!({"host": "nowhere.invalid"}),
    ));
    site.apply(&json!(document)).await;
    for (number, wrong) in bad.iter().enumerate() {
        let status = site.status(&format!("bad{number}"));
        assert!(matches!(status, Status::Failed(_)), "{wrong}: {status:?}");
    }
    site.until("named", |status| {
        matches!(status, Status::Failed(text) if text.contains("cannot resolve host `nowhere.invalid`"))
    })
    .await;
    // A name that resolves is listened on: on another port, for it leads to an address that others use too.
    let local = and(
        listener("local", port(200), "k"),
        &json!({"host": "localhost"}),
    );
    document.push(local);
    site.apply(&json!(document)).await;
    site.until("local", |status| *status == Status::Up).await;
    ping(
        &mut TcpStream::connect(("127.0.0.1", port(200))).await.unwrap(),
        1,
    )
    .await;
    // Of two connectors one does not resolve: no client notices.
    for seed in 0..10 {
        ping(&mut site.connect(port(0)).await, seed).await;
    }
    let note = site
        .state()
        .entry("tcpConnector", "nowhere")
        .unwrap()
        .note
        .clone();
    assert!(note.unwrap().contains("nowhere.invalid"));
    // No client needs to have tried: the entry reports it by itself.
    let told = |state: &lifecycle_router::state::State| {
        let entry = state.entry("tcpConnector", "nowhere").unwrap();
        matches!(&entry.status, Status::Failed(text) if text.contains("cannot resolve host `nowhere.invalid`"))
    };
    site.until_state(told).await;
    // Another document leaves the report unchanged, until the entry has another host.
    document.pop();
    site.apply(&json!(document)).await;
    assert!(told(&site.state()));
    document[bad.len() + 2] = connector("nowhere", server.address, "k");
    site.apply(&json!(document)).await;
    let state = site.state();
    assert_eq!(
        state.entry("tcpConnector", "nowhere").unwrap().status,
        Status::Up
    );
}

#[tokio::test]
async fn one_connection_too_many_is_refused_and_room_is_used_again() {
    let site = TestSite::with_options(Options {
        most_streams: 3,
        ..Options::default()
    });
    let server = Server::echo().await;
    site.apply(&json!([
        listener("l", port(0), "k"),
        connector("c", server.address, "k")
    ]))
    .await;
    let mut held = Vec::new();
    for seed in 0..3 {
        let mut stream = site.connect(port(0)).await;
        ping(&mut stream, seed).await;
        held.push(stream);
    }
    assert!(is_reset(&mut site.connect(port(0)).await).await);
    held.pop();
    site.open(2).await;
    ping(&mut site.connect(port(0)).await, 7).await;
    let metrics = site.router.metrics();
    assert!(
        metrics.contains("router_connections_refused_total{listener=\"l\"} 1\n"),
        "{metrics}"
    );
}

/// A client with an address of its own.
async fn connect_from(own: IpAddr, site: &TestSite, port: u16) -> std::io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.bind((own, 0).into())?;
    socket.connect((site.address, port).into()).await
}

#[tokio::test]
async fn a_client_that_only_connects_keeps_nobody_out_and_is_cut_off() {
    let site = TestSite::with_options(Options {
        most_streams: 100,
        patience: Patience {
            silent: Some(Duration::from_secs(2)),
            idle: None,
        },
        ..Options::default()
    });
    let server = Server::echo().await;
    site.apply(&json!([
        listener("l", port(0), "k"),
        listener("m", port(1), "k"),
        connector("c", server.address, "k")
    ]))
    .await;
    let mut quiet = site.connect(port(0)).await;
    ping(&mut quiet, 1).await;
    let (greedy, modest) = (address(), address());
    let mut idle = Vec::new();
    for number in 0..300 {
        idle.push(connect_from(greedy, &site, port(number % 2)).await.unwrap());
    }
    for number in 0..2 {
        let mut stream = connect_from(modest, &site, port(number)).await.unwrap();
        ping(&mut stream, 2).await;
    }
    eventually("the silent are cut off", || site.router.open() <= 1).await;
    ping(&mut quiet, 3).await;
}

#[tokio::test]
async fn a_client_that_says_a_word_on_each_connection_has_no_more_than_its_part() {
    let site = TestSite::with_options(Options {
        most_streams: 40,
        most_of_source: Some(10),
        most_of_listener: Some(15),
        ..Options::default()
    });
    let server = Server::echo().await;
    site.apply(&json!([
        listener("l", port(0), "k"),
        listener("m", port(1), "k"),
        connector("c", server.address, "k")
    ]))
    .await;
    let mut held = Vec::new();
    for _ in 0..2 {
        let greedy = address();
        for number in 0..10 {
            let mut stream = connect_from(greedy, &site, port(0)).await.unwrap();
            if held.len() < 15 {
                ping(&mut stream, number).await;
                held.push(stream);
            } else {
                assert!(is_reset(&mut stream).await, "the listener is full");
            }
        }
        let mut one_more = connect_from(greedy, &site, port(1)).await.unwrap();
        if held.len() == 10 {
            assert!(is_reset(&mut one_more).await, "its part is used up");
        }
    }
    let mut other = connect_from(address(), &site, port(1)).await.unwrap();
    ping(&mut other, 4).await;
}

#[tokio::test]
async fn s52_stopping_lets_connections_end_and_aborts_the_rest() {
    let site = TestSite::new();
    let server = Server::echo().await;
    site.apply(&json!([
        listener("l", port(0), "k"),
        connector("c", server.address, "k")
    ]))
    .await;
    let (mut ends, mut stays) = (site.connect(port(0)).await, site.connect(port(0)).await);
    ping(&mut ends, 1).await;
    ping(&mut stays, 2).await;
    let router = site.router.clone();
    let stopping = tokio::spawn(async move { router.stop(Duration::from_secs(1)).await });
    eventually("the socket is closed", || site.status("l") == Status::Idle).await;
    assert!(site.is_refused(port(0)).await);
    ping(&mut ends, 3).await;
    drop(ends);
    assert!(is_reset(&mut stays).await);
    assert_eq!(stopping.await.unwrap(), 1);
}

#[tokio::test]
async fn two_hundred_listeners_are_up_when_the_document_is_applied() {
    let site = TestSite::new();
    let server = Server::echo().await;
    let mut document = Vec::new();
    for number in 0..200 {
        let key = format!("key{number}");
        document.push(listener(&format!("l{number}"), port(number), &key));
        document.push(connector(&format!("c{number}"), server.address, &key));
    }
    site.apply(&json!(document)).await;
    for number in 0..200 {
        assert_eq!(site.status(&format!("l{number}")), Status::Up);
        ping(&mut site.connect(port(number)).await, number.into()).await;
    }
}

/// Row 18 of the acceptance table, where a listener has a host of its own.
#[tokio::test]
async fn s18_a_host_that_is_no_address_of_this_machine_is_told_before_there_is_a_connector() {
    let site = TestSite::new();
    let at = |name: &str, host: &str, number: u16| {
        and(listener(name, port(number), "k"), &json!({ "host": host }))
    };
    let own = site.address.to_string();
    let waiting = json!([
        at("away", "192.0.2.1", 0),
        at("unknown", "nowhere.invalid", 1),
        at("fine", &own, 2),
        listener("plain", port(3), "k"),
    ]);
    site.apply(&waiting).await;
    let says = |part: &'static str| move |status: &Status| matches!(status, Status::Failed(why) if why.contains(part));
    site.until("away", says("cannot listen on 192.0.2.1:"))
        .await;
    site.until("unknown", says("nowhere.invalid")).await;
    // The report stays when another entry changes, and no socket is opened for it.
    site.apply(&waiting).await;
    let is_failed = |name: &str| matches!(site.status(name), Status::Failed(_));
    assert!(is_failed("away") && is_failed("unknown"));
    assert_eq!(
        (site.status("fine"), site.status("plain")),
        (Status::Idle, Status::Idle)
    );
    assert_eq!(site.state().keys["k"].listeners, 2);
    assert!(site.is_refused(port(2)).await);
    site.apply(&json!([at("away", &own, 0)])).await;
    assert_eq!(site.status("away"), Status::Idle);
    let server = Server::named("there").await;
    let both = json!([at("away", &own, 0), connector("c", server.address, "k")]);
    site.apply(&both).await;
    assert_eq!(site.status("away"), Status::Up);
    assert_eq!(read_until_close(site.connect(port(0)).await).await, "there");
    site.apply(&json!([at("away", &own, 0)])).await;
    assert_eq!(site.status("away"), Status::Idle);
}
