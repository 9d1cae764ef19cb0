//! Row 68: grants of one namespace are redeemed from another, over the real grant server and TLS,
//! by tokens that the controller redeems and by arbitrary clients. The API server is simulated; the
//! Site reports its endpoints in its status.

mod fuzz;
pub(crate) mod world;

use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use futures::future::join_all;
use http::StatusCode;
use k8s_openapi::api::core::v1::{Secret, Service};
use kube::ResourceExt;
use kube::api::DeleteParams;
use lifecycle_skupper::grants::service::SERVICE;
use lifecycle_specs_skupper::access_grant::AccessGrant;
use lifecycle_specs_skupper::access_token::AccessToken;
use lifecycle_specs_skupper::link::Link;
use lifecycle_specs_skupper::site::Site;
use lifecycle_tests::harness::{Case, case, case_within, run_within};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::version;
use serde_json::json;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;

use crate::place::has_report;
use world::{HOME, World, code};

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case("s68_a_token_makes_a_secret_and_a_link_once", &[], flow),
        case(
            "s68_who_has_not_the_code_or_comes_late_is_refused",
            &[],
            refusals,
        ),
        case(
            "s68_of_twenty_at_once_exactly_so_many_pass_as_are_allowed",
            &[],
            crowd,
        ),
        case(
            "s68_a_site_that_goes_leaves_its_tokens_redeemed",
            &[],
            deleted,
        ),
        case(
            "s68_a_grant_waits_for_what_it_needs_and_says_so",
            &[],
            waits,
        ),
        case("s68_a_grant_server_is_exhausted_by_nobody", &[], bounds),
        case_within(
            "s68_no_request_at_random_is_a_redemption",
            &[],
            fuzz::LIMIT,
            fuzz::anything,
        ),
    ]
}

const UID: &str = "6e2b1c6a-1111-4111-8111-000000000001";

/// Checks that the certificate in the Secret names the site that dials, in the form that routers
/// expect.
fn names_its_site(secret: &Secret, site: &Site) -> Result<()> {
    let data = secret.data.as_ref().context("no data")?;
    let certificate = CertificateDer::from_pem_slice(&data["tls.crt"].0)?;
    let (_, parsed) = x509_parser::parse_x509_certificate(&certificate)?;
    let names = parsed.subject_alternative_name()?.context("no names")?;
    let uri = format!("urn:skupper:site:{}", site.uid().unwrap_or_default());
    let expected = x509_parser::extensions::GeneralName::URI(&uri);
    ensure!(names.value.general_names == [expected], "{names:?}");
    Ok(())
}

/// Tests a grant for one redemption, a token of it, and the resulting objects; another token of it
/// is refused.
async fn flow() -> Result<()> {
    let world = World::start().await?;
    world.reachable().await?;
    let east: Site = world.make("east", "east", json!({})).await?;
    let grant = world.grant("one", json!({})).await?;
    let told = grant.status.clone().unwrap_or_default();
    let url = format!("https://{}/{}", world.at, grant.uid().unwrap_or_default());
    ensure!(told.url.as_deref() == Some(&url), "{told:?}");
    ensure!(
        told.code.as_ref().is_some_and(|code| code.len() == 24),
        "{told:?}"
    );
    ensure!(
        told.expiration_time.is_some() && told.redemptions.is_none(),
        "{told:?}"
    );
    world
        .token("first", &grant, json!({ "linkCost": 5 }))
        .await?;
    let token: AccessToken = world
        .until("east", "first", |t| has_report(t, "Ready", "OK"))
        .await?;
    ensure!(token.status.and_then(|s| s.redeemed) == Some(true));
    let secret = world.api::<Secret>("east").get("first").await?;
    let link = world.api::<Link>("east").get("first").await?;
    for owners in [secret.owner_references(), link.owner_references()] {
        let uids: Vec<_> = owners
            .iter()
            .map(|o| (o.kind.as_str(), Some(&o.uid)))
            .collect();
        ensure!(uids == [("Site", east.metadata.uid.as_ref())], "{owners:?}");
    }
    ensure!(link.spec.cost == Some(5) && link.spec.tls_credentials.as_deref() == Some("first"));
    let names: Vec<_> = link
        .spec
        .endpoints
        .iter()
        .filter_map(|e| e.name.clone())
        .collect();
    ensure!(names == ["inter-router", "edge"], "{names:?}");
    names_its_site(&secret, &east)?;
    // The second one is refused with a message, and waits.
    world.token("second", &grant, json!({})).await?;
    let refused = |t: &AccessToken| {
        let message = t.status.as_ref().and_then(|s| s.common.message.clone());
        message.is_some_and(|m| {
            m.contains("answered 404: No such access granted; the grant is not there any more")
        })
    };
    let second: AccessToken = world.until("east", "second", refused).await?;
    ensure!(
        second
            .status
            .is_some_and(|s| s.redeemed.is_none() && s.common.status.as_deref() == Some("Error"))
    );
    ensure!(
        world
            .api::<Secret>("east")
            .get_opt("second")
            .await?
            .is_none()
    );
    let used: AccessGrant = world
        .until("west", "one", |g: &AccessGrant| {
            g.status.as_ref().is_some_and(|s| s.redemptions == Some(1))
        })
        .await?;
    ensure!(has_report(&used, "Ready", "OK"));
    // Created objects are left alone: a deleted Link is not created again.
    world
        .api::<Link>("east")
        .delete("first", &DeleteParams::default())
        .await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    ensure!(world.api::<Link>("east").get_opt("first").await?.is_none());
    Ok(())
}

