//! Files of profiles, good and bad.

use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use rcgen::{CertificateParams, KeyPair};
use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::ServerCertVerifier as _;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, UnixTime};

use super::verify::Servers;
use super::*;

/// Seconds since 1970 at the end of 2024, and a year before that.
const LATE: i64 = 1_735_689_600;
const EARLY: i64 = 1_703_000_000;

/// A certificate that is good from the beginning of one year to that of another.
fn between(key: &KeyPair, [from, until]: [i32; 2]) -> Vec<u8> {
    let mut params = CertificateParams::new(vec!["a".to_owned()]).unwrap();
    params.not_before = rcgen::date_time_ymd(from, 1, 1);
    params.not_after = rcgen::date_time_ymd(until, 1, 1);
    params.self_signed(key).unwrap().pem().into_bytes()
}

fn pair(name: &str) -> (Vec<u8>, Vec<u8>) {
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    (
        certificate.pem().into_bytes(),
        key.serialize_pem().into_bytes(),
    )
}

fn desired_profiles() -> BTreeMap<String, ConfigEntry<Profile>> {
    let profile = Profile {
        ca: Some("p/ca.crt".to_owned()),
        pair: Some(("p/tls.crt".to_owned(), "p/tls.key".to_owned())),
    };
    let entry = ConfigEntry {
        hash: String::new(),
        wanted: Ok(profile),
    };
    BTreeMap::from([("p".to_owned(), entry)])
}

fn files(ca: &[u8], chain: &[u8], key: &[u8]) -> Files {
    let all = [("p/ca.crt", ca), ("p/tls.crt", chain), ("p/tls.key", key)];
    all.map(|(path, bytes)| (path.to_owned(), Ok(bytes.to_vec())))
        .into()
}

fn wrong(profiles: &Profiles) -> Option<&str> {
    profiles.get("p").unwrap().wrong.as_deref()
}

#[test]
fn a_certificate_that_is_over_is_told_and_served_until_it_is_renewed() {
    let key = KeyPair::generate().unwrap();
    let (old, new) = (between(&key, [2020, 2024]), between(&key, [2020, 2034]));
    let key = key.serialize_pem().into_bytes();
    let mut profiles = Profiles::default();
    profiles.update(&desired_profiles(), &files(&old, &old, &key));
    let loaded = profiles.get("p").unwrap();
    assert_eq!(loaded.trouble(EARLY), None);
    let told = loaded.trouble(LATE).unwrap();
    assert!(told.starts_with(EXPIRED) && told.contains("2024"), "{told}");
    assert!(loaded.is_expired(LATE) && loaded.slot.now().is_some());
    profiles.update(&desired_profiles(), &files(&new, &new, &key));
    assert_eq!(profiles.get("p").unwrap().trouble(LATE), None);
    profiles.update(&desired_profiles(), &files(&new, &new, b""));
    let told = profiles.get("p").unwrap().trouble(LATE).unwrap();
    assert!(told.contains("private key"), "{told}");
}

#[test]
fn a_certificate_whose_time_is_wrong_is_told_in_the_same_words_at_any_time() {
    let key = KeyPair::generate().unwrap();
    let said = |years, at: i64| {
        let certificate = CertificateDer::from_pem_slice(&between(&key, years)).unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(certificate.clone()).unwrap();
        let by =
            WebPkiServerVerifier::builder_with_provider(Arc::new(roots), credentials::crypto());
        let servers = Servers {
            by: by.build().unwrap(),
            any_name: false,
        };
        let now = UnixTime::since_unix_epoch(Duration::from_secs(at.unsigned_abs()));
        let name = "a".try_into().unwrap();
        let verified = servers.verify_server_cert(&certificate, &[], &name, &[], now);
        verified.unwrap_err().to_string()
    };
    for (years, words) in [([2020, 2021], "Expired"), ([2030, 2031], "NotValidYet")] {
        let told = [EARLY, LATE].map(|at| said(years, at));
        assert_eq!(
            told,
            [0, 1].map(|_| format!("invalid peer certificate: {words}"))
        );
    }
}

