//! The router with a real API server, under the rights that its Role gives and no others: Secrets that are missing, arrive, are
//! renewed and go; a ConfigMap that is deleted or broken by hand; an API server that is down. Names of tests begin with their row
//! of the acceptance table.

#![allow(clippy::unwrap_used, reason = "a test may stop at once")]

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../router/authority.rs"]
mod authority;
mod node;
mod site;
#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../router/support.rs"]
mod support;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Result, ensure};
use lifecycle_router::state::{State, Status};
use lifecycle_tests::harness::{Need, case, case_within, eventually, run};
use serde_json::{Value, json};

use authority::profile;
use site::{Site, profile_status, status};
use support::{LIMIT, and, connector, listener, ping};

const BINARIES: &[Need] = &[Need::Binaries];

/// Ports on the address of a site, which is its own.
const PLAIN: u16 = 1024;
const TLS: u16 = 1025;

fn main() -> ExitCode {
    run(vec![
        case(
            "s53_a_router_that_is_killed_serves_again_while_the_api_server_is_down",
            BINARIES,
            survives_without_api_server,
        ),
        case(
            "s55_s56_a_missing_secret_fails_its_entries_alone_until_it_arrives",
            BINARIES,
            secrets_come_and_go,
        ),
        case(
            "s57_a_renewed_secret_counts_from_the_next_handshake_on",
            BINARIES,
            secrets_are_renewed,
        ),
        case(
            "s57_a_pair_that_does_not_fit_beside_a_missing_secret_leaves_the_last_good_one",
            BINARIES,
            broken_beside_missing,
        ),
        case(
            "s56_rights_that_come_after_the_document_are_waited_for",
            BINARIES,
            rights_come_late,
        ),
        case(
            "s52_a_configmap_that_is_deleted_or_broken_ends_nothing",
            BINARIES,
            documents_break,
        ),
        case(
            "a_hundred_secrets_are_followed_in_little_memory",
            BINARIES,
            many_secrets,
        ),
        case_within(
            "s53_a_pod_of_the_router_serves_through_a_service_and_so_does_its_successor",
            &[Need::Nodes],
            Duration::from_secs(600),
            node::replaced,
        ),
    ])
}

/// A listener in the clear, one with the profile `web`, and an echo behind both.
fn elements(site: &Site) -> Vec<Value> {
    let web = json!({ "sslProfile": "web" });
    vec![
        profile("web"),
        listener("plain", PLAIN, "k"),
        and(listener("tls", TLS, "k"), &web),
        connector("echo", site.echo.address, "k"),
    ]
}

async fn survives_without_api_server() -> Result<()> {
    let mut site = Site::new(&["web"]).await?;
    let pair = site.pair();
    site.secret("web", &pair).await?;
    site.server.kill_api_server()?;
    // Without a kept copy and without an API server, the router waits.
    site.start_router()?;
    ensure!(
        site.connect(PLAIN).await.is_err(),
        "there is nothing to serve"
    );
    site.server.start_api_server().await?;
    site.document(&elements(&site)).await?;
    let before = site.up("tls").await?;
    ping(&mut site.connect(PLAIN).await?, 1).await;
    site.shows(TLS, &pair).await?;
    let copy = || -> Result<Vec<_>> {
        let files = fs::read_dir(site.cache())?;
        files.map(|file| Ok(file?.path())).collect()
    };
    let file = eventually("there is a copy", LIMIT, async || Ok(copy()?.pop())).await?;
    let mode = fs::metadata(&file)?.permissions().mode();
    ensure!(mode & 0o777 == 0o600, "{file:?} has mode {mode:o}");
    let resident = site.memory("VmRSS")?;
    ensure!(resident <= 32 * 1024, "{resident} KiB");

    site.server.kill_api_server()?;
    let mut open = site.connect(PLAIN).await?;
    ping(&mut open, 2).await;
    for seed in 3..6 {
        site.kill_router();
        site.start_router()?;
        let after = site.up("tls").await?;
        ensure!(after.instance != before.instance, "it is the same process");
        ensure!(after.configuration == before.configuration && after.error.is_none());
        ping(&mut site.connect(PLAIN).await?, seed).await;
        site.shows(TLS, &pair).await?;
    }
    // It catches up with the changes since.
    let mut open = site.connect(PLAIN).await?;
    site.server.start_api_server().await?;
    let newer = site.pair();
    site.secret("web", &newer).await?;
    let more = [elements(&site), vec![listener("more", 1026, "k")]].concat();
    site.document(&more).await?;
    site.up("more").await?;
    site.shows(TLS, &newer).await?;
    ping(&mut open, 9).await;
    site.asked_for_nothing_else(&["web"]).await
}

