//! Contents of a target, as far as they have our format; everything else is merely "other".

use std::collections::BTreeMap;

use lifecycle_specs_listener::listener_mount::{Files, Folder, Tree};
use rustix::fd::OwnedFd;
use rustix::fs::{Dir, Mode, OFlags, ResolveFlags};

use super::layout::{ADDRESS, ADDRESSES, DEFAULT, OLD, PORTS};
use super::target::folder;

/// No address and no port is longer.
const LONGEST: usize = 1024;
/// Upper bound on the total number of entries that are read. Our own files stay below it.
const MOST: usize = 20_000;
/// Upper bound on the total size of the files in bytes.
const MOST_BYTES: usize = 4 << 20;

/// Budget that is left for reading, because a Pod may have put anything there.
struct Left {
    entries: usize,
    bytes: usize,
}

/// Returns the tree in this folder.
pub(super) fn tree(root: &OwnedFd) -> Tree {
    let is_ours =
        |name: &String| [ADDRESSES, DEFAULT].contains(&name.as_str()) || name.starts_with(OLD);
    let names = Left::all().names(root);
    if names.is_some_and(|names| names.iter().all(is_ours)) {
        files(root).map_or(Tree::Other, Tree::Files)
    } else {
        Tree::Other
    }
}

/// Returns the files, and ignores other entries beside them.
pub(super) fn files(root: &OwnedFd) -> Option<Files> {
    let mut left = Left::all();
    let below = folder(root, ADDRESSES).ok()?;
    let mut addresses = BTreeMap::new();
    for name in left.names(&below)? {
        let found = left.address(&folder(&below, &name).ok()?)?;
        addresses.insert(name, found);
    }
    let default = default(root)?;
    addresses.contains_key(&default).then_some(Files {
        addresses,
        default: Some(default),
    })
}

/// Returns the target of the symlink, if it leads to an address.
pub(super) fn default(root: &OwnedFd) -> Option<String> {
    let link = rustix::fs::readlinkat(root, DEFAULT, Vec::new()).ok()?;
    let name = link.to_str().ok()?.strip_prefix("addresses/")?;
    (!name.contains('/')).then(|| name.to_owned())
}

impl Left {
    fn all() -> Self {
        Self {
            entries: MOST,
            bytes: MOST_BYTES,
        }
    }

    fn address(&mut self, folder_of_address: &OwnedFd) -> Option<Folder> {
        if self.names(folder_of_address)?.len() != 2 {
            return None;
        }
        let below = folder(folder_of_address, PORTS).ok()?;
        let mut ports = BTreeMap::new();
        for name in self.names(&below)? {
            let number = self.content(&below, &name)?;
            ports.insert(name, number);
        }
        Some(Folder {
            address: self.content(folder_of_address, ADDRESS)?,
            ports,
        })
    }

    fn content(&mut self, parent: &OwnedFd, name: &str) -> Option<String> {
        let content = content(parent, name)?;
        self.bytes = self.bytes.checked_sub(content.len())?;
        Some(content)
    }

    /// The names in a folder, without itself and its parent; `None` if they cannot be read, are no text or too many.
    fn names(&mut self, of: &OwnedFd) -> Option<Vec<String>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(of).ok()? {
            let name = entry.ok()?.file_name().to_str().ok()?.to_owned();
            if name == "." || name == ".." {
                continue;
            }
            self.entries = self.entries.checked_sub(1)?;
            names.push(name);
        }
        names.sort_unstable();
        Some(names)
    }
}

/// Returns the content of a plain file.
fn content(parent: &OwnedFd, name: &str) -> Option<String> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let inside = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    let file = rustix::fs::openat2(parent, name, flags, Mode::empty(), inside).ok()?;
    let kind = rustix::fs::fstat(&file).ok()?;
    if !rustix::fs::FileType::from_raw_mode(kind.st_mode).is_file() {
        return None;
    }
    let mut bytes = vec![0; LONGEST + 1];
    let mut length = 0;
    loop {
        let read = rustix::io::read(&file, &mut bytes[length..]).ok()?;
        length += read;
        if length > LONGEST {
            return None;
        }
        if read == 0 {
            break;
        }
    }
    bytes.truncate(length);
    String::from_utf8(bytes).ok()
}
