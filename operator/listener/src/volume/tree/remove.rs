//! Removes what is in a folder, however deep a Pod has made it: two open folders at a time, and nothing is followed.

use std::ffi::{CStr, CString};
use std::time::{Duration, SystemTime};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, Dir, RenameFlags};
use rustix::io::Errno;

use super::error::{Error, doing};
use super::layout::OLD;
use super::target::folder;

/// Everything in the folder.
pub(super) fn content(root: &OwnedFd) -> Result<(), Error> {
    others(root, |_| false)
}

/// Everything in the folder but what is to be kept.
pub(super) fn others(root: &OwnedFd, kept: impl Fn(&str) -> bool) -> Result<(), Error> {
    for name in names(root)? {
        if !name.to_str().is_ok_and(&kept) {
            all(root, name)?;
        }
    }
    Ok(())
}

/// Whether an entry was put there less than so long ago. One from the future is not.
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

/// Gives an entry another name, under which a later write finds and removes it.
pub(super) fn retire(root: &OwnedFd, name: &str) -> Result<(), Error> {
    let unfit = |_| Error::Path("not valid: it holds a zero byte");
    let name = CString::new(name).map_err(unfit)?;
    lift(root, root, &name, &mut 0).map(drop)
}

/// One entry with all that is in it. That there is none is fine.
pub(super) fn one(root: &OwnedFd, name: &str) -> Result<(), Error> {
    let unfit = |_| Error::Path("not valid: it holds a zero byte");
    all(root, CString::new(name).map_err(unfit)?)
}

/// A folder in a folder comes up to the root before it is emptied, so that depth costs neither stack nor files.
fn all(root: &OwnedFd, name: CString) -> Result<(), Error> {
    let (mut left, mut lifted) = (vec![name], 0);
    while let Some(name) = left.pop() {
        let found = match folder(root, &name) {
            Ok(found) => found,
            Err(Errno::NOTDIR | Errno::LOOP) => {
                unlink(root, &name)?;
                continue;
            }
            Err(Errno::NOENT) => continue,
            Err(Errno::XDEV) => return Err(Error::Taken("a mount")),
            Err(errno) => return Err(doing("open a folder")(errno)),
        };
        for below in names(&found)? {
            if !unlink(&found, &below)? {
                left.push(lift(root, &found, &below, &mut lifted)?);
            }
        }
        match rustix::fs::unlinkat(root, &name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(doing("remove a folder")(errno)),
        }
    }
    Ok(())
}

/// Whether it was no folder, and so is gone.
fn unlink(parent: &OwnedFd, name: &CStr) -> Result<bool, Error> {
    match rustix::fs::unlinkat(parent, name, AtFlags::empty()) {
        Ok(()) | Err(Errno::NOENT) => Ok(true),
        Err(Errno::ISDIR) => Ok(false),
        Err(Errno::BUSY) => Err(Error::Taken("a mount")),
        Err(errno) => Err(doing("remove a file")(errno)),
    }
}

/// Moves a folder up to the root, under a name that is free there.
fn lift(root: &OwnedFd, from: &OwnedFd, name: &CStr, lifted: &mut u64) -> Result<CString, Error> {
    loop {
        *lifted += 1;
        let free = CString::new(format!("{OLD}{lifted}")).expect("no zero byte is in it");
        match rustix::fs::renameat_with(from, name, root, &free, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(free),
            Err(Errno::EXIST) => {}
            Err(Errno::BUSY | Errno::XDEV) => return Err(Error::Taken("a mount")),
            Err(errno) => return Err(doing("move a folder")(errno)),
        }
    }
}

fn names(of: &OwnedFd) -> Result<Vec<CString>, Error> {
    let mut names = Vec::new();
    for entry in Dir::read_from(of).map_err(doing("read a folder"))? {
        let name = entry
            .map_err(doing("read a folder"))?
            .file_name()
            .to_owned();
        if name.as_bytes() != b"." && name.as_bytes() != b".." {
            names.push(name);
        }
    }
    Ok(names)
}
