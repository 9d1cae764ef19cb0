//! TLS 1.3 with a certificate of both sides, as links have it.

use std::path::Path;
use std::sync::Arc;

use rustls::client::Resumption;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::TLS13;
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn roots(directory: &Path) -> RootCertStore {
    let mut roots = RootCertStore::empty();
    let authority = CertificateDer::from_pem_file(directory.join("ca.crt"));
    roots.add(authority.unwrap()).unwrap();
    roots
}

fn chain(directory: &Path) -> Vec<CertificateDer<'static>> {
    let chain = CertificateDer::pem_file_iter(directory.join("tls.crt")).unwrap();
    chain.collect::<Result<_, _>>().unwrap()
}

fn key(directory: &Path) -> PrivateKeyDer<'static> {
    PrivateKeyDer::from_pem_file(directory.join("tls.key")).unwrap()
}

pub(crate) fn connector(directory: &Path) -> TlsConnector {
    let mut config = ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_root_certificates(roots(directory))
        .with_client_auth_cert(chain(directory), key(directory))
        .unwrap();
    config.resumption = Resumption::disabled();
    TlsConnector::from(Arc::new(config))
}

pub(crate) fn acceptor(directory: &Path) -> TlsAcceptor {
    let clients =
        WebPkiClientVerifier::builder_with_provider(Arc::new(roots(directory)), provider());
    let config = ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&TLS13])
        .unwrap()
        .with_client_cert_verifier(clients.build().unwrap())
        .with_single_cert(chain(directory), key(directory))
        .unwrap();
    TlsAcceptor::from(Arc::new(config))
}
