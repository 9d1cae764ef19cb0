//! Removes the content of a folder, regardless of the number and depth of the entries that a Pod
//! has made. Entries are removed as they are read, two folders are open at a time, and symlinks are
//! not followed. A removal that takes too long continues with the next call.

use std::ffi::{CStr, CString};
use std::time::{Duration, Instant, SystemTime};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, RenameFlags};
use rustix::io::Errno;

use super::error::{Error, doing};
use super::layout::{GONE, OLD};
use super::target::folder;

/// How long one call may remove: well below the time that kubelet waits for an answer.
pub(super) const LIMIT: Duration = Duration::from_secs(20);
/// Number of entries between two checks of the clock.
const STRIDE: u64 = 64;

/// Entries that one call has removed, and the deadline of the call.
pub(super) struct Removal {
    until: Instant,
    limit: Duration,
    removed: u64,
    /// Suffix of the next free name.
    number: u128,
}

impl Removal {
    pub(super) fn with_limit(limit: Duration) -> Self {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        Self {
            until: Instant::now() + limit,
            limit,
            removed: 0,
            number: since.unwrap_or_default().as_nanos(),
        }
    }

    /// One more entry is gone.
    fn count(&mut self) -> Result<(), Error> {
        self.removed += 1;
        if self.removed.is_multiple_of(STRIDE) && Instant::now() >= self.until {
            return Err(Error::Unfinished {
                removed: self.removed,
                limit: self.limit,
            });
        }
        Ok(())
    }
}

/// Everything in the folder.
pub(super) fn content(root: &OwnedFd, removal: &mut Removal) -> Result<(), Error> {
    others(root, removal, |_| false)
}

/// Removes everything in the folder except the kept entries.
pub(super) fn others(
    root: &OwnedFd,
    removal: &mut Removal,
    kept: impl Fn(&str) -> bool,
) -> Result<(), Error> {
    // Entries may be passed over while others come and go: the folder is read until nothing is left.
    while pass(root, removal, &kept)? {}
    Ok(())
}

/// Reads the folder once and removes the entries. Returns true if it found any.
fn pass(
    root: &OwnedFd,
    removal: &mut Removal,
    kept: &impl Fn(&str) -> bool,
) -> Result<bool, Error> {
    let mut found = false;
    for entry in entries(root)? {
        let entry = entry?;
        if !entry.to_str().is_ok_and(kept) {
            found = true;
            all(root, entry, removal)?;
        }
    }
    Ok(found)
}

/// Returns true if an entry was put there less than this duration ago. Returns false for an entry
/// from the future.
pub(super) fn is_younger(root: &OwnedFd, name: &str, than: Duration) -> bool {
    let found = rustix::fs::statat(root, name, AtFlags::SYMLINK_NOFOLLOW);
    let since = found.ok().and_then(|found| {
        let seconds = u64::try_from(found.st_ctime).ok()?;
        let put = SystemTime::UNIX_EPOCH + Duration::new(seconds, 0);
        put.elapsed().ok()
    });
    // The file system counts finer than this does.
    since.is_some_and(|since| since < than + Duration::from_secs(1)) && !than.is_zero()
}

/// Gives way to something new of this name: a folder gets another name, under which a later write finds and removes it.
pub(super) fn away(root: &OwnedFd, name: &str, removal: &mut Removal) -> Result<(), Error> {
    let unfit = |_| Error::Path("not valid: it holds a zero byte");
    let name = CString::new(name).map_err(unfit)?;
    if unlink(root, &name)? {
        return Ok(());
    }
    rename(root, root, (&name, OLD), removal).map(drop)
}

/// A folder in a folder comes up to the root before it is emptied, so that depth costs neither stack nor files. The last that came up is next; where there
/// are more, reading the root again finds them, so that their number costs no memory.
fn all(root: &OwnedFd, name: CString, removal: &mut Removal) -> Result<(), Error> {
    let mut next = Some(name);
    while let Some(name) = next.take() {
        let found = match folder(root, &name) {
            Ok(found) => found,
            Err(Errno::NOTDIR | Errno::LOOP) => {
                unlink(root, &name)?;
                removal.count()?;
                continue;
            }
            Err(Errno::NOENT) => continue,
            Err(Errno::XDEV) => return Err(Error::Taken("a mount")),
            Err(errno) => return Err(doing("open a folder")(errno)),
        };
        next = empty(root, &found, removal)?;
        match rustix::fs::unlinkat(root, &name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(doing("remove a folder")(errno)),
        }
        removal.count()?;
    }
    Ok(())
}

/// Removes the files in a folder and lifts its folders up to the root; the last of these by name.
fn empty(root: &OwnedFd, found: &OwnedFd, removal: &mut Removal) -> Result<Option<CString>, Error> {
    let mut last = None;
    loop {
        let mut is_empty = true;
        for entry in entries(found)? {
            let entry = entry?;
            is_empty = false;
            if !unlink(found, &entry)? {
                last = Some(rename(found, root, (&entry, GONE), removal)?);
            }
            removal.count()?;
        }
        if is_empty {
            return Ok(last);
        }
    }
}

/// Removes an entry that is no folder. Returns true if the entry is gone.
fn unlink(parent: &OwnedFd, name: &CStr) -> Result<bool, Error> {
    match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        Err(Errno::BUSY) => Err(Error::Taken("a mount")),
        Err(errno) => Err(doing("remove a file")(errno)),
    }
}

/// Moves a folder to the root, under a name that begins so and is free there.
fn rename(
    from: &OwnedFd,
    root: &OwnedFd,
    (name, begins): (&CStr, &str),
    removal: &mut Removal,
) -> Result<CString, Error> {
    loop {
        removal.number += 1;
        let free = format!("{begins}{}", removal.number);
        let free = CString::new(free).expect("no zero byte is in it");
        match rustix::fs::renameat_with(from, name, root, &free, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(free),
            Err(Errno::EXIST) => {}
            Err(Errno::BUSY | Errno::XDEV) => return Err(Error::Taken("a mount")),
            Err(errno) => return Err(doing("move a folder")(errno)),
        }
    }
}

/// The names in a folder, without itself and its parent, as they are read.
fn entries(of: &OwnedFd) -> Result<impl Iterator<Item = Result<CString, Error>>, Error> {
    let entries = Dir::read_from(of).map_err(doing("read a folder"))?;
    Ok(entries.filter_map(|entry| match entry {
        Ok(entry) => {
            let name = entry.file_name();
            let is_itself = matches!(name.to_bytes(), b"." | b"..");
            (!is_itself).then(|| Ok(name.to_owned()))
        }
        Err(errno) => Some(Err(doing("read a folder")(errno))),
    }))
}
