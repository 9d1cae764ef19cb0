//! Content of a certificate, and its comparison with the requested content.

use std::collections::BTreeSet;
use std::net::IpAddr;

use jiff::Timestamp;
use rcgen::PublicKeyData as _;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use thiserror::Error;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::{FromDer as _, X509Certificate};

use super::key::Key;
use super::wanted::CertificateRequest;

/// The certificate is missing or unreadable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("it is no PEM of a certificate")]
pub struct Unreadable;

/// A certificate that was read.
#[derive(Clone, Debug)]
pub struct Certificate(CertificateDer<'static>);

impl Certificate {
    /// Reads the first one of a PEM.
    ///
    /// # Errors
    /// Returns an error if the certificate is missing or unreadable.
    pub fn read(pem: &[u8]) -> Result<Self, Unreadable> {
        let der = CertificateDer::from_pem_slice(pem).map_err(|_| Unreadable)?;
        parsed(&der).map(drop).ok_or(Unreadable)?;
        Ok(Self(der))
    }

    /// As it is encoded.
    pub fn der(&self) -> &CertificateDer<'static> {
        &self.0
    }

    /// From when on it is valid, and until when.
    pub fn validity(&self) -> (Timestamp, Timestamp) {
        let validity = self.parsed().validity().clone();
        let at = |seconds: i64, else_: Timestamp| Timestamp::from_second(seconds).unwrap_or(else_);
        let from = at(validity.not_before.timestamp(), Timestamp::MIN);
        (from, at(validity.not_after.timestamp(), Timestamp::MAX))
    }

    /// When two thirds of its life are over.
    pub fn renewal(&self) -> Timestamp {
        let (from, until) = self.validity();
        let third = until.duration_since(from) / 3;
        until.saturating_sub(third).unwrap_or(until)
    }

    /// Returns true if the certificate may sign others.
    pub fn is_authority(&self) -> bool {
        self.parsed().is_ca()
    }

    /// Returns true if this key belongs to the certificate.
    pub fn is_of(&self, key: &Key) -> bool {
        let public = self.parsed().public_key().subject_public_key.data.to_vec();
        public == key.der_bytes()
    }

    /// Returns true if the certificate was signed under the subject and key that another
    /// certificate states.
    pub fn is_signed_by(&self, authority: &Self) -> bool {
        let (own, other) = (self.parsed(), authority.parsed());
        let named = own.issuer().as_raw() == other.subject().as_raw();
        named && own.verify_signature(Some(other.public_key())).is_ok()
    }

    /// Returns the requested properties that the certificate lacks; `None` if it has all of them.
    /// Further properties are no fault: certificates of the replaced implementation are valid for
    /// both sides of a connection.
    pub fn lacks(&self, wanted: &CertificateRequest<'_>) -> Option<String> {
        let parsed = self.parsed();
        let subject = parsed.subject().iter_common_name().last();
        let subject = subject.and_then(|name| name.as_str().ok());
        if subject != Some(wanted.subject) {
            let is = subject.unwrap_or_default();
            return Some(format!(
                "its subject is `{is}`, and not `{}`",
                wanted.subject
            ));
        }
        if parsed.is_ca() != wanted.signing {
            let is = if wanted.signing { "no" } else { "an" };
            return Some(format!("it is {is} authority"));
        }
        if wanted.signing {
            return None;
        }
        let usage = parsed.extended_key_usage().ok().flatten();
        let can = |of: fn(&x509_parser::extensions::ExtendedKeyUsage<'_>) -> bool| {
            usage
                .as_ref()
                .is_none_or(|usage| usage.value.any || of(usage.value))
        };
        let (client, server) = wanted.uses();
        if client && !can(|usage| usage.client_auth) {
            return Some("it is not for clients".to_owned());
        }
        if server && !can(|usage| usage.server_auth) {
            return Some("it is not for servers".to_owned());
        }
        let (has, asked) = (hosts(&parsed), wanted.names());
        let (lacks, more) = (asked.difference(&has).next(), has.difference(&asked).next());
        lacks
            .map(|host| format!("it is not for `{host}`"))
            .or_else(|| more.map(|host| format!("it is for `{host}`, too")))
    }

    fn parsed(&self) -> X509Certificate<'_> {
        parsed(&self.0).expect("it was read before")
    }
}

fn parsed(der: &[u8]) -> Option<X509Certificate<'_>> {
    X509Certificate::from_der(der)
        .ok()
        .map(|(_, parsed)| parsed)
}

/// The names and addresses that a certificate is for, as they are written; an address has the word `IP` before it where it stands among addresses.
fn hosts(parsed: &X509Certificate<'_>) -> BTreeSet<String> {
    let names = parsed.subject_alternative_name().ok().flatten();
    let names = names.iter().flat_map(|names| &names.value.general_names);
    let said = names.filter_map(|name| {
        if let GeneralName::DNSName(host) = name {
            return (!host.is_empty()).then(|| (*host).to_owned());
        }
        let GeneralName::IPAddress(octets) = name else {
            return None;
        };
        let address = <[u8; 4]>::try_from(*octets).map(IpAddr::from);
        let address = address.or_else(|_| <[u8; 16]>::try_from(*octets).map(IpAddr::from));
        Some(format!("IP {}", address.ok()?))
    });
    said.collect()
}
