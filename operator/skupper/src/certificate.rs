//! How a Certificate is reconciled.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use lifecycle_runtime::lifecycle::{Random, Timed};
use lifecycle_runtime::{Because, Desired, ObjectRef, This, cause};
use lifecycle_specs_skupper::certificate::{
    ApplySecret, Certificate, CertificateLogic, CertificateSpec, Due, Fit, Signs, Validity,
};
use lifecycle_specs_skupper::fragments::Managed;
use lifecycle_specs_skupper::pki::{Issued, PrivateKey, Signer};
use serde_json::json;

use crate::config::service::CONTROLLED;
use crate::config::validity;
use crate::namespace::controller_id::ControllerId;
use crate::namespace::templates::{self, Templates};
use crate::pki::issue::{Authority, self_signed};
use crate::pki::key::Key;
use crate::pki::read;
use crate::pki::wanted::CertificateRequest;

/// On Secrets of Certificates, as the replaced implementation marks them.
const OF_CERTIFICATE: &str = "internal.skupper.io/certificate";

/// The keys of a Secret of the type `kubernetes.io/tls`.
pub const CHAIN: &str = "tls.crt";
/// The private key.
pub const KEY: &str = "tls.key";
/// The certificate of the authority.
pub const AUTHORITY: &str = "ca.crt";

/// Reconciles Certificates.
#[derive(Clone, Debug)]
pub struct Certificates {
    /// This controller.
    pub controller_id: ControllerId,
}

/// Returns the content that a Certificate requests.
fn certificate_request(spec: &CertificateSpec) -> CertificateRequest<'_> {
    let hosts = spec.hosts.iter().flatten();
    CertificateRequest {
        subject: &spec.subject,
        site: None,
        hosts: hosts.map(String::as_str).collect(),
        client: spec.client == Some(true),
        server: spec.server == Some(true),
        signing: signs_itself(spec),
    }
}

fn signs_itself(spec: &CertificateSpec) -> bool {
    spec.signing == Some(true)
}

/// A text of a Secret; absent if it is empty, or no text.
pub fn text<'a>(secret: &'a Secret, key: &str) -> Option<&'a str> {
    let bytes = &secret.data.as_ref()?.get(key)?.0;
    let text = std::str::from_utf8(bytes).ok()?;
    (!text.is_empty()).then_some(text)
}

/// The certificate of a Secret.
pub fn certificate(secret: &Secret) -> Option<read::Certificate> {
    read::Certificate::read(text(secret, CHAIN)?.as_bytes()).ok()
}

impl CertificateLogic for Certificates {
    fn managed(&self) -> &impl Managed<Certificate> {
        &self.controller_id
    }

    fn templates(&self, this: This<'_, Certificate>, _: Option<&ConfigMap>) -> BTreeSet<ObjectRef> {
        templates::concerning(this.meta, &self.controller_id)
    }

    fn authority(&self, this: This<'_, Certificate>) -> Option<ObjectRef> {
        let named = !signs_itself(this.spec) && !this.spec.ca.is_empty();
        let namespace = this.meta.namespace.as_deref();
        named.then(|| ObjectRef::new::<Secret>(namespace, &this.spec.ca))
    }

    fn signer(&self, this: This<'_, Certificate>, authority: Option<&Secret>) -> Signer {
        if signs_itself(this.spec) {
            return Signer::Itself;
        }
        let text = |key| authority.and_then(|secret| text(secret, key));
        let text = |key| text(key).unwrap_or_default().to_owned();
        Signer::Authority {
            certificate: text(CHAIN),
            key: text(KEY),
        }
    }

    fn validity(&self, this: This<'_, Certificate>) -> Because<Validity> {
        validity::certificate(this.spec, certificate_request(this.spec).bad_host())
    }

    fn signing(&self, this: This<'_, Certificate>) -> Because<bool> {
        Because::plain(signs_itself(this.spec))
    }

    fn signs(&self, this: This<'_, Certificate>, signer: &Signer, now: &Timestamp) -> Timed<Signs> {
        let authority = match signer {
            Signer::Itself => return Because::plain(Signs::Fine).for_good(),
            Signer::Authority { certificate, key } => {
                Authority::read(certificate.as_bytes(), key.as_bytes())
            }
        };
        let ca = &this.spec.ca;
        match authority {
            Err(why) => {
                let why = cause::in_one_line(&why);
                let said = format!("CA \"{ca}\" cannot sign: {why}; put its Secret right");
                Because::new(Signs::Broken, said).for_good()
            }
            Ok(authority) => {
                let (_, end) = authority.certificate().validity();
                if *now < end {
                    return Because::plain(Signs::Fine).until(end);
                }
                let said = format!("CA \"{ca}\" ended at {end}: renew it");
                Because::new(Signs::Ended, said).for_good()
            }
        }
    }

