//! Credentials that a handshake needs from a profile, and the slot where the next handshake finds
//! them. Independent of files.

use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, OnceLock, RwLock};

use rustls::client::Resumption;
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring as provider};
use rustls::server::danger::ClientCertVerifier;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::version::TLS13;
use rustls::{ClientConfig, ServerConfig};

use super::expiry::Expiry;
use super::verify::Servers;

/// Credentials from the good files of a profile.
pub struct Credentials {
    pair: Option<Arc<CertifiedKey>>,
    clients: Option<Arc<dyn ClientCertVerifier>>,
    servers: Option<Arc<dyn ServerCertVerifier>>,
    server: [OnceLock<Option<Arc<ServerConfig>>>; 2],
    client: [OnceLock<Option<Arc<ClientConfig>>>; 2],
}

impl Debug for Credentials {
    /// Shows no key.
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.debug_struct("Credentials").finish_non_exhaustive()
    }
}

impl Credentials {
    /// Creates credentials from a certificate and its key, and from the verifiers of clients and
    /// servers.
    pub(super) fn new(
        pair: Option<Arc<CertifiedKey>>,
        clients: Option<Arc<dyn ClientCertVerifier>>,
        servers: Option<Arc<dyn ServerCertVerifier>>,
    ) -> Self {
        Self {
            pair,
            clients,
            servers,
            server: [OnceLock::new(), OnceLock::new()],
            client: [OnceLock::new(), OnceLock::new()],
        }
    }

    /// Returns the configuration that accepts clients; absent if the profile has no certificate, or
    /// none to verify clients with.
    pub fn server(&self, require_client_certificate: bool) -> Option<Arc<ServerConfig>> {
        let slot = &self.server[usize::from(require_client_certificate)];
        slot.get_or_init(|| self.build_server(require_client_certificate).map(Arc::new))
            .clone()
    }

    /// Returns the configuration that connects to servers; absent if the profile has no authority.
    pub fn client(&self, verify_hostname: bool) -> Option<Arc<ClientConfig>> {
        let slot = &self.client[usize::from(verify_hostname)];
        slot.get_or_init(|| self.build_client(verify_hostname).map(Arc::new))
            .clone()
    }

    /// Until when its certificate is good; absent if it has none.
    pub(super) fn expiry(&self) -> Option<Expiry> {
        Expiry::from_certificate(self.pair.as_ref()?.cert.first()?)
    }

    /// Returns true if the credentials suffice for a link.
    pub fn can_link(&self) -> bool {
        self.pair.is_some() && self.clients.is_some() && self.servers.is_some()
    }

    /// Returns the configuration that accepts routers of other sites: TLS 1.3, with a certificate
    /// of both sides, for one protocol. Absent in the cases of [`Credentials::server`].
    pub fn link_server(&self, protocol: &[u8]) -> Option<ServerConfig> {
        let pair = SingleCertAndKey::from(self.pair.clone()?);
        let builder = ServerConfig::builder_with_provider(crypto())
            .with_protocol_versions(&[&TLS13])
            .expect("the provider has what it needs")
            .with_client_cert_verifier(self.clients.clone()?);
        let mut config = builder.with_cert_resolver(Arc::new(pair));
        config.alpn_protocols = vec![protocol.to_vec()];
        // A link lasts, and a reconnecting peer presents its certificate again.
        config.send_tls13_tickets = 0;
        Some(config)
    }

    /// Returns the configuration that connects to routers of other sites, in the same way. Absent
    /// if the profile has no authority or no certificate.
    pub fn link_client(&self, verify_hostname: bool, protocol: &[u8]) -> Option<ClientConfig> {
        let pair = SingleCertAndKey::from(self.pair.clone()?);
        let builder = ClientConfig::builder_with_provider(crypto())
            .with_protocol_versions(&[&TLS13])
            .expect("the provider has what it needs")
            .dangerous()
            .with_custom_certificate_verifier(self.verifier(verify_hostname)?);
        let mut config = builder.with_client_cert_resolver(Arc::new(pair));
        config.alpn_protocols = vec![protocol.to_vec()];
        config.resumption = Resumption::disabled();
        Some(config)
    }

    fn verifier(&self, verify_hostname: bool) -> Option<Arc<dyn ServerCertVerifier>> {
        Some(Arc::new(Servers {
            by: self.servers.clone()?,
            any_name: !verify_hostname,
        }))
    }

    fn build_server(&self, require_client_certificate: bool) -> Option<ServerConfig> {
        let pair = SingleCertAndKey::from(self.pair.clone()?);
        let builder = ServerConfig::builder_with_provider(crypto())
            .with_safe_default_protocol_versions()
            .expect("the provider has what both versions need");
        let builder = if require_client_certificate {
            builder.with_client_cert_verifier(self.clients.clone()?)
        } else {
            builder.with_no_client_auth()
        };
        Some(builder.with_cert_resolver(Arc::new(pair)))
    }

    fn build_client(&self, verify_hostname: bool) -> Option<ClientConfig> {
        let verifier = self.verifier(verify_hostname)?;
        let builder = ClientConfig::builder_with_provider(crypto())
            .with_safe_default_protocol_versions()
            .expect("the provider has what both versions need")
            .dangerous()
            .with_custom_certificate_verifier(verifier);
        Some(match &self.pair {
            None => builder.with_no_client_auth(),
            Some(pair) => {
                builder.with_client_cert_resolver(Arc::new(SingleCertAndKey::from(pair.clone())))
            }
        })
    }
}

/// Returns the one provider of cryptography, regardless of other linked ones.
pub(super) fn crypto() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    let provider = PROVIDER.get_or_init(|| Arc::new(provider::default_provider()));
    provider.clone()
}

/// Current credentials of one profile. Every holder of the slot sees each renewal.
#[derive(Debug, Default)]
pub struct Slot(RwLock<Option<Arc<Credentials>>>);

impl Slot {
    /// Returns the credentials for the next handshake; absent until there were good files.
    pub fn now(&self) -> Option<Arc<Credentials>> {
        self.0.read().expect("no writer panics").clone()
    }

    pub(super) fn set(&self, credentials: Option<Credentials>) {
        *self.0.write().expect("no writer panics") = credentials.map(Arc::new);
    }
}
