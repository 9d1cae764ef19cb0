//! Links that cannot work, beside a good one to the same site. Each reports the error and the
//! remedy once, and works as soon as the error is fixed. The good one and its traffic are not
//! affected.

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::core::v1::{Secret, Service};
use kube::ResourceExt;
use lifecycle_skupper::certificate::{AUTHORITY, CHAIN, KEY, text};
use lifecycle_skupper::pki::credentials::Credentials;
use lifecycle_skupper::pki::issue::Authority;
use lifecycle_skupper::pki::wanted::CertificateRequest;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::listener::Listener;
use lifecycle_specs_skupper::router_access::RouterAccess;
use lifecycle_tests::harness::Case;
use serde_json::{Value, json};
use tokio::io::copy_bidirectional;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

use super::links::{Hub, is_linked};
use super::support::{Echo, connect, echoes, listen, shared, soon_greeted, writes_nothing};
use crate::place::{TestNamespace, has_report, report};

/// Core time without writes once everything has been reported.
const REST: Duration = Duration::from_secs(10);
/// The Secret of the good Link.
const GOOD: &str = "good";
const YEAR: SignedDuration = SignedDuration::from_hours(365 * 24);

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared(
            "links_that_lead_nowhere_are_told_beside_a_good_one",
            nowhere,
        ),
        shared("links_without_good_certificates_are_told", uncertified),
    ]
}

