//! Configuration from a directory: `skrouterd.json` and `certs/<profile>/{tls.crt,tls.key,ca.crt}`,
//! and `certs/<proxy>/password.txt`. The source checks times and sizes twice a second. It reads the
//! files again when these differ, or are so young that they may hide a change. A half-written
//! document is not valid JSON, so the previous one stays. The previous key also stays while a new
//! key does not match its certificate yet.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use thiserror::Error;

use crate::boxed::BoxFuture;
use crate::cause;
use crate::config::{self, Profile, proxies};
use crate::data_plane::DataPlane;
use crate::file::{self, FileStamp};
use crate::plain;
use crate::snapshot::{DOCUMENT, Snapshot};
use crate::tls::MissingFile;

/// The directory of profiles in it.
pub const CERTIFICATES: &str = "certs";

/// Interval of the checks of the directory.
const LOOK: Duration = Duration::from_millis(500);

/// The largest document and the largest file of a profile.
const LARGEST: (u64, u64) = (16 << 20, 1 << 20);

/// Why a directory gives no configuration.
#[derive(Debug, Error)]
pub enum Error {
    /// The document cannot be read.
    #[error("cannot read {}", plain::path(path))]
    Read {
        /// The document.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The document makes no sense.
    #[error("cannot use {}", plain::path(path))]
    Use {
        /// The document.
        path: PathBuf,
        /// Why.
        source: config::Error,
    },
}

/// A directory with a configuration.
#[derive(Clone, Debug)]
pub struct Directory {
    document: PathBuf,
    certificates: PathBuf,
}

/// Stamps of all checked files, including absent ones.
type FileStamps = BTreeMap<PathBuf, Option<FileStamp>>;

impl Directory {
    /// This directory.
    pub fn new(directory: &Path) -> Self {
        Self {
            document: directory.join(DOCUMENT),
            certificates: directory.join(CERTIFICATES),
        }
    }

    /// Reads the configuration.
    ///
    /// # Errors
    /// Returns an error if the document is missing or invalid.
    pub fn read(&self) -> Result<Snapshot, Error> {
        let (document, certificate) = LARGEST;
        let path = || self.document.clone();
        let text = file::read(&self.document, document).map_err(|source| Error::Read {
            path: path(),
            source,
        })?;
        let file = |_: &str, _: &Profile, name: &str| {
            let bytes = file::read(&self.certificates.join(name), certificate);
            bytes.map_err(|error| MissingFile::Unread(error.to_string()))
        };
        let snapshot = Snapshot::read(&text, file).map_err(|source| Error::Use {
            path: path(),
            source,
        })?;
        let password = |name: &str| {
            let path = self.certificates.join(proxies::file(name));
            let bytes = file::read(&path, certificate);
            bytes.map_err(|error| MissingFile::Unread(error.to_string()))
        };
        Ok(snapshot.with_passwords(password))
    }

    /// Keeps the data plane at the configuration in the directory. Never returns.
    pub fn follow(self, plane: impl DataPlane) -> BoxFuture<'static, ()> {
        self.follow_shared(Arc::new(plane))
    }

