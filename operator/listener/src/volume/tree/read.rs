//! What lies at a target, as far as it is what we would write; everything else is merely "other".

use std::collections::BTreeMap;

use lifecycle_specs_listener::listener_mount::{Files, Folder, Tree};
use rustix::fd::OwnedFd;
use rustix::fs::{Dir, Mode, OFlags, ResolveFlags};

use super::layout::{ADDRESS, ADDRESSES, DEFAULT, OLD, PORTS};
use super::target::folder;

/// No address and no port is longer.
const LONGEST: usize = 1024;
/// Upper bound of the entries that are read in one folder; more cannot be ours.
const MOST: usize = 10_000;

/// What lies in this folder.
pub(super) fn tree(root: &OwnedFd) -> Tree {
    let names = names(root);
    if names.is_some_and(|names| names.iter().all(|name| is_ours(name))) {
        files(root).map_or(Tree::Other, Tree::Files)
    } else {
        Tree::Other
    }
}

fn is_ours(name: &str) -> bool {
    [ADDRESSES, DEFAULT].contains(&name) || name.starts_with(OLD)
}

/// The files, with whatever else may lie beside them.
pub(super) fn files(root: &OwnedFd) -> Option<Files> {
    let below = folder(root, ADDRESSES).ok()?;
    let mut addresses = BTreeMap::new();
    for name in names(&below)? {
        let found = address(&folder(&below, &name).ok()?)?;
        addresses.insert(name, found);
    }
    let default = default(root)?;
    addresses.contains_key(&default).then_some(Files {
        addresses,
        default: Some(default),
    })
}

/// Where the symlink leads, if it leads to an address.
pub(super) fn default(root: &OwnedFd) -> Option<String> {
    let link = rustix::fs::readlinkat(root, DEFAULT, Vec::new()).ok()?;
    let name = link.to_str().ok()?.strip_prefix("addresses/")?;
    (!name.contains('/')).then(|| name.to_owned())
}

fn address(folder_of_address: &OwnedFd) -> Option<Folder> {
    if names(folder_of_address)?.len() != 2 {
        return None;
    }
    let below = folder(folder_of_address, PORTS).ok()?;
    let mut ports = BTreeMap::new();
    for name in names(&below)? {
        let number = content(&below, &name)?;
        ports.insert(name, number);
    }
    Some(Folder {
        address: content(folder_of_address, ADDRESS)?,
        ports,
    })
}

/// What a plain file holds.
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

/// The names in a folder, without itself and its parent; `None` if they cannot be read, are no text or too many.
pub(super) fn names(of: &OwnedFd) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(of).ok()? {
        let name = entry.ok()?.file_name().to_str().ok()?.to_owned();
        if name == "." || name == ".." {
            continue;
        }
        if names.len() == MOST {
            return None;
        }
        names.push(name);
    }
    names.sort_unstable();
    Some(names)
}