async fn secrets_come_and_go() -> Result<()> {
    let mut site = Site::new(&["web", "back"]).await?;
    let back = json!(["sslProfile", { "name": "back-profile",
        "caCertFile": "/etc/skupper-router-certs/back-profile/ca.crt" }]);
    let behind = and(
        connector("behind", site.echo.address, "behind"),
        &json!({ "sslProfile": "back-profile", "verifyHostname": false }),
    );
    let all = [
        elements(&site),
        vec![back, behind, listener("behind", 1026, "behind")],
    ]
    .concat();
    site.document(&all).await?;
    site.start_router()?;
    let missing = "TLS credentials secret \"web\" not found";
    let state = site.up("plain").await?;
    ensure!(
        status(&state, "tls") == Some(&Status::Failed(missing.to_owned())),
        "{state:#?}"
    );
    ensure!(
        status(&state, "behind") == Some(&Status::Idle),
        "{state:#?}"
    );
    let behind = state
        .entry("tcpConnector", "behind")
        .map(|entry| &entry.status);
    let other = "TLS credentials secret \"back\" not found".to_owned();
    ensure!(behind == Some(&Status::Failed(other)), "{state:#?}");
    let mut plain = site.connect(PLAIN).await?;
    ping(&mut plain, 1).await;
    ensure!(
        site.connect(TLS).await.is_err(),
        "it listens without a certificate"
    );
    for seed in 2..4 {
        let pair = site.pair();
        site.secret("web", &pair).await?;
        site.up("tls").await?;
        let mut open = site.shows(TLS, &pair).await?;
        site.delete_secret("web").await?;
        ensure!(site.failed("tls").await? == missing);
        ensure!(site.connect(TLS).await.is_err(), "it still listens");
        ping(&mut open, seed).await;
        ping(&mut plain, seed).await;
    }
    site.secret_of("back", &json!({ "ca.crt": site.authority.pem() }))
        .await?;
    site.up("behind").await?;
    // One that was there and has gone leaves no copy of its key.
    eventually("the copy is of what there is", LIMIT, async || {
        let copy = fs::read(site.cache().join("configuration.json"))?;
        let copy: Value = serde_json::from_slice(&copy)?;
        let files = copy["files"].as_object().into_iter().flatten();
        let names: Vec<&str> = files.map(|(name, _)| name.as_str()).collect();
        let state = ["ca.crt", "tls.crt", "tls.key"].map(|key| format!("{}/{key}", site::STATE));
        let [ca, chain, key] = state.each_ref().map(String::as_str);
        Ok((names == ["back-profile/ca.crt", ca, chain, key]).then_some(()))
    })
    .await?;
    ping(&mut plain, 5).await;
    site.asked_for_nothing_else(&["web", "back"]).await
}

async fn secrets_are_renewed() -> Result<()> {
    let mut site = Site::new(&["web"]).await?;
    let first = site.pair();
    site.secret("web", &first).await?;
    site.document(&elements(&site)).await?;
    site.start_router()?;
    site.up("tls").await?;
    let mut open = vec![site.shows(TLS, &first).await?];
    let mut last = first;
    for _ in 0..3 {
        last = site.pair();
        site.secret("web", &last).await?;
        open.push(site.shows(TLS, &last).await?);
        for (seed, stream) in open.iter_mut().enumerate() {
            ping(stream, seed as u64).await;
        }
    }
    // Invalid files change only the report about them, not even after a restart.
    let broken = json!({ "ca.crt": site.authority.pem(), "tls.crt": "none", "tls.key": last.key });
    site.secret_of("web", &broken).await?;
    let is_told = |state: &State| {
        matches!(profile_status(state, "web"), Some(Status::Failed(_)))
            && status(state, "tls") == Some(&Status::Up)
    };
    site.until("the broken Secret is told", is_told).await?;
    open.push(site.shows(TLS, &last).await?);
    for (seed, stream) in open.iter_mut().enumerate() {
        ping(stream, seed as u64).await;
    }
    site.kill_router();
    site.start_router()?;
    site.until("the broken Secret is told again", is_told)
        .await?;
    site.shows(TLS, &last).await?;
    // Without an authority, which none of its clients needs.
    let newest = site.pair();
    site.delete_secret("web").await?;
    site.failed("tls").await?;
    let pair = json!({ "tls.crt": newest.chain, "tls.key": newest.key });
    site.secret_of("web", &pair).await?;
    site.up("tls").await?;
    site.shows(TLS, &newest).await?;
    site.asked_for_nothing_else(&["web"]).await
}

/// Tests a restart with a missing and a broken Secret. The router waits for the first answer about
/// the missing Secret; the broken one may arrive before it.
async fn broken_beside_missing() -> Result<()> {
    let mut site = Site::new(&["web", "missing"]).await?;
    let good = site.pair();
    site.secret("web", &good).await?;
    let other = json!({ "sslProfile": "missing" });
    let more = [profile("missing"), and(listener("late", 1026, "k"), &other)];
    let all = [elements(&site), more.to_vec()].concat();
    site.document(&all).await?;
    site.start_router()?;
    site.up("tls").await?;
    site.failed("late").await?;
    let broken = json!({ "tls.crt": good.chain, "tls.key": site.pair().key });
    site.secret_of("web", &broken).await?;
    let is_told = |state: &State| matches!(profile_status(state, "web"), Some(Status::Failed(_)));
    for _ in 0..8 {
        site.until("the broken Secret is told", is_told).await?;
        site.up("tls").await?;
        site.shows(TLS, &good).await?;
        site.kill_router();
        site.start_router()?;
    }
    Ok(())
}

