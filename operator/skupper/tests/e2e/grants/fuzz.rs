//! Random requests, some of them damaged on the way: none is a redemption, and a correct client is
//! answered between them and afterwards.

use std::collections::BTreeMap;
use std::panic;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use futures::future::try_join_all;
use http::StatusCode;
use kube::ResourceExt as _;
use lifecycle_specs_skupper::access_grant::AccessGrant;
use lifecycle_tests::amount::amount;
use lifecycle_tests::harness::run_within;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use rustls::version;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::time::timeout;

use super::UID;
use super::world::World;

/// As long as very many take, in core time.
pub(super) const LIMIT: Duration = Duration::from_secs(3600);
const CODE: &str = "a-code-that-is-right";
/// Number of concurrent clients.
const CROWD: usize = 8;
/// So much core time an answer takes.
const ANSWERED: Duration = Duration::from_secs(60);
/// Time that a client waits for an answer before it hangs up.
const PAUSE: Duration = Duration::from_millis(500);
/// Source files in which a panic counts as one of the grant server.
const SERVER: [&str; 3] = ["skupper/src/", "runtime/http/", "hyper"];

static PANICS: AtomicUsize = AtomicUsize::new(0);

/// The bytes of a request about a grant of this uid. Its body is never the right code, nor begins with it.
fn request(uid: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let method = prop_oneof![6 => Just("POST"), 1 => select(vec!["GET", "PUT", "post", "PRI", ""])];
    let own = format!("/{uid}");
    let odd = ["/UID/", "//UID", "/", "*", "/UID?code=1", "/%00", "x:/UID"];
    let odd = select(odd.map(|path| path.replace("UID", uid)).to_vec());
    let other = Just(format!("/{UID}"));
    let path = prop_oneof![6 => Just(own), 2 => odd, 1 => "/[ -~]{0,300}", 1 => other];
    let version =
        prop_oneof![9 => Just("HTTP/1.1"), 1 => select(vec!["HTTP/1.0", "HTTP/2.0", "HTTP"])];
    let name = prop_oneof![9 => Just("east".to_owned()), 1 => "[ -~]{0,300}", 1 => "\\PC{0,20}"];
    let subject = prop_oneof![9 => Just(UID.to_owned()), 1 => "[ -~]{0,300}", 1 => "\\PC{0,20}"];
    let more = vec(("[a-zA-Z]{1,20}", "[ -~]{0,100}"), 0..3);
    let wrong = (0..CODE.len()).prop_map(|length| CODE.as_bytes()[..length].to_vec());
    let body =
        prop_oneof![3 => wrong, 1 => vec(any::<u8>(), 0..200), 1 => vec(any::<u8>(), 4000..5000)];
    let length = prop_oneof![
        6 => Just(None),
        1 => any::<i64>().prop_map(|length| Some(length.to_string())),
        1 => "[ -~]{0,10}".prop_map(Some),
    ];
    let who = (name, subject, more);
    let all = (method, path, version, who, body, length, any::<bool>());
    all.prop_map(|(method, path, version, (name, subject, more), body, length, whole)| {
        let length = length.unwrap_or(body.len().to_string());
        let mut text = format!("{method} {path} {version}\r\nhost: grants\r\nname: {name}\r\nsubject: {subject}\r\n");
        for (key, value) in more {
            text += &format!("{key}: {value}\r\n");
        }
        let framed = match whole {
            true => format!("content-length: {length}\r\nconnection: close\r\n\r\n"),
            false => format!("transfer-encoding: chunked\r\n\r\n{:x}\r\n", body.len()),
        };
        let end: &[u8] = if whole { b"" } else { b"\r\n0\r\n\r\n" };
        [text.as_bytes(), framed.as_bytes(), &body, end].concat()
    })
}

/// A request as it is, with other bytes somewhere, or cut off.
fn sent(uid: &str) -> impl Strategy<Value = Vec<u8>> + use<> {
    let damage = prop_oneof![
        3 => Just(None),
        1 => (any::<Index>(), vec(any::<u8>(), 0..4)).prop_map(Some),
    ];
    (request(uid), damage, prop::bool::weighted(0.1)).prop_map(|(mut bytes, damage, is_cut)| {
        if let Some((at, other)) = damage {
            let at = at.index(bytes.len());
            bytes.splice(at..=at, other);
            if is_cut {
                bytes.truncate(at);
            }
        }
        bytes
    })
}

