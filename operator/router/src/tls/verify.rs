//! Verification of a server's certificate: the check of the server name (`verifyHostname`), and the
//! reports of invalid certificates. All other properties are always verified.

use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{CertificateError, DigitallySignedStruct, Error, SignatureScheme};

/// Verifies servers.
#[derive(Debug)]
pub(super) struct Servers {
    pub(super) by: Arc<dyn ServerCertVerifier>,
    /// True if the name does not matter. The name is checked last, so every other error is found
    /// before.
    pub(super) any_name: bool,
}

impl Servers {
    /// Returns the result without details that depend on time. The time since a certificate expired
    /// would make every report a new one.
    fn judged(
        &self,
        verified: Result<ServerCertVerified, Error>,
    ) -> Result<ServerCertVerified, Error> {
        use CertificateError as Wrong;
        let Err(Error::InvalidCertificate(wrong)) = &verified else {
            return verified;
        };
        let is_of_name = matches!(
            wrong,
            Wrong::NotValidForName | Wrong::NotValidForNameContext { .. }
        );
        if self.any_name && is_of_name {
            Ok(ServerCertVerified::assertion())
        } else if matches!(wrong, Wrong::ExpiredContext { .. }) {
            Err(Wrong::Expired.into())
        } else if matches!(wrong, Wrong::NotValidYetContext { .. }) {
            Err(Wrong::NotValidYet.into())
        } else {
            verified
        }
    }
}

impl ServerCertVerifier for Servers {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let verified =
            self.by
                .verify_server_cert(end_entity, intermediates, server_name, ocsp_response, now);
        self.judged(verified)
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        self.by.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.by.supported_verify_schemes()
    }
}
