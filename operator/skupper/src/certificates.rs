//! Certificates of links that are granted, and of the server that grants them: what signs them, and how they are made. Knows no object of Kubernetes.

use std::net::IpAddr;

use jiff::{SignedDuration, Timestamp};
use lifecycle_router::link::security::SITE_URI;
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose, PublicKeyData as _, SanType,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use thiserror::Error;
use x509_parser::prelude::{FromDer as _, X509Certificate};
use x509_parser::time::ASN1Time;

/// What stands around a key of RSA in PKCS#8: version and algorithm.
const RSA: [u8; 18] = [
    0x02, 0x01, 0x00, 0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01,
    0x05, 0x00,
];
/// Clocks of other clusters may be so far behind ours.
const APART: SignedDuration = SignedDuration::from_mins(5);
/// How long an authority of ours is good.
const OF_AUTHORITIES: SignedDuration = SignedDuration::from_hours(5 * 365 * 24);

/// A certificate with its key, and who signed it; all PEM.
#[derive(Clone)]
pub struct Credentials {
    /// The certificate of the authority.
    pub authority: String,
    /// The certificate.
    pub certificate: String,
    /// Its key.
    pub key: String,
}

/// Why nothing can be signed.
#[derive(Debug, Error)]
pub enum Error {
    /// There is no certificate.
    #[error("its tls.crt is no PEM of a certificate")]
    Certificate,
    /// What would sign is no authority.
    #[error("its tls.crt is no certificate of an authority")]
    NoAuthority,
    /// It has ended.
    #[error("its tls.crt ended at {0}")]
    Ended(Timestamp),
    /// There is no key that is known here.
    #[error("its tls.key is no PEM of a private key of RSA, ECDSA or Ed25519")]
    Key,
    /// The key is that of another certificate.
    #[error("its tls.key does not belong to its tls.crt")]
    Pair,
    /// A certificate cannot be encoded.
    #[error("a certificate cannot be made")]
    Encode(#[from] rcgen::Error),
}

/// Who signs.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    /// Its certificate, and whatever stands beside it.
    certificate: String,
    until: Timestamp,
}

impl Authority {
    /// A new one with a key of its own.
    ///
    /// # Errors
    /// It cannot be encoded.
    pub fn generate(name: &str, now: Timestamp) -> Result<Credentials, Error> {
        let key = KeyPair::generate()?;
        let until = now.saturating_add(OF_AUTHORITIES).unwrap_or(Timestamp::MAX);
        let mut params = dated(name, now, until)?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let certificate = params.self_signed(&key)?.pem();
        Ok(Credentials {
            authority: certificate.clone(),
            certificate,
            key: key.serialize_pem(),
        })
    }

    /// Of the PEM of its certificate and of its key.
    ///
    /// # Errors
    /// They cannot sign now.
    pub fn read(certificate: &[u8], key: &[u8], now: Timestamp) -> Result<Self, Error> {
        let der = CertificateDer::from_pem_slice(certificate).map_err(|_| Error::Certificate)?;
        let (_, parsed) = X509Certificate::from_der(&der).map_err(|_| Error::Certificate)?;
        if !parsed.is_ca() {
            return Err(Error::NoAuthority);
        }
        let until = parsed.validity().not_after.timestamp();
        let until = Timestamp::from_second(until).unwrap_or(Timestamp::MAX);
        if until <= now {
            return Err(Error::Ended(until));
        }
        let key = read_key(key).ok_or(Error::Key)?;
        if parsed.public_key().raw != key.subject_public_key_info() {
            return Err(Error::Pair);
        }
        Ok(Self {
            issuer: Issuer::from_ca_cert_der(&der, key)?,
            certificate: String::from_utf8_lossy(certificate).into_owned(),
            until,
        })
    }

    /// When two thirds of a life that begins now are over, of what is good for so long and no longer than this.
    pub fn renewal(&self, now: Timestamp, life: SignedDuration) -> Timestamp {
        let until = self.until.min(later(now, life));
        let third = until.duration_since(now) / 3;
        until.saturating_sub(third).unwrap_or(until)
    }

