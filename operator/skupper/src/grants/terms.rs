//! Terms of an AccessGrant: the number of redemptions, the expiry, and the code. Pure.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use lifecycle_runtime::Because;
use lifecycle_runtime::machine::ir::Length;
use lifecycle_runtime::machine::length::{Flaw, Said};
use lifecycle_specs_skupper::access_grant::{AccessGrantSpec, Validity};
use lifecycle_specs_skupper::site::Site;

use crate::settings::named;

/// Default period in which a grant may be redeemed.
const WINDOW: SignedDuration = SignedDuration::from_mins(10);
/// The longest code: as much as is read of a request.
pub const LONGEST: usize = 4096;
/// The Secret of the authority of a Site that names none.
const ISSUER: &str = "skupper-site-ca";

/// Checks that the spec describes terms that can be granted.
pub fn validity(spec: &AccessGrantSpec) -> Because<Validity> {
    if let Err(why) = window(spec) {
        return Because::new(Validity::BadWindow, why);
    }
    if spec.redemptions_allowed.is_some_and(|count| count < 0) {
        let count = spec.redemptions_allowed.unwrap_or_default();
        let sentence = format!(
            "spec.redemptionsAllowed {count} is negative: set the number of allowed redemptions, or leave it out for one"
        );
        return Because::new(Validity::BadCount, sentence);
    }
    match declared_code(spec).filter(|code| code.len() > LONGEST) {
        Some(_) => Because::new(
            Validity::BadCode,
            format!(
                "spec.code is longer than {LONGEST} bytes: choose a shorter one, or leave it out, and one is made"
            ),
        ),
        None => Because::plain(Validity::Fine),
    }
}

/// How often it may be redeemed.
pub fn allowed(spec: &AccessGrantSpec) -> u64 {
    let said = spec.redemptions_allowed.filter(|count| *count != 0);
    said.map_or(1, |count| u64::try_from(count).unwrap_or_default())
}

/// Returns the code that the author set.
pub fn declared_code(spec: &AccessGrantSpec) -> Option<&str> {
    named(spec.code.as_ref())
}

/// Returns the time of expiry, counted from the creation of the grant. Returns `None` if the period
/// is invalid, or if the grant was not created yet.
pub fn expires(meta: &ObjectMeta, spec: &AccessGrantSpec) -> Option<Timestamp> {
    let made = meta.creation_timestamp.as_ref()?.0;
    let window = window(spec).ok()?;
    Some(made.saturating_add(window).unwrap_or(Timestamp::MAX))
}

fn window(spec: &AccessGrantSpec) -> Result<SignedDuration, String> {
    let Some(said) = named(spec.expiration_window.as_ref()) else {
        return Ok(WINDOW);
    };
    let wrong = |why: &str| format!("Invalid duration \"{said}\": {why}");
    let read = Length {
        said: None,
        otherwise: 0,
        least: 0,
    };
    match read.resolve(Some(&Said::Text(said.to_owned()))) {
        (window, None) => Ok(SignedDuration::try_from(window).unwrap_or(SignedDuration::MAX)),
        (_, Some(Flaw::TooShort)) => Err(wrong("it is over before it begins")),
        (_, Some(Flaw::Unreadable)) => Err(wrong("use a format such as 1h30m")),
    }
}

/// Returns the Secret with the authority that signs the issued certificates.
pub fn issuer<'a>(spec: &'a AccessGrantSpec, site: &'a Site) -> &'a str {
    let of_site = named(site.spec.default_issuer.as_ref());
    named(spec.issuer.as_ref()).or(of_site).unwrap_or(ISSUER)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn spec(spec: Value) -> AccessGrantSpec {
        serde_json::from_value(spec).unwrap()
    }

    fn until(window: Value) -> Option<String> {
        let meta = json!({ "creationTimestamp": "2026-01-01T00:00:00Z" });
        let meta: ObjectMeta = serde_json::from_value(meta).unwrap();
        let until = expires(&meta, &spec(json!({ "expirationWindow": window })));
        until.map(|until| until.to_string())
    }

    #[test]
    fn a_grant_expires_so_long_after_it_was_made() {
        let at = |time: &str| Some(format!("2026-01-01T{time}Z"));
        assert_eq!(until(json!(null)), at("00:10:00"));
        assert_eq!(until(json!("")), at("00:10:00"));
        assert_eq!(until(json!("1h30m")), at("01:30:00"));
        assert_eq!(until(json!("0s")), at("00:00:00"));
        assert_eq!(until(json!("-1m")), None);
        assert_eq!(until(json!("soon")), None);
        let never = expires(&ObjectMeta::default(), &spec(json!({})));
        assert_eq!(never, None);
        assert!(until(json!("2000000h")).is_some());
    }

    #[test]
    fn none_is_one() {
        let allowed = |count: Value| allowed(&spec(json!({ "redemptionsAllowed": count })));
        let counts = [json!(null), json!(0), json!(1), json!(20), json!(-3)];
        assert_eq!(counts.map(allowed), [1, 1, 1, 20, 0]);
    }

    #[test]
    fn what_cannot_be_granted_is_said() {
        let check = |said: Value, expected: Validity, part: &str| {
            let answer = validity(&spec(said));
            assert_eq!(answer.value, expected);
            assert!(answer.sentence.contains(part), "{}", answer.sentence);
        };
        check(json!({}), Validity::Fine, "");
        let good = json!({ "redemptionsAllowed": 3, "expirationWindow": "1h", "code": "c" });
        check(good, Validity::Fine, "");
        let soon = json!({ "expirationWindow": "soon" });
        check(soon, Validity::BadWindow, "Invalid duration \"soon\"");
        let over = json!({ "expirationWindow": "-1s" });
        check(over, Validity::BadWindow, "before it begins");
        let less = json!({ "redemptionsAllowed": -1 });
        check(less, Validity::BadCount, "-1 is negative");
        let long = json!({ "code": "x".repeat(LONGEST + 1) });
        check(long, Validity::BadCode, "4096");
    }

    #[test]
    fn the_grant_says_who_signs_before_the_site_does() {
        let signs = |grant: Value, site: Value| {
            let site = json!({ "metadata": {}, "spec": site });
            let site: Site = serde_json::from_value(site).unwrap();
            issuer(&spec(grant), &site).to_owned()
        };
        let of = |name: &str| json!({ "issuer": name });
        assert_eq!(signs(of("a"), json!({ "defaultIssuer": "b" })), "a");
        assert_eq!(signs(of(""), json!({ "defaultIssuer": "b" })), "b");
        assert_eq!(signs(json!({}), json!({})), "skupper-site-ca");
    }
}
