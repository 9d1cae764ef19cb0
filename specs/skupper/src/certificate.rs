//! `Certificate`: a key and a certificate in a Secret, used as an identity or as an authority that
//! signs others.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{ConfigMap, Secret};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::CustomResource;
use lifecycle_runtime::lifecycle;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fragments::managed;
use super::pki::{Issued, PrivateKey, Signer};
use super::status::Status;

lifecycle! {
    /// A key and a certificate in a Secret of its name, signed by an authority of its namespace or by itself, and renewed before it ends.
    resource Certificate;

    lock "certificate.lock";

    use managed;

    observe {
        now:               clock;
        templates:         [ConfigMap]  by refs of controller_config;
        // Absent if the certificate is self-signed.
        authority:         Secret       by ref from self;
        // As the replaced implementation owns it.
        secret:            owned Secret without controller by name meta.name;
    }
    facts {
        /// Validity of the specification: `Fine` if it has all required fields and a certificate
        /// can express them.
        validity:         { Fine, Incomplete, BadHost } from self;
        /// True if it is the authority of others, and signs itself.
        signing:          bool          from self;
        /// Signer of the certificate.
        let signer:       Signer        from authority;
        /// State of the signer: `Fine` if it can sign and has not expired.
        signs:            { Fine, Broken, Ended } from signer, now given signing || authority;
        /// `Soon` if two thirds of its lifetime are over.
        due:              { No, Soon }  from secret, signer, now given signing || authority;
        /// `Same` if it matches the request: key, subject, hosts, uses, and signer.
        fit:              { Same, Other } from secret, signer given signing || authority;
        /// Private key. The key of an authority stays when its certificate is renewed, so that the
        /// certificates it signed stay valid.
        mint key: PrivateKey in secret from now until due == Soon && !signing;
        /// The certificate.
        mint issued: Issued in secret from key, signer, now until due == Soon || fit == Other;
    }
    states {
        use managed;
        /// The spec lacks a field that a certificate needs.
        Invalid         when validity != Fine            => Error   wakes self;
        /// The Secret of its name is another's: delete that, or give the Certificate another name.
        Taken           when secret == Foreign           => Error   wakes secret, self;
        /// The Secret of before is going.
        Draining        when secret == Terminating       => Pending;
        /// The authority that is to sign has no Secret: create it, or a Certificate of that name with `signing`.
        NoAuthority     when !signing && !authority      => Error   wakes authority, self;
        /// The content of the authority's Secret cannot sign: correct it.
        Unusable        when signs != Fine               => Error   wakes authority, self, now;
        /// The key and the certificate have to be created or renewed.
        Issuing         when secret in { Absent, Stale } => Pending;
        /// The Secret holds them.
        goal Ready      when secret == Current           => Ready;
    }
    effects {
        apply secret from key, issued, signer, templates when validity == Fine && (signing || authority) && signs == Fine;
    }
    transitions {
        Draining -> NoAuthority | Unusable | Issuing;
        Issuing -> Ready;
    }
    properties {
        // An authority that cannot sign never signs a certificate.
        never apply_secret while !signing && !authority || signs != Fine || managed_by_other;
        reaches Ready from Issuing;
    }
    status {
        condition Configured {
            False "Error" when validity != Fine;
            False "Error" "Secret {meta.name} already exists in namespace: delete it, or give the Certificate another name" when secret == Foreign;
            False "Error" "CA \"{spec.ca}\" not found" when !signing && !authority;
            False "Error" when signs != Fine;
            True "Ready" "OK" when secret == Current;
            False "Pending" otherwise;
        }
        ready "Ready" "OK" from Configured;
        field expiration: Option<Time> from secret;
    }
}

/// Request for a key and a certificate for a given purpose.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[kube(
    group = "skupper.io",
    version = "v2alpha1",
    kind = "Certificate",
    plural = "certificates",
    singular = "certificate",
    namespaced,
    status = "CertificateStatus",
    derive = "PartialEq",
    derive = "Default",
    doc = "A key and a certificate in a Secret of its name.",
    printcolumn = r#"{"name": "CA", "type": "string", "jsonPath": ".spec.ca"}"#,
    printcolumn = r#"{"name": "Server", "type": "boolean", "jsonPath": ".spec.server"}"#,
    printcolumn = r#"{"name": "Client", "type": "boolean", "jsonPath": ".spec.client"}"#,
    printcolumn = r#"{"name": "Signing", "type": "boolean", "jsonPath": ".spec.signing"}"#,
    printcolumn = r#"{"name": "Status", "type": "string", "jsonPath": ".status.status"}"#,
    printcolumn = r#"{"name": "Expiration", "type": "string", "jsonPath": ".status.expiration"}"#,
    printcolumn = r#"{"name": "Message", "type": "string", "jsonPath": ".status.message"}"#
)]
// Missing fields are reported on the object, although the schema requires them as well.
#[serde(rename_all = "camelCase", default)]
#[schemars(!default)]
pub struct CertificateSpec {
    /// Name of the Secret with the authority that signs it; not read where it signs itself.
    pub ca: String,

    /// Common name of the certificate.
    pub subject: String,

    /// Names and addresses that it is for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,

    /// True if the connecting side presents it. Without `client` and `server`, both sides present
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client: Option<bool>,

    /// True if the accepting side presents it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<bool>,

    /// True if it is an authority, which signs itself and others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signing: Option<bool>,

    /// Further settings by name; none is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<BTreeMap<String, String>>,
}

/// Observed state of a Certificate.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct CertificateStatus {
    /// Status fields that every kind reports.
    #[serde(flatten)]
    pub common: Status,

    /// When it ends; it is renewed before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(schema_with = "super::status::time")]
    pub expiration: Option<Time>,
}
