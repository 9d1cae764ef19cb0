//! TLS towards clients and towards servers.

use std::io;
use std::time::Duration;

use lifecycle_router::router::Options;
use lifecycle_router::state::Status;
use lifecycle_router::tls::{Files, MissingFile};
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::client::TlsStream;

use crate::authority::{Authority, Pair, files, profile, server_name};
use crate::support::{
    Recorded, Server, TestSite, and, connector, echo, eventually, is_reset, listener, ping, port,
    random_bytes, with_timeout,
};

/// A site with a listener that speaks TLS, at port 0, and one that does not, at port 1, to an echo.
struct Secure {
    site: TestSite,
    authority: Authority,
    pair: Pair,
    document: Value,
    _server: Server,
}

impl Secure {
    async fn new(more: &Value) -> Self {
        Self::with_options(Options::default(), more).await
    }

    async fn with_options(options: Options, more: &Value) -> Self {
        let site = TestSite::with_options(options);
        let authority = Authority::new("clients trust this");
        let pair = authority.issue(&site.address.to_string());
        let server = Server::echo().await;
        let secure = and(listener("tls", port(0), "k"), &json!({"sslProfile": "web"}));
        let document = json!([
            profile("web"),
            and(secure, more),
            listener("plain", port(1), "k"),
            connector("c", server.address, "k"),
        ]);
        let new = Self {
            site,
            authority,
            pair,
            document,
            _server: server,
        };
        new.apply(&new.files()).await;
        new
    }

    fn files(&self) -> Files {
        files("web", &self.authority, &self.pair)
    }

    async fn apply(&self, files: &Files) {
        self.site.apply_with(&self.document, files).await;
    }

    async fn connect(&self) -> TlsStream<TcpStream> {
        self.connect_as(None).await.unwrap()
    }

    /// Connects and sends data, because only then it is known if the server accepts the
    /// certificate.
    async fn connect_as(&self, pair: Option<&Pair>) -> io::Result<TlsStream<TcpStream>> {
        let stream = self.site.connect(port(0)).await;
        let name = server_name(self.site.address);
        let mut stream = with_timeout(self.authority.client(pair).connect(name, stream)).await?;
        stream.write_all(b"?").await?;
        let mut back = [0];
        with_timeout(stream.read_exact(&mut back)).await?;
        Ok(stream)
    }
}

fn peer_certificate(stream: &TlsStream<TcpStream>) -> Vec<u8> {
    stream.get_ref().1.peer_certificates().unwrap()[0].to_vec()
}

#[tokio::test]
async fn s54_clients_see_the_certificate_and_plaintext_is_refused() {
    let secure = Secure::new(&json!({})).await;
    let mut stream = secure.connect().await;
    assert_eq!(
        peer_certificate(&stream),
        secure.pair.certificates()[0].to_vec()
    );
    ping(&mut stream, 1).await;
    let mut plain = secure.site.connect(port(0)).await;
    plain.write_all(b"GET / HTTP/1.1\r\n\r\n").await.unwrap();
    let mut answer = Vec::new();
    with_timeout(plain.read_to_end(&mut answer)).await.ok();
    // At most an alert of TLS.
    assert!(answer.is_empty() || answer[0] == 21, "{answer:?}");
    ping(&mut stream, 2).await;
    let metrics = secure.site.router.metrics();
    assert!(
        metrics.contains("router_handshakes_failed_total{listener=\"tls\"} 1\n"),
        "{metrics}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn s44_half_close_and_every_byte_through_tls_on_both_sides() {
    let site = TestSite::new();
    let authority = Authority::new("both");
    let pair = authority.issue(&site.address.to_string());
    let inner = authority.server(&authority.issue("localhost"), false);
    let server = Server::new(move |stream| {
        let inner = inner.clone();
        async move {
            let mut stream = inner.accept(stream).await.unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).await.unwrap();
            stream.write_all(&all).await.unwrap();
            stream.shutdown().await.unwrap();
        }
    })
    .await;
    let back = json!({"sslProfile": "web", "verifyHostname": false});
    let document = json!([
        profile("web"),
        and(listener("l", port(0), "k"), &json!({"sslProfile": "web"})),
        and(connector("c", server.address, "k"), &back),
    ]);
    site.apply_with(&document, &files("web", &authority, &pair))
        .await;
    let stream = site.connect(port(0)).await;
    let name = server_name(site.address);
    let stream = authority.client(None).connect(name, stream).await.unwrap();
    let (mut from, mut to) = tokio::io::split(stream);
    let bytes = random_bytes(8 << 20, 4);
    let sent = bytes.clone();
    let writing = async {
        let mut random = Pcg64::seed_from_u64(4);
        let mut rest = &sent[..];
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at(random.random_range(1..=rest.len().min(100_000)));
            to.write_all(chunk).await.unwrap();
            rest = after;
        }
        to.shutdown().await.unwrap();
    };
    let mut heard = Vec::new();
    let (read, ()) =
        with_timeout(async { tokio::join!(from.read_to_end(&mut heard), writing) }).await;
    read.unwrap();
    assert!(heard == bytes, "{} bytes", heard.len());
    site.open(0).await;
}