/// Sends the bytes, and returns the status of the answer, if any.
async fn send_bytes(world: &World, grant: &AccessGrant, bytes: &[u8]) -> Result<Option<u16>> {
    let mut stream = world.connect(grant, &[&version::TLS13]).await?;
    let talk = async {
        // The server may have hung up before everything was sent, and closes without close_notify.
        let _unheard = stream.write_all(bytes).await;
        let mut answer = Vec::new();
        // A client that hangs up early gets no answer, and neither does one whose request is
        // incomplete.
        let _silent = timeout(PAUSE, stream.read_buf(&mut answer)).await;
        let _gone = stream.shutdown().await;
        let _end = stream.read_to_end(&mut answer).await;
        answer
    };
    let answer = run_within(ANSWERED, talk).await.context("it stays open")?;
    let answer = String::from_utf8_lossy(&answer).into_owned();
    Ok(answer
        .split(' ')
        .nth(1)
        .and_then(|status| status.parse().ok()))
}

fn count_panics() {
    let before = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        let place = info.location().map_or("", |place| place.file());
        if SERVER.iter().any(|server| place.contains(server)) {
            PANICS.fetch_add(1, Ordering::Relaxed);
        }
        before(info);
    }));
}

async fn redeems(world: &World, grant: &AccessGrant, token: &str) -> Result<()> {
    let answer = world.send_request(grant, "POST", (UID, token), CODE.as_bytes());
    let (status, said) = answer.await?;
    ensure!(status == StatusCode::OK, "{status}: {said}");
    Ok(())
}

pub(super) async fn anything() -> Result<()> {
    count_panics();
    let world = World::start().await?;
    world.reachable().await?;
    let spec = json!({ "code": CODE, "redemptionsAllowed": 3, "expirationWindow": "5h" });
    let grant = world.grant("three", spec).await?;
    let sent = sent(&grant.uid().context("it has a uid")?);
    let mut runner = TestRunner::new(Config {
        rng_seed: RngSeed::Fixed(68),
        ..Config::default()
    });
    let count = usize::try_from(amount("GRANT_FUZZ", 400, 20_000))?;
    let mut draw = || {
        anyhow::Ok(
            sent.new_tree(&mut runner)
                .map_err(anyhow::Error::msg)?
                .current(),
        )
    };
    let all: Result<Vec<Vec<u8>>> = (0..count).map(|_| draw()).collect();
    let all = all?;
    let mut answers = BTreeMap::<Option<u16>, usize>::new();
    for (number, few) in all.chunks(CROWD).enumerate() {
        let asked = few.iter().map(|bytes| send_bytes(&world, &grant, bytes));
        for (answer, bytes) in try_join_all(asked).await?.into_iter().zip(few) {
            let text = String::from_utf8_lossy(bytes);
            ensure!(
                answer.is_none_or(|status| (400..500).contains(&status)),
                "{answer:?}: {text}"
            );
            *answers.entry(answer).or_default() += 1;
        }
        if number == count / CROWD / 2 {
            redeems(&world, &grant, "between").await?;
        }
    }
    redeems(&world, &grant, "afterwards").await?;
    eprintln!("answers to {count} requests, by status: {answers:?}");
    let silent = answers.get(&None).copied().unwrap_or_default();
    ensure!(silent < count / 2, "most are not answered: {answers:?}");
    for status in [400, 403, 404, 405, 413] {
        ensure!(
            answers.contains_key(&Some(status)),
            "none is answered {status}: {answers:?}"
        );
    }
    let two = |grant: &AccessGrant| {
        let status = grant.status.as_ref();
        status.is_some_and(|status| status.redemptions == Some(2))
    };
    world.until("west", "three", two).await?;
    ensure!(PANICS.load(Ordering::Relaxed) == 0, "the server panicked");
    Ok(())
}
