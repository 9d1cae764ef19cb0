//! A certificate that an authority signs: a value that is minted from another object and the
//! current time, and renewed before it expires. The signature is a toy: a number derived from the
//! authority's key and the signed content.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::{Random, Timed};
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Leaf.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "leaf.tests",
    version = "v1",
    kind = "Leaf",
    namespaced,
    status = "LeafStatus"
)]
pub struct LeafSpec {
    /// The Secret of who signs.
    pub authority: String,
    /// For how many hours it is good; it is renewed when two thirds are over.
    pub hours: u16,
}

/// Observed state of a Leaf.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct LeafStatus {
    /// Issued, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// A key and the content signed for it. It is never printed.
pub struct Issued {
    key: Vec<u8>,
    end: Timestamp,
    signature: String,
}

include!("../../../macros/core/tests/lifecycles/leaf.txt");

/// The logic of a Leaf.
pub struct Signing;

fn secret_bytes<'a>(secret: &'a Secret, key: &str) -> Option<&'a [u8]> {
    let text = secret.data.as_ref()?.get(key)?;
    (!text.0.is_empty()).then_some(text.0.as_slice())
}

fn text<T: std::str::FromStr>(secret: &Secret, key: &str) -> Option<T> {
    std::str::from_utf8(secret_bytes(secret, key)?)
        .ok()?
        .parse()
        .ok()
}

/// Returns an authority's signature of a key and its end.
fn signature(authority: &Secret, key: &[u8], end: Timestamp) -> String {
    let mut hasher = DefaultHasher::new();
    (secret_bytes(authority, "ca.key"), key, end.as_second()).hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

impl LeafLogic for Signing {
    fn read_issued(&self, _: This<'_, Leaf>, tls: &Secret) -> Option<Issued> {
        Some(Issued {
            key: secret_bytes(tls, "tls.key")?.to_vec(),
            end: text(tls, "end")?,
            signature: text(tls, "signature")?,
        })
    }

    fn make_issued(
        &self,
        this: This<'_, Leaf>,
        authority: &Secret,
        now: &Timestamp,
        random: &mut Random,
    ) -> Issued {
        let lasts = SignedDuration::from_hours(i64::from(this.spec.hours.max(1)));
        let (key, end) = (random.bytes::<32>(), now.saturating_add(lasts));
        let end = end.unwrap_or(Timestamp::MAX);
        Issued {
            signature: signature(authority, &key, end),
            key: key.to_vec(),
            end,
        }
    }

    fn usable(&self, _: This<'_, Leaf>, authority: &Secret) -> Because<bool> {
        match secret_bytes(authority, "ca.key") {
            Some(_) => Because::plain(true),
            None => Because::new(false, "the Secret of the authority has no `ca.key`"),
        }
    }

    fn due(&self, this: This<'_, Leaf>, tls: Option<&Secret>, now: &Timestamp) -> Timed<Due> {
        let Some(end) = tls.and_then(|tls| text::<Timestamp>(tls, "end")) else {
            return Because::plain(Due::No).for_good();
        };
        let third = SignedDuration::from_hours(i64::from(this.spec.hours.max(1)) / 3);
        let renewal = end.checked_sub(third).unwrap_or(Timestamp::MIN);
        if *now < renewal {
            return Because::plain(Due::No).until(renewal);
        }
        Because::new(Due::Soon, format!("it ends at {end}")).for_good()
    }

    fn signer(
        &self,
        this: This<'_, Leaf>,
        tls: Option<&Secret>,
        authority: &Secret,
    ) -> Because<Signer> {
        let issued = tls.and_then(|tls| self.read_issued(this, tls));
        let is_theirs =
            |issued: &Issued| signature(authority, &issued.key, issued.end) == issued.signature;
        match issued.is_none_or(|issued| is_theirs(&issued)) {
            true => Because::plain(Signer::Same),
            false => Because::new(Signer::Other, "another authority signed it"),
        }
    }

    fn apply_tls(&self, at: ApplyTls<'_>) -> Desired<Secret> {
        let issued = at.issued;
        let data = [
            ("tls.key", issued.key.clone()),
            ("end", issued.end.to_string().into_bytes()),
            ("signature", issued.signature.clone().into_bytes()),
        ];
        let data = data.map(|(key, value)| (key.to_owned(), ByteString(value)));
        Desired::from_object(&Secret {
            data: Some(BTreeMap::from(data)),
            ..Secret::default()
        })
    }
}
