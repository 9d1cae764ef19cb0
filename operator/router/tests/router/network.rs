//! Support for tests of links: sites that are processes with certificates of a network, and three
//! of them in a row.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::time::{sleep, timeout};

use crate::authority::{Authority, Pair, files, profile};
use crate::program::{Process, entry};
use crate::support::{
    Server, address, connector, is_reset, listener, ping, port, read_until_close, with_timeout,
};

/// Returns the port on which routers accept links.
pub(crate) fn link_port() -> u16 {
    port(200)
}

/// A site: a process with a certificate of its network.
pub(crate) struct Site {
    pub(crate) process: Process,
    pub(crate) id: String,
    pub(crate) address: IpAddr,
    pub(crate) base: Vec<Value>,
}

impl Site {
    /// A site that takes in links, with these elements besides.
    pub(crate) fn new(id: &str, authority: &Authority, more: &[Value]) -> Self {
        Self::with_entries(id, authority, more, true)
    }

    pub(crate) fn with_entries(
        id: &str,
        authority: &Authority,
        more: &[Value],
        takes_links: bool,
    ) -> Self {
        let mut base = vec![router(id), profile("net")];
        base.extend(takes_links.then(access));
        let address = address();
        let all: Vec<_> = base.iter().chain(more).cloned().collect();
        let process = Process::at_address(address, |directory| {
            let pair = authority.issue_site(id, address);
            for (path, bytes) in files("net", authority, &pair) {
                let text = String::from_utf8(bytes.unwrap()).unwrap();
                crate::program::write(directory, &format!("certs/{path}"), &text);
            }
            crate::program::write(directory, "skrouterd.json", &json!(all).to_string());
        });
        Self {
            process,
            id: id.to_owned(),
            address,
            base,
        }
    }

    /// Gives the site a certificate of this authority, which becomes its only trusted one.
    pub(crate) fn certify(&self, authority: &Authority) {
        self.certify_with(authority, &authority.issue_site(&self.id, self.address));
    }

    /// Has this certificate of the authority from now on.
    pub(crate) fn certify_with(&self, authority: &Authority, pair: &Pair) {
        for (path, bytes) in files("net", authority, pair) {
            let text = String::from_utf8(bytes.unwrap()).unwrap();
            self.process.write(&format!("certs/{path}"), &text);
        }
    }

    /// Has these elements besides from now on.
    pub(crate) fn apply(&self, more: &[Value]) {
        let all: Vec<_> = self.base.iter().chain(more).cloned().collect();
        self.process
            .write("skrouterd.json", &json!(all).to_string());
    }

    /// A link to this site.
    pub(crate) fn link(&self, name: &str) -> Value {
        link_to(name, SocketAddr::new(self.address, link_port()))
    }

    /// Waits until an entry is in this state, and returns it.
    pub(crate) async fn until(&self, name: &str, wanted: &str) -> Value {
        let state = self
            .process
            .until(|state| entry(state, name)["state"] == wanted)
            .await;
        entry(&state, name).clone()
    }

    /// Waits until an entry has failed with a message that holds these words.
    pub(crate) async fn fails(&self, name: &str, words: &str) {
        self.fails_as(name, words, |_| true).await;
    }

    /// Waits until a link has failed with a message that contains these words, whatever other
    /// entries have its name.
    pub(crate) async fn link_fails(&self, name: &str, words: &str) {
        self.fails_as(name, words, |entity| entity == "connector")
            .await;
    }

    async fn fails_as(&self, name: &str, words: &str, is_one: impl Fn(&str) -> bool) {
        let message = |state: &Value| {
            let mut entries = state["entries"].as_array().unwrap().iter();
            let entry = entries.find(|entry| {
                entry["name"] == name && is_one(entry["entity"].as_str().unwrap_or_default())
            });
            let message = entry.and_then(|entry| entry["message"].as_str());
            message.unwrap_or_default().to_owned()
        };
        let is_so = |state: &Value| message(state).contains(words);
        let waited = timeout(Duration::from_secs(60), self.process.until(is_so)).await;
        if waited.is_err() {
            let state = self.process.until(|_| true).await;
            panic!("{name} says {}", message(&state));
        }
    }

