//! Links over sockets of this machine, with certificates: admission, the direction in which a link
//! is dialled, and the recovery after a failure.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

#[path = "link/liars.rs"]
mod liars;

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use lifecycle_router::config::{ConfigEntry, Host, Profile};
use lifecycle_router::link::announcement::{Key, Role, SiteId};
use lifecycle_router::link::cost::Cost;
use lifecycle_router::link::node::{Local, Node, Server};
use lifecycle_router::link::security::SITE_URI;
use lifecycle_router::link::session::{HELLO, LinkState};
use lifecycle_router::link::socket::{Access, Remote, accept, keep};
use lifecycle_router::tls::{Files, Profiles, Slot};
use lifecycle_tests::harness::run_within;
use rand::{RngExt as _, SeedableRng as _};
use rand_pcg::Pcg64;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType, IsCa, KeyPair,
    SanType,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, duplex};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Upper bound on the time of any expected event, whatever else the machine does.
const SOON: Duration = Duration::from_secs(60);

/// Authority that certifies the identity of sites.
struct Authority(CertifiedIssuer<'static, KeyPair>);

/// Place in a certificate that names the site.
#[derive(Clone, Copy, PartialEq)]
enum Named {
    Uri,
    Common,
    Nowhere,
    /// As `skupper link generate` has it made: by the hosts that are linked to.
    Hosts,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        Self(CertifiedIssuer::self_signed(params, key).unwrap())
    }

    fn files(&self, site: &str, named: Named) -> Files {
        let names = vec!["localhost".to_owned(), "127.0.0.1".to_owned()];
        let mut params = CertificateParams::new(names).unwrap();
        params.distinguished_name = DistinguishedName::new();
        if matches!(named, Named::Common | Named::Hosts) {
            params.distinguished_name.push(DnType::CommonName, site);
        }
        if named == Named::Uri {
            let uri = format!("{SITE_URI}{site}");
            let uri = SanType::URI(uri.try_into().unwrap());
            params.subject_alt_names.push(uri);
        }
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.0).unwrap();
        let files = [
            ("ca.crt", self.0.pem()),
            ("tls.crt", certificate.pem()),
            ("tls.key", key.serialize_pem()),
        ];
        files
            .map(|(name, pem)| (name.to_owned(), Ok(pem.into_bytes())))
            .into()
    }

    fn profile(&self, site: &str, named: Named) -> Arc<Slot> {
        slot(&mut Profiles::default(), &self.files(site, named))
    }
}

fn slot(profiles: &mut Profiles, files: &Files) -> Arc<Slot> {
    let profile = Profile {
        ca: Some("ca.crt".to_owned()),
        pair: Some(("tls.crt".to_owned(), "tls.key".to_owned())),
    };
    let entry = ConfigEntry {
        hash: String::new(),
        wanted: Ok(profile),
    };
    profiles.update(&BTreeMap::from([("link".to_owned(), entry)]), files);
    let loaded = profiles.get("link").unwrap();
    assert_eq!(loaded.wrong, None);
    loaded.slot.clone()
}

/// Echo server.
struct Echo;

impl Local for Echo {
    fn connect<'a>(
        &'a self,
        _key: &'a Key,
    ) -> Pin<Box<dyn Future<Output = io::Result<Server>> + Send + 'a>> {
        Box::pin(async {
            let (ours, theirs) = duplex(64 * 1024);
            tokio::spawn(async move {
                let (mut reader, mut writer) = tokio::io::split(theirs);
                drop(tokio::io::copy(&mut reader, &mut writer).await);
                drop(writer.shutdown().await);
            });
            Ok(Box::new(ours) as Server)
        })
    }
}

fn site(name: &str) -> SiteId {
    SiteId::new(name).unwrap()
}

fn key() -> Key {
    Key::new("backend").unwrap()
}

fn node(name: &str, instance: u64) -> Node {
    let node = Node::new(site(name), instance, Role::Interior, Echo);
    node.set_keys(BTreeSet::from([key()])).unwrap();
    node
}

/// A socket where routers come in, until it is aborted.
async fn listen(node: &Node, port: u16, profile: Arc<Slot>) -> (SocketAddr, JoinHandle<()>) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_reuseaddr(true).unwrap();
    socket.bind((Ipv4Addr::LOCALHOST, port).into()).unwrap();
    let listener: TcpListener = socket.listen(1024).unwrap();
    let address = listener.local_addr().unwrap();
    let accepting = tokio::spawn(accept(node.clone(), listener, Access::new(profile)));
    (address, accepting)
}

