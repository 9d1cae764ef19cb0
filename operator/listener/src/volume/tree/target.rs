//! Place of a tree: a folder that exists, and a name in it. Everything below is reached from there,
//! never by the path again.

use std::path::{Component, Path};

use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::error::{Error, doing};

/// The longest path that Linux takes.
const LONGEST: usize = 4095;
/// As containers see it: everybody may read.
const FOLDER: Mode = Mode::from_raw_mode(0o755);

pub(super) struct Target {
    parent: OwnedFd,
    name: String,
}

impl Target {
    /// `None` if even the folder that should hold it is not there.
    pub(super) fn find(path: &str) -> Result<Option<Self>, Error> {
        let (parent, name) = split(path)?;
        let flags = OFlags::DIRECTORY | OFlags::PATH | OFlags::CLOEXEC;
        match rustix::fs::open(parent, flags, Mode::empty()) {
            Ok(parent) => Ok(Some(Self { parent, name })),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::NOTDIR) => Err(Error::Path("in something that is no folder")),
            Err(errno) => Err(doing("open the folder")(errno)),
        }
    }

    /// Creates the folder. Returns true if it was not there before.
    pub(super) fn create(&self) -> Result<bool, Error> {
        match rustix::fs::mkdirat(&self.parent, &self.name, FOLDER) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(doing("make a folder")(errno)),
        }
    }

    /// The folder itself; `None` if it is not there.
    pub(super) fn open(&self) -> Result<Option<OwnedFd>, Error> {
        match folder(&self.parent, &self.name) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(Errno::NOTDIR | Errno::LOOP) => Err(Error::Taken(self.entry_kind())),
            Err(Errno::XDEV) => Err(Error::Taken("a mount")),
            Err(errno) => Err(doing("open the folder")(errno)),
        }
    }

    /// Returns true if the path is something other than a folder. A symlink is not followed.
    pub(super) fn is_file(&self) -> bool {
        let found = rustix::fs::statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let kind = found.map(|found| FileType::from_raw_mode(found.st_mode));
        kind.is_ok_and(|kind| !kind.is_dir())
    }

    /// Returns the type of the entry that takes the place of a folder.
    fn entry_kind(&self) -> &'static str {
        let found = rustix::fs::statat(&self.parent, &self.name, AtFlags::SYMLINK_NOFOLLOW);
        let kind = found.map(|found| FileType::from_raw_mode(found.st_mode));
        if kind.is_ok_and(FileType::is_symlink) {
            "a symlink"
        } else {
            "a file"
        }
    }

    /// Removes an entry that is no folder: a file, or a symlink without its target.
    pub(super) fn remove_file(&self) -> Result<(), Error> {
        match rustix::fs::unlinkat(&self.parent, &self.name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(Errno::BUSY) => Err(Error::Taken("a mount")),
            Err(errno) => Err(doing("remove the file")(errno)),
        }
    }

    pub(super) fn remove_empty(&self) -> Result<(), Error> {
        match rustix::fs::unlinkat(&self.parent, &self.name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(doing("remove the folder")(errno)),
        }
    }
}

/// Opens a folder of that name, if it is one and no other file system begins there.
pub(super) fn folder(
    parent: &OwnedFd,
    name: impl rustix::path::Arg,
) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let inside = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    rustix::fs::openat2(parent, name, flags, Mode::empty(), inside)
}

fn split(path: &str) -> Result<(&Path, String), Error> {
    if path.len() > LONGEST {
        return Err(Error::Path("longer than 4095 bytes"));
    }
    if path.contains('\0') {
        return Err(Error::Path("not valid: it holds a zero byte"));
    }
    if !path.starts_with('/') {
        return Err(Error::Path("not absolute"));
    }
    let path = Path::new(path);
    let plain = |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
    if !path.components().all(plain) {
        return Err(Error::Path("not valid: it holds `..`"));
    }
    let name = path.file_name().and_then(|name| name.to_str());
    match (path.parent(), name) {
        (Some(parent), Some(name)) if name.len() <= 255 => Ok((parent, name.to_owned())),
        (Some(_), Some(_)) => Err(Error::Path("not valid: its name is longer than 255 bytes")),
        (None, _) | (_, None) => Err(Error::Path("the root folder")),
    }
}
