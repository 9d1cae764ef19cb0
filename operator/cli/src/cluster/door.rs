//! Where the simulated cluster is reached, and by whom: a port of loopback, over TLS, by those who know a token. Both are new each time.

use std::fmt::{self, Debug, Formatter};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;

use lifecycle_simulator::http::Door;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, ExtendedKeyUsagePurpose, IsCa,
    KeyPair, KeyUsagePurpose,
};
use ring::rand::{SecureRandom, SystemRandom};
use rustls::ServerConfig;
use rustls::pki_types::PrivatePkcs8KeyDer;
use thiserror::Error;
use tokio::net::TcpListener;

/// What the certificate is for.
const NAMES: [&str; 2] = ["127.0.0.1", "localhost"];

/// Why nobody can be let in.
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
        /// What is said.
        source: io::Error,
    },
}

/// Why nobody can be told from anybody else.
#[derive(Debug, Error)]
pub(crate) enum KeyError {
    /// There is no certificate.
    #[error("the certificate of the simulated cluster cannot be made")]
    Make(#[from] rcgen::Error),
    /// It cannot be used.
    #[error("the certificate of the simulated cluster cannot be used")]
    Use(#[from] rustls::Error),
}

/// What a client must know: whom to trust, and what to show.
#[derive(Clone)]
pub(crate) struct Key {
    /// The certificate of the authority, as PEM.
    pub(crate) authority: String,
    /// What makes a client an administrator.
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
/// There is no certificate.
pub(crate) fn locked() -> Result<(Door, Key), KeyError> {
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
    Ok((Door::locked(token, Arc::new(tls)), key))
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
