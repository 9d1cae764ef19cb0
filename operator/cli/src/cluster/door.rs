//! Door of the simulated cluster: a loopback port, over TLS, for clients that know a token. The
//! certificate and the token are new each time.

use std::fmt::{self, Debug, Formatter};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use lifecycle_simulator::http::AccessOptions;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use thiserror::Error;
use tokio::net::TcpListener;

/// Names for which the certificate is valid.
const NAMES: [&str; 2] = ["127.0.0.1", "localhost"];

/// Reason why the port accepts no clients.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// Another process listens there.
    #[error(
        "port {port} is in use: choose another with --port, or leave the option out to get a free one"
    )]
    Taken {
        /// The port.
        port: u16,
    },
    /// The operating system refuses it for another reason.
    #[error("cannot listen on 127.0.0.1:{port}")]
    Bind {
        /// The port.
        port: u16,
        /// Error of the operating system.
        source: io::Error,
    },
}

/// Reason why clients cannot be authenticated.
#[derive(Debug, Error)]
pub(crate) enum KeyError {
    /// The certificate could not be made.
    #[error("the certificate of the simulated cluster cannot be made")]
    Make(#[from] rcgen::Error),
    /// It cannot be used.
    #[error("the certificate of the simulated cluster cannot be used")]
    Use(#[from] rustls::Error),
}

/// Credentials of a client: the authority to trust, and the token to show.
#[derive(Clone)]
pub(crate) struct Key {
    /// The certificate of the authority, as PEM.
    pub(crate) authority: String,
    /// Token that makes a client an administrator.
    pub(crate) token: String,
}

impl Debug for Key {
    /// Shows no token.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Key").finish_non_exhaustive()
    }
}

/// A lock, and the key to it.
///
/// # Errors
/// If the certificate cannot be made.
pub(crate) fn locked() -> Result<(AccessOptions, Key), KeyError> {
    let mut random = [0; 32];
    SystemRandom::new()
        .fill(&mut random)
        .expect("the system has random numbers");
    let token: String = random.iter().map(|byte| format!("{byte:02x}")).collect();
    let mut authority = named("simulated authority", &[])?;
    authority.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    authority.key_usages = vec![KeyUsagePurpose::KeyCertSign];
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate()?)?;
    let own = KeyPair::generate()?;
    let mut certificate = named("simulated cluster", &NAMES)?;
    certificate.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    let certificate = certificate.signed_by(&own, &authority)?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let tls = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            PrivatePkcs8KeyDer::from(own.serialize_der()).into(),
        )?;
    let key = Key {
        authority: authority.pem(),
        token: token.clone(),
    };
    Ok((AccessOptions::locked(token, Arc::new(tls)), key))
}

fn named(name: &str, hosts: &[&str]) -> Result<CertificateParams, rcgen::Error> {
    let hosts = hosts.iter().map(|host| (*host).to_owned());
    let mut params = CertificateParams::new(hosts.collect::<Vec<_>>())?;
    params.distinguished_name.push(DnType::CommonName, name);
    Ok(params)
}

/// Takes a port on loopback; 0 takes a free one.
///
/// # Errors
/// Another process has it, or the operating system refuses it.
pub(crate) async fn bind(port: u16) -> Result<TcpListener, Error> {
    let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
    TcpListener::bind(address).await.map_err(|source| {
        if source.kind() == io::ErrorKind::AddrInUse {
            Error::Taken { port }
        } else {
            Error::Bind { port, source }
        }
    })
}
