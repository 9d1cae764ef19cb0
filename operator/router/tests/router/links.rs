//! Traffic over links between processes: the reached server, the path to it, and the arrival of
//! every byte.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::sleep;

use crate::authority::Authority;
use crate::network::{Row, Site, blocks, comes_back, count, eventually_in, knows, sequence};
use crate::support::{
    Server, and, connector, listener, ping, port, random_bytes, read_until_close, with_timeout,
};

#[tokio::test]
async fn s35_s36_a_request_from_site_to_site_whichever_side_dials() {
    let authority = Authority::new("network");
    let server = Server::named("hello from east").await;
    let listeners = [listener("web", port(0), "backend")];
    let connectors = [connector("c", server.address, "backend")];
    for west_dials in [true, false] {
        let (west, east);
        if west_dials {
            east = Site::new("east", &authority, &connectors);
            let link = [east.link("link"), listeners[0].clone()];
            west = Site::with_entries("west", &authority, &link, false);
        } else {
            west = Site::new("west", &authority, &listeners);
            let link = [west.link("link"), connectors[0].clone()];
            east = Site::with_entries("east", &authority, &link, false);
        }
        west.until("web", "Up").await;
        assert_eq!(
            read_until_close(west.process.connect(port(0)).await).await,
            "hello from east"
        );
        let dialler = if west_dials { &west } else { &east };
        let link = dialler.until("link", "Up").await;
        let other = if west_dials { "east" } else { "west" };
        assert_eq!(link["remoteSiteId"], other);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s35_s37_s44_s45_over_a_third_site_every_byte_comes_back_and_servers_may_speak_first() {
    let (echo, east) = (Server::echo().await, Server::named("east speaks").await);
    let row = Row::new(&[("echo", &echo), ("named", &east)]).await;
    let bytes = random_bytes(8_000_000, 44);
    comes_back(row.west.process.connect(port(0)).await, &bytes).await;
    // The client sends nothing at all.
    let greeting = read_until_close(row.west.process.connect(port(1)).await).await;
    assert_eq!(greeting, "east speaks");
    // The hub has a listener of its own: one hop.
    row.hub.apply(&[
        listener("one", port(2), "echo"),
        listener("two", port(3), "named"),
    ]);
    row.hub.until("one", "Up").await;
    comes_back(row.hub.process.connect(port(2)).await, &bytes).await;
    assert_eq!(
        read_until_close(row.hub.process.connect(port(3)).await).await,
        "east speaks"
    );
    let metrics = row.hub.process.get("/metrics").await;
    assert!(metrics.contains("\nrouter_links_up 2\n"), "{metrics}");
    for site in ["west", "east"] {
        let line = metrics.lines().find(|line| {
            line.starts_with(&format!("router_link_sent_bytes_total{{site=\"{site}\"}}"))
        });
        let bytes: u64 = line.unwrap().rsplit(' ').next().unwrap().parse().unwrap();
        assert!(bytes > 8_000_000, "{metrics}");
    }
    let open = "\nrouter_link_streams_open{site=\"east\"} 0\n";
    eventually_in(&row.hub, open).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s46_a_slow_reader_over_two_hops_costs_no_memory_and_slows_nobody() {
    const BLOCK: usize = (8 << 20) + 13;
    let source = Server::new(|mut stream: TcpStream| async move {
        let block = random_bytes(BLOCK, 46);
        for _ in 0..blocks() {
            if stream.write_all(&block).await.is_err() {
                return;
            }
        }
    })
    .await;
    let echo = Server::echo().await;
    let row = Row::new(&[("source", &source), ("echo", &echo)]).await;
    row.hub.apply(&[listener("one", port(2), "source")]);
    row.hub.until("one", "Up").await;
    let mut slow = [
        row.west.process.connect(port(0)).await,
        row.hub.process.connect(port(2)).await,
    ];
    let mut other = row.west.process.connect(port(1)).await;
    // The client reads nothing for a while: the sources must stall, but no other connection.
    for seed in 0..100 {
        ping(&mut other, seed).await;
        sleep(Duration::from_millis(10)).await;
    }
    let expected = random_bytes(BLOCK, 46);
    for slow in &mut slow {
        let mut chunk = vec![0; 256 << 10];
        let mut at = 0_usize;
        loop {
            let read = with_timeout(slow.read(&mut chunk)).await.unwrap();
            if read == 0 {
                break;
            }
            let mut rest = &chunk[..read];
            while !rest.is_empty() {
                let inside = at % BLOCK;
                let (part, after) = rest.split_at(rest.len().min(BLOCK - inside));
                assert!(
                    part == &expected[inside..inside + part.len()],
                    "at byte {at}"
                );
                at += part.len();
                rest = after;
            }
            if at.is_multiple_of(97) {
                ping(&mut other, at as u64 % 1000).await;
            }
        }
        assert_eq!(at, BLOCK * blocks());
    }
    for site in [&row.west, &row.hub, &row.east] {
        let peak = site.process.memory("VmHWM");
        assert!(peak < 64 * 1024, "{}: {peak} KiB", site.id);
    }
}

#[tokio::test]
async fn s38_s39_connections_are_shared_between_sites_and_stay_near_while_they_can() {
    let authority = Authority::new("network");
    let [a, b, local] = [
        Server::named("a").await,
        Server::named("b").await,
        Server::named("local").await,
    ];
    let one = Site::new("one", &authority, &[connector("c", a.address, "k")]);
    let two = Site::new("two", &authority, &[connector("c", b.address, "k")]);
    let remote = [
        one.link("to-one"),
        two.link("to-two"),
        listener("web", port(0), "k"),
    ];
    let west = Site::with_entries("west", &authority, &remote, false);
    knows(&west, 2).await;
    west.until("web", "Up").await;
    let all = sequence(&west, port(0), 40).await;
    assert!(count(&all, "a") >= 10 && count(&all, "b") >= 10, "{all:?}");
    // One that costs nothing takes all.
    let near: Vec<_> = remote
        .iter()
        .cloned()
        .chain([connector("near", local.address, "k")])
        .collect();
    west.apply(&near);
    knows(&west, 3).await;
    assert_eq!(count(&sequence(&west, port(0), 40).await, "local"), 40);
    west.apply(&remote);
    knows(&west, 2).await;
    let all = sequence(&west, port(0), 40).await;
    assert!(count(&all, "a") >= 10 && count(&all, "b") >= 10, "{all:?}");
    // A path with a higher cost is not used while a cheaper one exists. Connections over it do not
    // end when a cheaper one appears.
    let mut held = [west.process.connect(port(0)).await];
    let dear = [
        remote[0].clone(),
        and(remote[1].clone(), &json!({"cost": "5"})),
        remote[2].clone(),
    ];
    west.apply(&dear);
    let sites = |state: &Value| {
        let sites = state["sites"].as_array().unwrap();
        let own = sites.iter().find(|site| site["id"] == "west").unwrap();
        let links = own["links"].as_array().unwrap();
        links.iter().find(|link| link["name"] == "to-two").unwrap()["cost"] == 5
    };
    west.process.until(sites).await;
    assert_eq!(count(&sequence(&west, port(0), 20).await, "a"), 20);
    let mut rest = String::new();
    with_timeout(held[0].read_to_string(&mut rest))
        .await
        .unwrap();
    assert!(rest == "a" || rest == "b", "{rest}");
    drop(held);
    // Two connectors of one site share as well.
    one.apply(&[
        connector("c", a.address, "k"),
        connector("d", local.address, "k"),
    ]);
    knows(&west, 3).await;
    let all = sequence(&west, port(0), 40).await;
    assert!(
        count(&all, "a") >= 10 && count(&all, "local") >= 10,
        "{all:?}"
    );
}

#[tokio::test]
async fn s40_once_a_site_that_fell_is_seen_no_connection_fails() {
    let authority = Authority::new("network");
    let [a, b] = [Server::named("a").await, Server::named("b").await];
    let one = Site::new("one", &authority, &[connector("c", a.address, "k")]);
    let mut two = Site::new("two", &authority, &[connector("c", b.address, "k")]);
    let remote = [
        one.link("to-one"),
        two.link("to-two"),
        listener("web", port(0), "k"),
    ];
    let west = Site::with_entries("west", &authority, &remote, false);
    knows(&west, 2).await;
    west.until("web", "Up").await;
    for silent in [true, false] {
        if silent {
            two.process.freeze();
        } else {
            two.process.kill();
        }
        // No client is turned away meanwhile either: a site that does not answer is one of up to
        // three.
        let meanwhile = sequence(&west, port(0), 6).await;
        assert_eq!(count(&meanwhile, "a"), 6, "{meanwhile:?}");
        knows(&west, 1).await;
        assert_eq!(count(&sequence(&west, port(0), 40).await, "a"), 40);
        if silent {
            two.process.thaw();
            knows(&west, 2).await;
        }
    }
}

#[tokio::test]
async fn s51_changes_of_something_else_drop_neither_links_nor_what_goes_over_them() {
    let server = Server::echo().await;
    let row = Row::new(&[("echo", &server)]).await;
    let mut open = row.west.process.connect(port(0)).await;
    ping(&mut open, 1).await;
    let links = row.hub.link("to-hub");
    let web = listener("echo", port(0), "echo");
    let other = listener("other", port(5), "other");
    for more in [
        vec![other.clone()],
        vec![and(other.clone(), &json!({"observer": "none"}))],
        vec![listener("other", port(6), "another")],
        vec![],
    ] {
        let all: Vec<_> = [links.clone(), web.clone()]
            .into_iter()
            .chain(more)
            .collect();
        row.west.apply(&all);
        row.west.process.applied().await;
        ping(&mut open, 2).await;
    }
    // The test changes the cost of the link, in either direction, and the name of the site.
    for cost in [7, 2] {
        row.west
            .apply(&[and(links.clone(), &json!({"cost": cost})), web.clone()]);
        let costs = |state: &Value| {
            let sites = state["sites"].as_array().unwrap();
            let west = sites.iter().find(|site| site["id"] == "west").unwrap();
            west["links"][0]["cost"] == cost
        };
        row.west.process.until(costs).await;
        row.east.process.until(costs).await;
        ping(&mut open, 3).await;
    }
    // Streams only pass through the hub.
    row.hub.apply(&[listener("own", port(2), "echo")]);
    row.hub.until("own", "Up").await;
    ping(&mut open, 4).await;
    // Both are in the same link as at first: it was never opened again.
    let metrics = row.west.process.get("/metrics").await;
    let line = "router_link_streams_opened_total{site=\"hub\"} 1\n";
    assert!(metrics.contains(line), "{metrics}");
    let link = row.west.until("to-hub", "Up").await;
    assert_eq!(link["remoteSiteName"], "hub-name");
}

#[tokio::test]
async fn over_a_link_go_only_the_keys_that_either_end_allows() {
    let authority = Authority::new("network");
    let server = Server::named("served").await;
    let keys = ["k", "secret", "hidden"];
    let connectors = keys.map(|key| connector(key, server.address, key));
    let mut east = Site::new("east", &authority, &[]);
    let allowed = json!({"allowedKeys": ["k", "hidden"]});
    east.base[2] = and(east.base[2].clone(), &allowed);
    east.apply(&connectors);
    let link = and(east.link("to-east"), &json!({"allowedKeys": "k, secret"}));
    let listeners = (0..).zip(keys);
    let listeners = listeners.map(|(number, key)| listener(key, port(number), key));
    let west: Vec<_> = std::iter::once(link).chain(listeners).collect();
    let west = Site::with_entries("west", &authority, &west, false);
    west.until("k", "Up").await;
    assert_eq!(
        read_until_close(west.process.connect(port(0)).await).await,
        "served"
    );
    // A key that the own end does not allow does not exist here. A key that the other end does not
    // allow is refused on use.
    west.until("hidden", "Idle").await;
    west.until("secret", "Up").await;
    assert!(west.aborts(port(1)).await);
    let metrics = east.process.get("/metrics").await;
    let line = "router_link_streams_refused_total{reason=\"no-route\"} 1\n";
    assert!(metrics.contains(line), "{metrics}");
}
