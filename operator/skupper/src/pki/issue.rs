//! Issuing of certificates: validity and issuer.

use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyUsagePurpose, SanType, SerialNumber,
};
use thiserror::Error;
use x509_parser::time::ASN1Time;

use super::encoded;
use super::key::{self, Key};
use super::read::{Certificate, Unreadable};
use super::wanted::CertificateRequest;

const YEAR: SignedDuration = SignedDuration::from_hours(365 * 24);
/// Validity of an authority, as in the existing implementation. It is renewed after two thirds, so
/// it always outlives the certificates that it signs for a year.
const OF_AUTHORITIES: SignedDuration = SignedDuration::from_hours(5 * 365 * 24);
/// Upper bound on the lag of the clocks of other clusters.
const APART: SignedDuration = SignedDuration::from_mins(5);
/// Returns the expiry of a certificate whose authority is valid until `end`. A server certificate
/// is renewed in its place, so a year is enough. A client certificate may be carried to another
/// site, which does not renew it. It is therefore valid for as long as its authority, and so for
/// more than a third of an authority's life.
fn until(wanted: &CertificateRequest<'_>, now: Timestamp, end: Timestamp) -> Timestamp {
    let longest = match (wanted.signing, wanted.uses()) {
        (true, _) => return later(now, OF_AUTHORITIES),
        (false, (true, false)) => end,
        (false, _) => later(now, YEAR),
    };
    longest.min(end)
}

fn later(now: Timestamp, life: SignedDuration) -> Timestamp {
    now.saturating_add(life).unwrap_or(Timestamp::MAX)
}

/// Why nothing is issued.
#[derive(Debug, Error)]
pub enum Error {
    /// The certificate of the authority cannot be read.
    #[error("its tls.crt cannot be used: {0}")]
    Authority(Unreadable),
    /// The certificate of the signer is not one of an authority.
    #[error("its tls.crt is no certificate of an authority")]
    NoAuthority,
    /// The key of the authority cannot be used.
    #[error("its tls.key cannot be used")]
    Key(#[source] key::Wrong),
    /// The key of the authority is that of another certificate.
    #[error("its tls.key does not belong to its tls.crt")]
    Pair,
    /// The certificate cannot be encoded.
    #[error("the certificate cannot be made")]
    Encode(#[source] rcgen::Error),
    /// The system gives nothing random.
    #[error("the system gives no random bytes")]
    Random,
}

/// Authority that signs certificates.
#[derive(Debug)]
pub struct Authority {
    certificate: Certificate,
    /// PEM of the certificate, and of all text beside it.
    text: String,
    key: Key,
}

impl Authority {
    /// Of the PEM of its certificate, and of its key.
    ///
    /// # Errors
    /// They cannot sign.
    pub fn read(certificate: &[u8], key: &[u8]) -> Result<Self, Error> {
        let text = String::from_utf8_lossy(certificate).into_owned();
        let certificate = Certificate::read(certificate).map_err(Error::Authority)?;
        if !certificate.is_authority() {
            return Err(Error::NoAuthority);
        }
        let key = Key::read(key).map_err(Error::Key)?;
        if !certificate.is_of(&key) {
            return Err(Error::Pair);
        }
        Ok(Self {
            certificate,
            text,
            key,
        })
    }

    /// Its certificate.
    pub fn certificate(&self) -> &Certificate {
        &self.certificate
    }

    /// Returns the PEM of its certificate, and of all text that was read with it.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// When it ended, if it has.
    pub fn expired_at(&self, now: Timestamp) -> Option<Timestamp> {
        let (_, end) = self.certificate.validity();
        (end <= now).then_some(end)
    }

    /// Issues a certificate for a key, PEM.
    ///
    /// # Errors
    /// It cannot be encoded.
    pub fn issue(
        &self,
        wanted: &CertificateRequest<'_>,
        key: &Key,
        now: Timestamp,
        serial: [u8; 16],
    ) -> Result<String, Error> {
        let (_, end) = self.certificate.validity();
        let params = params(wanted, now, until(wanted, now, end), serial)?;
        let issuer = Issuer::from_ca_cert_der(self.certificate.der(), &self.key);
        let issuer = issuer.map_err(Error::Encode)?;
        let made = params.signed_by(key, &issuer).map_err(Error::Encode)?;
        Ok(encoded::pem("CERTIFICATE", made.der()))
    }
}

/// Issues a certificate of an authority, signed by its own key, PEM.
///
/// # Errors
/// It cannot be encoded.
pub fn self_signed(
    wanted: &CertificateRequest<'_>,
    key: &Key,
    now: Timestamp,
    serial: [u8; 16],
) -> Result<String, Error> {
    let until = until(wanted, now, Timestamp::MAX);
    let params = params(wanted, now, until, serial)?;
    let made = params.self_signed(key).map_err(Error::Encode)?;
    Ok(encoded::pem("CERTIFICATE", made.der()))
}

fn params(
    wanted: &CertificateRequest<'_>,
    now: Timestamp,
    until: Timestamp,
    mut serial: [u8; 16],
) -> Result<CertificateParams, Error> {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, wanted.subject);
    let from = now.saturating_sub(APART).unwrap_or(now);
    params.not_before = asn1(from)?.to_datetime();
    params.not_after = asn1(until)?.to_datetime();
    // Neither negative nor zero.
    serial[0] = serial[0] & 0x7f | 0x40;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    params.use_authority_key_identifier_extension = true;
    if wanted.signing {
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        return Ok(params);
    }
    params.is_ca = IsCa::ExplicitNoCa;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    let (client, server) = wanted.uses();
    let uses = [
        (client, ExtendedKeyUsagePurpose::ClientAuth),
        (server, ExtendedKeyUsagePurpose::ServerAuth),
    ];
    let uses = uses.into_iter().filter(|(asked, _)| *asked);
    params.extended_key_usages = uses.map(|(_, of)| of).collect();
    let names = wanted.names();
    let names = names.iter().map(|name| match name.strip_prefix("IP ") {
        Some(address) => Ok(SanType::IpAddress(
            address.parse().expect("it was an address before"),
        )),
        None => Ok(SanType::DnsName(name.as_str().try_into()?)),
    });
    let site = wanted.site();
    let site = site
        .iter()
        .map(|uri| Ok(SanType::URI(uri.as_str().try_into()?)));
    let names: Result<Vec<_>, rcgen::Error> = names.chain(site).collect();
    params.subject_alt_names = names.map_err(Error::Encode)?;
    Ok(params)
}

fn asn1(at: Timestamp) -> Result<ASN1Time, Error> {
    ASN1Time::from_timestamp(at.as_second()).map_err(|_| Error::Encode(rcgen::Error::Time))
}

#[cfg(test)]
mod tests;
