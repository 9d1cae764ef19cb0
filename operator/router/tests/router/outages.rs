//! Links between processes that fail, are refused, come back or are withdrawn: the reports on them,
//! and the effect on traffic.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::authority::{Authority, files, profile};
use crate::network::{Row, Site, eventually_in, link_port, link_to, west_but};
use crate::program::entry;
use crate::support::{
    LIMIT, Server, address, and, connector, eventually, is_reset, listener, ping, port,
    read_until_close, with_timeout,
};

#[tokio::test]
async fn s41_s42_a_socket_is_there_while_any_site_has_a_connector_even_one_whose_server_is_down() {
    let authority = Authority::new("network");
    let east = Site::new("east", &authority, &[]);
    let west = [east.link("to-east"), listener("web", port(0), "k")];
    let west = Site::with_entries("west", &authority, &west, false);
    west.until("to-east", "Up").await;
    west.until("web", "Idle").await;
    west.is_refused(port(0)).await;
    let at = SocketAddr::new(address(), port(9));
    east.apply(&[connector("c", at, "k")]);
    west.until("web", "Up").await;
    for _ in 0..5 {
        assert!(west.aborts(port(0)).await, "it is closed");
    }
    west.until("web", "Up").await;
    let _server = Server::serve_at(at, async |mut stream| {
        stream.write_all(b"back").await.ok();
    })
    .await;
    // A site that refused is tried anyway, because there is no other.
    assert_eq!(
        read_until_close(west.process.connect(port(0)).await).await,
        "back"
    );
    let metrics = east.process.get("/metrics").await;
    let line = "router_link_streams_refused_total{reason=\"backend\"} 5\n";
    assert!(metrics.contains(line), "{metrics}");
    // Without the last connector of the network the socket closes. Open connections over it end
    // with their connector.
    east.apply(&[]);
    west.until("web", "Idle").await;
    west.is_refused(port(0)).await;
}

#[tokio::test]
async fn s43_sockets_go_with_a_site_that_crashes_or_falls_silent_and_come_back_with_it() {
    let authority = Authority::new("network");
    let server = Server::echo().await;
    let mut east = Site::new("east", &authority, &[connector("c", server.address, "k")]);
    let west = [east.link("to-east"), listener("web", port(0), "k")];
    let west = Site::with_entries("west", &authority, &west, false);
    west.until("web", "Up").await;
    for silent in [false, true] {
        let mut open = west.process.connect(port(0)).await;
        ping(&mut open, 43).await;
        if silent {
            east.process.freeze();
        } else {
            east.process.kill();
        }
        west.is_refused(port(0)).await;
        assert!(is_reset(&mut open).await, "what went over the link ends");
        let link = west.until("to-east", "Failed").await;
        assert!(link["message"].is_string(), "{link}");
        let state = west
            .process
            .until(|state| state["sites"].as_array().unwrap().len() == 1)
            .await;
        assert_eq!(state["keys"]["k"]["connectors"], 0);
        if silent {
            east.process.thaw();
        } else {
            east.process.restart();
        }
        west.echoes(port(0)).await;
        west.until("to-east", "Up").await;
    }
}

#[tokio::test]
async fn s57_renewed_certificates_of_a_link_count_from_the_next_handshake_on_and_drop_nothing() {
    let (before, after) = (Authority::new("before"), Authority::new("after"));
    let server = Server::echo().await;
    let mut east = Site::new("east", &before, &[connector("c", server.address, "k")]);
    let west = [east.link("to-east"), listener("web", port(0), "k")];
    let west = Site::with_entries("west", &before, &west, false);
    west.until("web", "Up").await;
    let mut open = west.process.connect(port(0)).await;
    ping(&mut open, 1).await;
    let material = |state: &Value| entry(state, "net")["material"].clone();
    for site in [&west, &east] {
        let old = material(&site.process.until(|_| true).await);
        site.certify(&after);
        let is_new = |state: &Value| material(state) != old && entry(state, "net")["state"] == "Up";
        site.process.until(is_new).await;
    }
    ping(&mut open, 2).await;
    west.until("to-east", "Up").await;
    // A new handshake presents the new certificate; no site trusts the old authority.
    let late = Site::with_entries("late", &before, &[east.link("to-east")], false);
    late.fails("to-east", "certificate").await;
    east.process.restart();
    west.until("to-east", "Failed").await;
    west.echoes(port(0)).await;
    west.until("to-east", "Up").await;
}

