//! Certificates and their Secrets: made, kept, made anew, and left alone where they are another's.

use crate::place::{TestNamespace, has_report};
use anyhow::{Context, Result, ensure};
use k8s_openapi::api::core::v1::Secret;
use lifecycle_skupper::certificate::{AUTHORITY, CHAIN, KEY, certificate, text};
use lifecycle_specs_skupper::certificate::Certificate;
use lifecycle_tests::harness::Case;
use serde_json::{Value, json};

use super::support::shared;

pub(crate) fn cases() -> Vec<Case> {
    vec![
        shared("certificates_are_made_and_made_anew", issue_and_reissue),
        shared("what_the_replaced_implementation_issued_stays", replaced),
        shared("a_secret_of_another_is_never_touched", foreign),
    ]
}

/// An authority, and a certificate that it signs.
async fn both(place: &TestNamespace) -> Result<()> {
    let authority = json!({ "ca": "", "subject": "a CA", "signing": true });
    place
        .make::<Certificate>("ca", json!({ "spec": authority }))
        .await?;
    let leaf = json!({ "ca": "ca", "subject": "a", "hosts": ["a.example"], "server": true });
    place
        .make::<Certificate>("leaf", json!({ "spec": leaf }))
        .await?;
    Ok(())
}

async fn ready(place: &TestNamespace, name: &str) -> Result<Certificate> {
    let what = format!("Certificate {name} is Ready");
    let is = |found: &Certificate| has_report(found, "Ready", "OK");
    place.until(name, &what, is).await
}

fn part<'a>(secret: &'a Secret, key: &str) -> Result<&'a str> {
    text(secret, key).with_context(|| format!("the Secret has no {key}"))
}

async fn issue_and_reissue(place: TestNamespace) -> Result<()> {
    both(&place).await?;
    let told = ready(&place, "leaf").await?.status.unwrap_or_default();
    let (secrets, ca) = (
        place.api::<Secret>(),
        place.api::<Secret>().get("ca").await?,
    );
    let before = secrets.get("leaf").await?;
    ensure!(before.type_.as_deref() == Some("kubernetes.io/tls"));
    ensure!(
        part(&before, AUTHORITY)? == part(&ca, CHAIN)?
            && part(&ca, AUTHORITY)? == part(&ca, CHAIN)?
    );
    let own = certificate(&before).context("it holds a certificate")?;
    ensure!(own.is_signed_by(&certificate(&ca).context("it holds a certificate")?));
    ensure!(told.expiration.map(|at| at.0) == Some(own.validity().1));
    // Another host needs another certificate, and no other key.
    let hosts = json!({ "spec": { "hosts": ["b.example"] } });
    place.patch::<Certificate>("leaf", hosts).await?;
    let differs = |key: &'static str, before: &Secret| {
        let before = text(before, key).map(str::to_owned);
        move |now: &Secret| text(now, key).is_some() && text(now, key) != before.as_deref()
    };
    let moved: Secret = place
        .until("leaf", "it is for another host", differs(CHAIN, &before))
        .await?;
    ensure!(part(&moved, KEY)? == part(&before, KEY)?);
    // A deleted Secret is created again, with different content.
    place.delete::<Secret>("leaf").await?;
    place
        .until::<Secret>("leaf", "it is made anew", differs(KEY, &moved))
        .await?;
    // A key that leaked takes along all that it signed.
    place.delete::<Secret>("ca").await?;
    let renewed: Secret = place
        .until("ca", "it is made anew", differs(KEY, &ca))
        .await?;
    let by_it = |leaf: &Secret| {
        let (leaf, ca) = (certificate(leaf), certificate(&renewed));
        matches!((leaf, ca), (Some(leaf), Some(ca)) if leaf.is_signed_by(&ca))
    };
    place
        .until("leaf", "the new one has signed it", by_it)
        .await?;
    ready(&place, "leaf").await.map(drop)
}

fn data(chain: &str, key: &str) -> Value {
    json!({ CHAIN: chain, KEY: key, AUTHORITY: include_str!("../../../src/pki/testdata/rsa-authority.crt") })
}

/// RSA, PKCS#1, and an owner reference that does not control.
async fn replaced(place: TestNamespace) -> Result<()> {
    let leaf = json!({
        "ca": "ca", "subject": "skupper-router", "server": true,
        "hosts": ["skupper-router", "skupper-router.west", "192.0.2.7"],
    });
    let authority = json!({ "ca": "", "subject": "west site CA", "signing": true });
    let rsa = [
        (
            "ca",
            authority,
            include_str!("../../../src/pki/testdata/rsa-authority.crt"),
            include_str!("../../../src/pki/testdata/rsa-pkcs1.key"),
        ),
        (
            "leaf",
            leaf,
            include_str!("../../../src/pki/testdata/rsa-leaf.crt"),
            include_str!("../../../src/pki/testdata/rsa-leaf.key"),
        ),
    ];
    let other = json!({ "data": { "controller": "somewhere/another" } });
    place
        .make::<k8s_openapi::api::core::v1::ConfigMap>("skupper", other)
        .await?;
    for (name, spec, chain, key) in &rsa {
        let made: Certificate = place.make(name, json!({ "spec": spec })).await?;
        let owner = json!([{
            "apiVersion": "skupper.io/v2alpha1", "kind": "Certificate", "name": name, "uid": made.metadata.uid,
        }]);
        let secret = json!({
            "metadata": { "name": name, "ownerReferences": owner },
            "type": "kubernetes.io/tls", "stringData": data(chain, key),
        });
        place.make::<Secret>(name, secret).await?;
    }
    place
        .delete::<k8s_openapi::api::core::v1::ConfigMap>("skupper")
        .await?;
    for (name, _, chain, key) in rsa {
        ready(&place, name).await?;
        let secret = place.api::<Secret>().get(name).await?;
        ensure!(part(&secret, CHAIN)? == chain && part(&secret, KEY)? == key);
    }
    Ok(())
}

async fn foreign(place: TestNamespace) -> Result<()> {
    let theirs: Secret = place
        .make("leaf", json!({ "stringData": { "a": "b" } }))
        .await?;
    both(&place).await?;
    let said =
        "Secret leaf already exists in namespace: delete it, or give the Certificate another name";
    let told = |found: &Certificate| has_report(found, "Error", said);
    place.until("leaf", said, told).await?;
    let now = place.api::<Secret>().get("leaf").await?;
    ensure!(now.metadata.resource_version == theirs.metadata.resource_version);
    place.delete::<Secret>("leaf").await?;
    ready(&place, "leaf").await.map(drop)
}
