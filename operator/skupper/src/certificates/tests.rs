//! What is issued passes where it is shown: at a router, and at a client of the grant server.

use std::collections::BTreeMap;
use std::sync::Arc;

use lifecycle_router::config::{ConfigEntry, Profile};
use lifecycle_router::link::security;
use lifecycle_router::tls::{Files, Profiles, Slot};
use rustls::pki_types::ServerName;
use tokio::io::duplex;

use super::*;

const SITE: &str = "6e2b1c6a-1111-4111-8111-000000000001";

fn authority(now: Timestamp) -> Authority {
    let made = Authority::generate("skupper-site-ca", now).unwrap();
    Authority::read(made.certificate.as_bytes(), made.key.as_bytes(), now).unwrap()
}

fn slot(made: &Credentials) -> Arc<Slot> {
    let profile = Profile {
        ca: Some("ca.crt".to_owned()),
        pair: Some(("tls.crt".to_owned(), "tls.key".to_owned())),
    };
    let entry = ConfigEntry {
        hash: String::new(),
        wanted: Ok(profile),
    };
    let files: Files = [
        ("ca.crt", &made.authority),
        ("tls.crt", &made.certificate),
        ("tls.key", &made.key),
    ]
    .map(|(name, pem)| (name.to_owned(), Ok(pem.clone().into_bytes())))
    .into();
    let mut profiles = Profiles::default();
    profiles.update(&BTreeMap::from([("link".to_owned(), entry)]), &files);
    profiles.get("link").unwrap().slot.clone()
}

/// The site that a router takes who shows this for.
async fn seen(server: &Credentials, client: &Credentials) -> Result<String, String> {
    let (here, there) = duplex(64 * 1024);
    let (server, client) = (slot(server), slot(client));
    let name = ServerName::try_from("west.example.com").unwrap();
    let (accepted, dialled) = tokio::join!(
        security::accept(there, &server),
        security::dial(here, name, &client, true)
    );
    dialled.map_err(|error| error.to_string())?;
    let (_, site) = accepted.map_err(|error| error.to_string())?;
    Ok(site.as_str().to_owned())
}

#[tokio::test]
async fn a_router_takes_who_was_granted_a_link_for_the_site_that_it_was_granted_to() {
    let now = Timestamp::now();
    let hosts = ["west.example.com".to_owned()];
    let life = SignedDuration::from_hours(1);
    let old = include_str!("testdata/authority.crt");
    let key = include_str!("testdata/authority.key");
    // Also where the authority was made by the replaced implementation, of RSA in PKCS#1.
    let old = Authority::read(old.as_bytes(), key.as_bytes(), now).unwrap();
    for authority in [authority(now), old] {
        let server = authority.of_server("west", &hosts, (now, life)).unwrap();
        let client = authority.of_site(SITE, now).unwrap();
        assert_eq!(seen(&server, &client).await.as_deref(), Ok(SITE));
        let stranger = self::authority(now).of_site(SITE, now).unwrap();
        assert!(seen(&server, &stranger).await.is_err());
        // Each is for its own side alone.
        assert!(seen(&client, &server).await.is_err());
    }
}

#[test]
fn what_cannot_sign_is_said() {
    let now = Timestamp::now();
    let made = Authority::generate("a", now).unwrap();
    let other = Authority::generate("b", now).unwrap();
    let leaf = authority(now).of_site(SITE, now).unwrap();
    let read = |certificate: &str, key: &str, now: Timestamp| {
        let read = Authority::read(certificate.as_bytes(), key.as_bytes(), now);
        read.err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    };
    assert_eq!(read(&made.certificate, &made.key, now), "");
    let after = now + SignedDuration::from_hours(6 * 365 * 24);
    assert!(read(&made.certificate, &made.key, after).starts_with("its tls.crt ended at"));
    assert!(read(&made.certificate, &other.key, now).contains("does not belong"));
    assert!(read(&leaf.certificate, &leaf.key, now).contains("no certificate of an authority"));
    assert!(read("x", &made.key, now).contains("no PEM of a certificate"));
    assert!(read(&made.certificate, "x", now).contains("no PEM of a private key"));
}

#[test]
fn what_is_renewed_is_renewed_before_it_ends() {
    let now = Timestamp::now();
    let authority = authority(now);
    let (hour, years) = (
        SignedDuration::from_hours(3),
        SignedDuration::from_hours(90 * 365 * 24),
    );
    assert_eq!(
        authority.renewal(now, hour),
        now + SignedDuration::from_hours(2)
    );
    let late = authority.renewal(now, years);
    assert!(late < now + OF_AUTHORITIES);
}
