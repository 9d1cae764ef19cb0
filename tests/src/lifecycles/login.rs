//! A password that is generated at random, regenerated when it is old, and copied. It has a minted
//! value that only its keeper gets, and a set that reads it there.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::lifecycle::{Random, Timed};
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Login.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "login.tests",
    version = "v1",
    kind = "Login",
    namespaced,
    status = "LoginStatus"
)]
pub struct LoginSpec {
    /// How old a password may become, in hours.
    pub hours: u16,
    /// Targets of the copies, as suffixes to the name of the Login.
    #[serde(default)]
    pub copies: Vec<String>,
}

/// Observed state of a Login.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LoginStatus {
    /// Made, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// Password to keep; it is never printed.
pub struct Password {
    text: Vec<u8>,
    made: Timestamp,
}

/// On each copy: the name of the Login.
pub const COPY_OF: &str = "login.tests/copy-of";
/// On the Secret: when its password was made.
pub const MADE: &str = "login.tests/made";
/// Entry of a Secret that holds the password.
pub const KEY: &str = "password";

include!("../../../macros/core/tests/lifecycles/login.txt");

/// The logic of a Login.
pub struct LoginOperator;

const LETTERS: &str = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789";

fn created_at(secret: &Secret) -> Option<Timestamp> {
    let annotations = secret.metadata.annotations.as_ref()?;
    annotations.get(MADE)?.parse().ok()
}

fn text(secret: &Secret) -> Option<&ByteString> {
    let text = secret.data.as_ref()?.get(KEY)?;
    (!text.0.is_empty()).then_some(text)
}

fn keeping(text: &[u8], metadata: ObjectMeta) -> Desired<Secret> {
    let data = BTreeMap::from([(KEY.to_owned(), ByteString(text.to_vec()))]);
    Desired::from_object(&Secret {
        metadata,
        data: Some(data),
        ..Secret::default()
    })
}

impl LoginLogic for LoginOperator {
    fn read_password(&self, _: This<'_, Login>, secret: &Secret) -> Option<Password> {
        let (text, made) = (text(secret)?.0.clone(), created_at(secret)?);
        Some(Password { text, made })
    }

    fn make_password(&self, _: This<'_, Login>, now: &Timestamp, random: &mut Random) -> Password {
        Password {
            text: random.text(24, LETTERS).into_bytes(),
            made: *now,
        }
    }

    fn due(&self, this: This<'_, Login>, secret: Option<&Secret>, now: &Timestamp) -> Timed<Due> {
        let Some(made) = secret.and_then(created_at) else {
            return Because::plain(Due::No).for_good();
        };
        let lasts = SignedDuration::from_hours(i64::from(this.spec.hours.max(1)));
        let end = made.checked_add(lasts).unwrap_or(Timestamp::MAX);
        if *now < end {
            return Because::plain(Due::No).until(end);
        }
        Because::new(Due::Yes, format!("the password is old since {end}")).for_good()
    }

    fn apply_secret(&self, at: ApplySecret<'_>) -> Desired<Secret> {
        let made = BTreeMap::from([(MADE.to_owned(), at.password.made.to_string())]);
        let metadata = ObjectMeta {
            annotations: Some(made),
            ..ObjectMeta::default()
        };
        keeping(&at.password.text, metadata)
    }

    fn apply_copies(&self, at: ApplyCopies<'_>) -> Vec<Desired<Secret>> {
        let Some(text) = text(at.secret) else {
            return Vec::new();
        };
        let of = at.this.meta.name.clone().unwrap_or_default();
        let copies: std::collections::BTreeSet<&String> = at.this.spec.copies.iter().collect();
        let copy = |copy: &String| {
            let metadata = ObjectMeta {
                name: Some(format!("{of}-{copy}")),
                labels: Some(BTreeMap::from([(COPY_OF.to_owned(), of.clone())])),
                ..ObjectMeta::default()
            };
            keeping(&text.0, metadata)
        };
        copies.into_iter().map(copy).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn login() -> Login {
        Login::new(
            "l",
            LoginSpec {
                hours: 720,
                copies: Vec::new(),
            },
        )
    }

    #[test]
    fn what_is_made_is_read_back() {
        let (login, now) = (login(), Timestamp::UNIX_EPOCH);
        let this = This::new(&login);
        let made = LoginOperator.make_password(this, &now, &mut Random::seeded(1));
        let again = LoginOperator.make_password(this, &now, &mut Random::seeded(1));
        assert_eq!(made.text, again.text);
        let other = LoginOperator.make_password(this, &now, &mut Random::seeded(2));
        assert_ne!(made.text, other.text);
        let metadata = ObjectMeta {
            annotations: Some(BTreeMap::from([(MADE.to_owned(), now.to_string())])),
            ..ObjectMeta::default()
        };
        let data = BTreeMap::from([(KEY.to_owned(), ByteString(made.text.clone()))]);
        let secret = Secret {
            metadata,
            data: Some(data),
            ..Secret::default()
        };
        let read = LoginOperator
            .read_password(this, &secret)
            .expect("it is there");
        assert_eq!((read.text, read.made), (made.text, now));
        assert!(
            LoginOperator
                .read_password(this, &Secret::default())
                .is_none()
        );
    }
}
