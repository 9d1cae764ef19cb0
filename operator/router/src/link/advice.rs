//! Advice for a connection that fails, in addition to the messages of the underlying libraries.
//! Independent of links.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, CertificateError};

use crate::cause;

/// Returns the error with its causes, and with a remedy if one is known.
pub(super) fn explained(error: &(dyn Error + 'static)) -> String {
    let text = cause::chain(error);
    let mut at = Some(error);
    while let Some(error) = at {
        let found = error.downcast_ref::<io::Error>().and_then(of_io);
        if let Some(advice) = found {
            return format!("{text}; {advice}");
        }
        at = error.source();
    }
    text
}

/// Returns advice for a failure of a socket, or of the TLS on it.
pub(super) fn of_io(error: &io::Error) -> Option<&'static str> {
    if error.kind() == io::ErrorKind::ConnectionRefused {
        return Some(
            "nothing listens there: check `host` and `port`, and that the other site takes in links",
        );
    }
    let tls = error.get_ref()?.downcast_ref::<rustls::Error>()?;
    if let rustls::Error::InvalidCertificate(wrong) = tls {
        return Some(of_certificate(wrong));
    }
    if let rustls::Error::AlertReceived(alert) = tls {
        return of_alert(*alert);
    }
    if matches!(tls, rustls::Error::InvalidMessage(_)) {
        return Some("it does not speak TLS: `host` or `port` are those of something else");
    }
    let is_other = matches!(tls, rustls::Error::PeerIncompatible(_));
    is_other.then_some("links need TLS 1.3: `host` or `port` may be those of something else")
}

fn of_certificate(wrong: &CertificateError) -> &'static str {
    use CertificateError as Wrong;
    if matches!(wrong, Wrong::UnknownIssuer | Wrong::BadSignature) {
        "the sites need certificates of one authority: the other site may have a new one, so redeem a new token of it, or copy its new Link and \
         Secret; or it belongs to another network, or the files of the `sslProfile` do"
    } else if matches!(
        wrong,
        Wrong::NotValidForName | Wrong::NotValidForNameContext { .. }
    ) {
        "`host` must be one that its certificate is for, or its certificate be for `host` too"
    } else if matches!(wrong, Wrong::Expired | Wrong::ExpiredContext { .. }) {
        "its certificate must be renewed, or the clock of this machine be set"
    } else if matches!(wrong, Wrong::NotValidYet | Wrong::NotValidYetContext { .. }) {
        "the clocks of the two machines must agree"
    } else {
        "it needs another certificate"
    }
}

/// Returns advice for an alert of the other end about our certificate, or about our request.
fn of_alert(alert: AlertDescription) -> Option<&'static str> {
    let refused = [
        AlertDescription::UnknownCA,
        AlertDescription::DecryptError,
        AlertDescription::BadCertificate,
        AlertDescription::CertificateUnknown,
        AlertDescription::CertificateRequired,
        AlertDescription::AccessDenied,
    ];
    if refused.contains(&alert) {
        return Some(
            "it does not take our certificate: the sites need certificates of one authority, and the other site may have a new one, so redeem a new \
             token of it, or copy its new Link and Secret",
        );
    }
    if alert == AlertDescription::CertificateExpired {
        return Some(
            "our certificate has expired, or is not valid yet by the clock of the other end: renew it (redeem a new token), or set the clock",
        );
    }
    let other = [
        AlertDescription::NoApplicationProtocol,
        AlertDescription::ProtocolVersion,
        AlertDescription::HandshakeFailure,
    ];
    other
        .contains(&alert)
        .then_some("it is no router of a site: `host` or `port` are those of something else")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(error: rustls::Error) -> String {
        let error = io::Error::new(io::ErrorKind::InvalidData, error);
        explained(&error)
    }

    #[test]
    fn a_certificate_of_another_authority_says_that_it_may_be_new_and_what_to_do() {
        let wrong = [
            CertificateError::UnknownIssuer,
            CertificateError::BadSignature,
        ];
        let wrong = wrong.map(rustls::Error::InvalidCertificate);
        let alerts = [AlertDescription::UnknownCA, AlertDescription::DecryptError];
        let alerts = alerts.map(rustls::Error::AlertReceived);
        for error in wrong.into_iter().chain(alerts) {
            let said = advice(error);
            assert!(said.contains("may have a new one"), "{said}");
            assert!(said.contains("redeem a new token of it"), "{said}");
            assert!(said.contains("certificates of one authority"), "{said}");
        }
        let expired = rustls::Error::InvalidCertificate(CertificateError::Expired);
        assert!(!advice(expired).contains("new token"));
    }
}
