//! Files that are written as a whole. A concurrent reader finds the old text or the new one, and
//! never half of one. Independent of their content.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::Path;

use tempfile::{Builder, NamedTempFile};
use thiserror::Error;

/// Why a file is as it was.
#[derive(Debug, Error)]
pub enum Error {
    /// Another process changed the file in the meantime.
    #[error("it has changed since it was read, and is left as it is: try again")]
    Changed,
    /// It, or its folder, cannot be read or written.
    #[error(transparent)]
    Write(#[from] io::Error),
}

/// Reads a file. Returns `None` if it does not exist.
///
/// # Errors
/// Returns an error if the file exists and cannot be read.
pub fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match fs::read(path) {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Puts a file in the place of the one that was read as `before`, `None` if there was none: with its mode, and where a link leads.
///
/// # Errors
/// Returns an error if the content changed since it was read, or if the file may not be written.
/// The file is then unchanged, and no temporary file remains.
pub fn replace(path: &Path, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
    if read(path)?.as_deref() != before {
        return Err(Error::Changed);
    }
    match before {
        Some(_) => exchange(path, after)?,
        None => add(path, after)?,
    }
    Ok(())
}

fn exchange(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // The target of a link is written. A file that may not be written is not replaced either.
    let path = path.canonicalize()?;
    let old = OpenOptions::new().write(true).open(&path)?.metadata()?;
    let new = write_temp_file(&path, bytes)?;
    new.as_file().set_permissions(old.permissions())?;
    new.persist(&path)?;
    Ok(())
}

fn add(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    match write_temp_file(path, bytes)?.persist_noclobber(path) {
        Ok(_) => Ok(()),
        Err(failed) if failed.error.kind() == io::ErrorKind::AlreadyExists => Err(Error::Changed),
        Err(failed) => Err(Error::Write(failed.error)),
    }
}

/// A file of the same folder, for nothing else can be renamed at once. It goes again unless it is.
fn write_temp_file(path: &Path, bytes: &[u8]) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| *folder != Path::new(""));
    let mut new = temporary().tempfile_in(folder.unwrap_or(Path::new(".")))?;
    new.write_all(bytes)?;
    Ok(new)
}

/// With the mode of any new file, and not for its owner alone.
#[cfg(unix)]
fn temporary() -> Builder<'static, 'static> {
    use std::os::unix::fs::PermissionsExt as _;

    let mut builder = Builder::new();
    builder.permissions(fs::Permissions::from_mode(0o666));
    builder
}

#[cfg(not(unix))]
fn temporary() -> Builder<'static, 'static> {
    Builder::new()
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn who_has_it_open_reads_the_old_file_to_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, "old").unwrap();
        let mut open = fs::File::open(&path).unwrap();
        replace(&path, Some(b"old"), b"new").unwrap();
        let mut read = String::new();
        open.read_to_string(&mut read).unwrap();
        assert_eq!(
            (read.as_str(), &*fs::read(&path).unwrap()),
            ("old", &b"new"[..])
        );
    }

    #[test]
    fn mode_and_link_stay_and_nothing_is_left_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        symlink("a", &link).unwrap();
        replace(&link, Some(b"old"), b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(
            (mode(&path), &*fs::read(&path).unwrap()),
            (0o640, &b"new"[..])
        );
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_new_file_has_the_mode_of_any_other() {
        let folder = tempfile::tempdir().unwrap();
        let (path, other) = (folder.path().join("a"), folder.path().join("b"));
        replace(&path, None, b"new").unwrap();
        fs::write(&other, "new").unwrap();
        assert_eq!(mode(&path), mode(&other));
    }

    #[test]
    fn what_has_changed_come_or_gone_meanwhile_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let (path, gone) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&path, "saved").unwrap();
        for (path, before) in [
            (&path, Some(&b"old"[..])),
            (&path, None),
            (&gone, Some(b"old")),
        ] {
            let failed = replace(path, before, b"new");
            assert!(matches!(failed, Err(Error::Changed)), "{failed:?}");
        }
        assert!(matches!(add(&path, b"new"), Err(Error::Changed)));
        assert_eq!(fs::read(&path).unwrap(), b"saved");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }
}
