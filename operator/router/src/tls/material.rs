//! The files of a profile as keys and certificates. All of a profile is good, or nothing of it is used.

use std::sync::Arc;

use rustls::RootCertStore;
use rustls::client::WebPkiServerVerifier;
use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::danger::ClientCertVerifier;
use rustls::server::{VerifierBuilderError, WebPkiClientVerifier};
use rustls::sign::CertifiedKey;
use thiserror::Error;

use super::credentials::{Credentials, crypto};
use super::files::{Files, MissingFile};
use crate::config::Profile;

/// Error in the files of a profile.
#[derive(Debug, Error)]
pub enum Error {
    /// Its owner took a file away.
    #[error("{0}")]
    Gone(String),
    /// A file cannot be read.
    #[error("cannot read `{path}`: {reason}")]
    Read {
        /// The file.
        path: String,
        /// Why.
        reason: String,
    },
    /// The file is not valid PEM, or contains no such item.
    #[error("`{path}` holds no {what}")]
    Pem {
        /// The file.
        path: String,
        /// Expected content of the file.
        what: &'static str,
        /// Why.
        source: pem::Error,
    },
    /// It is PEM of something that cannot be used.
    #[error("`{path}` cannot be used")]
    Use {
        /// The file.
        path: String,
        /// Why.
        source: rustls::Error,
    },
    /// The key is that of another certificate.
    #[error("the private key `{key}` does not belong to the certificate `{chain}`")]
    Pair {
        /// The file of the key.
        key: String,
        /// The file of the certificate.
        chain: String,
    },
    /// The authorities cannot be used.
    #[error("the certificate authorities cannot be used to verify peers")]
    Verifier(#[source] VerifierBuilderError),
}

/// Reads the files of a profile.
pub(crate) fn load(profile: &Profile, files: &Files) -> Result<Credentials, Error> {
    let roots = match &profile.ca {
        None => None,
        Some(path) => Some(Arc::new(roots(path, files)?)),
    };
    let pair = match &profile.pair {
        None => None,
        Some((chain, key)) => Some(Arc::new(pair(chain, key, files)?)),
    };
    let servers = match roots.clone() {
        None => None,
        Some(roots) => {
            let verifier = WebPkiServerVerifier::builder_with_provider(roots, crypto()).build();
            Some(verifier.map_err(Error::Verifier)? as Arc<_>)
        }
    };
    let clients = roots.map(clients).transpose()?;
    Ok(Credentials::new(pair, clients, servers))
}

fn clients(roots: Arc<rustls::RootCertStore>) -> Result<Arc<dyn ClientCertVerifier>, Error> {
    WebPkiClientVerifier::builder_with_provider(roots, crypto())
        .build()
        .map_err(Error::Verifier)
}

fn bytes<'f>(path: &str, files: &'f Files) -> Result<&'f [u8], Error> {
    let read = |reason: &str| Error::Read {
        path: path.to_owned(),
        reason: reason.to_owned(),
    };
    match files.get(path) {
        Some(Ok(bytes)) => Ok(bytes),
        Some(Err(MissingFile::Unread(reason))) => Err(read(reason)),
        Some(Err(MissingFile::Gone(sentence))) => Err(Error::Gone(sentence.clone())),
        None => Err(read("it was not looked for")),
    }
}

fn certificates(path: &str, files: &Files) -> Result<Vec<CertificateDer<'static>>, Error> {
    let wrong = |source| Error::Pem {
        path: path.to_owned(),
        what: "certificate",
        source,
    };
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(bytes(path, files)?).collect();
    let found = found.map_err(wrong)?;
    if found.is_empty() {
        return Err(wrong(pem::Error::NoItemsFound));
    }
    Ok(found)
}

fn roots(path: &str, files: &Files) -> Result<RootCertStore, Error> {
    let mut roots = RootCertStore::empty();
    for certificate in certificates(path, files)? {
        roots.add(certificate).map_err(|source| Error::Use {
            path: path.to_owned(),
            source,
        })?;
    }
    Ok(roots)
}

fn pair(chain: &str, key: &str, files: &Files) -> Result<CertifiedKey, Error> {
    let certificates = certificates(chain, files)?;
    let private = PrivateKeyDer::from_pem_slice(bytes(key, files)?);
    let private = private.map_err(|source| Error::Pem {
        path: key.to_owned(),
        what: "private key",
        source,
    })?;
    let signing = crypto().key_provider.load_private_key(private);
    let signing = signing.map_err(|source| Error::Use {
        path: key.to_owned(),
        source,
    })?;
    let certified = CertifiedKey::new(certificates, signing);
    match certified.keys_match() {
        Ok(()) | Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::Unknown)) => {
            Ok(certified)
        }
        Err(rustls::Error::InconsistentKeys(rustls::InconsistentKeys::KeyMismatch)) => {
            Err(Error::Pair {
                key: key.to_owned(),
                chain: chain.to_owned(),
            })
        }
        Err(source) => Err(Error::Use {
            path: chain.to_owned(),
            source,
        }),
    }
}