/// A link that is kept to a socket.
fn dial(node: &Node, to: SocketAddr, profile: Arc<Slot>) -> watch::Receiver<LinkState> {
    let (seen, _) = dial_until(node, to, profile, CancellationToken::new());
    seen
}

/// As `dial`, until it is stopped.
fn dial_until(
    node: &Node,
    to: SocketAddr,
    profile: Arc<Slot>,
    stop: CancellationToken,
) -> (watch::Receiver<LinkState>, JoinHandle<()>) {
    let remote = Remote {
        host: Host::parse("localhost".to_owned()).unwrap(),
        port: to.port(),
        profile,
        verify_hostname: true,
        cost: Cost::fixed(1),
        allowed: None,
    };
    let (state, seen) = watch::channel(LinkState::Connecting);
    let keeping = tokio::spawn(keep(node.clone(), remote, state, stop));
    (seen, keeping)
}

async fn reaches(node: &Node, other: &str) {
    let mut ways = node.routes();
    let there = ways.wait_for(|ways| ways.sites.contains_key(&site(other)));
    drop(timeout(SOON, there).await.expect("there is a way").unwrap());
}

async fn is_down(mut state: watch::Receiver<LinkState>, why: &str) {
    let is_so = |state: &LinkState| matches!(state, LinkState::Down(said) if said.contains(why));
    let waited = timeout(SOON, state.wait_for(is_so)).await.map(drop);
    assert!(waited.is_ok(), "{:?} instead of: {why}", *state.borrow());
}

async fn echo(node: &Node, to: &str, size: usize) {
    let stream = node.open(&key(), &site(to)).await.unwrap();
    let mut bytes = vec![0; size];
    Pcg64::seed_from_u64(1).fill(&mut bytes[..]);
    let (mut reader, mut writer) = tokio::io::split(stream);
    let mut back = Vec::new();
    let write = async {
        writer.write_all(&bytes).await.unwrap();
        writer.shutdown().await.unwrap();
    };
    let (read, ()) = tokio::join!(reader.read_to_end(&mut back), write);
    read.unwrap();
    assert!(back == bytes, "{} of {size} bytes", back.len());
}

#[tokio::test]
async fn s36_s37_s44_eight_megabytes_come_back_over_a_hub_whichever_side_dialled() {
    let authority = Authority::new();
    let (west, hub, east) = (node("west", 1), node("hub", 1), node("east", 1));
    let (to_hub, _) = listen(&hub, 0, authority.profile("hub", Named::Uri)).await;
    let (to_east, _) = listen(&east, 0, authority.profile("east", Named::Common)).await;
    let state = dial(&west, to_hub, authority.profile("west", Named::Uri));
    dial(&hub, to_east, authority.profile("hub", Named::Common));
    reaches(&west, "east").await;
    reaches(&east, "west").await;
    echo(&west, "east", 8_000_000).await;
    echo(&east, "west", 8_000_000).await;
    assert_eq!(*state.borrow(), LinkState::Up(site("hub")));
}

#[tokio::test]
async fn s59_who_has_the_certificate_of_another_authority_is_refused_and_sees_no_key() {
    let (ours, others) = (Authority::new(), Authority::new());
    let (west, east) = (node("west", 1), node("east", 1));
    let (to_west, _) = listen(&west, 0, ours.profile("west", Named::Uri)).await;
    let state = dial(&east, to_west, others.profile("east", Named::Uri));
    is_down(state, "TLS handshake failed: invalid peer certificate").await;
    // One that trusts whomever it dials, and has a certificate of its own authority.
    let mut files = others.files("east", Named::Uri);
    let trusted = ours.files("east", Named::Uri);
    files.insert("ca.crt".to_owned(), trusted["ca.crt"].clone());
    let state = dial(&east, to_west, slot(&mut Profiles::default(), &files));
    is_down(state, "").await;
    sleep(Duration::from_secs(1)).await;
    assert!(west.links().is_empty() && east.links().is_empty());
    assert!(east.routes().borrow().keys.is_empty());
}

