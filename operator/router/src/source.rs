//! Where configurations come from. A source gives whole snapshots; what cannot be read is told and changes nothing.

pub mod files;

use ring::digest::{SHA256, digest};

use crate::config::{self, Desired};
use crate::tls::Files;

/// One configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The first 16 hexadecimal digits of the document's SHA-256.
    pub hash: String,
    /// What the document asks for.
    pub desired: Desired,
    /// The files of its profiles.
    pub files: Files,
}

impl Snapshot {
    /// Reads a document; `file` gives each file of its profiles, by its path below the directory of certificates.
    ///
    /// # Errors
    /// The document cannot be read at all.
    pub fn read(
        document: &[u8],
        file: impl Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Result<Self, config::Error> {
        let desired = config::read(document)?;
        let profiles = desired
            .profiles
            .values()
            .flat_map(|entry| entry.wanted.as_ref());
        let files = profiles
            .flat_map(config::Profile::files)
            .map(|path| (path.to_owned(), file(path)))
            .collect();
        let hash = digest(&SHA256, document);
        let digits = hash.as_ref().iter().take(8);
        Ok(Self {
            hash: digits.map(|byte| format!("{byte:02x}")).collect(),
            desired,
            files,
        })
    }
}