async fn rights_come_late() -> Result<()> {
    let mut site = Site::new(&[]).await?;
    let pair = site.pair();
    site.secret("web", &pair).await?;
    site.start_router()?;
    site.document(&elements(&site)).await?;
    let state = site.up("plain").await?;
    let Some(Status::Failed(why)) = status(&state, "tls") else {
        anyhow::bail!("{state:#?}");
    };
    ensure!(why.contains("web") && why.contains("forbidden"), "{why}");
    ensure!(
        profile_status(&state, site::STATE) == Some(&Status::Up),
        "{state:#?}"
    );
    ensure!(state.error.is_none(), "{state:#?}");
    let mut plain = site.connect(PLAIN).await?;
    ping(&mut plain, 1).await;
    site.allow(&["web"]).await?;
    site.up("tls").await?;
    site.shows(TLS, &pair).await?;
    ping(&mut plain, 2).await;
    // Rights that are taken away end nothing.
    site.allow(&[]).await?;
    site.server.restart_api_server().await?;
    let more = [elements(&site), vec![listener("more", 1026, "k")]].concat();
    site.document(&more).await?;
    let state = site.up("more").await?;
    ensure!(status(&state, "tls") == Some(&Status::Up), "{state:#?}");
    site.shows(TLS, &pair).await?;
    ping(&mut plain, 3).await;
    site.asked_for_nothing_else(&["web"]).await
}

async fn documents_break() -> Result<()> {
    let mut site = Site::new(&["web"]).await?;
    site.secret("web", &site.pair()).await?;
    site.document(&elements(&site)).await?;
    site.start_router()?;
    let before = site.up("tls").await?;
    let mut plain = site.connect(PLAIN).await?;
    let mut secure = site.connect_tls(TLS).await?;
    let good = before.configuration.clone();
    for turn in 0..4 {
        let words = match turn {
            0 => {
                site.delete_document().await?;
                "ConfigMap site/skupper-router not found"
            }
            1 => {
                site.text("[[\"tcpListener\"").await?;
                "is no JSON"
            }
            2 => {
                site.data(&json!({ "claims": "[]" })).await?;
                "has no `skrouterd.json`"
            }
            _ => {
                site.text("{}").await?;
                "is no array"
            }
        };
        let told = |state: &State| {
            state
                .error
                .as_ref()
                .is_some_and(|error| error.contains(words))
        };
        let state = site.until(words, told).await?;
        ensure!(state.configuration == good, "{state:#?}");
        ensure!(status(&state, "tls") == Some(&Status::Up), "{state:#?}");
        ping(&mut plain, turn).await;
        ping(&mut secure, turn).await;
        ping(&mut site.connect(PLAIN).await?, turn).await;
    }
    // After a restart too, which finds nothing good but its copy.
    site.kill_router();
    site.start_router()?;
    let state = site.up("tls").await?;
    ensure!(state.configuration == good, "{state:#?}");
    let mut plain = site.connect(PLAIN).await?;
    ping(&mut plain, 7).await;
    site.document(&elements(&site)).await?;
    let healed = |state: &State| state.error.is_none() && status(state, "tls") == Some(&Status::Up);
    site.until("the document is good again", healed).await?;
    ping(&mut plain, 8).await;
    site.asked_for_nothing_else(&["web"]).await
}

async fn many_secrets() -> Result<()> {
    const MANY: u16 = 100;
    let names: Vec<String> = (0..MANY).map(|number| format!("web-{number}")).collect();
    let secrets: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut site = Site::new(&secrets).await?;
    let pair = site.pair();
    let mut document = vec![connector("echo", site.echo.address, "k")];
    for (name, port) in names.iter().zip(TLS..) {
        site.secret(name, &pair).await?;
        let web = json!({ "sslProfile": name });
        document.push(profile(name));
        document.push(and(listener(name, port, "k"), &web));
    }
    site.document(&document).await?;
    site.start_router()?;
    let is_up = |state: &State| {
        names
            .iter()
            .all(|name| status(state, name) == Some(&Status::Up))
    };
    site.until("all listeners are up", is_up).await?;
    let resident = site.memory("VmRSS")?;
    ensure!(resident <= 64 * 1024, "{resident} KiB");
    // Renewed at once, as authorities do that end.
    let newer = site.pair();
    for name in &names {
        site.secret(name, &newer).await?;
    }
    for port in TLS..TLS + MANY {
        site.shows(port, &newer).await?;
    }
    let resident = site.memory("VmRSS")?;
    ensure!(resident <= 64 * 1024, "{resident} KiB");
    site.asked_for_nothing_else(&secrets).await
}
