//! Certificates that the grant server signs: its own, and those that it gives. Independent of
//! objects of Kubernetes.

use jiff::Timestamp;
use lifecycle_runtime::cause;
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::version::TLS13;

use super::service::{CERTIFICATE, SERVICE};
use crate::pki::credentials::Credentials;
use crate::pki::issue::{Authority, Error};
use crate::pki::read::Certificate;
use crate::pki::wanted::CertificateRequest;

/// The PEM of the certificate and of the key of an authority.
type Pair<'a> = (&'a [u8], &'a [u8]);

/// Issues the certificate of the grant server for these hosts. Also returns the time of its
/// renewal.
pub(super) fn for_server(
    hosts: &[String],
    authority: Pair<'_>,
    now: Timestamp,
) -> Result<(ServerConfig, Timestamp), String> {
    let wanted = CertificateRequest {
        subject: SERVICE,
        hosts: hosts.iter().map(String::as_str).collect(),
        server: true,
        ..CertificateRequest::default()
    };
    let made = signed(authority, &wanted, now)?;
    let own = Certificate::read(made.certificate.as_bytes());
    let own = own.map_err(|error| error.to_string())?;
    let config = config(&made).map_err(|error| cause::in_one_line(&error))?;
    Ok((config, own.renewal()))
}

/// Issues the certificate by which this site knows a router of another site.
pub(super) fn for_site(
    site: &str,
    authority: Pair<'_>,
    now: Timestamp,
) -> Result<Credentials, String> {
    let wanted = CertificateRequest {
        subject: site,
        site: Some(site),
        client: true,
        ..CertificateRequest::default()
    };
    signed(authority, &wanted, now)
}

fn signed(
    (certificate, key): Pair<'_>,
    wanted: &CertificateRequest<'_>,
    now: Timestamp,
) -> Result<Credentials, String> {
    let said = |error: Error| cause::in_one_line(&error);
    let authority = Authority::read(certificate, key).map_err(said)?;
    match authority.expired_at(now) {
        Some(end) => Err(format!("its {CERTIFICATE} ended at {end}")),
        None => Credentials::signed(&authority, wanted, now).map_err(said),
    }
}

fn config(made: &Credentials) -> Result<ServerConfig, rustls::Error> {
    let wrong =
        |_| rustls::Error::General("a certificate of the grant server cannot be read".to_owned());
    let chain = CertificateDer::from_pem_slice(made.certificate.as_bytes()).map_err(wrong)?;
    let key = PrivateKeyDer::from_pem_slice(made.key.as_bytes()).map_err(wrong)?;
    ServerConfig::builder_with_protocol_versions(&[&TLS13])
        .with_no_client_auth()
        .with_single_cert(vec![chain], key)
}