async fn refusals() -> Result<()> {
    let world = World::start().await?;
    let west = world.reachable().await?;
    let grant = world
        .grant("one", json!({ "redemptionsAllowed": 1 }))
        .await?;
    let right = code(&grant);
    let check = async |method: &str, who: (&str, &str), code: &[u8], expected: u16| {
        let (status, said) = world.send_request(&grant, method, who, code).await?;
        ensure!(status == expected, "{method} {who:?}: {status} {said}");
        anyhow::Ok(said)
    };
    let who = (UID, "east");
    check("GET", who, b"", 405).await?;
    check("PUT", who, &right, 405).await?;
    check("POST", who, b"wrong", 403).await?;
    check("POST", who, b"", 403).await?;
    check("POST", who, &[&right[..], b"x"].concat(), 403).await?;
    check("POST", who, &vec![b'x'; 5000], 413).await?;
    check("POST", (UID, "Not_A_Name"), &right, 400).await?;
    check("POST", ("a b", "east"), &right, 400).await?;
    check("POST", (&"u".repeat(200), "east"), &right, 400).await?;
    let own = west.uid().unwrap_or_default();
    check("POST", (&own, "east"), &right, 400).await?;
    // None of them counted.
    let first = check("POST", who, &right, 200).await?;
    ensure!(
        first.contains("kind: Link") && first.contains("kind: Secret"),
        "{first}"
    );
    // The same client is answered again, and no other. A client with the wrong code does not learn
    // that.
    check("POST", who, &right, 200).await?;
    check("POST", (UID, "other"), &right, 404).await?;
    check("POST", who, b"wrong", 404).await?;
    // One grant is unknown, and one has expired.
    let mut unknown = grant.clone();
    unknown.metadata.uid = Some(UID.to_owned());
    let (status, _) = world.send_request(&unknown, "POST", who, &right).await?;
    ensure!(status == 404, "{status}");
    let short = world
        .grant("short", json!({ "expirationWindow": "2s", "code": "c" }))
        .await?;
    let over = |g: &AccessGrant| {
        let message = g.status.as_ref().and_then(|s| s.common.message.clone());
        message.is_some_and(|m| m.starts_with("it expired at "))
    };
    world.until("west", "short", over).await?;
    let (status, _) = world.send_request(&short, "POST", who, b"c").await?;
    ensure!(status == 404, "{status}");
    // Clients below TLS 1.3 are refused.
    let old = world.connect(&grant, &[&version::TLS12]).await;
    ensure!(old.is_err());
    Ok(())
}

async fn crowd() -> Result<()> {
    let world = World::start().await?;
    world.reachable().await?;
    let grant = world
        .grant("seven", json!({ "redemptionsAllowed": 7 }))
        .await?;
    let right = code(&grant);
    let names: Vec<String> = (0..20).map(|number| format!("t{number}")).collect();
    let asked = names
        .iter()
        .map(|name| world.send_request(&grant, "POST", (UID, name), &right));
    let mut passed = 0;
    for answer in join_all(asked).await {
        match answer? {
            (StatusCode::OK, _) => passed += 1,
            (StatusCode::NOT_FOUND, _) => {}
            (status, said) => bail!("{status}: {said}"),
        }
    }
    ensure!(passed == 7, "{passed} of 20 passed");
    // One that comes twice at once is one.
    let grant = world.grant("one", json!({})).await?;
    let right = code(&grant);
    let asked = (0..10).map(|_| world.send_request(&grant, "POST", (UID, "same"), &right));
    for answer in join_all(asked).await {
        let (status, said) = answer?;
        ensure!(status == 200, "{status}: {said}");
    }
    let told: AccessGrant = world
        .until("west", "one", |g: &AccessGrant| {
            g.status.as_ref().is_some_and(|s| s.redemptions.is_some())
        })
        .await?;
    ensure!(told.status.and_then(|s| s.redemptions) == Some(1));
    Ok(())
}

