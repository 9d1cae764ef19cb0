//! How router and controller know each other: certificates that follow from one key of the controller and the uid of a Site.
//! So nothing is minted twice, a lost Secret comes back as it was, and another key makes all of them anew.

use std::fmt::{self, Debug, Formatter};

use lifecycle_specs_skupper::router::ROUTER;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose, PKCS_ED25519, date_time_ymd,
};
use ring::hmac;
use rustls::pki_types::PrivatePkcs8KeyDer;
use thiserror::Error;

/// What every private key of Ed25519 begins with in PKCS#8 (RFC 8410, section 7).
const PKCS8: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];
/// They end with the key that they follow from: whoever replaces it renews them all.
const FROM: (i32, u8, u8) = (2026, 1, 1);
const UNTIL: (i32, u8, u8) = (9999, 12, 31);

/// Why there are no certificates.
#[derive(Debug, Error)]
#[error("the certificates of router and controller cannot be made")]
pub struct Error(#[from] rcgen::Error);

/// The key of a controller that all of its certificates follow from; is not shown.
#[derive(Clone, Debug)]
pub struct Root(hmac::Key);

/// A certificate with its key, and who signed it; all PEM.
#[derive(Clone, PartialEq, Eq)]
pub struct Credentials {
    /// The certificate of the authority.
    pub authority: String,
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

impl Debug for Credentials {
    /// Shows no key.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

/// Who shows a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// The router, to who asks for its state.
    Router,
    /// The controller, to a router.
    Controller,
}

impl Root {
    /// From a key of at least 32 random bytes.
    pub fn new(key: &[u8]) -> Self {
        Self(hmac::Key::new(hmac::HMAC_SHA256, key))
    }

    /// What one side shows at a Site.
    ///
    /// # Errors
    /// The certificates cannot be made.
    pub fn credentials(&self, site: &str, side: Side) -> Result<Credentials, Error> {
        let issuer = CertifiedIssuer::self_signed(authority(), self.key(site, "authority")?)?;
        let (name, usage) = match side {
            Side::Router => ("router", ExtendedKeyUsagePurpose::ServerAuth),
            Side::Controller => ("controller", ExtendedKeyUsagePurpose::ClientAuth),
        };
        let key = self.key(site, name)?;
        let mut params = dated(CertificateParams::new(vec![ROUTER.to_owned()])?, name);
        params.extended_key_usages = vec![usage];
        let certificate = params.signed_by(&key, &issuer)?;
        Ok(Credentials {
            authority: issuer.pem(),
            certificate: certificate.pem(),
            key: key.serialize_pem(),
        })
    }

    fn key(&self, site: &str, name: &str) -> Result<KeyPair, rcgen::Error> {
        let seed = hmac::sign(&self.0, format!("{name} of {site}").as_bytes());
        let whole = [&PKCS8, seed.as_ref()].concat();
        KeyPair::from_pkcs8_der_and_sign_algo(&PrivatePkcs8KeyDer::from(whole), &PKCS_ED25519)
    }
}

fn authority() -> CertificateParams {
    let mut params = dated(CertificateParams::default(), "authority");
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    params
}

fn dated(mut params: CertificateParams, name: &str) -> CertificateParams {
    params.distinguished_name = DistinguishedName::new();
    let name = format!("{ROUTER} {name}");
    params.distinguished_name.push(DnType::CommonName, name);
    params.not_before = date_time_ymd(FROM.0, FROM.1, FROM.2);
    params.not_after = date_time_ymd(UNTIL.0, UNTIL.1, UNTIL.2);
    params
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn certificates_follow_from_the_key_and_the_site_alone() {
        let made = |key: &[u8], site: &str, side| {
            let credentials = Root::new(key).credentials(site, side);
            credentials.expect("they can be made")
        };
        let one = made(&[1; 32], "uid-1", Side::Router);
        assert_eq!(one, made(&[1; 32], "uid-1", Side::Router));
        assert!(one.key.starts_with("-----BEGIN PRIVATE KEY-----"));
        let other_side = made(&[1; 32], "uid-1", Side::Controller);
        assert_eq!(one.authority, other_side.authority);
        assert_ne!(one.key, other_side.key);
        for other in [
            made(&[2; 32], "uid-1", Side::Router),
            made(&[1; 32], "uid-2", Side::Router),
        ] {
            assert_ne!(one.authority, other.authority);
            assert_ne!(one.key, other.key);
        }
    }
}