#[test]
fn broken_files_are_told_and_the_good_ones_before_stay() {
    let (chain, key) = pair("a");
    let (_, other) = pair("b");
    let mut profiles = Profiles::default();
    profiles.update(&desired_profiles(), &Files::new());
    assert_eq!(
        wrong(&profiles),
        Some("cannot read `p/ca.crt`: it was not looked for")
    );
    let slot = profiles.get("p").unwrap().slot.clone();
    assert!(slot.now().is_none());
    profiles.update(&desired_profiles(), &files(&chain, &chain, &key));
    assert_eq!(wrong(&profiles), None);
    let good = slot.now().unwrap();
    for (files, expected) in [
        (
            files(&chain, &chain, &other),
            "the private key `p/tls.key` does not belong to the certificate `p/tls.crt`",
        ),
        (
            files(&chain, b"", &key),
            "`p/tls.crt` holds no certificate: no items found",
        ),
        (
            files(&chain, &chain[..chain.len() / 2], &key),
            "`p/tls.crt` holds no certificate: ",
        ),
        (
            files(&chain, &key, &key),
            "`p/tls.crt` holds no certificate: no items found",
        ),
        (
            files(&chain, &chain, &chain),
            "`p/tls.key` holds no private key: no items found",
        ),
        (
            files(
                b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                &chain,
                &key,
            ),
            "`p/ca.crt` cannot be used: invalid peer certificate: ",
        ),
        (
            files(
                &chain,
                &chain,
                b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
            ),
            "`p/tls.key` cannot be used: ",
        ),
    ] {
        profiles.update(&desired_profiles(), &files);
        let told = wrong(&profiles).unwrap_or_default();
        assert!(told.starts_with(expected), "{told}");
        assert!(Arc::ptr_eq(&good, &slot.now().unwrap()));
    }
    profiles.update(&desired_profiles(), &files(&chain, &chain, &key));
    assert_eq!(wrong(&profiles), None);
}

#[test]
fn what_a_profile_lacks_it_is_not_used_for() {
    let (chain, key) = pair("a");
    let only = |ca: bool, pair: bool| {
        let mut wanted = desired_profiles();
        let profile = wanted.get_mut("p").unwrap().wanted.as_mut().unwrap();
        profile.ca = profile.ca.take().filter(|_| ca);
        profile.pair = profile.pair.take().filter(|_| pair);
        let mut profiles = Profiles::default();
        profiles.update(&wanted, &files(&chain, &chain, &key));
        let now = profiles.get("p").unwrap().slot.now().unwrap();
        let servers = [false, true].map(|required| now.server(required).is_some());
        (servers, now.client(true).is_some())
    };
    assert_eq!(only(true, true), ([true, true], true));
    assert_eq!(only(true, false), ([false, false], true));
    assert_eq!(only(false, true), ([true, false], false));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, rng_seed: RngSeed::Fixed(6), ..ProptestConfig::default() })]

    #[test]
    fn files_that_were_damaged_anywhere_never_replace_good_ones_by_a_pair_that_does_not_fit(
        file in 0_usize..3,
        at in any::<prop::sample::Index>(),
        damage in prop_oneof![
            any::<u8>().prop_map(|byte| vec![byte]),
            Just(Vec::new()),
            proptest::collection::vec(any::<u8>(), 1..40),
        ],
        cut in any::<bool>(),
    ) {
        let (chain, key) = pair("a");
        let mut all = [chain.clone(), chain.clone(), key.clone()];
        let at = at.index(all[file].len());
        let end = if cut { all[file].len() } else { at + 1 };
        all[file].splice(at..end, damage);
        let mut profiles = Profiles::default();
        profiles.update(&desired_profiles(), &files(&all[0], &all[1], &all[2]));
        let kept = profiles.get("p").unwrap();
        // A profile is either valid or reported, never neither and never both.
        prop_assert_eq!(kept.slot.now().is_some(), kept.wrong.is_none());
    }
}

#[test]
fn an_entry_that_was_broken_for_a_while_is_good_again_with_the_same_files() {
    let (chain, key) = pair("a");
    let files = files(&chain, &chain, &key);
    let mut broken = desired_profiles();
    broken.get_mut("p").unwrap().wanted = Err(crate::config::Wrong::EmptyProfile);
    let mut profiles = Profiles::default();
    profiles.update(&desired_profiles(), &files);
    profiles.update(&broken, &files);
    assert!(wrong(&profiles).is_some());
    profiles.update(&desired_profiles(), &files);
    assert_eq!(wrong(&profiles), None);
}
