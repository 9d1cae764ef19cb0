//! Certificates with their own key, for uses that no Certificate declares: for a granted link, and
//! for the server that grants it.

use std::fmt::{self, Debug, Formatter};

use jiff::Timestamp;
use ring::rand::{SecureRandom as _, SystemRandom};

use super::issue::{Authority, Error, self_signed};
use super::key::Key;
use super::wanted::CertificateRequest;

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

impl Debug for Credentials {
    /// Shows no key.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

impl Credentials {
    /// Those of a new authority.
    ///
    /// # Errors
    /// Returns an error if the certificate cannot be encoded, or if no random bytes are available.
    pub fn of_authority(subject: &str, now: Timestamp) -> Result<Self, Error> {
        let wanted = CertificateRequest {
            subject,
            signing: true,
            ..CertificateRequest::default()
        };
        let key = key()?;
        let certificate = self_signed(&wanted, &key, now, random()?)?;
        Ok(Self {
            authority: certificate.clone(),
            certificate,
            key: key.pem(),
        })
    }

    /// Those that an authority signs.
    ///
    /// # Errors
    /// Returns an error if the certificate cannot be encoded, or if no random bytes are available.
    pub fn signed(
        by: &Authority,
        wanted: &CertificateRequest<'_>,
        now: Timestamp,
    ) -> Result<Self, Error> {
        let key = key()?;
        Ok(Self {
            authority: by.text().to_owned(),
            certificate: by.issue(wanted, &key, now, random()?)?,
            key: key.pem(),
        })
    }
}

fn key() -> Result<Key, Error> {
    let mut missing = None;
    let key = Key::generate(|| {
        random().unwrap_or_else(|error| {
            missing = Some(error);
            // Ends the search.
            [1; 32]
        })
    });
    missing.map_or(Ok(key), Err)
}

fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map_err(|_| Error::Random)?;
    Ok(bytes)
}
