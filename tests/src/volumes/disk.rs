//! Volumes on a disk: a directory each, and one record for each known item. A record exists as a
//! whole or not at all. File names are hashes, so that nothing in a request can lead to another
//! path.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, ErrorKind};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Request parameters with which a volume was created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Volume {
    /// Name in the request that created it.
    pub name: String,
    /// Capacity in the request. Zero if it was unspecified.
    pub capacity: u64,
    /// From the StorageClass.
    pub parameters: BTreeMap<String, String>,
}

/// How a volume was staged or published.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Use {
    /// Id of the volume.
    pub volume: String,
    /// Path at which it is staged or published.
    pub path: String,
    /// Capability of the use, as text.
    pub capability: String,
}

/// The disk of the one node.
#[derive(Debug)]
pub struct Disk {
    root: PathBuf,
}

/// FNV-1a: file names stay the same from release to release.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    text.bytes().fold(0xcbf2_9ce4_8422_2325, step)
}

/// Returns the id of the volume with this requested name.
pub fn id_of(name: &str) -> String {
    format!("dir-{:016x}", hash(name))
}

/// Returns true if an id is one of ours, and thus the name of a file.
fn is_ours(id: &str) -> bool {
    let digits = id.strip_prefix("dir-").unwrap_or_default();
    digits.len() == 16
        && digits
            .bytes()
            .all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

fn missing_is_fine(done: io::Result<()>) -> io::Result<()> {
    match done {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        done => done,
    }
}

impl Disk {
    /// The disk in this folder, which is made when something is written.
    pub fn new(root: PathBuf) -> Self {
        Self { root }
    }

    /// Returns the path of a volume's data; `None` if its id is not one of ours.
    pub fn data(&self, id: &str) -> Option<PathBuf> {
        is_ours(id).then(|| self.root.join("data").join(id))
    }

    fn record(&self, kind: &str, key: &str) -> PathBuf {
        self.root.join(kind).join(format!("{:016x}", hash(key)))
    }

    fn read<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
        match fs::read(path) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes).map(Some)?),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn write<T: Serialize>(path: &Path, record: &T) -> io::Result<()> {
        let folder = path.parent().unwrap_or(path);
        fs::create_dir_all(folder)?;
        let draft = tempfile::Builder::new()
            .suffix(".draft")
            .tempfile_in(folder)?;
        serde_json::to_writer(&draft, record)?;
        draft.persist(path)?;
        Ok(())
    }

    /// The volume with this id.
    ///
    /// # Errors
    /// The disk fails.
    pub fn volume(&self, id: &str) -> io::Result<Option<Volume>> {
        // A directory whose record is not written yet is not a volume.
        if !self.data(id).is_some_and(|data| data.is_dir()) {
            return Ok(None);
        }
        Self::read(&self.record("volumes", id))
    }

    /// Makes a volume.
    ///
    /// # Errors
    /// The disk fails.
    pub fn make(&self, volume: &Volume) -> io::Result<()> {
        let id = id_of(&volume.name);
        fs::create_dir_all(self.root.join("data").join(&id))?;
        Self::write(&self.record("volumes", &id), volume)
    }

    /// Removes a volume with all that is in it.
    ///
    /// # Errors
    /// The disk fails.
    pub fn remove(&self, id: &str) -> io::Result<()> {
        missing_is_fine(fs::remove_file(self.record("volumes", id)))?;
        let Some(data) = self.data(id) else {
            return Ok(());
        };
        missing_is_fine(fs::remove_dir_all(self.uses_of(id)))?;
        missing_is_fine(fs::remove_dir_all(data))
    }

    /// How a volume is staged.
    ///
    /// # Errors
    /// The disk fails.
    pub fn staged(&self, id: &str) -> io::Result<Option<Use>> {
        Self::read(&self.record("staged", id))
    }

    /// Notes that a volume is staged.
    ///
    /// # Errors
    /// The disk fails.
    pub fn stage(&self, staged: &Use) -> io::Result<()> {
        Self::write(&self.record("staged", &staged.volume), staged)
    }

    /// Notes that a volume is not staged any more.
    ///
    /// # Errors
    /// The disk fails.
    pub fn unstage(&self, id: &str) -> io::Result<()> {
        missing_is_fine(fs::remove_file(self.record("staged", id)))
    }

    /// Returns the volume that is published at a target, if a link of ours is there.
    ///
    /// # Errors
    /// The disk fails.
    pub fn published(&self, target: &str) -> io::Result<Option<Use>> {
        let Ok(data) = fs::read_link(target) else {
            return Ok(None);
        };
        let id = data.file_name().and_then(|name| name.to_str());
        let id = id.filter(|id| self.data(id).as_deref() == Some(&*data));
        match id {
            Some(id) => Self::read(&self.use_of(id, target)),
            None => Ok(None),
        }
    }

    /// Returns the places at which a volume is published.
    ///
    /// # Errors
    /// The disk fails.
    pub fn uses(&self, id: &str) -> io::Result<Vec<Use>> {
        let records = match self.data(id).map(|_| fs::read_dir(self.uses_of(id))) {
            Some(Ok(records)) => records,
            Some(Err(error)) if error.kind() != ErrorKind::NotFound => return Err(error),
            Some(Err(_)) | None => return Ok(Vec::new()),
        };
        let mut uses = Vec::new();
        for record in records {
            let path = record?.path();
            // A record that is being written has another name.
            let is_record = path.extension().is_none() && path.is_file();
            if let Some(one) = is_record
                .then(|| Self::read::<Use>(&path))
                .transpose()?
                .flatten()
            {
                let there = fs::read_link(&one.path).ok() == self.data(id);
                uses.extend(Some(one).filter(|_| there));
            }
        }
        Ok(uses)
    }

    fn uses_of(&self, id: &str) -> PathBuf {
        self.root.join("published").join(id)
    }

    fn use_of(&self, id: &str, target: &str) -> PathBuf {
        self.uses_of(id).join(format!("{:016x}", hash(target)))
    }

    /// Puts a link to the volume at a target; an empty directory there gives way, nothing else does.
    ///
    /// # Errors
    /// Returns an error if the disk fails, or something exists at the target.
    pub fn publish(&self, published: &Use) -> io::Result<()> {
        let Some(data) = self.data(&published.volume) else {
            return Err(ErrorKind::NotFound.into());
        };
        let target = Path::new(&published.path);
        match fs::symlink_metadata(target) {
            Ok(there) if there.is_dir() => fs::remove_dir(target)?,
            Ok(_) => return Err(ErrorKind::AlreadyExists.into()),
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
        // The record is written first: a link without one would have no owner.
        Self::write(&self.use_of(&published.volume, &published.path), published)?;
        symlink(data, target)
    }

    /// Takes our link away, and nothing else.
    ///
    /// # Errors
    /// The disk fails.
    pub fn unpublish(&self, published: &Use) -> io::Result<()> {
        missing_is_fine(fs::remove_file(&published.path))?;
        let record = self.use_of(&published.volume, &published.path);
        missing_is_fine(fs::remove_file(record))
    }
}
