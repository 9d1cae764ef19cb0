//! Certificates as they are issued, and in the hands of those who verify them: the router, and the parser.

use std::collections::BTreeMap;
use std::sync::Arc;

use lifecycle_router::config::{ConfigEntry, Profile};
use lifecycle_router::link::security::{self, accept, dial};
use lifecycle_router::tls::{Files, Profiles, Slot};
use rustls::pki_types::ServerName;
use tokio::io::duplex;

use super::*;
use crate::pki::credentials::Credentials;

const UID: &str = "0c3f1f0e-92d6-4c2d-b9a5-0a1f6a7f3c11";
const RSA_AUTHORITY: &str = include_str!("../testdata/rsa-authority.crt");
const RSA_KEY: &str = include_str!("../testdata/rsa-pkcs1.key");
const RSA_LEAF: &str = include_str!("../testdata/rsa-leaf.crt");
const RSA_LEAF_KEY: &str = include_str!("../testdata/rsa-leaf.key");

fn key(seed: u8) -> Key {
    Key::generate(|| [seed; 32])
}

fn signing(subject: &str) -> CertificateRequest<'_> {
    CertificateRequest {
        subject,
        signing: true,
        ..CertificateRequest::default()
    }
}

fn server() -> CertificateRequest<'static> {
    CertificateRequest {
        subject: "skupper-router",
        hosts: vec!["skupper-router.west", "192.0.2.7", "2001:db8::7"],
        server: true,
        ..CertificateRequest::default()
    }
}

fn client() -> CertificateRequest<'static> {
    CertificateRequest {
        subject: UID,
        client: true,
        ..CertificateRequest::default()
    }
}

fn authority(seed: u8, now: Timestamp) -> (String, Authority) {
    let key = key(seed);
    let pem = self_signed(&signing("west site CA"), &key, now, [seed; 16]).unwrap();
    let authority = Authority::read(pem.as_bytes(), key.pem().as_bytes()).unwrap();
    (pem, authority)
}

fn parse_time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn read(pem: &str) -> Certificate {
    Certificate::read(pem.as_bytes()).unwrap()
}

#[test]
fn a_certificate_follows_from_what_it_is_made_of() {
    let now = parse_time("2026-01-01T00:00:00Z");
    let (pem, authority) = authority(1, now);
    assert_eq!(self::authority(1, now).0, pem);
    let issue = |serial: u8| {
        authority
            .issue(&server(), &key(2), now, [serial; 16])
            .unwrap()
    };
    assert_eq!(issue(3), issue(3));
    assert_ne!(issue(3), issue(4));
}

#[test]
fn it_says_what_was_asked_for() {
    let now = parse_time("2026-01-01T00:00:00Z");
    let (pem, authority) = authority(1, now);
    let made = read(&authority.issue(&server(), &key(2), now, [0; 16]).unwrap());
    assert_eq!(made.lacks(&server()), None);
    assert!(made.is_of(&key(2)) && !made.is_of(&key(3)));
    assert!(made.is_signed_by(&read(&pem)) && !made.is_authority());
    let check = |change: fn(&mut CertificateRequest<'static>), expected: &str| {
        let mut wanted = server();
        change(&mut wanted);
        assert_eq!(made.lacks(&wanted).as_deref(), Some(expected));
    };
    check(
        |wanted| wanted.subject = "other",
        "its subject is `skupper-router`, and not `other`",
    );
    check(|wanted| wanted.client = true, "it is not for clients");
    check(|wanted| wanted.signing = true, "it is no authority");
    check(|wanted| wanted.hosts.push("other"), "it is not for `other`");
    check(
        |wanted| {
            wanted.hosts.remove(0);
        },
        "it is for `skupper-router.west`, too",
    );
    let only = read(&authority.issue(&client(), &key(2), now, [0; 16]).unwrap());
    let mut wanted = client();
    wanted.server = true;
    assert_eq!(
        only.lacks(&wanted).as_deref(),
        Some("it is not for servers")
    );
    assert_eq!(read(&pem).lacks(&signing("west site CA")), None);
}