#[tokio::test]
async fn a_certificate_that_names_another_site_or_none_is_refused() {
    let authority = Authority::new();
    let (west, east) = (node("west", 1), node("east", 1));
    let (to_west, _) = listen(&west, 0, authority.profile("west", Named::Uri)).await;
    let state = dial(&east, to_west, authority.profile("north", Named::Common));
    let why = "it claims to be site east, but its certificate is for site north";
    is_down(state, why).await;
    is_down(
        dial(&east, to_west, authority.profile("east", Named::Nowhere)),
        "",
    )
    .await;
    // The dialler looks as well.
    let (to_north, _) = listen(&node("north", 1), 0, authority.profile("south", Named::Uri)).await;
    let state = dial(&east, to_north, authority.profile("east", Named::Uri));
    is_down(
        state,
        "it claims to be site north, but its certificate is for site south",
    )
    .await;
    assert!(east.links().is_empty() && west.links().is_empty());
}

#[tokio::test]
async fn a_certificate_that_names_the_hosts_of_an_access_is_that_of_any_site() {
    let authority = Authority::new();
    let (west, east, north) = (node("west", 1), node("east", 1), node("north", 1));
    let (to_west, _) = listen(&west, 0, authority.profile("west", Named::Uri)).await;
    let generated = || authority.profile("west.example.com,192.0.2.1", Named::Hosts);
    let state = dial(&east, to_west, generated());
    reaches(&west, "east").await;
    assert_eq!(*state.borrow(), LinkState::Up(site("west")));
    // The holder of such a certificate replaces no site whose certificate names it, and not this
    // site.
    dial(&north, to_west, authority.profile("north", Named::Uri));
    reaches(&west, "north").await;
    let said = "site north has a link with a certificate that names it, and this one names no site";
    is_down(dial(&node("north", 2), to_west, generated()), said).await;
    let said = "another router also claims to be this site";
    is_down(dial(&node("west", 2), to_west, generated()), said).await;
    assert_eq!(west.links(), [site("east"), site("north")]);
}

#[tokio::test]
async fn s43_s57_a_router_that_falls_and_returns_is_linked_again_with_what_its_profile_has_by_then()
{
    let authority = Authority::new();
    let (west, east) = (node("west", 1), node("east", 1));
    let mut profiles = Profiles::default();
    let profile = slot(&mut profiles, &authority.files("west", Named::Uri));
    let (to_west, accepting) = listen(&west, 0, profile.clone()).await;
    let state = dial(&east, to_west, authority.profile("east", Named::Uri));
    reaches(&east, "west").await;
    let since = Instant::now();
    accepting.abort();
    drop(accepting.await);
    drop(west);
    is_down(state.clone(), "").await;
    eprintln!("a router that falls: seen after {:?}", since.elapsed());
    assert!(east.routes().borrow().keys.is_empty());
    // The router presents the certificate that its files contain by then: files of another
    // authority are refused, valid new ones are accepted.
    slot(&mut profiles, &Authority::new().files("west", Named::Uri));
    let west = node("west", 2);
    let (_, accepting) = listen(&west, to_west.port(), profile.clone()).await;
    is_down(state.clone(), "invalid peer certificate").await;
    slot(&mut profiles, &authority.files("west", Named::Uri));
    let since = Instant::now();
    reaches(&east, "west").await;
    eprintln!("a router that returns: linked after {:?}", since.elapsed());
    echo(&east, "west", 100_000).await;
    accepting.abort();
}

#[tokio::test]
async fn connections_that_say_nothing_or_nonsense_keep_nobody_out() {
    let authority = Authority::new();
    let (west, east) = (node("west", 1), node("east", 1));
    let (to_west, _) = listen(&west, 0, authority.profile("west", Named::Uri)).await;
    let mut held = Vec::new();
    for number in 0..300 {
        let socket = TcpSocket::new_v4().unwrap();
        socket
            .bind((Ipv4Addr::new(127, 0, 0, 2), 0).into())
            .unwrap();
        let mut stream: TcpStream = socket.connect(to_west).await.unwrap();
        if number % 2 == 0 {
            drop(stream.write_all(b"GET / HTTP/1.1\r\n\r\n").await);
        }
        held.push(stream);
    }
    dial(&east, to_west, authority.profile("east", Named::Uri));
    let since = Instant::now();
    // In less core time than theirs, so not for want of them.
    let linked = run_within(HELLO - Duration::from_secs(1), reaches(&east, "west")).await;
    assert!(linked.is_some(), "they keep it out");
    eprintln!(
        "linked beside 300 such connections after {:?}",
        since.elapsed()
    );
    // All are gone when their time is over.
    sleep(Duration::from_secs(6)).await;
    for mut stream in held {
        let mut rest = Vec::new();
        let read = timeout(SOON, stream.read_to_end(&mut rest));
        drop(read.await.expect("it was closed"));
    }
}
