//! Certificates for tests: an authority, its issued certificates, and clients that trust it.

use std::net::IpAddr;
use std::sync::Arc;

use lifecycle_router::link::security::SITE_URI;
use lifecycle_router::tls::Files;
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, SanType};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ClientConfig, RootCertStore, ServerConfig};
use tokio_rustls::{TlsAcceptor, TlsConnector};

/// A certificate and its key as PEM.
pub(crate) struct Pair {
    pub(crate) chain: String,
    pub(crate) key: String,
}

/// An authority.
pub(crate) struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
}

impl Authority {
    pub(crate) fn new(name: &str) -> Self {
        Self::from_params(Self::params(name), KeyPair::generate().unwrap())
    }

    fn params(name: &str) -> CertificateParams {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        params
    }

    /// As the controller of sites makes it: all its keys are Ed25519.
    pub(crate) fn edwards(name: &str) -> Self {
        Self::from_params(Self::params(name), edwards())
    }

    fn from_params(params: CertificateParams, key: KeyPair) -> Self {
        let issuer = CertifiedIssuer::self_signed(params, key).unwrap();
        Self { issuer }
    }

    pub(crate) fn pem(&self) -> String {
        self.issuer.pem()
    }

    /// A certificate for a name or an address.
    pub(crate) fn issue(&self, name: &str) -> Pair {
        self.issue_for(name, KeyPair::generate().unwrap())
    }

    /// As `issue`, with an Ed25519 key.
    pub(crate) fn issue_edwards(&self, name: &str) -> Pair {
        self.issue_for(name, edwards())
    }

    /// A certificate for an address, which names a site.
    pub(crate) fn issue_site(&self, site: &str, address: IpAddr) -> Pair {
        self.issue_site_within(site, address, [1975, 4096])
    }

    /// The same, valid from one year to another.
    pub(crate) fn issue_site_within(&self, site: &str, address: IpAddr, years: [i32; 2]) -> Pair {
        let mut params = CertificateParams::new(vec![address.to_string()]).unwrap();
        let uri = format!("{SITE_URI}{site}");
        let uri = SanType::URI(uri.try_into().unwrap());
        params.subject_alt_names.push(uri);
        let [from, until] = years.map(|year| rcgen::date_time_ymd(year, 1, 1));
        (params.not_before, params.not_after) = (from, until);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Pair {
            chain: certificate.pem(),
            key: key.serialize_pem(),
        }
    }

    fn issue_for(&self, name: &str, key: KeyPair) -> Pair {
        let params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        Pair {
            chain: certificate.pem(),
            key: key.serialize_pem(),
        }
    }

    fn roots(&self) -> RootCertStore {
        let mut roots = RootCertStore::empty();
        let certificate = CertificateDer::from_pem_slice(self.pem().as_bytes());
        roots.add(certificate.unwrap()).unwrap();
        roots
    }

    /// A client that trusts this authority and shows this certificate.
    pub(crate) fn client(&self, pair: Option<&Pair>) -> TlsConnector {
        let builder = ClientConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(self.roots());
        let config = match pair {
            None => builder.with_no_client_auth(),
            Some(pair) => builder
                .with_client_auth_cert(pair.certificates(), pair.private())
                .unwrap(),
        };
        TlsConnector::from(Arc::new(config))
    }

    /// Returns a server with this certificate. It requests a client certificate of this authority
    /// if `required`.
    pub(crate) fn server(&self, pair: &Pair, required: bool) -> TlsAcceptor {
        let builder = ServerConfig::builder_with_provider(provider())
            .with_safe_default_protocol_versions()
            .unwrap();
        let builder = if required {
            let roots = Arc::new(self.roots());
            let verifier =
                rustls::server::WebPkiClientVerifier::builder_with_provider(roots, provider());
            builder.with_client_cert_verifier(verifier.build().unwrap())
        } else {
            builder.with_no_client_auth()
        };
        let config = builder.with_single_cert(pair.certificates(), pair.private());
        TlsAcceptor::from(Arc::new(config.unwrap()))
    }
}

impl Pair {
    pub(crate) fn certificates(&self) -> Vec<CertificateDer<'static>> {
        CertificateDer::pem_slice_iter(self.chain.as_bytes())
            .collect::<Result<_, _>>()
            .unwrap()
    }

    fn private(&self) -> PrivateKeyDer<'static> {
        PrivateKeyDer::from_pem_slice(self.key.as_bytes()).unwrap()
    }
}

fn edwards() -> KeyPair {
    KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap()
}

fn provider() -> Arc<rustls::crypto::CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// The element of a profile with all three files.
pub(crate) fn profile(name: &str) -> serde_json::Value {
    let file = |file: &str| format!("/etc/skupper-router-certs/{name}/{file}");
    serde_json::json!(["sslProfile", {"name": name, "caCertFile": file("ca.crt"),
        "certFile": file("tls.crt"), "privateKeyFile": file("tls.key")}])
}

/// The files of such a profile.
pub(crate) fn files(name: &str, authority: &Authority, pair: &Pair) -> Files {
    let ca = authority.pem();
    let all = [
        ("ca.crt", &ca),
        ("tls.crt", &pair.chain),
        ("tls.key", &pair.key),
    ];
    all.map(|(file, text)| (format!("{name}/{file}"), Ok(text.clone().into_bytes())))
        .into()
}

/// A name for a client to ask for.
pub(crate) fn server_name(address: IpAddr) -> rustls::pki_types::ServerName<'static> {
    address.into()
}