#[tokio::test]
async fn s59_who_has_the_certificate_of_another_network_is_refused_and_learns_nothing() {
    let (ours, others) = (Authority::new("ours"), Authority::new("others"));
    let server = Server::echo().await;
    let east = Site::new("east", &ours, &[connector("c", server.address, "k")]);
    let west = [east.link("to-east"), listener("web", port(0), "k")];
    let west = Site::with_entries("west", &ours, &west, false);
    let stranger = [east.link("to-east"), listener("spy", port(0), "k")];
    let stranger = Site::with_entries("stranger", &others, &stranger, false);
    stranger
        .fails("to-east", "certificates of one authority")
        .await;
    // This site trusts the router that it dials, and presents a certificate that east does not
    // trust.
    let pair = others.issue_site("stranger", stranger.address);
    for (path, bytes) in files("net", &ours, &pair) {
        let text = String::from_utf8(bytes.unwrap()).unwrap();
        stranger.process.write(&format!("certs/{path}"), &text);
    }
    stranger
        .fails("to-east", "it does not take our certificate")
        .await;
    west.echoes(port(0)).await;
    let state = stranger.process.until(|_| true).await;
    assert_eq!(state["sites"].as_array().unwrap().len(), 1);
    assert_eq!(state["keys"]["k"]["connectors"], 0);
    stranger.is_refused(port(0)).await;
    let metrics = east.process.get("/metrics").await;
    assert!(
        !metrics.contains("router_links_refused_total 0\n"),
        "{metrics}"
    );
    assert!(metrics.contains("\nrouter_links_up 1\n"), "{metrics}");
}

#[tokio::test]
async fn what_is_wrong_with_one_link_is_told_of_it_and_of_no_other() {
    let authority = Authority::new("network");
    let server = Server::echo().await;
    let no_tls = Server::named("220 welcome\r\n").await;
    let mute = Server::new(async |stream: TcpStream| {
        sleep(Duration::from_secs(3600)).await;
        drop(stream);
    })
    .await;
    let east = Site::new("east", &authority, &[connector("c", server.address, "k")]);
    let elsewhere = SocketAddr::new(address(), port(201));
    let nowhere = |name: &str, host: &str| and(link_to(name, elsewhere), &json!({"host": host}));
    let west = [
        east.link("good"),
        link_to("no-tls", no_tls.address),
        link_to("mute", mute.address),
        link_to("nobody", elsewhere),
        nowhere("unknown", "nowhere.invalid"),
        and(east.link("bare"), &json!({"sslProfile": ""})),
        and(east.link("no-profile"), &json!({"sslProfile": "absent"})),
        and(east.link("odd"), &json!({"cost": "cheap"})),
        listener("web", port(0), "k"),
    ];
    let west = Site::new("west", &authority, &west);
    west.apply(&[&[west.link("self")], &west_but(&west)[..]].concat());
    west.echoes(port(0)).await;
    for (name, words) in [
        ("no-tls", "it does not speak TLS"),
        ("mute", "it does not answer: check `host` and `port`"),
        ("nobody", "nothing listens there: check `host` and `port`"),
        ("unknown", "its host cannot be resolved"),
        ("bare", "`sslProfile` is missing"),
        ("no-profile", "sslProfile `absent` does not exist"),
        ("odd", "cost `cheap` is no whole number"),
        ("self", "it leads to this site itself"),
    ] {
        west.fails(name, words).await;
    }
    west.echoes(port(0)).await;
    let good = west.until("good", "Up").await;
    assert_eq!(good["remoteSiteId"], "east");
    assert_eq!(good.get("note"), None);
}

