//! Brings the files to what is wanted. Each step is one exchange of names, and after each a reader finds whole files by either way:
//! through `addresses` and through `default-address`.

use std::time::Duration;

use lifecycle_specs_listener::listener_mount::{Files, Folder};
use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use super::error::{Error, doing};
use super::layout::{ADDRESS, ADDRESSES, DEFAULT, OLD, PORTS};
use super::target::folder;
use super::{read, remove};

/// What is being made. Begins with two dots, as what kubelet itself makes beside the files of a volume.
const NEW: &str = "..new";
/// How long what was replaced stays at least, for readers that are on their way through it.
pub(super) const GRACE: Duration = Duration::from_millis(250);
const FOLDER: Mode = Mode::from_raw_mode(0o755);
const FILE: Mode = Mode::from_raw_mode(0o644);

/// Brings what is in the folder to what is wanted. What was replaced stays for `grace`, and goes with a later write if this one does not come so far.
pub(super) fn files(root: &OwnedFd, wanted: &Files, grace: Duration) -> Result<(), Error> {
    let written = steps(root, wanted, grace);
    if written.is_err() {
        // A disk that is full should not stay so because of us; what was there before is still in its place.
        let _ = remove::one(root, NEW);
    }
    written
}

fn steps(root: &OwnedFd, wanted: &Files, grace: Duration) -> Result<(), Error> {
    rustix::fs::fchmod(root, FOLDER).map_err(doing("set the mode of a folder"))?;
    remove::others(root, |name| {
        [ADDRESSES, DEFAULT].contains(&name)
            || name.starts_with(OLD) && remove::is_younger(root, name, grace)
    })?;
    let before = read::files(root);
    if before.as_ref() == Some(wanted) {
        return Ok(());
    }
    let kept = before
        .as_ref()
        .and_then(|before| still_needed(before, wanted));
    exchange_addresses(root, wanted, kept)?;
    exchange_default(root, wanted)?;
    if kept.is_some() {
        // Who has read where `default-address` led must still find it there.
        std::thread::sleep(grace);
        exchange_addresses(root, wanted, None)?;
    }
    if before.is_some() {
        std::thread::sleep(grace);
    }
    remove::others(root, |name| [ADDRESSES, DEFAULT].contains(&name))
}

/// The address to which `default-address` leads until it leads to the new one.
fn still_needed<'a>(before: &'a Files, wanted: &Files) -> Option<(&'a str, &'a Folder)> {
    let default = before.default.as_deref()?;
    let folder = before.addresses.get(default)?;
    (!wanted.addresses.contains_key(default)).then_some((default, folder))
}

fn exchange_addresses(
    root: &OwnedFd,
    wanted: &Files,
    kept: Option<(&str, &Folder)>,
) -> Result<(), Error> {
    let new = make_folder(root, NEW)?;
    for (name, folder) in &wanted.addresses {
        write_address(&new, name, folder)?;
    }
    if let Some((name, folder)) = kept {
        write_address(&new, name, folder)?;
    }
    if exchange(root, ADDRESSES)? {
        remove::retire(root, NEW)?;
    }
    Ok(())
}

fn exchange_default(root: &OwnedFd, wanted: &Files) -> Result<(), Error> {
    let Some(default) = wanted.default.as_deref() else {
        return Err(Error::Nothing);
    };
    if read::default(root).as_deref() == Some(default) {
        return Ok(());
    }
    let leads = format!("{ADDRESSES}/{default}");
    rustix::fs::symlinkat(leads, root, NEW).map_err(doing("make a symlink"))?;
    if exchange(root, DEFAULT)? {
        remove::one(root, NEW)?;
    }
    Ok(())
}

/// What was made takes its place at once; whether there was something before, which now has the name of what is made.
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
    // Whatever mask this process has, and whatever the folder around it hands down.
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
