//! A certificate that another controller signs and that is renewed before it expires. It has a
//! clock, a promise, and objects whose names derive from the issued certificate.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::lifecycle::Timed;
use lifecycle_runtime::{Because, Desired, ObjectRef, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Certificate.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "certificates.tests",
    version = "v1",
    kind = "Certificate",
    namespaced,
    status = "CertificateStatus"
)]
pub struct CertificateSpec {
    /// The Issuer that signs it.
    pub issuer: String,
    /// The Secret that it is put into.
    pub secret: String,
    /// The host that it is for.
    pub host: String,
    /// Days for which it is valid. It is renewed after two thirds of them.
    pub days: u16,
}

/// Observed state of a Certificate.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CertificateStatus {
    /// Issued, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// Signer of certificates.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "certificates.tests",
    version = "v1",
    kind = "Issuer",
    namespaced
)]
pub struct IssuerSpec {
    /// True if it signs requests now.
    pub accepts: bool,
}

/// Request for a signature.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "certificates.tests",
    version = "v1",
    kind = "SigningRequest",
    namespaced,
    status = "SigningRequestStatus"
)]
pub struct SigningRequestSpec {
    /// Issuer that signs the certificate.
    pub issuer: String,
    /// Host that the certificate is for.
    pub host: String,
    /// Public key that the certificate is for.
    pub public_key: String,
}

/// Answer of the Issuer; no answer yet if all fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct SigningRequestStatus {
    /// The certificate.
    #[serde(default)]
    pub certificate: Option<String>,
    /// Reason why the Issuer refuses every such request.
    #[serde(default)]
    pub denied: Option<String>,
    /// Why it could not sign this.
    #[serde(default)]
    pub failed: Option<String>,
}

include!("../../../macros/core/tests/lifecycles/certificate.txt");

/// On the Secret: which one it is, counted from 1.
pub const REVISION: &str = "certificates.tests/revision";
const HOST: &str = "certificates.tests/host";
const SIGNED: &str = "certificates.tests/signed";

/// Time after a failure during which no request is sent.
const BACKOFF: SignedDuration = SignedDuration::from_hours(1);

/// The logic of a Certificate.
pub struct Signed;

fn noted<'a>(meta: &'a ObjectMeta, key: &str) -> Option<&'a str> {
    let notes = meta.annotations.as_ref()?;
    notes.get(key).map(String::as_str)
}

/// Returns the name of the key and the request of the next revision. Another host makes another
/// request.
pub fn next(this: This<'_, Certificate>, secret: Option<&Secret>) -> String {
    let revision = secret.and_then(|s| noted(&s.metadata, REVISION)?.parse().ok());
    let revision = revision.unwrap_or(0_u32).saturating_add(1);
    let name = this.meta.name.as_deref().unwrap_or_default();
    format!("{name}-{revision}-{}", this.spec.host)
}

fn public(key: &Secret) -> String {
    let uid = key.metadata.name.clone().unwrap_or_default();
    format!("public part of {uid}")
}

fn time(since: Option<Timestamp>, plus: SignedDuration) -> Option<Timestamp> {
    since?.checked_add(plus).ok()
}

impl CertificateLogic for Signed {
    fn key(&self, this: This<'_, Certificate>, secret: Option<&Secret>) -> Option<ObjectRef> {
        let namespace = this.meta.namespace.as_deref();
        Some(ObjectRef::new::<Secret>(namespace, &next(this, secret)))
    }

    fn signing(&self, this: This<'_, Certificate>, key: &Secret) -> Option<ObjectRef> {
        let name = key.metadata.name.as_deref()?;
        let namespace = this.meta.namespace.as_deref();
        Some(ObjectRef::new::<SigningRequest>(namespace, name))
    }

    fn accepts(&self, _: This<'_, Certificate>, issuer: &Issuer) -> Because<bool> {
        match issuer.spec.accepts {
            true => Because::plain(true),
            false => Because::new(false, "the issuer signs nothing now"),
        }
    }

    fn valid(
        &self,
        this: This<'_, Certificate>,
        secret: Option<&Secret>,
        now: &Timestamp,
    ) -> Timed<Valid> {
        let Some(secret) = secret else {
            return Because::new(Valid::No, "nothing is issued yet").for_good();
        };
        if noted(&secret.metadata, HOST) != Some(this.spec.host.as_str()) {
            return Because::new(Valid::No, "what is issued is for another host").for_good();
        }
        let signed = noted(&secret.metadata, SIGNED).and_then(|text| text.parse().ok());
        let lifetime = SignedDuration::from_hours(i64::from(this.spec.days) * 24);
        let Some(due) = time(signed, lifetime * 2 / 3) else {
            return Because::new(Valid::No, "nobody knows how old what is issued is").for_good();
        };
        match *now < due {
            true => Because::plain(Valid::Yes).until(due),
            false => Because::new(Valid::No, format!("it is due since {due}")).for_good(),
        }
    }

    fn answer(&self, _: This<'_, Certificate>, signing: &SigningRequest) -> Because<Answer> {
        let status = signing.status.clone().unwrap_or_default();
        match (status.certificate, status.denied, status.failed) {
            (Some(_), ..) => Because::plain(Answer::Signed),
            (None, Some(why), _) => Because::new(Answer::Denied, why),
            (None, None, Some(why)) => Because::new(Answer::Failed, why),
            (None, None, None) => Because::new(Answer::Waiting, "the issuer has not answered yet"),
        }
    }