async fn deleted() -> Result<()> {
    let world = World::start().await?;
    world.reachable().await?;
    world.make::<Site>("east", "east", json!({})).await?;
    let grant = world.grant("one", json!({})).await?;
    world.token("east", &grant, json!({})).await?;
    world
        .until::<AccessToken>("east", "east", |t| has_report(t, "Ready", "OK"))
        .await?;
    world
        .api::<Site>("east")
        .delete("east", &DeleteParams::default())
        .await?;
    let is_told = |t: &AccessToken| {
        let status = t.status.clone().unwrap_or_default();
        let message = "Already redeemed for a deleted site";
        let told = status.common.message.as_deref() == Some(message);
        told && status.common.status.as_deref() == Some("Error") && status.redeemed == Some(true)
    };
    let token: AccessToken = world.until("east", "east", is_told).await?;
    let conditions = token
        .status
        .and_then(|s| s.common.conditions)
        .unwrap_or_default();
    let redeemed = conditions
        .iter()
        .find(|c| c.type_ == "Redeemed")
        .context("no Redeemed")?;
    ensure!(
        (redeemed.status.as_str(), redeemed.reason.as_str()) == ("True", "Error"),
        "{redeemed:?}"
    );
    // Another Site of the namespace is not the one that it was redeemed for.
    world.make::<Site>("east", "east", json!({})).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    world.until("east", "east", is_told).await.map(drop)
}

async fn waits() -> Result<()> {
    let world = World::start().await?;
    let said = |grant: &AccessGrant| {
        let status = grant.status.clone().unwrap_or_default();
        status.common.message.unwrap_or_default()
    };
    world.make::<AccessGrant>("west", "g", json!({})).await?;
    world
        .until("west", "g", |g| said(g) == "No active site in namespace")
        .await?;
    world
        .make::<Site>("west", "edge", json!({ "edge": true }))
        .await?;
    let edge = "Edge sites cannot accept incoming links from remote sites";
    world.until("west", "g", |g| said(g) == edge).await?;
    world
        .api::<Site>("west")
        .delete("edge", &DeleteParams::default())
        .await?;
    world.make::<Site>("west", "west", json!({})).await?;
    world
        .until("west", "g", |g| {
            said(g).starts_with("No valid endpoints found for site")
        })
        .await?;
    world
        .api::<Site>("west")
        .delete("west", &DeleteParams::default())
        .await?;
    world.reachable().await?;
    world
        .until("west", "g", |g: &AccessGrant| has_report(g, "Ready", "OK"))
        .await?;
    world
        .api::<Service>(HOME)
        .delete(SERVICE, &DeleteParams::default())
        .await?;
    world
        .until("west", "g", |g| {
            said(g).starts_with("Service skupper-grant-server of namespace skupper not found")
        })
        .await?;
    world
        .api::<Secret>("west")
        .delete("skupper-site-ca", &DeleteParams::default())
        .await?;
    world
        .until("west", "g", |g| {
            said(g).starts_with("Secret skupper-site-ca of the authority")
        })
        .await?;
    world
        .make::<AccessGrant>("west", "odd", json!({ "expirationWindow": "-5m" }))
        .await?;
    world
        .until("west", "odd", |g| {
            said(g).starts_with("Invalid duration \"-5m\"")
        })
        .await?;
    Ok(())
}

/// So much core time an answer takes beside connections that are idle.
const ANSWERED: Duration = Duration::from_secs(30);

/// Tests that hundreds of clients that send nothing, or only a part, keep no other client out.
/// Invalid requests are not counted as redemptions.
async fn bounds() -> Result<()> {
    let world = World::start().await?;
    world.reachable().await?;
    let grant = world.grant("one", json!({})).await?;
    let mut idle = Vec::new();
    for _ in 0..400 {
        idle.push(TcpStream::connect(world.at).await?);
    }
    let mut half = world.connect(&grant, &[&version::TLS13]).await?;
    half.write_all(b"POST /x HTTP/1.1\r\ncontent-length: 4000\r\n\r\nx")
        .await?;
    let began = Instant::now();
    let code_of_grant = code(&grant);
    let asked = world.send_request(&grant, "POST", (UID, "east"), &code_of_grant);
    let answer = run_within(ANSWERED, asked).await;
    let (status, said) = answer.context("the idle connections keep it out")??;
    ensure!(status == 200, "{status}: {said}");
    eprintln!(
        "answered beside 400 idle connections after {:.1?}",
        began.elapsed()
    );
    let mut seed = 1_u64;
    for _ in 0..50 {
        let Ok(mut stream) = world.connect(&grant, &[&version::TLS13]).await else {
            continue;
        };
        let junk: Vec<u8> = (0..200)
            .map(|_| {
                seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                seed.to_be_bytes()[0]
            })
            .collect();
        // The server may have hung up before everything was sent.
        let _unheard = stream.write_all(&junk).await;
    }
    let (status, said) = world
        .send_request(&grant, "POST", (UID, "east"), &code(&grant))
        .await?;
    ensure!(status == 200, "{status}: {said}");
    Ok(())
}