/// Link that cannot work: its name, its endpoints, its Secret, and the expected words of the
/// report.
type Bad<'a> = (&'a str, Value, &'a str, &'a [&'a str]);

/// A site with a good Link to another one, and a stream over it.
struct Pair {
    ours: Hub,
    hub: Hub,
    uid: String,
    good: Link,
    stream: TcpStream,
    _echo: Echo,
}

impl Pair {
    async fn start(place: TestNamespace) -> Result<Self> {
        let hub = Hub::start(Arc::clone(&place.env)).await?;
        // Links to itself end at it, too.
        let ours = Hub::start_in(place).await?;
        let echo = Echo::start("far").await?;
        connect(&hub.place, "far", echo.at, json!({})).await?;
        let (uid, place) = (ours.uid().await?, &ours.place);
        place.make::<Secret>(GOOD, hub.secret(&uid).await?).await?;
        place.make::<Link>("good", hub.link(GOOD, 1)).await?;
        listen(place, "backend", json!({})).await?;
        let ready = |listener: &Listener| has_report(listener, "Ready", "OK");
        place.until("backend", "it has a match", ready).await?;
        let port = place.router_port("backend", 8080).await?;
        let stream = soon_greeted(place, port, "far").await?;
        let good = place
            .until("good", "the good one is Ready", is_linked)
            .await?;
        Ok(Self {
            ours,
            hub,
            uid,
            good,
            stream,
            _echo: echo,
        })
    }

    /// The endpoint of the other site.
    fn peer_endpoints(&self) -> Value {
        json!(self.hub.endpoints)
    }

    async fn is_well(&mut self) -> Result<()> {
        let good = self.ours.place.api::<Link>().get("good").await?;
        let was = self.good.resource_version();
        ensure!(good.resource_version() == was, "{good:?}");
        echoes(&mut self.stream, 10_000).await
    }

    /// Creates all Links at once, and waits until each has reported all of these words and then
    /// nothing else.
    async fn are_told(&mut self, bad: &[Bad<'_>]) -> Result<()> {
        let (place, began) = (&self.ours.place, Instant::now());
        for (name, endpoints, secret, _) in bad {
            let spec = json!({ "endpoints": endpoints, "tlsCredentials": secret });
            place.make::<Link>(name, json!({ "spec": spec })).await?;
        }
        for (name, _, _, words) in bad {
            let (what, told) = (words.join(", "), |link: &Link| is_told(link, words));
            let link = place.until(name, &what, told).await?;
            let (_, message, _) = report(&link);
            eprintln!("{name} after {:.1?}: {message}", began.elapsed());
        }
        let told = async || {
            let links = place.api::<Link>().list(&Default::default()).await?;
            let links = links.items.iter();
            anyhow::Ok(links.map(ResourceExt::resource_version).collect::<Vec<_>>())
        };
        writes_nothing(place, Duration::ZERO).await?;
        let before = told().await?;
        ensure!(before.len() == bad.len() + 1, "{before:?}");
        writes_nothing(place, REST).await?;
        ensure!(told().await? == before);
        for (name, _, _, words) in bad {
            let link = place.api::<Link>().get(name).await?;
            ensure!(is_told(&link, words), "{link:?}");
        }
        self.counted(bad).await?;
        self.is_well().await
    }

    /// Prints the number of writes of each status until it had settled.
    async fn counted(&self, bad: &[Bad<'_>]) -> Result<()> {
        let writes = self.ours.place.writes().await?;
        for (name, ..) in bad {
            let of_link = writes.iter().filter(|entry| {
                (entry.resource.as_str(), entry.subresource.as_str()) == ("links", "status")
                    && entry.name == *name
            });
            let count = of_link.count();
            ensure!(count > 0, "no write of {name} is seen");
            eprintln!("the status of {name} was written {count} times");
        }
        Ok(())
    }

    /// Waits until Links that were put right are good.
    async fn are_good(&mut self, bad: &[Bad<'_>]) -> Result<()> {
        let began = Instant::now();
        for (name, ..) in bad {
            let what = format!("{name} is good");
            self.ours.place.until(name, &what, is_linked).await?;
            eprintln!("{what} after {:.1?}", began.elapsed());
        }
        writes_nothing(&self.ours.place, REST).await?;
        self.is_well().await
    }
}

/// Returns true if all conditions of a Link have one message, and the message contains all of these
/// words.
fn is_told(link: &Link, words: &[&str]) -> bool {
    let (_, message, conditions) = report(link);
    let expected = [
        format!("Configured=False Error {message}"),
        "Operational=False Pending Not operational".to_owned(),
        format!("Ready=False Error {message}"),
    ];
    let is_whole = words.iter().all(|word| message.contains(word));
    has_report(link, "Error", &message) && conditions == expected && is_whole
}

fn endpoint(host: &str, port: u16) -> Value {
    json!([{ "name": "inter-router", "host": host, "port": port.to_string() }])
}

fn endpoint_for(address: SocketAddr) -> Value {
    endpoint(&address.ip().to_string(), address.port())
}

/// Tests Links with a wrong other end.
async fn nowhere(place: TestNamespace) -> Result<()> {
    let mut pair = Pair::start(place).await?;
    let own = pair.ours.secret(&pair.uid).await?;
    pair.ours.place.make::<Secret>("own", own).await?;
    let plain = Echo::start("220 welcome\r\n").await?;
    // It is connected to, and never answers.
    let mute = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let hub = pair.hub.place.address.to_string();
    let (relay, _relaying) = relay(&pair.peer_endpoints()).await?;
    let bad: [Bad<'_>; 7] = [
        (
            "oneself",
            json!(pair.ours.endpoints),
            "own",
            &["it leads to this site itself: give it the host and port of another site"],
        ),
        (
            "foreign",
            pair.peer_endpoints(),
            "own",
            &[
                "invalid peer certificate",
                "the sites need certificates of one authority",
                "redeem a new token",
            ],
        ),
        (
            "plain",
            endpoint_for(plain.at),
            GOOD,
            &["it does not speak TLS: `host` or `port` are those of something else"],
        ),
        (
            "unknown",
            endpoint("nowhere.invalid", 55671),
            GOOD,
            &[
                "its host cannot be resolved",
                "check that `nowhere.invalid` is spelled well",
            ],
        ),
        (
            "closed",
            endpoint(&hub, 1),
            GOOD,
            &[
                "Connection refused",
                "nothing listens there: check `host` and `port`",
            ],
        ),
        (
            "mute",
            endpoint_for(mute.local_addr()?),
            GOOD,
            &["it does not answer: check `host` and `port`"],
        ),
        (
            "elsewhere",
            endpoint("localhost", relay.port()),
            GOOD,
            &[
                "certificate not valid for name \"localhost\"",
                "`host` must be one that its certificate is for",
            ],
        ),
    ];
    pair.are_told(&bad).await?;
    let right = json!({ "spec": { "endpoints": pair.peer_endpoints(), "tlsCredentials": GOOD } });
    for (name, ..) in &bad {
        pair.ours.place.patch::<Link>(name, right.clone()).await?;
    }
    pair.are_good(&bad).await
}

/// Leads from a port of `localhost` to the routers of a site: a way by a name that its certificate is not for.
async fn relay(endpoints: &Value) -> Result<(SocketAddr, JoinSet<()>)> {
    let to = endpoints.as_array().into_iter().flatten();
    let to = to
        .clone()
        .find(|endpoint| endpoint["name"] == "inter-router");
    let to = to.context("it takes in links")?;
    let text = |key: &str| to[key].as_str().unwrap_or_default().to_owned();
    let to: SocketAddr = format!("{}:{}", text("host"), text("port")).parse()?;
    let socket = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let at = socket.local_addr()?;
    let mut relaying = JoinSet::new();
    relaying.spawn(async move {
        while let Ok((mut stream, _)) = socket.accept().await {
            if let Ok(mut there) = TcpStream::connect(to).await {
                tokio::spawn(async move {
                    // Either may end it.
                    drop(copy_bidirectional(&mut stream, &mut there).await);
                });
            }
        }
    });
    Ok((at, relaying))
}

/// Signs for a site as if it were another time.
fn signed(authority: &Secret, wanted: &CertificateRequest<'_>, now: Timestamp) -> Result<Value> {
    let of = |key| text(authority, key).context("it is an authority");
    let authority = Authority::read(of(CHAIN)?.as_bytes(), of(KEY)?.as_bytes())?;
    let made = Credentials::signed(&authority, wanted, now)?;
    let data = json!({ AUTHORITY: made.authority, CHAIN: made.certificate, KEY: made.key });
    Ok(json!({ "stringData": data }))
}

/// Starts a router of the other site that presents a certificate that expired a year ago, on a port
/// of its own. Returns its endpoints.
async fn outdated(hub: &TestNamespace, authority: &Secret) -> Result<Value> {
    let host = hub.address.to_string();
    let wanted = CertificateRequest {
        subject: "outdated",
        hosts: vec![&host],
        ..CertificateRequest::default()
    };
    let secret = signed(authority, &wanted, Timestamp::now() - YEAR * 2)?;
    hub.make::<Secret>("outdated", secret).await?;
    let roles = json!([{ "name": "inter-router", "port": 55672 }]);
    let spec = json!({ "roles": roles, "tlsCredentials": "outdated", "accessType": "local" });
    hub.make::<RouterAccess>("outdated", json!({ "spec": spec }))
        .await?;
    hub.until("outdated", "its Service is there", |_: &Service| true)
        .await?;
    Ok(endpoint(&host, 55672))
}

/// The other site reports no more about a certificate with a wrong validity.
const OF_TIME: [&str; 2] = [
    "our certificate has expired, or is not valid yet",
    "renew it (redeem a new token), or set the clock",
];

/// Gives all of them valid certificates.
async fn certify(pair: &Pair, good: &Secret, authority: &Secret) -> Result<()> {
    let (theirs, ours) = (&pair.hub.place, &pair.ours.place);
    let right = json!({ "data": good.data });
    ours.make::<Secret>("missing", right.clone()).await?;
    for name in ["expired", "early", "strange", "bare"] {
        ours.patch::<Secret>(name, right.clone()).await?;
    }
    let host = theirs.address.to_string();
    let wanted = CertificateRequest {
        subject: "renewed",
        hosts: vec![&host],
        ..CertificateRequest::default()
    };
    let renewed = signed(authority, &wanted, Timestamp::now())?;
    theirs.patch::<Secret>("outdated", renewed).await?;
    Ok(())
}

/// The certificate of a Link or of the other site is no good, or not there.
async fn uncertified(place: TestNamespace) -> Result<()> {
    let mut pair = Pair::start(place).await?;
    let good = pair.ours.place.api::<Secret>().get(GOOD).await?;
    let (theirs, ours) = (&pair.hub.place, &pair.ours.place);
    let authority = theirs.api::<Secret>().get("skupper-site-ca").await?;
    let outdated = outdated(theirs, &authority).await?;
    let wanted = CertificateRequest {
        subject: &pair.uid,
        ..CertificateRequest::default()
    };
    let now = Timestamp::now();
    let mut strange = signed(&authority, &wanted, now)?;
    strange["stringData"][KEY] = signed(&authority, &wanted, now)?["stringData"][KEY].take();
    let mut bare = signed(&authority, &wanted, now)?;
    bare["stringData"]
        .as_object_mut()
        .map(|all| all.remove(AUTHORITY));
    for (name, secret) in [
        ("expired", signed(&authority, &wanted, now - YEAR * 2)?),
        ("early", signed(&authority, &wanted, now + YEAR)?),
        ("strange", strange),
        ("bare", bare),
    ] {
        ours.make::<Secret>(name, secret).await?;
    }
    let bad: [Bad<'_>; 6] = [
        ("expired", pair.peer_endpoints(), "expired", &OF_TIME),
        ("early", pair.peer_endpoints(), "early", &OF_TIME),
        (
            "strange",
            pair.peer_endpoints(),
            "strange",
            &["strange-profile/tls.key` does not belong to the certificate `"],
        ),
        (
            "bare",
            pair.peer_endpoints(),
            "bare",
            &[
                "sslProfile `bare-profile` is not enough for a link",
                "which are ca.crt, tls.crt and tls.key of a Secret",
            ],
        ),
        (
            "missing",
            pair.peer_endpoints(),
            "missing",
            &["TLS credentials secret \"missing\" not found"],
        ),
        (
            "outdated",
            outdated,
            GOOD,
            &[
                "invalid peer certificate: Expired",
                "its certificate must be renewed, or the clock of this machine be set",
            ],
        ),
    ];
    pair.are_told(&bad).await?;
    certify(&pair, &good, &authority).await?;
    pair.are_good(&bad).await
}
