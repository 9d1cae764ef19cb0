//! Files that another process writes: how to notice that one changed, and how to read one of bounded size. Knows nothing of what is
//! in them.

use std::fs::{self, Metadata};
use std::io::{self, Read as _};
use std::path::Path;
use std::time::{Duration, SystemTime};

/// A file that was changed less than this ago may be changed again without another time.
const YOUNG: Duration = Duration::from_secs(2);

/// What of a file changes when it does.
#[derive(Clone, Debug, PartialEq)]
pub struct FileStamp {
    changed: Option<SystemTime>,
    size: u64,
    file: u64,
}

impl FileStamp {
    /// Of a file with this metadata.
    pub fn of(metadata: &Metadata) -> Self {
        Self {
            changed: metadata.modified().ok(),
            size: metadata.len(),
            file: file_number(metadata),
        }
    }

    /// Whether it was changed so lately that it may be changed again and have the same stamp.
    pub fn is_young(&self) -> bool {
        let age = |changed| SystemTime::now().duration_since(changed).ok();
        let age = self.changed.and_then(age);
        age.is_none_or(|age| age < YOUNG)
    }
}

#[cfg(unix)]
fn file_number(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn file_number(_metadata: &Metadata) -> u64 {
    0
}

/// Reads a file that may be no larger.
///
/// # Errors
/// It cannot be read, is no file, or is larger.
pub fn read(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    let file = fs::File::open(path)?;
    // A pipe would never end, and a directory cannot be read.
    if !file.metadata()?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    file.take(largest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        return Err(io::Error::other(format!(
            "it is larger than {largest} bytes"
        )));
    }
    Ok(bytes)
}
