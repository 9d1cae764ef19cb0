//! Row 68 of a site without Kubernetes: a token in a file is redeemed once at the grant server of a
//! cluster, over TLS, and the issued credentials outlive the process.

use std::fs;

use anyhow::{Context, Result};
use k8s_openapi::api::core::v1::Secret;
use kube::api::DeleteParams;
use lifecycle_specs_skupper::access_grant::AccessGrant;
use lifecycle_tests::harness::{Case, case};
use serde_json::{Value, json};
use tokio::task::spawn_blocking;

use super::support::{Site, eventually};
use crate::grants::world::World;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        case(
            "s68_a_token_in_a_file_is_redeemed_once_and_its_link_outlives_the_process",
            &[],
            redeemed,
        ),
        case(
            "s68_a_token_in_a_file_that_is_refused_says_why",
            &[],
            refused,
        ),
    ]
}

/// Loopback address without a listener.
const NOBODY: &str = "127.9.9.9";
const SECRET: &str = "runtime/issued/Secret-east.yaml";
const LINK: &str = "runtime/issued/Link-east.yaml";

/// A token of a grant, as a file.
fn token(name: &str, grant: &AccessGrant) -> Result<String> {
    let told = grant.status.clone().context("no status")?;
    let token = json!({
        "apiVersion": "skupper.io/v2alpha1", "kind": "AccessToken", "metadata": { "name": name },
        "spec": { "url": told.url, "code": told.code, "ca": told.ca, "linkCost": 3 },
    });
    Ok(token.to_string())
}

fn text(site: &Site, path: &str) -> String {
    fs::read_to_string(site.path(path)).unwrap_or_default()
}

#[track_caller]
fn until_linked(site: &Site) {
    site.until("AccessToken-east", "Ready", "OK");
    // The target of the Link has no listener.
    site.until(
        "Link-east",
        "Error",
        "Not operational: it cannot be connected to",
    );
    assert_eq!(site.value("AccessToken-east", "status.redeemed"), true);
    assert_eq!(site.value("Link-east", "spec.cost"), 3);
}

async fn redeemed() -> Result<()> {
    let world = World::start().await?;
    world.reachable_at(NOBODY).await?;
    let grant = world.grant("one", json!({})).await?;
    let file = token("east", &grant)?;
    let code = grant
        .status
        .clone()
        .and_then(|s| s.code)
        .context("no code")?;
    let site = spawn_blocking(move || {
        let mut site = Site::running();
        site.write("token.json", &file);
        until_linked(&site);
        eventually("what it was given is kept", || {
            let there = site.path(SECRET).exists() && site.path(LINK).exists();
            there.then_some(()).ok_or_else(|| site.log())
        });
        assert!(!site.read_object("AccessToken-east").contains(&code));
        let kept = [text(&site, SECRET), text(&site, LINK)];
        let uid = site.value("AccessToken-east", "metadata.uid");
        // This holds however the process ends, and also without the statuses that it has written.
        for ends in [
            |site: &mut Site| assert_eq!(site.stop(), Some(0)),
            Site::kill,
        ] {
            ends(&mut site);
            fs::remove_dir_all(site.path("runtime/resources")).unwrap();
            site.start();
            until_linked(&site);
            assert_eq!([text(&site, SECRET), text(&site, LINK)], kept);
            assert_eq!(site.value("AccessToken-east", "metadata.uid"), uid);
        }
        site
    });
    let site = site.await?;
    let _used: AccessGrant = world
        .until("west", "one", |grant: &AccessGrant| {
            grant
                .status
                .as_ref()
                .is_some_and(|s| s.redemptions == Some(1))
        })
        .await?;
    // The grant is gone, and the authority, and the link stands.
    world
        .api::<AccessGrant>("west")
        .delete("one", &DeleteParams::default())
        .await?;
    world
        .api::<Secret>("west")
        .delete("skupper-site-ca", &DeleteParams::default())
        .await?;
    let done = spawn_blocking(move || {
        let mut site = site;
        site.stop();
        site.start();
        until_linked(&site);
        site.until_whole();
        // Objects that no file declares are removed.
        site.remove("token.json");
        eventually("its Link goes", || {
            let is_gone = site.read_object("Link-east").is_empty() && !site.path(SECRET).exists();
            is_gone
                .then_some(())
                .ok_or_else(|| site.read_object("Link-east"))
        });
        assert!(!site.path(LINK).exists());
    });
    done.await?;
    Ok(())
}

async fn refused() -> Result<()> {
    let world = World::start().await?;
    world.reachable_at(NOBODY).await?;
    let grant = world.grant("one", json!({})).await?;
    let good = token("east", &grant)?;
    let done = spawn_blocking(move || {
        let site = Site::running();
        let mut wrong: Value = serde_json::from_str(&good).unwrap();
        wrong["spec"]["code"] = "another".into();
        site.write("token.json", &wrong.to_string());
        site.until(
            "AccessToken-east",
            "Error",
            "answered 403: Redemption of access token refused",
        );
        assert!(site.read_object("Link-east").is_empty());
        wrong["spec"]["code"] = Value::Null;
        site.write("token.json", &wrong.to_string());
        site.until_told("input/resources/token.json:1: AccessToken east cannot be used: ");
        wrong["spec"]["code"] = "".into();
        site.write("token.json", &wrong.to_string());
        site.until("AccessToken-east", "Error", "spec.code is required");
        site.write("token.json", &good);
        until_linked(&site);
        site.until_whole();
    });
    done.await?;
    Ok(())
}