    pub(crate) async fn is_refused(&self, port: u16) {
        with_timeout(async {
            while TcpStream::connect((self.address, port)).await.is_ok() {
                sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
    }

    /// Returns true if a client is let in and aborted. The client may see the abort before it knows
    /// that it is connected.
    pub(crate) async fn aborts(&self, port: u16) -> bool {
        match TcpStream::connect((self.address, port)).await {
            Ok(mut client) => is_reset(&mut client).await,
            Err(error) => error.kind() == std::io::ErrorKind::ConnectionReset,
        }
    }

    pub(crate) async fn echoes(&self, port: u16) {
        self.process.up_at(port).await;
        ping(&mut self.process.connect(port).await, 35).await;
    }
}

pub(crate) fn router(id: &str) -> Value {
    let metadata = json!({"id": id, "name": format!("{id}-name"), "namespace": "ns", "platform": "linux", "version": "2.2.1"});
    json!(["router", {"id": format!("{id}-pod"), "mode": "interior", "helloMaxAgeSeconds": "3", "metadata": metadata.to_string()}])
}

pub(crate) fn access() -> Value {
    json!(["listener", {"name": "access", "role": "inter-router", "port": link_port(), "sslProfile": "net",
        "saslMechanisms": "EXTERNAL", "authenticatePeer": true}])
}

pub(crate) fn link_to(name: &str, to: SocketAddr) -> Value {
    json!(["connector", {"name": name, "role": "inter-router", "host": to.ip().to_string(), "port": to.port().to_string(),
        "cost": "1", "sslProfile": "net"}])
}

/// Three sites. Only the one in the middle knows both others.
pub(crate) struct Row {
    pub(crate) west: Site,
    pub(crate) hub: Site,
    pub(crate) east: Site,
}

impl Row {
    /// The west has listeners and the east connectors of these servers, by key.
    pub(crate) async fn new(servers: &[(&str, &Server)]) -> Self {
        let authority = Authority::new("network");
        let hub = Site::new("hub", &authority, &[]);
        let link = || hub.link("to-hub");
        let listeners = (0..).zip(servers);
        let listeners = listeners.map(|(number, (key, _))| listener(key, port(number), key));
        let west: Vec<_> = std::iter::once(link()).chain(listeners).collect();
        let connectors = servers
            .iter()
            .map(|(key, server)| connector(key, server.address, key));
        let east: Vec<_> = std::iter::once(link()).chain(connectors).collect();
        let west = Site::with_entries("west", &authority, &west, false);
        let east = Site::with_entries("east", &authority, &east, false);
        for (key, _) in servers {
            let is_up = |state: &Value| {
                let mut entries = state["entries"].as_array().unwrap().iter();
                entries.any(|entry| {
                    entry["entity"] == "tcpListener"
                        && entry["name"] == *key
                        && entry["state"] == "Up"
                })
            };
            west.process.until(is_up).await;
        }
        Self { west, hub, east }
    }
}

/// All that comes back of these bytes after the own half has ended.
pub(crate) async fn comes_back(stream: TcpStream, bytes: &[u8]) {
    let (mut reader, mut writer) = stream.into_split();
    let write = async {
        writer.write_all(bytes).await.unwrap();
        writer.shutdown().await.unwrap();
    };
    let mut back = Vec::new();
    let (read, ()) =
        with_timeout(async { tokio::join!(reader.read_to_end(&mut back), write) }).await;
    read.unwrap();
    assert!(back == bytes, "{} of {} bytes", back.len(), bytes.len());
}

pub(crate) async fn eventually_in(site: &Site, line: &str) {
    with_timeout(async {
        while !site.process.get("/metrics").await.contains(line) {
            sleep(Duration::from_millis(20)).await;
        }
    })
    .await;
}

/// How many blocks of 8 MiB the slow reader is sent: a gigabyte in the long form.
pub(crate) fn blocks() -> usize {
    let long = std::env::var("LONG").is_ok_and(|long| !long.is_empty() && long != "0");
    if long { 128 } else { 12 }
}

/// Returns the replies of servers at a listener, for a number of connections one after the other.
pub(crate) async fn sequence(site: &Site, port: u16, times: usize) -> Vec<String> {
    let mut all = Vec::new();
    for _ in 0..times {
        all.push(read_until_close(site.process.connect(port).await).await);
    }
    all
}

pub(crate) fn count(all: &[String], name: &str) -> usize {
    all.iter().filter(|said| *said == name).count()
}

/// Waits until a site knows this number of connectors of the key `k` in the network.
pub(crate) async fn knows(site: &Site, connectors: usize) {
    site.process
        .until(|state| state["keys"]["k"]["connectors"] == connectors)
        .await;
}

/// Returns the part of a site's document beyond its base.
pub(crate) fn west_but(site: &Site) -> Vec<Value> {
    let path = site.process.directory.path().join("skrouterd.json");
    let text = std::fs::read_to_string(path).unwrap();
    let all: Vec<Value> = serde_json::from_str(&text).unwrap();
    all[site.base.len()..].to_vec()
}