#[test]
fn lives_are_as_long_as_they_are_meant_and_none_outlives_its_authority() {
    let now = parse_time("2026-01-01T00:00:00Z");
    let (pem, authority) = authority(1, now);
    let end = |pem: &str| read(pem).validity().1.to_string();
    assert_eq!(end(&pem), "2030-12-31T00:00:00Z");
    let issue = |wanted: &CertificateRequest<'_>, now| {
        authority.issue(wanted, &key(2), now, [0; 16]).unwrap()
    };
    assert_eq!(end(&issue(&server(), now)), "2027-01-01T00:00:00Z");
    assert_eq!(end(&issue(&client(), now)), "2030-12-31T00:00:00Z");
    // Just before the renewal of the authority there is room for every renewed certificate.
    let late = read(&pem).renewal();
    assert_eq!(late.to_string(), "2029-05-01T15:58:20Z");
    assert_eq!(end(&issue(&server(), late)), "2030-05-01T15:58:20Z");
    let last = parse_time("2030-12-01T00:00:00Z");
    assert_eq!(end(&issue(&server(), last)), "2030-12-31T00:00:00Z");
}

/// Tests credentials as a grant issues them: with their own key, for a site whose name is not a
/// uid.
#[tokio::test]
async fn what_is_made_with_a_key_of_its_own_names_the_site_that_it_is_of() {
    let now = Timestamp::now();
    let made = Credentials::of_authority("west site CA", now).unwrap();
    let authority = Authority::read(made.certificate.as_bytes(), made.key.as_bytes()).unwrap();
    assert_eq!(authority.text(), made.certificate);
    let east = CertificateRequest {
        subject: "east",
        site: Some("east"),
        client: true,
        ..CertificateRequest::default()
    };
    let shown = |wanted: &CertificateRequest<'_>| {
        let made = Credentials::signed(&authority, wanted, now).unwrap();
        LinkCredentials {
            ca: made.authority,
            chain: made.certificate,
            key: made.key,
        }
    };
    let (west, east) = (shown(&server()), shown(&east));
    assert_ne!(west.key, east.key);
    assert_eq!(
        linked(&west, &east, "192.0.2.7").await,
        Ok("east".to_owned())
    );
    let (_, end) = authority.certificate().validity();
    assert_eq!(authority.expired_at(now), None);
    assert_eq!(authority.expired_at(end), Some(end));
    assert_eq!(read(&east.chain).validity().1, end);
}

#[test]
fn hosts_that_no_certificate_is_for_are_found() {
    let bad = |host: &'static str| {
        let wanted = CertificateRequest {
            hosts: vec!["fine", host],
            ..CertificateRequest::default()
        };
        wanted.bad_host().map(str::to_owned)
    };
    for fine in ["a", " a ", "*.west", "192.0.2.1", "::1", "a_b"] {
        assert_eq!(bad(fine), None);
    }
    for wrong in ["", " ", "a b", "k\u{f6}ln", "a\nb"] {
        assert_eq!(bad(wrong).as_deref(), Some(wrong.trim()), "{wrong:?}");
    }
}

#[test]
fn what_cannot_sign_is_told() {
    let now = parse_time("2026-01-01T00:00:00Z");
    let (pem, authority) = authority(1, now);
    let leaf = authority.issue(&server(), &key(2), now, [0; 16]).unwrap();
    let (own, other) = (key(1).pem(), key(2).pem());
    for (certificate, key, expected) in [
        (
            "",
            own.as_str(),
            "its tls.crt cannot be used: it is no PEM of a certificate",
        ),
        (
            leaf.as_str(),
            other.as_str(),
            "its tls.crt is no certificate of an authority",
        ),
        (pem.as_str(), "", "its tls.key cannot be used"),
        (
            pem.as_str(),
            other.as_str(),
            "its tls.key does not belong to its tls.crt",
        ),
    ] {
        let error = Authority::read(certificate.as_bytes(), key.as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), expected);
    }
}

/// As the replaced implementation makes them: RSA, PKCS#1, for both sides of a connection.
#[test]
fn what_there_is_of_the_replaced_implementation_is_good() {
    let authority = Authority::read(RSA_AUTHORITY.as_bytes(), RSA_KEY.as_bytes()).unwrap();
    assert_eq!(
        authority.certificate().lacks(&signing("west site CA")),
        None
    );
    let leaf = read(RSA_LEAF);
    let wanted = CertificateRequest {
        hosts: vec!["skupper-router", "skupper-router.west", "192.0.2.7"],
        ..server()
    };
    assert_eq!(leaf.lacks(&wanted), None);
    assert!(leaf.is_signed_by(authority.certificate()));
    assert!(leaf.is_of(&Key::read(RSA_LEAF_KEY.as_bytes()).unwrap()));
    let now = authority.certificate().validity().0;
    let made = authority.issue(&server(), &key(1), now, [0; 16]).unwrap();
    assert!(read(&made).is_signed_by(authority.certificate()));
}

