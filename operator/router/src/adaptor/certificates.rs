//! The folder of certificates that the adaptor shares with the router. All files of a profile
//! appear together: the adaptor writes a folder with them and exchanges the symbolic link that
//! leads to it. Independent of the content of the files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _, symlink};
use std::path::{Path, PathBuf};

use ring::digest::{Context, SHA256};

use crate::cause;
use crate::config::Profile;
use crate::file;
use crate::tls::{Files, MissingFile};

/// The largest file that is read back.
const LARGEST: u64 = 1 << 20;

/// The beginning of all names that are the adaptor's own; no folder of a profile begins like that.
const OWN: &str = "..";

/// The beginning of marks: the router has not loaded the files of this folder yet.
const MARK: &str = "..unloaded.";

/// Files by folder and name.
pub(super) type Folders = BTreeMap<String, BTreeMap<String, Vec<u8>>>;

/// The folder.
#[derive(Clone, Debug)]
pub(super) struct Certificates {
    root: PathBuf,
    /// Every user may read private keys.
    shared_keys: bool,
}

/// The outcome of writing.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Written {
    /// Folders whose files the router has not loaded yet.
    pub(super) unloaded: BTreeSet<String>,
    /// Folders that cannot be written, with the reasons.
    pub(super) failed: BTreeMap<String, String>,
}

impl Certificates {
    pub(super) fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
            shared_keys: false,
        }
    }

    /// With private keys that every user may read.
    pub(super) fn sharing_keys(self) -> Self {
        Self {
            shared_keys: true,
            ..self
        }
    }

    pub(super) fn root(&self) -> &Path {
        &self.root
    }

    /// Writes folders whose content differs. Leaves a mark for each of them until
    /// [`Certificates::loaded`].
    pub(super) fn write(&self, folders: &Folders) -> Written {
        let mut written = Written::default();
        for (folder, files) in folders {
            if let Err(error) = self.write_folder(folder, files) {
                let path = crate::plain::path(&self.root.join(folder));
                let why = cause::chain(&error);
                let why = format!("cannot write the files of {path}: {why}; make room or allow it");
                written.failed.insert(folder.clone(), why);
            }
            if self.root.join(format!("{MARK}{folder}")).exists() {
                written.unloaded.insert(folder.clone());
            }
        }
        written
    }

    /// Removes the mark of a folder: the router has loaded its files.
    ///
    /// # Errors
    /// It cannot be removed.
    pub(super) fn loaded(&self, folder: &str) -> io::Result<()> {
        remove_file(&self.root.join(format!("{MARK}{folder}")))
    }

    /// Removes unused folders that the adaptor wrote, and the leftovers of earlier writes.
    ///
    /// # Errors
    /// Something cannot be read or removed.
    pub(super) fn sweep(&self, used: &BTreeSet<String>) -> io::Result<()> {
        let mut targets = BTreeSet::new();
        let mut names = Vec::new();
        for found in fs::read_dir(&self.root)? {
            let found = found?;
            let Ok(name) = found.file_name().into_string() else {
                continue;
            };
            let target = fs::read_link(found.path());
            let target = target
                .ok()
                .and_then(|target| Some(target.to_str()?.to_owned()));
            let target = target.filter(|target| target.starts_with(OWN));
            match target {
                Some(target) if used.contains(&name) => {
                    targets.insert(target);
                }
                // The link is removed first, so that no reader finds an incomplete folder.
                Some(_) => remove_file(&found.path())?,
                None => {}
            }
            names.push(name);
        }
        for name in names.iter().filter(|name| name.starts_with(OWN)) {
            let is_mark = name
                .strip_prefix(MARK)
                .is_some_and(|folder| used.contains(folder));
            if is_mark || targets.contains(name) {
                continue;
            }
            let path = self.root.join(name);
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(&path)?,
                Ok(_) => remove_file(&path)?,
                Err(_gone) => {}
            }
        }
        Ok(())
    }

    /// Reads the files of a profile back.
    pub(super) fn read(&self, profile: &Profile) -> Files {
        let read = |path: &str| (path.to_owned(), self.read_file(path));
        profile.files().map(read).collect()
    }

    /// Reads a file back.
    pub(super) fn read_file(&self, path: &str) -> Result<Vec<u8>, MissingFile> {
        let bytes = file::read(&self.root.join(path), LARGEST);
        bytes.map_err(|error| MissingFile::Unread(error.to_string()))
    }

    fn write_folder(&self, folder: &str, files: &BTreeMap<String, Vec<u8>>) -> io::Result<()> {
        let target = format!("{OWN}{folder}.{}", digest(files));
        let link = self.root.join(folder);
        let again = format!("{target}.again");
        let linked = fs::read_link(&link).ok();
        let is_linked = |to: &str| linked.as_deref() == Some(Path::new(to));
        if (is_linked(&target) || is_linked(&again)) && has(&link, files) {
            return Ok(());
        }
        fs::create_dir_all(&self.root)?;
        // The name is still in use if another process changed its files.
        let at = if is_linked(&target) { again } else { target };
        self.fill(&at, files)?;
        // Before the exchange: a mark too many only makes the router load twice.
        File::create(self.root.join(format!("{MARK}{folder}")))?.sync_all()?;
        let next = self.root.join(format!("{OWN}next.{folder}"));
        remove_file(&next)?;
        symlink(&at, &next)?;
        if fs::symlink_metadata(&link).is_ok_and(|metadata| metadata.is_dir()) {
            // Another program wrote it as a folder, which cannot be exchanged in one step.
            let before = self.root.join(format!("{OWN}before.{folder}"));
            remove_folder(&before)?;
            fs::rename(&link, before)?;
        }
        fs::rename(next, &link)?;
        File::open(&self.root)?.sync_all()
    }

    fn fill(&self, name: &str, files: &BTreeMap<String, Vec<u8>>) -> io::Result<()> {
        let path = self.root.join(name);
        remove_folder(&path)?;
        fs::DirBuilder::new().mode(0o755).create(&path)?;
        for (name, bytes) in files {
            let is_read = self.shared_keys || is_public(name);
            let mode = if is_read { 0o644 } else { 0o600 };
            let mut options = OpenOptions::new();
            let options = options.write(true).create_new(true).mode(mode);
            let mut file = options.open(path.join(name))?;
            file.write_all(bytes)?;
            file.sync_all()?;
        }
        File::open(&path)?.sync_all()
    }
}

/// True for certificates; anything else may be a key.
fn is_public(name: &str) -> bool {
    let extension = Path::new(name).extension();
    extension.is_some_and(|extension| extension == "crt")
}

/// True if the folder has exactly these files.
fn has(folder: &Path, files: &BTreeMap<String, Vec<u8>>) -> bool {
    let count = fs::read_dir(folder).map_or(0, Iterator::count);
    let same = |(name, bytes): (&String, &Vec<u8>)| {
        let read = file::read(&folder.join(name), LARGEST.max(bytes.len() as u64));
        read.is_ok_and(|read| read == *bytes)
    };
    count == files.len() && files.iter().all(same)
}

/// Returns a digest that distinguishes the contents of folders.
pub(super) fn digest(files: &BTreeMap<String, Vec<u8>>) -> String {
    let mut context = Context::new(&SHA256);
    for (name, bytes) in files {
        for part in [name.as_bytes(), bytes] {
            context.update(&part.len().to_be_bytes());
            context.update(part);
        }
    }
    let digest = context.finish();
    let digits = digest.as_ref().iter().take(8);
    digits.map(|byte| format!("{byte:02x}")).collect()
}

fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn remove_folder(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

#[cfg(test)]
mod tests;
