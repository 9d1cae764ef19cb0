//! TLS profiles: what a profile's files hold, and what a handshake needs of it. New files take effect with the next handshake;
//! files that are broken or do not fit each other change nothing, and are told. Open streams keep what they began with.

mod material;
mod verify;

use std::collections::BTreeMap;
use std::fmt::{self, Debug, Formatter};
use std::sync::{Arc, OnceLock, RwLock};

use ring::digest::{Context, SHA256};
use rustls::client::danger::ServerCertVerifier;
use rustls::crypto::{CryptoProvider, ring as provider};
use rustls::server::WebPkiClientVerifier;
use rustls::server::danger::ClientCertVerifier;
use rustls::sign::{CertifiedKey, SingleCertAndKey};
use rustls::{ClientConfig, ServerConfig};

use crate::config::{Entry, Profile};
pub use material::Error;
pub(crate) use material::load;

/// The files of profiles by their path below the directory of certificates, or why one is not there.
pub type Files = BTreeMap<String, Result<Vec<u8>, Lack>>;

/// Why a file of a profile is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// It cannot be read, for this reason. What was good before stays in use.
    Unread(String),
    /// Its owner took it away, and nothing of the profile is to be used any more. The whole sentence that is told.
    Gone(String),
}

/// What the good files of a profile are good for.
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
    /// What accepts clients; absent if the profile has no certificate, or none to verify clients with.
    pub fn server(&self, require_client_certificate: bool) -> Option<Arc<ServerConfig>> {
        let slot = &self.server[usize::from(require_client_certificate)];
        slot.get_or_init(|| self.build_server(require_client_certificate).map(Arc::new))
            .clone()
    }

    /// What connects to servers; absent if the profile has no authority.
    pub fn client(&self, verify_hostname: bool) -> Option<Arc<ClientConfig>> {
        let slot = &self.client[usize::from(verify_hostname)];
        slot.get_or_init(|| self.build_client(verify_hostname).map(Arc::new))
            .clone()
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
        let servers = self.servers.clone()?;
        let verifier = if verify_hostname {
            servers
        } else {
            Arc::new(verify::AnyName(servers))
        };
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

/// The one provider of cryptography, whatever else is linked.
pub(crate) fn crypto() -> Arc<CryptoProvider> {
    static PROVIDER: OnceLock<Arc<CryptoProvider>> = OnceLock::new();
    let provider = PROVIDER.get_or_init(|| Arc::new(provider::default_provider()));
    provider.clone()
}

/// The credentials of one profile as they are now. Whoever holds it sees every renewal.
#[derive(Debug, Default)]
pub struct Slot(RwLock<Option<Arc<Credentials>>>);

impl Slot {
    /// What the next handshake uses; absent until there were good files.
    pub fn now(&self) -> Option<Arc<Credentials>> {
        self.0.read().expect("no writer panics").clone()
    }

    fn set(&self, credentials: Option<Credentials>) {
        *self.0.write().expect("no writer panics") = credentials.map(Arc::new);
    }
}

/// What became of one profile.
#[derive(Debug)]
pub struct Kept {
    /// Its credentials.
    pub slot: Arc<Slot>,
    /// What is wrong with its files as they are now.
    pub wrong: Option<String>,
    /// Whether its owner took them away: then what is wrong is a sentence of its own.
    pub is_gone: bool,
    /// Tells apart the files that the credentials are from.
    pub material: Option<String>,
    seen: String,
}

/// All profiles by name.
#[derive(Debug, Default)]
pub struct Profiles {
    kept: BTreeMap<String, Kept>,
}

impl Profiles {
    /// Takes over what a document and the files say now.
    pub fn update(&mut self, wanted: &BTreeMap<String, Entry<Profile>>, files: &Files) {
        self.kept.retain(|name, _| wanted.contains_key(name));
        for (name, entry) in wanted {
            let kept = self.kept.entry(name.clone()).or_insert_with(|| Kept {
                slot: Arc::default(),
                wrong: None,
                is_gone: false,
                material: None,
                seen: String::new(),
            });
            match &entry.wanted {
                Err(wrong) => kept.wrong = Some(wrong.to_string()),
                Ok(profile) => kept.update(profile, files),
            }
        }
    }

    /// A profile.
    pub fn get(&self, name: &str) -> Option<&Kept> {
        self.kept.get(name)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = (&str, &Kept)> {
        self.kept.iter().map(|(name, kept)| (name.as_str(), kept))
    }
}

impl Kept {
    /// Loads the files if they are others than those that were loaded last.
    fn update(&mut self, profile: &Profile, files: &Files) {
        let seen = digest(profile, files);
        if self.seen == seen {
            return;
        }
        let loaded = load(profile, files);
        self.is_gone = matches!(loaded, Err(Error::Gone(_)));
        match loaded {
            Ok(credentials) => {
                self.slot.set(Some(credentials));
                self.wrong = None;
                self.material = Some(seen.clone());
            }
            Err(error) => self.wrong = Some(crate::cause::chain(&error)),
        }
        if self.is_gone {
            self.slot.set(None);
            self.material = None;
        }
        self.seen = seen;
    }
}

fn digest(profile: &Profile, files: &Files) -> String {
    let mut context = Context::new(&SHA256);
    for path in profile.files() {
        let (kind, bytes) = match files.get(path) {
            Some(Ok(bytes)) => (b"+", bytes.as_slice()),
            Some(Err(Lack::Unread(why))) => (b"-", why.as_bytes()),
            Some(Err(Lack::Gone(why))) => (b"0", why.as_bytes()),
            None => (b"?", &[][..]),
        };
        context.update(kind);
        for part in [path.as_bytes(), bytes] {
            context.update(&part.len().to_be_bytes());
            context.update(part);
        }
    }
    let digest = context.finish();
    let digits = digest.as_ref().iter().take(8);
    digits.map(|byte| format!("{byte:02x}")).collect()
}

fn clients(roots: Arc<rustls::RootCertStore>) -> Result<Arc<dyn ClientCertVerifier>, Error> {
    WebPkiClientVerifier::builder_with_provider(roots, crypto())
        .build()
        .map_err(Error::Verifier)
}

#[cfg(test)]
mod tests;
