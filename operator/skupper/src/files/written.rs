//! A folder of files that only this process writes, by name. A file is written only when its
//! content differs, and always completely. Independent of the content of the files.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use lifecycle_router::file;
use lifecycle_router::plain::{path as plain_path, plain};

/// An object with its status is smaller by far.
const LARGEST: u64 = 16 << 20;

/// Users who may read the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Readers {
    /// All users that may read the directory.
    All,
    /// The user of the process alone.
    Owner,
}

/// The folder, with the files as they were written last.
#[derive(Debug)]
pub(super) struct WrittenFolder {
    path: PathBuf,
    readers: Readers,
    texts: BTreeMap<String, String>,
    failed: Failures,
}

impl WrittenFolder {
    /// Opens a folder, with the files that an earlier process left.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created or read. For a folder that only its owner
    /// may read, an unreadable file is an error as well.
    pub(super) fn open(path: PathBuf, readers: Readers) -> io::Result<Self> {
        let at = |path: &Path, error: io::Error| {
            io::Error::new(error.kind(), format!("{}: {error}", plain_path(path)))
        };
        make(&path, readers).map_err(|error| at(&path, error))?;
        let mut texts = BTreeMap::new();
        for entry in fs::read_dir(&path)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string()
                && name.ends_with(".yaml")
            {
                let text = match (file::read(&entry.path(), LARGEST), readers) {
                    (Ok(text), Readers::All) => text,
                    (Ok(text), Readers::Owner) => {
                        file::only_for_owner(&entry.path())
                            .map_err(|error| at(&entry.path(), error))?;
                        text
                    }
                    // A file that can be produced again is rewritten.
                    (Err(_), Readers::All) => Vec::new(),
                    (Err(error), Readers::Owner) => return Err(at(&entry.path(), error)),
                };
                let text = String::from_utf8(text).unwrap_or_default();
                texts.insert(name, text);
            }
        }
        Ok(Self {
            path,
            readers,
            texts,
            failed: Failures::default(),
        })
    }

    /// The files by name.
    pub(super) fn texts(&self) -> &BTreeMap<String, String> {
        &self.texts
    }

    /// Work that finds files which another process has removed.
    pub(super) fn looking(&self) -> impl FnOnce() -> Vec<String> + Send + 'static {
        let (path, names) = (self.path.clone(), self.texts.keys().cloned());
        let names: Vec<String> = names.collect();
        let is_gone = |path: &Path| {
            let found = fs::symlink_metadata(path);
            found.is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        };
        let gone = move |name: &String| is_gone(&path.join(name));
        move || names.into_iter().filter(gone).collect()
    }

    /// Forgets that a file was written, so that it is again.
    pub(super) fn forget(&mut self, name: &str) {
        self.texts.remove(name);
    }

    /// Makes the files match `wanted`. Returns true if that succeeded for all; failures are logged.
    pub(super) fn keep(&mut self, wanted: &BTreeMap<String, String>) -> bool {
        let mut is_whole = true;
        for (name, text) in wanted {
            if self.texts.get(name) != Some(text) {
                let written = self.write(name, text);
                if self.failed.is_done(name, written) {
                    self.texts.insert(name.clone(), text.clone());
                } else {
                    is_whole = false;
                }
            }
        }
        let gone: Vec<String> = self
            .texts
            .keys()
            .filter(|name| !wanted.contains_key(*name))
            .cloned()
            .collect();
        for name in gone {
            let removed = remove(&self.path.join(&name));
            if self.failed.is_done(&name, removed) {
                self.texts.remove(&name);
            } else {
                is_whole = false;
            }
        }
        is_whole
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        let path = self.path.join(name);
        let replace = || match self.readers {
            Readers::All => file::replace(&path, text.as_bytes()),
            Readers::Owner => file::replace_secret(&path, text.as_bytes()),
        };
        match replace() {
            // The folder may have been removed.
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                make(&self.path, self.readers)?;
                replace()
            }
            replaced => replaced,
        }
    }
}

/// Failures to write that were reported.
#[derive(Debug, Default)]
pub(super) struct Failures(BTreeMap<String, String>);

impl Failures {
    /// Returns true if it worked; each reason for a failure is logged once.
    pub(super) fn is_done(&mut self, name: &str, done: io::Result<()>) -> bool {
        match done {
            Ok(()) => {
                self.0.remove(name);
                true
            }
            Err(error) => {
                let said = error.to_string();
                if self.0.get(name) != Some(&said) {
                    tracing::warn!("cannot write {}: {said}; trying again", plain(name));
                    self.0.insert(name.to_owned(), said);
                }
                false
            }
        }
    }
}

/// Removes a file, if it exists.
pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

fn make(path: &Path, readers: Readers) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    if readers == Readers::Owner {
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    }
    builder.create(path)?;
    #[cfg(unix)]
    if readers == Readers::Owner {
        use std::os::unix::fs::PermissionsExt as _;
        // Also where it was there before.
        fs::set_permissions(path, fs::Permissions::from_mode(0o700))?;
    }
    Ok(())
}
