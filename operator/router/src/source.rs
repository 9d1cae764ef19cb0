//! Where configurations come from. A source gives whole snapshots; what cannot be read is told and changes nothing.

pub mod files;
#[cfg(feature = "kubernetes")]
pub mod kubernetes;

use ring::digest::{SHA256, digest};

use crate::config::{self, Desired, Profile};
use crate::router::Router;
use crate::tls::{Files, Lack};

/// Where configurations come from.
pub enum Source {
    /// Files.
    Directory(files::Directory),
    /// Objects in a namespace of Kubernetes.
    #[cfg(feature = "kubernetes")]
    Namespace(Box<kubernetes::Namespace>),
}

impl Source {
    /// Keeps the router at what the source says, without end.
    pub async fn follow(self, router: Router) {
        match self {
            Self::Directory(directory) => directory.follow(router).await,
            #[cfg(feature = "kubernetes")]
            Self::Namespace(namespace) => namespace.follow(router).await,
        }
    }
}

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
    /// Reads a document; `file` gives each file of its profiles, by the profile and its path below the directory of certificates.
    ///
    /// # Errors
    /// The document cannot be read at all.
    pub fn read(
        document: &[u8],
        file: impl Fn(&str, &Profile, &str) -> Result<Vec<u8>, Lack>,
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
            desired,
            files,
        })
    }
}

/// Carries a configuration out, and says so.
async fn carry_out(router: &Router, snapshot: &Snapshot) {
    for fault in &snapshot.desired.faults {
        tracing::warn!("{fault}");
    }
    router.apply(snapshot.clone()).await;
    tracing::info!(configuration = snapshot.hash, "configuration carried out");
}
