//! Until when a certificate is good. Knows no clock.

use rustls::pki_types::CertificateDer;
use x509_parser::prelude::{FromDer as _, X509Certificate};

/// The end of a certificate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Expiry {
    /// In seconds since 1970.
    pub seconds: i64,
    /// As people read it.
    pub text: String,
}

impl Expiry {
    /// Of a certificate; `None` if it cannot be read.
    pub(super) fn from_certificate(certificate: &CertificateDer<'_>) -> Option<Self> {
        let (_, parsed) = X509Certificate::from_der(certificate).ok()?;
        let end = parsed.validity().not_after;
        Some(Self {
            seconds: end.timestamp(),
            text: end.to_string(),
        })
    }

    /// Returns true if the certificate has expired at this time, in seconds after 1970.
    pub(super) fn is_over(&self, now: i64) -> bool {
        self.seconds < now
    }
}