    pub(super) fn follow_shared(self, plane: Arc<dyn DataPlane>) -> BoxFuture<'static, ()> {
        Box::pin(async move { self.keep(&*plane).await })
    }

    async fn keep(&self, router: &dyn DataPlane) {
        let mut seen = LastRead::default();
        loop {
            let directory = self.clone();
            let mut was_late = false;
            let late = || {
                was_late = true;
                let (path, limit) = (plain::path(&self.document), file::PATIENCE.as_secs());
                let why = format!("{path} or a file that it names takes longer than {limit} s");
                tracing::warn!("{why}");
                router.refuse(Some(why));
            };
            let (now, is_news) = file::run_blocking(move || seen.again(&directory), late).await;
            seen = now;
            if let Some(read) = seen.last.as_ref().filter(|_| is_news || was_late) {
                apply(router, read).await;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// The stamps of the files; absent while one of them is so young that its stamp means nothing.
    fn stamps(&self, last: Option<&Result<Snapshot, String>>) -> Option<FileStamps> {
        let certificates = last
            .and_then(|last| last.as_ref().ok())
            .into_iter()
            .flat_map(|snapshot| snapshot.files.keys())
            .map(|name| self.certificates.join(name));
        let paths = certificates.chain([self.document.clone()]);
        let stamps: FileStamps = paths
            .map(|path| {
                let stamp = fs::metadata(&path).ok();
                let stamp = stamp.map(|metadata| FileStamp::from_metadata(&metadata));
                (path, stamp)
            })
            .collect();
        let settled = !stamps.values().flatten().any(FileStamp::is_young);
        settled.then_some(stamps)
    }
}

/// Result of the last read, and the stamps of its files at that time if these reveal later changes.
#[derive(Default)]
struct LastRead {
    last: Option<Result<Snapshot, String>>,
    known: Option<FileStamps>,
}

impl LastRead {
    /// Checks again, and also returns true if something else was read.
    fn again(mut self, directory: &Directory) -> (Self, bool) {
        let last = self.last.as_ref();
        if self.known.is_some() && directory.stamps(last) == self.known {
            return (self, false);
        }
        // The stamps are taken before reading, so that a change in between is seen the next time.
        let stamps = directory.stamps(last);
        let read = directory.read().map_err(|error| cause::chain(&error));
        let is_news = last != Some(&read);
        self.last = Some(read);
        // Files that the document names only now are checked from the next time on.
        let now = directory.stamps(self.last.as_ref());
        self.known = stamps.filter(|stamps| Some(stamps) == now.as_ref());
        (self, is_news)
    }
}

async fn apply(router: &dyn DataPlane, read: &Result<Snapshot, String>) {
    match read {
        Ok(snapshot) => router.apply(snapshot.clone()).await,
        Err(error) => {
            tracing::warn!("{}", plain::plain(error));
            router.refuse(Some(error.clone()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::router::{Options, Router};

    fn write(directory: &Path, name: &str, text: &str) {
        let path = directory.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_half_written_document_changes_nothing_until_it_is_whole() {
        let directory = tempfile::tempdir().unwrap();
        let router = Router::new(Options::default());
        let following = tokio::spawn(Directory::new(directory.path()).follow(router.clone()));
        let mut revision = String::new();
        let mut next = async || {
            let state = router
                .state()
                .after(&revision, Duration::from_secs(60))
                .await;
            revision.clone_from(&state.revision);
            state
        };
        let state = next().await;
        let error = state
            .error
            .unwrap_or(next().await.error.unwrap_or_default());
        assert!(error.contains("skrouterd.json"), "{error}");
        let document = r#"[["router", {"id": "west"}]]"#;
        write(directory.path(), DOCUMENT, document);
        let state = next().await;
        assert_eq!((state.router.as_deref(), state.error), (Some("west"), None));
        write(directory.path(), DOCUMENT, &document[..document.len() / 2]);
        let state = next().await;
        assert_eq!(state.router.as_deref(), Some("west"));
        assert!(state.error.unwrap().contains("no JSON"));
        write(
            directory.path(),
            DOCUMENT,
            &document.replace("west", "east"),
        );
        let state = next().await;
        assert_eq!((state.router.as_deref(), state.error), (Some("east"), None));
        following.abort();
    }

    #[test]
    fn files_of_a_profile_are_read_where_they_may_be_and_bounded() {
        let directory = tempfile::tempdir().unwrap();
        let document = r#"[["sslProfile", {"name": "p", "caCertFile": "/etc/skupper-router-certs/p/ca.crt"}],
            ["sslProfile", {"name": "q", "caCertFile": "q/ca.crt"}],
            ["sslProfile", {"name": "r", "caCertFile": "../secret"}]]"#;
        write(directory.path(), DOCUMENT, document);
        write(directory.path(), "certs/p/ca.crt", "text");
        write(
            directory.path(),
            "certs/q/ca.crt",
            &"x".repeat(1 + (1 << 20)),
        );
        let snapshot = Directory::new(directory.path()).read().unwrap();
        let names: Vec<&str> = snapshot.files.keys().map(String::as_str).collect();
        assert_eq!(names, ["p/ca.crt", "q/ca.crt"]);
        assert_eq!(snapshot.files["p/ca.crt"], Ok(b"text".to_vec()));
        let lack = MissingFile::Unread("it is larger than 1048576 bytes".to_owned());
        assert_eq!(snapshot.files["q/ca.crt"], Err(lack));
    }
}