    fn due(
        &self,
        _: This<'_, Certificate>,
        secret: Option<&Secret>,
        signer: &Signer,
        now: &Timestamp,
    ) -> Timed<Due> {
        let Some(own) = secret.and_then(certificate) else {
            return Because::plain(Due::No).for_good();
        };
        let (renewal, (_, end)) = (own.renewal(), own.validity());
        // One that ends with its authority is no longer good for being made anew before that is.
        if let Signer::Authority { certificate, .. } = signer
            && let Ok(authority) = read::Certificate::read(certificate.as_bytes())
            && authority.validity().1 <= end
        {
            return Because::plain(Due::No).for_good();
        }
        if *now < renewal {
            return Because::plain(Due::No).until(renewal);
        }
        Because::new(Due::Soon, format!("it ends at {end}")).for_good()
    }

    fn fit(
        &self,
        this: This<'_, Certificate>,
        secret: Option<&Secret>,
        signer: &Signer,
    ) -> Because<Fit> {
        match secret.and_then(|secret| misfit(this.spec, secret, signer)) {
            Some(why) => Because::new(Fit::Other, why),
            None => Because::plain(Fit::Same),
        }
    }

    fn read_key(&self, _: This<'_, Certificate>, secret: &Secret) -> Option<PrivateKey> {
        let pem = text(secret, KEY)?;
        Key::read(pem.as_bytes()).ok()?;
        Some(PrivateKey(pem.to_owned()))
    }

    fn make_key(&self, _: This<'_, Certificate>, _: &Timestamp, random: &mut Random) -> PrivateKey {
        PrivateKey(Key::generate(|| random.bytes()).pem())
    }

    fn read_issued(&self, _: This<'_, Certificate>, secret: &Secret) -> Option<Issued> {
        certificate(secret)?;
        Some(Issued(text(secret, CHAIN)?.to_owned()))
    }

    /// Returns an empty Secret if the requested content cannot be issued; such a Secret is never
    /// written.
    fn make_issued(
        &self,
        this: This<'_, Certificate>,
        key: &PrivateKey,
        signer: &Signer,
        now: &Timestamp,
        random: &mut Random,
    ) -> Issued {
        let wanted = certificate_request(this.spec);
        let serial = random.bytes();
        let made = || {
            let key = Key::read(key.0.as_bytes()).ok()?;
            let made = match signer {
                Signer::Itself => self_signed(&wanted, &key, *now, serial),
                Signer::Authority {
                    certificate,
                    key: pem,
                } => {
                    let authority = Authority::read(certificate.as_bytes(), pem.as_bytes()).ok()?;
                    authority.issue(&wanted, &key, *now, serial)
                }
            };
            made.ok()
        };
        Issued(made().unwrap_or_default())
    }

    fn apply_secret(&self, at: ApplySecret<'_>) -> Desired<Secret> {
        let authority = match at.signer {
            Signer::Itself => &at.issued.0,
            Signer::Authority { certificate, .. } => certificate,
        };
        let data = [
            (AUTHORITY, authority),
            (CHAIN, &at.issued.0),
            (KEY, &at.key.0),
        ];
        let data: BTreeMap<_, _> = data
            .into_iter()
            .map(|(key, text)| (key, ByteString(text.clone().into_bytes())))
            .collect();
        let secret = Desired::from_json(json!({
            "metadata": {
                "name": at.this.meta.name,
                "annotations": { CONTROLLED: "true", OF_CERTIFICATE: "true" },
            },
            "type": "kubernetes.io/tls",
            "data": data,
        }));
        Templates::from_config_maps(&at.templates, &self.controller_id).on(secret)
    }

    fn expiration(&self, _: This<'_, Certificate>, secret: &Secret) -> Option<Time> {
        Some(Time(certificate(secret)?.validity().1))
    }
}

/// Returns the reason why the content of a Secret does not match the request.
fn misfit(spec: &CertificateSpec, secret: &Secret, signer: &Signer) -> Option<String> {
    let Some(own) = certificate(secret) else {
        return Some(format!("its {CHAIN} is no certificate"));
    };
    let key = text(secret, KEY).and_then(|pem| Key::read(pem.as_bytes()).ok());
    if !key.is_some_and(|key| own.is_of(&key)) {
        return Some(format!("its {KEY} does not belong to its {CHAIN}"));
    }
    if let Some(lacks) = own.lacks(&certificate_request(spec)) {
        return Some(lacks);
    }
    let signed = match signer {
        Signer::Itself => own.is_signed_by(&own),
        Signer::Authority { certificate, .. } => {
            let authority = read::Certificate::read(certificate.as_bytes());
            authority.is_ok_and(|authority| own.is_signed_by(&authority))
        }
    };
    (!signed).then(|| match signer {
        Signer::Itself => "another one signed it, and not its own key".to_owned(),
        Signer::Authority { .. } => format!("CA \"{}\" did not sign it", spec.ca),
    })
}

#[cfg(test)]
mod tests;
