//! Brings the files to the wanted content. Each step is one exchange of names. After each step a
//! reader finds complete files in both ways: through `addresses` and through `default-address`.

use std::time::Duration;

use lifecycle_specs_listener::listener_mount::{Files, Folder};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::error::{Error, doing};
use super::layout::{ADDRESS, ADDRESSES, DEFAULT, OLD, PORTS};
use super::remove::Removal;
use super::target::folder;
use super::{read, remove};

/// Name of the entry that is being made. Begins with two dots, like the entries that kubelet itself
/// makes beside the files of a volume.
const NEW: &str = "..new";
/// Minimum time that replaced files stay, for readers that still use them.
pub(super) const GRACE: Duration = Duration::from_millis(250);
const FOLDER: Mode = Mode::from_raw_mode(0o755);
const FILE: Mode = Mode::from_raw_mode(0o644);

/// Brings the contents of the folder to the wanted files, and removes all else. Replaced files stay
/// for `grace`, and go with a later write if this one does not get that far. Files that a Pod has
/// put there are removed last, because that may take more than one call.
pub(super) fn files(
    root: &OwnedFd,
    wanted: &Files,
    grace: Duration,
    removal: &mut Removal,
) -> Result<(), Error> {
    rustix::fs::fchmod(root, FOLDER).map_err(doing("set the mode of a folder"))?;
    let before = read::files(root);
    let is_fresh = before.as_ref() == Some(wanted);
    let written = match is_fresh {
        true => Ok(()),
        false => exchange_all(root, wanted, before.as_ref(), (grace, removal)),
    };
    let may_be_read = |name: &str| {
        name.starts_with(OLD)
            && remove::is_younger(root, name, grace)
            && (is_fresh || written.is_err())
    };
    // We must not keep a full disk full. The previous files are still in place.
    let removed = remove::others(root, removal, |name| {
        [ADDRESSES, DEFAULT].contains(&name) || may_be_read(name)
    });
    written.and(removed)
}

fn exchange_all(
    root: &OwnedFd,
    wanted: &Files,
    before: Option<&Files>,
    (grace, removal): (Duration, &mut Removal),
) -> Result<(), Error> {
    remove::away(root, NEW, removal)?;
    let kept = before.and_then(|before| still_needed(before, wanted));
    exchange_addresses(root, (wanted, kept), removal)?;
    exchange_default(root, wanted, removal)?;
    if kept.is_some() {
        // Who has read where `default-address` led must still find it there.
        std::thread::sleep(grace);
        exchange_addresses(root, (wanted, None), removal)?;
    }
    if before.is_some() {
        std::thread::sleep(grace);
    }
    Ok(())
}

/// Returns the address to which `default-address` leads until the switch to the new one.
fn still_needed<'a>(before: &'a Files, wanted: &Files) -> Option<(&'a str, &'a Folder)> {
    let default = before.default.as_deref()?;
    let folder = before.addresses.get(default)?;
    (!wanted.addresses.contains_key(default)).then_some((default, folder))
}

fn exchange_addresses(
    root: &OwnedFd,
    (wanted, kept): (&Files, Option<(&str, &Folder)>),
    removal: &mut Removal,
) -> Result<(), Error> {
    let new = make_folder(root, NEW)?;
    for (name, folder) in &wanted.addresses {
        write_address(&new, name, folder)?;
    }
    if let Some((name, folder)) = kept {
        write_address(&new, name, folder)?;
    }
    if exchange(root, ADDRESSES)? {
        remove::away(root, NEW, removal)?;
    }
    Ok(())
}

fn exchange_default(root: &OwnedFd, wanted: &Files, removal: &mut Removal) -> Result<(), Error> {
    let Some(default) = wanted.default.as_deref() else {
        return Err(Error::Nothing);
    };
    if read::default(root).as_deref() == Some(default) {
        return Ok(());
    }
    let leads = format!("{ADDRESSES}/{default}");
    rustix::fs::symlinkat(leads, root, NEW).map_err(doing("make a symlink"))?;
    if exchange(root, DEFAULT)? {
        remove::away(root, NEW, removal)?;
    }
    Ok(())
}

/// Puts the new entry in its place at once. Returns true if there was an entry before, which now
/// has the name of the new one.
fn exchange(root: &OwnedFd, name: &str) -> Result<bool, Error> {
    let moved = rustix::fs::renameat_with(root, NEW, root, name, RenameFlags::EXCHANGE);
    match moved {
        Ok(()) => Ok(true),
        Err(Errno::NOENT) => {
            rustix::fs::renameat(root, NEW, root, name)
                .map_err(doing("put a file in its place"))?;
            Ok(false)
        }
        Err(errno) => Err(doing("exchange two files")(errno)),
    }
}

fn write_address(parent: &OwnedFd, name: &str, wanted: &Folder) -> Result<(), Error> {
    let new = make_folder(parent, name)?;
    write_file(&new, ADDRESS, &wanted.address)?;
    let ports = make_folder(&new, PORTS)?;
    for (name, number) in &wanted.ports {
        write_file(&ports, name, number)?;
    }
    Ok(())
}

fn make_folder(parent: &OwnedFd, name: &str) -> Result<OwnedFd, Error> {
    rustix::fs::mkdirat(parent, name, FOLDER).map_err(doing("make a folder"))?;
    let new = folder(parent, name).map_err(doing("open a new folder"))?;
    // Sets the mode regardless of the umask of this process and of the inherited settings of the
    // folder.
    rustix::fs::fchmod(&new, FOLDER).map_err(doing("set the mode of a folder"))?;
    Ok(new)
}

fn write_file(parent: &OwnedFd, name: &str, content: &str) -> Result<(), Error> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = rustix::fs::openat(parent, name, flags, FILE).map_err(doing("make a file"))?;
    rustix::fs::fchmod(&file, FILE).map_err(doing("set the mode of a file"))?;
    let mut rest = content.as_bytes();
    while !rest.is_empty() {
        let written = rustix::io::write(&file, rest).map_err(doing("write a file"))?;
        rest = &rest[written..];
    }
    Ok(())
}