    /// For a router of another site: it may be carried to where nobody renews it, so it is good as long as this is. Whose it is, it says as a URI, as routers
    /// look for it, and as its common name.
    ///
    /// # Errors
    /// It cannot be encoded.
    pub fn of_site(&self, site: &str, now: Timestamp) -> Result<Credentials, Error> {
        let mut params = dated(site, now, self.until)?;
        let uri = format!("{SITE_URI}{site}");
        params.subject_alt_names = vec![SanType::URI(uri.as_str().try_into()?)];
        self.issue(params, ExtendedKeyUsagePurpose::ClientAuth)
    }

    /// For a server that is reached by these names and addresses.
    ///
    /// # Errors
    /// It cannot be encoded.
    pub fn of_server(
        &self,
        name: &str,
        hosts: &[String],
        (now, life): (Timestamp, SignedDuration),
    ) -> Result<Credentials, Error> {
        let mut params = dated(name, now, self.until.min(later(now, life)))?;
        for host in hosts {
            let name = match host.parse::<IpAddr>() {
                Ok(address) => SanType::IpAddress(address),
                Err(_) => SanType::DnsName(host.as_str().try_into()?),
            };
            params.subject_alt_names.push(name);
        }
        self.issue(params, ExtendedKeyUsagePurpose::ServerAuth)
    }

    fn issue(
        &self,
        mut params: CertificateParams,
        usage: ExtendedKeyUsagePurpose,
    ) -> Result<Credentials, Error> {
        params.is_ca = IsCa::ExplicitNoCa;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![usage];
        params.use_authority_key_identifier_extension = true;
        let key = KeyPair::generate()?;
        let certificate = params.signed_by(&key, &self.issuer)?.pem();
        Ok(Credentials {
            authority: self.certificate.clone(),
            certificate,
            key: key.serialize_pem(),
        })
    }
}

fn later(now: Timestamp, life: SignedDuration) -> Timestamp {
    now.saturating_add(life).unwrap_or(Timestamp::MAX)
}

fn dated(name: &str, now: Timestamp, until: Timestamp) -> Result<CertificateParams, Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params.distinguished_name.push(DnType::CommonName, name);
    let at = |at: Timestamp| {
        let at = ASN1Time::from_timestamp(at.as_second());
        let at = at.map_err(|_| rcgen::Error::Time)?;
        Ok::<_, rcgen::Error>(at.to_datetime())
    };
    params.not_before = at(now.saturating_sub(APART).unwrap_or(now))?;
    params.not_after = at(until)?;
    Ok(params)
}

/// A key of ours, or of the replaced implementation.
fn read_key(pem: &[u8]) -> Option<KeyPair> {
    let read = PrivateKeyDer::from_pem_slice(pem).ok()?;
    let der = if let PrivateKeyDer::Pkcs1(key) = &read {
        let key = encoded(0x04, key.secret_pkcs1_der());
        PrivatePkcs8KeyDer::from(encoded(0x30, &[&RSA[..], &key].concat()))
    } else if let PrivateKeyDer::Pkcs8(key) = &read {
        key.clone_key()
    } else {
        return None;
    };
    KeyPair::try_from(&der).ok()
}

/// A value of DER.
fn encoded(kind: u8, content: &[u8]) -> Vec<u8> {
    let length = content.len().to_be_bytes();
    let skipped = length.iter().take_while(|byte| **byte == 0).count();
    let length = &length[skipped..];
    let head = match (content.len(), length) {
        (0..0x80, _) => vec![kind, u8::try_from(content.len()).unwrap_or_default()],
        (_, length) => {
            let count = 0x80 | u8::try_from(length.len()).unwrap_or_default();
            [&[kind, count], length].concat()
        }
    };
    [&head, content].concat()
}

#[cfg(test)]
mod tests;