/// Credentials that a router presents in a link.
struct LinkCredentials {
    ca: String,
    chain: String,
    key: String,
}

fn profile(shown: &LinkCredentials) -> Arc<Slot> {
    let profile = Profile {
        ca: Some("p/ca.crt".to_owned()),
        pair: Some(("p/tls.crt".to_owned(), "p/tls.key".to_owned())),
    };
    let entry = ConfigEntry {
        hash: String::new(),
        wanted: Ok(profile),
    };
    let files = [
        ("ca.crt", &shown.ca),
        ("tls.crt", &shown.chain),
        ("tls.key", &shown.key),
    ];
    let files: Files = files
        .map(|(name, text)| (format!("p/{name}"), Ok(text.clone().into_bytes())))
        .into();
    let mut profiles = Profiles::default();
    profiles.update(&BTreeMap::from([("p".to_owned(), entry)]), &files);
    let loaded = profiles.get("p").unwrap();
    assert_eq!(loaded.wrong, None);
    loaded.slot.clone()
}

/// Returns the identity that the accepting side assigns to the other one, or the error of the side
/// that found one.
async fn linked(
    server: &LinkCredentials,
    client: &LinkCredentials,
    host: &'static str,
) -> Result<String, String> {
    let (one, other) = duplex(64 * 1024);
    let (server, client) = (profile(server), profile(client));
    let name = ServerName::try_from(host).unwrap();
    let (dialled, accepted) = tokio::join!(dial(one, name, &client, true), accept(other, &server));
    let said = |error: security::Error| lifecycle_runtime::cause::in_one_line(&error);
    dialled.map_err(said)?;
    let (_, site) = accepted.map_err(said)?;
    Ok(site.expect("it names one").as_str().to_owned())
}

#[tokio::test]
async fn the_router_takes_them_for_what_they_are() {
    let now = Timestamp::now();
    let (pem, authority) = authority(1, now);
    let shown = |wanted: &CertificateRequest<'_>, seed: u8| LinkCredentials {
        ca: pem.clone(),
        chain: authority
            .issue(wanted, &key(seed), now, [seed; 16])
            .unwrap(),
        key: key(seed).pem(),
    };
    let (west, east) = (shown(&server(), 2), shown(&client(), 3));
    for host in ["skupper-router.west", "192.0.2.7", "2001:db8::7"] {
        assert_eq!(linked(&west, &east, host).await, Ok(UID.to_owned()));
    }
    let other = linked(&west, &east, "elsewhere.west").await.unwrap_err();
    assert!(other.contains("not valid for name"), "{other}");
    // Who was let in by a certificate for clients cannot be the server of others with it, and the other way.
    let posing = linked(&east, &east, "skupper-router.west")
        .await
        .unwrap_err();
    assert!(posing.contains("invalid peer certificate"), "{posing}");
    let posing = linked(&west, &west, "skupper-router.west").await;
    assert!(posing.is_err());
    // An authority that was renewed keeps its key: who has a certificate of before gets in, and lets it in.
    let later = now.saturating_add(YEAR).unwrap();
    let renewed = self_signed(&signing("west site CA"), &key(1), later, [9; 16]).unwrap();
    assert_ne!(renewed, pem);
    let west = LinkCredentials {
        ca: renewed,
        ..west
    };
    assert_eq!(linked(&west, &east, "192.0.2.7").await, Ok(UID.to_owned()));
    // That of another one with the same name does not.
    let (strange, _) = self::authority(7, now);
    let west = LinkCredentials {
        ca: strange,
        ..west
    };
    assert!(linked(&west, &east, "192.0.2.7").await.is_err());
    // A certificate that the existing implementation issued for a site names the site by its
    // common name.
    let authority = Authority::read(RSA_AUTHORITY.as_bytes(), RSA_KEY.as_bytes()).unwrap();
    let (west, east) = (
        LinkCredentials {
            ca: RSA_AUTHORITY.to_owned(),
            chain: RSA_LEAF.to_owned(),
            key: RSA_LEAF_KEY.to_owned(),
        },
        LinkCredentials {
            ca: RSA_AUTHORITY.to_owned(),
            chain: authority.issue(&client(), &key(3), now, [3; 16]).unwrap(),
            key: key(3).pem(),
        },
    );
    assert_eq!(linked(&west, &east, "192.0.2.7").await, Ok(UID.to_owned()));
    assert_eq!(
        linked(&west, &west, "192.0.2.7").await,
        Ok("skupper-router".to_owned())
    );
}