#[tokio::test]
async fn s56_a_certificate_that_arrives_later_is_served_without_an_edit() {
    let secure = Secure::new(&json!({})).await;
    let other = Secure {
        site: TestSite::new(),
        ..secure
    };
    other.apply(&Files::new()).await;
    let status = other.site.status("tls");
    assert_eq!(
        status,
        Status::Failed("sslProfile `web`: cannot read `web/ca.crt`: no such file".to_owned())
    );
    assert!(other.site.is_refused(port(0)).await);
    ping(&mut other.site.connect(port(1)).await, 1).await;
    let pair = other.authority.issue(&other.site.address.to_string());
    other.apply(&files("web", &other.authority, &pair)).await;
    assert_eq!(other.site.status("tls"), Status::Up);
    other.connect().await;
}

#[tokio::test]
async fn s57_after_a_rotation_the_next_handshake_shows_the_new_one_and_open_connections_survive() {
    let mut secure = Secure::new(&json!({})).await;
    let mut before = secure.connect().await;
    let old = secure.pair.certificates()[0].to_vec();
    secure.pair = secure.authority.issue(&secure.site.address.to_string());
    let new = secure.pair.certificates()[0].to_vec();
    // At first only half of the files is new: the key does not match the certificate.
    let mut half = secure.files();
    half.insert(
        "web/tls.crt".to_owned(),
        Ok(b"-----BEGIN CERTIFICATE-----\n".to_vec()),
    );
    secure.apply(&half).await;
    assert_eq!(peer_certificate(&secure.connect().await), old);
    let state = secure.site.state();
    let profile = state.entry("sslProfile", "web").unwrap();
    assert!(
        matches!(&profile.status, Status::Failed(text) if text.contains("web/tls.crt")),
        "{profile:?}"
    );
    assert_eq!(secure.site.status("tls"), Status::Up);
    secure.apply(&secure.files()).await;
    assert_eq!(peer_certificate(&secure.connect().await), new);
    ping(&mut before, 3).await;
    assert_eq!(peer_certificate(&before), old);
    let state = secure.site.state();
    assert_eq!(state.entry("sslProfile", "web").unwrap().status, Status::Up);
}

#[tokio::test]
async fn s58_where_client_certificates_are_asked_for_nobody_gets_in_without() {
    let secure = Secure::new(&json!({"authenticatePeer": true})).await;
    assert!(secure.connect_as(None).await.is_err());
    let stranger = Authority::new("nobody trusts this").issue("somebody");
    assert!(secure.connect_as(Some(&stranger)).await.is_err());
    let known = secure.authority.issue("somebody");
    let mut stream = secure.connect_as(Some(&known)).await.unwrap();
    ping(&mut stream, 1).await;
    // A profile without an authority cannot verify clients, and accepts none.
    let mut document = secure.document.clone();
    document[0][1].as_object_mut().unwrap().remove("caCertFile");
    secure.site.apply_with(&document, &secure.files()).await;
    assert_eq!(
        secure.site.status("tls"),
        Status::Failed("sslProfile `web` has no authority to verify clients with".to_owned())
    );
    assert!(secure.site.is_refused(port(0)).await);
}