    fn backoff(
        &self,
        _: This<'_, Certificate>,
        signing: &SigningRequest,
        now: &Timestamp,
    ) -> Timed<Backoff> {
        let created = signing.metadata.creation_timestamp.as_ref().map(|t| t.0);
        let end = time(created, BACKOFF).unwrap_or(Timestamp::MIN);
        if *now < end {
            return Because::new(Backoff::Running, format!("asked again at {end}")).until(end);
        }
        Because::plain(Backoff::Over).for_good()
    }

    fn apply_key(&self, at: ApplyKey<'_>) -> Desired<Secret> {
        let name = at.this.meta.name.clone().unwrap_or_default();
        let private = format!("private key of {name}").into_bytes();
        Desired::from_object(&Secret {
            data: Some([("private".to_owned(), ByteString(private))].into()),
            ..Secret::default()
        })
    }

    fn ask(&self, at: Ask<'_>) -> Desired<SigningRequest> {
        request(&at.this, at.issuer, at.key)
    }

    fn mend(&self, at: Mend<'_>) -> Desired<SigningRequest> {
        request(&at.this, at.issuer, at.key)
    }

    fn apply_secret(&self, at: ApplySecret<'_>) -> Desired<Secret> {
        let name = at.signing.metadata.name.as_deref().unwrap_or_default();
        let own = at.this.meta.name.as_deref().unwrap_or_default();
        let revision = name
            .strip_prefix(own)
            .and_then(|rest| rest.split('-').nth(1));
        let created = at.signing.metadata.creation_timestamp.as_ref();
        let signed = created.map(|t| t.0.to_string()).unwrap_or_default();
        let notes = [
            (REVISION.to_owned(), revision.unwrap_or("1").to_owned()),
            (HOST.to_owned(), at.signing.spec.host.clone()),
            (SIGNED.to_owned(), signed),
        ];
        let status = at.signing.status.clone().unwrap_or_default();
        let certificate = status.certificate.unwrap_or_default().into_bytes();
        let private = at.key.data.iter().flatten().next();
        let private = private.map(|(_, value)| value.clone()).unwrap_or_default();
        Desired::from_object(&Secret {
            metadata: ObjectMeta {
                annotations: Some(notes.into()),
                ..ObjectMeta::default()
            },
            data: Some(
                [
                    ("tls.crt".to_owned(), ByteString(certificate)),
                    ("tls.key".to_owned(), private),
                ]
                .into(),
            ),
            ..Secret::default()
        })
    }
}

fn request(this: &This<'_, Certificate>, issuer: &Issuer, key: &Secret) -> Desired<SigningRequest> {
    let spec = SigningRequestSpec {
        issuer: issuer.metadata.name.clone().unwrap_or_default(),
        host: this.spec.host.clone(),
        public_key: public(key),
    };
    Desired::from_object(&SigningRequest {
        metadata: ObjectMeta::default(),
        spec,
        status: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate() -> Certificate {
        let spec = CertificateSpec {
            issuer: "ca".to_owned(),
            secret: "s".to_owned(),
            host: "example".to_owned(),
            days: 90,
        };
        Certificate::new("c", spec)
    }

    fn issued(revision: &str, host: &str, signed: &str) -> Secret {
        let notes = [(REVISION, revision), (HOST, host), (SIGNED, signed)];
        let notes = notes.map(|(key, value)| (key.to_owned(), value.to_owned()));
        Secret {
            metadata: ObjectMeta {
                annotations: Some(notes.into()),
                ..ObjectMeta::default()
            },
            ..Secret::default()
        }
    }

    #[test]
    fn a_certificate_is_renewed_after_two_thirds_of_its_time() {
        let certificate = certificate();
        let check = |secret: Option<&Secret>, now: &str, valid: Valid, until: Option<&str>| {
            let now = now.parse().expect("a time");
            let said = Signed.valid(This::new(&certificate), secret, &now);
            assert_eq!(said.because.value, valid);
            assert_eq!(said.until, until.map(|t| t.parse().expect("a time")));
        };
        let (early, due) = ("2026-03-01T23:59:59Z", "2026-03-02T00:00:00Z");
        let secret = issued("1", "example", "2026-01-01T00:00:00Z");
        check(Some(&secret), early, Valid::Yes, Some(due));
        check(Some(&secret), due, Valid::No, None);
        let other = issued("1", "other", "2026-01-01T00:00:00Z");
        check(Some(&other), early, Valid::No, None);
        check(Some(&issued("1", "example", "")), early, Valid::No, None);
        check(None, early, Valid::No, None);
    }

    #[test]
    fn each_revision_has_a_key_of_its_own() {
        let certificate = certificate();
        let named = |secret: Option<&Secret>| next(This::new(&certificate), secret);
        assert_eq!(named(None), "c-1-example");
        assert_eq!(named(Some(&issued("1", "example", ""))), "c-2-example");
        assert_eq!(named(Some(&issued("many", "example", ""))), "c-1-example");
    }
}
