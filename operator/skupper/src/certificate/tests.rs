//! Facts that a Certificate derives from its Secret and from its authority.

use serde_json::Value;

use super::*;

const NOW: &str = "2026-01-01T00:00:00Z";

fn logic() -> Certificates {
    Certificates {
        controller_id: ControllerId::new("skupper", "controller"),
    }
}

fn build_certificate(spec: Value) -> Certificate {
    let certificate = json!({ "metadata": { "name": "c", "namespace": "west" }, "spec": spec });
    serde_json::from_value(certificate).expect("it is a Certificate")
}

fn leaf() -> Certificate {
    build_certificate(json!({ "ca": "ca", "subject": "router", "hosts": ["a"], "server": true }))
}

fn authority() -> Certificate {
    build_certificate(json!({ "ca": "", "subject": "CA", "signing": true }))
}

/// Returns the key and certificate made for a Certificate, in the form of its Secret.
fn issue_secret(of: &Certificate, signer: &Signer, seed: u64, now: &str) -> Secret {
    let (this, now) = (This::new(of), now.parse().expect("it is a time"));
    let mut random = Random::seeded(seed);
    let key = logic().make_key(this, &now, &mut random);
    let issued = logic().make_issued(this, &key, signer, &now, &mut random);
    secret(&issued.0, &key.0)
}

fn secret(chain: &str, key: &str) -> Secret {
    let data = [(CHAIN, chain), (KEY, key)];
    let data = data.map(|(name, text)| (name.to_owned(), ByteString(text.into())));
    Secret {
        data: Some(data.into()),
        ..Secret::default()
    }
}

fn signer(of: &Secret) -> Signer {
    logic().signer(This::new(&leaf()), Some(of))
}

#[test]
fn what_is_made_is_read_back_and_fits() {
    let ca = issue_secret(&authority(), &Signer::Itself, 1, NOW);
    let by_ca = signer(&ca);
    for (of, signer, secret) in [
        (authority(), &Signer::Itself, ca.clone()),
        (leaf(), &by_ca, issue_secret(&leaf(), &by_ca, 2, NOW)),
    ] {
        let this = This::new(&of);
        let fit = logic().fit(this, Some(&secret), signer);
        assert_eq!((fit.value, fit.sentence.as_str()), (Fit::Same, ""));
        assert!(logic().read_key(this, &secret).is_some());
        let issued = logic().read_issued(this, &secret).expect("it is there");
        assert_eq!(Some(issued.0.as_str()), text(&secret, CHAIN));
    }
}

#[test]
fn what_does_not_fit_is_said() {
    let ca = issue_secret(&authority(), &Signer::Itself, 1, NOW);
    let other = issue_secret(&authority(), &Signer::Itself, 7, NOW);
    let own = issue_secret(&leaf(), &signer(&ca), 2, NOW);
    let check = |secret: &Secret, by: &Secret, expected: &str| {
        let fit = logic().fit(This::new(&leaf()), Some(secret), &signer(by));
        assert_eq!((fit.value, fit.sentence.as_str()), (Fit::Other, expected));
    };
    let (chain, key) = (text(&own, CHAIN).expect("it is there"), text(&other, KEY));
    check(&own, &other, "CA \"ca\" did not sign it");
    check(
        &secret(chain, key.expect("it is there")),
        &ca,
        "its tls.key does not belong to its tls.crt",
    );
    check(
        &secret(chain, "?"),
        &ca,
        "its tls.key does not belong to its tls.crt",
    );
    check(&secret("?", ""), &ca, "its tls.crt is no certificate");
    check(&ca, &ca, "its subject is `CA`, and not `router`");
    let absent = logic().fit(This::new(&leaf()), None, &signer(&ca));
    assert_eq!(absent.value, Fit::Same);
}

#[test]
fn it_is_due_when_two_thirds_are_over_and_only_if_that_helps() {
    let ca = issue_secret(&authority(), &Signer::Itself, 1, NOW);
    let own = issue_secret(&leaf(), &signer(&ca), 2, NOW);
    let due = |of: &Certificate, secret: &Secret, signer: &Signer, now: &str| {
        let now = now.parse().expect("it is a time");
        let due = logic().due(This::new(of), Some(secret), signer, &now);
        (due.because.value, due.until.map(|until| until.to_string()))
    };
    let (no, soon) = (
        |until: &str| (Due::No, Some(until.to_owned())),
        (Due::Soon, None),
    );
    let by_ca = signer(&ca);
    let renewal = "2026-09-01T07:58:20Z";
    assert_eq!(due(&leaf(), &own, &by_ca, NOW), no(renewal));
    assert_eq!(due(&leaf(), &own, &by_ca, renewal), soon);
    assert_eq!(
        due(&authority(), &ca, &Signer::Itself, NOW),
        no("2029-05-01T15:58:20Z")
    );
    assert_eq!(
        due(&authority(), &ca, &Signer::Itself, "2029-05-02T00:00:00Z"),
        soon
    );
    // Near the end of an authority that is not renewed, a new certificate brings no gain.
    let last = issue_secret(&leaf(), &by_ca, 3, "2030-12-01T00:00:00Z");
    assert_eq!(
        due(&leaf(), &last, &by_ca, "2030-12-30T00:00:00Z"),
        (Due::No, None)
    );
    let renewed = issue_secret(&authority(), &Signer::Itself, 1, "2029-05-02T00:00:00Z");
    assert_eq!(
        due(&leaf(), &last, &signer(&renewed), "2030-12-30T00:00:00Z"),
        soon
    );
}

#[test]
fn who_cannot_sign_is_told() {
    let ca = issue_secret(&authority(), &Signer::Itself, 1, NOW);
    let signs = |secret: &Secret, now: &str| {
        let now = now.parse().expect("it is a time");
        let signs = logic().signs(This::new(&leaf()), &signer(secret), &now);
        let until = signs.until.map(|until| until.to_string());
        (signs.because.value, signs.because.sentence, until)
    };
    let end = "2030-12-31T00:00:00Z";
    assert_eq!(
        signs(&ca, NOW),
        (Signs::Fine, String::new(), Some(end.to_owned()))
    );
    let said = format!("CA \"ca\" ended at {end}: renew it");
    assert_eq!(signs(&ca, end), (Signs::Ended, said, None));
    let empty = "CA \"ca\" cannot sign: its tls.crt cannot be used: it is no PEM of a certificate; put its Secret right";
    assert_eq!(
        signs(&secret("", ""), NOW),
        (Signs::Broken, empty.to_owned(), None)
    );
}
