//! One configuration as a whole: a document and the files of its profiles, as they were at one
//! time. Pure: independent of their origin and of their use.

use std::sync::Arc;

use ring::digest::{SHA256, digest};

use crate::config::{self, Desired, Profile, proxies};
use crate::tls::{Files, MissingFile};

/// Name of the document in sources: a file in a directory, a key in a ConfigMap.
pub const DOCUMENT: &str = "skrouterd.json";

/// One configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The first 16 hexadecimal digits of the document's SHA-256.
    pub hash: String,
    /// The document as it is written.
    pub document: Arc<[u8]>,
    /// Configuration that the document requests.
    pub desired: Desired,
    /// The files of its profiles.
    pub files: Files,
}

impl Snapshot {
    /// Reads a document; `file` gives each file of its profiles, by the profile and its path below the directory of certificates.
    ///
    /// # Errors
    /// The document cannot be read at all.
    pub fn read(
        document: &[u8],
        file: impl Fn(&str, &Profile, &str) -> Result<Vec<u8>, MissingFile>,
    ) -> Result<Self, config::Error> {
        let desired = config::read(document)?;
        let mut files = Files::new();
        for (name, entry) in &desired.profiles {
            if let Ok(profile) = &entry.wanted {
                let read = |path: &str| (path.to_owned(), file(name, profile, path));
                files.extend(profile.files().map(read));
            }
        }
        let hash = digest(&SHA256, document);
        let digits = hash.as_ref().iter().take(8);
        Ok(Self {
            hash: digits.map(|byte| format!("{byte:02x}")).collect(),
            document: document.into(),
            desired,
            files,
        })
    }

    /// Adds the files with the passwords of proxies; `password` gives each by the name of the proxy.
    #[must_use]
    pub(crate) fn with_passwords(
        mut self,
        password: impl Fn(&str) -> Result<Vec<u8>, MissingFile>,
    ) -> Self {
        let names = self.desired.proxies.iter();
        let read = names.map(|name| (proxies::file(name), password(name)));
        self.files.extend(read);
        self
    }
}
