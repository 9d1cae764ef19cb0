//! The last good copy of a configuration, in one file that is exchanged whole. It holds private keys: only its owner may read it.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use k8s_openapi::ByteString;
use serde::{Deserialize, Serialize};

use crate::file;

/// Name of the file, and of its next version.
const FILE: &str = "configuration.json";
const NEXT: &str = "configuration.json.next";

/// The largest copy that is read.
const LARGEST: u64 = 256 << 20;

/// A document and the files of its profiles, by their path below the directory of certificates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Copy {
    pub(super) document: String,
    pub(super) files: BTreeMap<String, ByteString>,
}

/// Directory of the copy.
#[derive(Clone, Debug)]
pub(super) struct Cache {
    directory: PathBuf,
}

impl Cache {
    /// In this directory, which is made if it is not there.
    pub(super) fn in_directory(directory: &Path) -> io::Result<Self> {
        fs::create_dir_all(directory)?;
        Ok(Self {
            directory: directory.to_owned(),
        })
    }

    /// Returns the copy, if a readable one exists.
    pub(super) fn read(&self) -> Option<Copy> {
        let read = file::read(&self.directory.join(FILE), LARGEST);
        let bytes = match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return None,
            read => read.map_err(|error| error.to_string()),
        };
        let copy = bytes
            .and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string()));
        copy.inspect_err(|error| tracing::warn!(error, "the last good copy cannot be read"))
            .ok()
    }

    /// Puts a copy in the place of the one before.
    pub(super) async fn write(&self, copy: Option<Copy>) -> io::Result<()> {
        let directory = self.directory.clone();
        let written = tokio::task::spawn_blocking(move || {
            let bytes = serde_json::to_vec(&copy).map_err(io::Error::other)?;
            write(&directory, &bytes)
        });
        written.await.map_err(io::Error::other)?
    }
}

fn write(directory: &Path, bytes: &[u8]) -> io::Result<()> {
    let next = directory.join(NEXT);
    // The file is left over from a process that ended while it wrote.
    if let Err(error) = fs::remove_file(&next)
        && error.kind() != io::ErrorKind::NotFound
    {
        return Err(error);
    }
    let mut options = OpenOptions::new();
    let mut file = options
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&next)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(next, directory.join(FILE))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn copy(document: &str) -> Copy {
        let bytes = ByteString(vec![0, 255, 7]);
        Copy {
            document: document.to_owned(),
            files: BTreeMap::from([("p/tls.key".to_owned(), bytes)]),
        }
    }

    #[tokio::test]
    async fn a_copy_is_exchanged_whole_and_for_its_owner_only() {
        let directory = tempfile::tempdir().unwrap();
        let cache = Cache::in_directory(&directory.path().join("made")).unwrap();
        assert_eq!(cache.read(), None);
        for document in ["one", "two"] {
            // As after a crash in the middle of a write.
            fs::write(cache.directory.join(NEXT), "half").unwrap();
            cache.write(Some(copy(document))).await.unwrap();
            assert_eq!(cache.read(), Some(copy(document)));
        }
        let file = cache.directory.join(FILE);
        let mode = fs::metadata(&file).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        assert_eq!(fs::read_dir(&cache.directory).unwrap().count(), 1);
        fs::write(&file, "{\"document\": \"half").unwrap();
        assert_eq!(cache.read(), None);
    }

    #[test]
    fn a_file_is_no_directory() {
        let file = tempfile::NamedTempFile::new().unwrap();
        assert!(Cache::in_directory(file.path()).is_err());
    }
}