#[tokio::test]
async fn two_sites_of_one_id_are_told_and_the_later_one_serves() {
    let authority = Authority::new("network");
    let server = Server::echo().await;
    let hub = Site::new("hub", &authority, &[connector("c", server.address, "k")]);
    let first = [hub.link("to-hub"), listener("web", port(0), "k")];
    let first = Site::new("twin", &authority, &first);
    first.until("to-hub", "Up").await;
    let second = [
        hub.link("to-hub"),
        first.link("to-first"),
        listener("web", port(0), "k"),
    ];
    let second = Site::with_entries("twin", &authority, &second, false);
    second.echoes(port(0)).await;
    first
        .fails(
            "to-hub",
            "another router has a link as site twin, and started later",
        )
        .await;
    second
        .fails("to-first", "another router also claims to be this site")
        .await;
    second.until("to-hub", "Up").await;
    hub.process
        .until(|state| state["keys"]["k"]["listeners"] == 1)
        .await;
    // One that is linked elsewhere in the network.
    let far = Site::new("far", &authority, &[hub.link("to-hub")]);
    let third = Site::with_entries("twin", &authority, &[far.link("to-far")], false);
    for site in [&second, &third] {
        let is_told = |state: &Value| {
            let faults = state["faults"].to_string();
            faults.contains("another router of this network also claims to be site twin")
        };
        site.process.until(is_told).await;
    }
    drop(third);
    second
        .process
        .until(|state| state["faults"] == json!([]))
        .await;
    second.echoes(port(0)).await;
}