/// Starts a site whose one connector uses TLS with these attributes to a server with this
/// certificate. Returns the note of the connector, if a client is not served.
async fn to_server(
    pair: &Pair,
    authority: &Authority,
    required: bool,
    ours: (&Pair, &Authority),
    more: &Value,
) -> Option<String> {
    let site = TestSite::new();
    let acceptor = authority.server(pair, required);
    let server = Server::new(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                echo(stream).await;
            }
        }
    })
    .await;
    let secure = and(
        connector("c", server.address, "k"),
        &json!({"sslProfile": "back"}),
    );
    let document = json!([
        profile("back"),
        listener("l", port(0), "k"),
        and(secure, more)
    ]);
    site.apply_with(&document, &files("back", ours.1, ours.0))
        .await;
    assert_eq!(site.status("l"), Status::Up);
    let mut stream = site.connect(port(0)).await;
    stream.write_all(b"abc").await.unwrap();
    let mut back = [0; 3];
    if with_timeout(stream.read_exact(&mut back)).await.is_ok() {
        assert_eq!(&back, b"abc");
        return None;
    }
    let state = site.state();
    let note = state.entry("tcpConnector", "c").unwrap().note.clone();
    Some(note.unwrap_or_else(|| "refused after the handshake".to_owned()))
}

#[tokio::test]
async fn servers_are_verified_as_the_connector_asks() {
    let (good, bad) = (Authority::new("good"), Authority::new("bad"));
    let ours = good.issue("us");
    let named = good.issue("another.example");
    let verify = json!({});
    let any_name = json!({"verifyHostname": false});
    let told = to_server(&named, &good, false, (&ours, &good), &verify).await;
    assert!(told.unwrap().contains("not valid for name"));
    let told = to_server(&named, &good, false, (&ours, &good), &any_name).await;
    assert_eq!(told, None);
    let told = to_server(
        &bad.issue("another.example"),
        &bad,
        false,
        (&ours, &good),
        &any_name,
    )
    .await;
    assert!(told.unwrap().contains("UnknownIssuer"));
    let told = to_server(&named, &good, true, (&ours, &good), &any_name).await;
    assert_eq!(told, None, "our certificate is shown");
    let strange = bad.issue("us");
    let told = to_server(&named, &good, true, (&strange, &good), &any_name).await;
    assert!(
        told.is_some(),
        "a certificate of another authority was taken"
    );
}

#[tokio::test]
async fn a_server_is_verified_by_the_name_of_its_host() {
    let authority = Authority::new("good");
    let site = TestSite::new();
    let acceptor = authority.server(&authority.issue("localhost"), false);
    let local = std::net::SocketAddr::from(([127, 0, 0, 1], 0));
    let server = Server::serve_at(local, move |stream| {
        let acceptor = acceptor.clone();
        async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                echo(stream).await;
            }
        }
    })
    .await;
    let ours = authority.issue("us");
    let by_name = json!({"sslProfile": "back", "host": "localhost"});
    let document = json!([
        profile("back"),
        listener("l", port(0), "k"),
        and(connector("c", server.address, "k"), &by_name),
    ]);
    site.apply_with(&document, &files("back", &authority, &ours))
        .await;
    ping(&mut site.connect(port(0)).await, 1).await;
}

#[tokio::test]
async fn a_stream_of_tls_that_is_cut_is_an_abort_and_no_end() {
    let secure = Secure::new(&json!({})).await;
    let resets = Recorded::<bool>::default();
    let sees = resets.clone();
    let server = Server::new(move |mut stream: TcpStream| {
        let resets = sees.clone();
        async move {
            let mut byte = [0];
            stream.read_exact(&mut byte).await.unwrap();
            stream.write_all(&byte).await.unwrap();
            let reset = is_reset(&mut stream).await;
            resets.lock().unwrap().push(reset);
        }
    })
    .await;
    let mut document = secure.document.clone();
    document[3] = connector("c", server.address, "k");
    secure.site.apply_with(&document, &secure.files()).await;
    // A FIN without close_notify may come from an attacker on the path.
    let (mut cut, _) = secure.connect().await.into_inner();
    cut.shutdown().await.unwrap();
    eventually("the server sees it", || resets.lock().unwrap().len() == 1).await;
    let mut ended = secure.connect().await;
    ended.shutdown().await.unwrap();
    eventually("the server sees it", || resets.lock().unwrap().len() == 2).await;
    assert_eq!(*resets.lock().unwrap(), [true, false]);
}