#[tokio::test]
async fn s52_a_router_that_is_asked_to_end_lets_streams_of_other_sites_end_and_says_goodbye() {
    let authority = Authority::new("network");
    let server = Server::echo().await;
    let hub = Site::new("hub", &authority, &[]);
    let east = [hub.link("to-hub"), connector("c", server.address, "k")];
    let mut east = Site::with_entries("east", &authority, &east, false);
    let west = [hub.link("to-hub"), listener("web", port(0), "k")];
    let west = Site::with_entries("west", &authority, &west, false);
    west.until("web", "Up").await;
    let mut open = west.process.connect(port(0)).await;
    ping(&mut open, 1).await;
    east.process.terminate();
    // No new stream is sent there.
    west.until("web", "Idle").await;
    ping(&mut open, 2).await;
    drop(open);
    with_timeout(async {
        while east.process.child.try_wait().unwrap().is_none() {
            sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    // The hub ends, too, and reports the reason to the dialling router.
    hub.process.terminate();
    west.fails("to-hub", "it ended the link: the link was withdrawn")
        .await;
}

#[tokio::test]
async fn an_edge_site_links_out_and_takes_nobody_in() {
    let authority = Authority::new("network");
    let server = Server::echo().await;
    let hub = Site::new("hub", &authority, &[]);
    let west = [hub.link("to-hub"), listener("web", port(0), "k")];
    let west = Site::with_entries("west", &authority, &west, false);
    let mut edge = Site::new("edge", &authority, &[]);
    edge.base[0] = and(edge.base[0].clone(), &json!({"mode": "edge"}));
    edge.apply(&[
        and(hub.link("to-hub"), &json!({"role": "edge"})),
        connector("c", server.address, "k"),
        listener("back", port(1), "k"),
    ]);
    edge.fails("access", "one of an edge site, which takes in no links")
        .await;
    west.echoes(port(0)).await;
    edge.echoes(port(1)).await;
    edge.is_refused(link_port()).await;
    // The edge site learns the keys of the others, and they learn its keys.
    let state = edge
        .process
        .until(|state| state["keys"]["k"]["listeners"] == 2)
        .await;
    assert_eq!(state["sites"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn the_state_tells_all_sites_with_their_links_and_what_they_have() {
    let server = Server::echo().await;
    let row = Row::new(&[("echo", &server)]).await;
    let site = |id: &str, links: Value, services: Value| {
        json!({"id": id, "name": format!("{id}-name"), "namespace": "ns", "platform": "linux", "version": "2.2.1",
            "links": links, "services": services})
    };
    let link = json!([{"name": "to-hub", "remoteSiteId": "hub", "remoteSiteName": "hub-name", "cost": 1, "operational": true}]);
    let host = server.address.ip().to_string();
    let expected = json!([
        site(
            "east",
            link.clone(),
            json!([{"routingKey": "echo", "connectors": [host], "listeners": []}])
        ),
        site("hub", json!([]), json!([])),
        site(
            "west",
            link,
            json!([{"routingKey": "echo", "connectors": [], "listeners": ["echo"]}])
        ),
    ]);
    for site in [&row.west, &row.hub, &row.east] {
        let waited = timeout(
            LIMIT,
            site.process.until(|state| state["sites"] == expected),
        );
        if waited.await.is_err() {
            panic!("{}", site.process.until(|_| true).await["sites"]);
        }
        let state = site.process.until(|_| true).await;
        assert_eq!(
            state["keys"]["echo"],
            json!({"connectors": 1, "listeners": 1})
        );
    }
    // Both ends report a withdrawn link, and report the remaining ones anew.
    row.east.apply(&[connector("echo", server.address, "echo")]);
    row.west.until("echo", "Idle").await;
    let state = row
        .hub
        .process
        .until(|state| state["sites"].as_array().unwrap().len() == 2)
        .await;
    assert!(state["keys"].get("echo").is_some());
}

#[tokio::test]
async fn sites_that_dial_each_other_are_linked_once_and_both_links_are_well() {
    let authority = Authority::new("network");
    let server = Server::echo().await;
    let east = Site::new("east", &authority, &[]);
    let west = [east.link("to-east"), listener("web", port(0), "k")];
    let west = Site::new("west", &authority, &west);
    east.apply(&[west.link("to-west"), connector("c", server.address, "k")]);
    west.until("to-east", "Up").await;
    east.until("to-west", "Up").await;
    west.echoes(port(0)).await;
    eventually_in(&west, "\nrouter_links_up 1\n").await;
    // The one that was needless takes its place as soon as the other is withdrawn.
    west.apply(&[listener("web", port(0), "k")]);
    east.until("to-west", "Up").await;
    west.echoes(port(0)).await;
    let link = east.until("to-west", "Up").await;
    assert_eq!(link["remoteSiteId"], "west");
    eventually("the server was asked", || server.accepted() > 0).await;
}

#[tokio::test]
async fn certificates_that_are_no_good_are_told_of_the_link_that_uses_them() {
    let authority = Authority::new("network");
    let server = Server::echo().await;
    let east = Site::new("east", &authority, &[connector("c", server.address, "k")]);
    let old = Site::new("old", &authority, &[]);
    let expired = authority.issue_site_within("old", old.address, [1990, 2000]);
    old.certify_with(&authority, &expired);
    let west = Site::with_entries("west", &authority, &[], false);
    let pair = |years| authority.issue_site_within("west", west.address, years);
    let (mut mixed, late, early) = (pair([1990, 3000]), pair([1990, 2000]), pair([3000, 4000]));
    mixed.key = pair([1990, 3000]).key;
    let named = authority.issue_site("north", west.address);
    for (name, pair) in [
        ("mixed", &mixed),
        ("late", &late),
        ("early", &early),
        ("named", &named),
    ] {
        for (path, bytes) in files(name, &authority, pair) {
            let text = String::from_utf8(bytes.unwrap()).unwrap();
            west.process.write(&format!("certs/{path}"), &text);
        }
    }
    let with = |name: &str| and(east.link(name), &json!({"sslProfile": name}));
    west.apply(&[
        profile("mixed"),
        profile("late"),
        profile("early"),
        profile("named"),
        with("mixed"),
        with("late"),
        with("early"),
        with("named"),
        old.link("to-old"),
        east.link("good"),
        listener("web", port(0), "k"),
    ]);
    west.echoes(port(0)).await;
    // Entries of the profiles come first, so links are looked up by entity.
    for (name, words) in [
        ("mixed", "does not belong to the certificate"),
        ("late", "our certificate has expired, or is not valid yet"),
        ("early", "our certificate has expired, or is not valid yet"),
        (
            "named",
            "it claims to be site west, but its certificate is for site north",
        ),
        ("to-old", "its certificate must be renewed"),
    ] {
        west.link_fails(name, words).await;
    }
    // A working link to the same site makes none of them healthy.
    west.until("good", "Up").await;
    sleep(Duration::from_secs(4)).await;
    for name in ["mixed", "late", "early", "named"] {
        west.link_fails(name, "certificate").await;
    }
}