#[tokio::test]
async fn clients_that_say_nothing_or_nonsense_are_left_and_hurt_nobody() {
    let options = Options {
        handshake_timeout: Duration::from_millis(500),
        ..Options::default()
    };
    let secure = Secure::with_options(options, &json!({})).await;
    let mut well = secure.connect().await;
    let silent = secure.site.connect(port(0)).await;
    let mut random = Pcg64::seed_from_u64(11);
    for seed in 0..60 {
        let mut stream = secure.site.connect(port(0)).await;
        let mut bytes = random_bytes(random.random_range(1..2000), seed);
        if random.random() {
            // The bytes begin with the head of a handshake record, so that the router examines
            // more than the first byte.
            bytes.splice(0..1, [22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3]);
        }
        stream.write_all(&bytes).await.ok();
        if random.random() {
            stream.set_zero_linger().unwrap();
        }
        drop(stream);
        ping(&mut well, seed).await;
    }
    secure.site.open(1).await;
    drop(silent);
    ping(&mut well, 99).await;
}

#[tokio::test]
async fn s57_credentials_that_are_taken_away_end_nothing_and_let_nothing_new_in() {
    let authority = Authority::new("good");
    let site = TestSite::new();
    let acceptor = authority.server(&authority.issue("server"), false);
    let server = Server::new(move |stream| {
        let acceptor = acceptor.clone();
        async move {
            if let Ok(stream) = acceptor.accept(stream).await {
                echo(stream).await;
            }
        }
    })
    .await;
    let any_name = json!({"sslProfile": "back", "verifyHostname": false});
    let listeners = [profile("back"), listener("l", port(0), "k")];
    let document = json!([
        listeners[0],
        listeners[1],
        and(connector("c", server.address, "k"), &any_name),
    ]);
    let good = files("back", &authority, &authority.issue("us"));
    let taken = |(path, _): (&String, _)| {
        (
            path.clone(),
            Err(MissingFile::Gone("it is gone".to_owned())),
        )
    };
    let taken: Files = good.iter().map(taken).collect();
    let connector = || {
        let state = site.state();
        let status = state.entry("tcpConnector", "c").unwrap().status.clone();
        (status, state.keys["k"].connectors)
    };
    site.apply_with(&document, &good).await;
    let mut open = vec![site.connect(port(0)).await];
    ping(&mut open[0], 0).await;
    for _ in 0..2 {
        site.apply_with(&document, &taken).await;
        assert!(site.is_refused(port(0)).await);
        let failed = Status::Failed("it is gone".to_owned());
        assert_eq!(connector(), (failed, 0));
        site.apply_with(&document, &good).await;
        assert_eq!(connector(), (Status::Up, 1));
        open.push(site.connect(port(0)).await);
        for (seed, stream) in open.iter_mut().enumerate() {
            ping(stream, seed as u64).await;
        }
    }
    // All of them are still connections of this entry, and end with it.
    site.apply_with(&json!(listeners), &good).await;
    for mut stream in open {
        assert!(is_reset(&mut stream).await);
    }
}

#[tokio::test]
async fn handshakes_that_are_never_finished_keep_nobody_out() {
    let options = Options {
        most_streams: 100,
        ..Options::default()
    };
    let secure = Secure::with_options(options, &json!({})).await;
    let mut half_open = Vec::new();
    for _ in 0..300 {
        let mut stream = secure.site.connect(port(0)).await;
        stream.write_all(&[22, 3, 1]).await.ok();
        half_open.push(stream);
    }
    let mut well = secure.connect().await;
    ping(&mut well, 1).await;
    assert!(secure.site.router.open() <= 100);
}

/// Row 66 of the acceptance table: a client that relies on the match would wait forever.
#[tokio::test]
async fn s66_a_listener_that_lets_nobody_in_is_no_match() {
    let site = TestSite::new();
    let authority = Authority::new("site");
    let pair = authority.issue(&site.address.to_string());
    let server = Server::echo().await;
    let document = json!([
        profile("web"),
        and(listener("tls", port(0), "k"), &json!({"sslProfile": "web"})),
        listener("taken", port(1), "other"),
        connector("c", server.address, "other"),
    ]);
    let held = TcpListener::bind((site.address, port(1))).await.unwrap();
    site.apply(&document).await;
    let listeners = |key: &str| site.state().keys[key].listeners;
    assert_eq!((listeners("k"), listeners("other")), (0, 0));
    drop(held);
    site.until("taken", |status| *status == Status::Up).await;
    assert_eq!((listeners("k"), listeners("other")), (0, 1));
    let good = files("web", &authority, &pair);
    site.apply_with(&document, &good).await;
    // It has no connector, and would let clients in if it had.
    assert_eq!(site.status("tls"), Status::Idle);
    assert_eq!((listeners("k"), listeners("other")), (1, 1));
}
