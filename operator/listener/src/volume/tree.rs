//! The files through which a Pod learns its addresses: read, written and removed at the target of a mount.
//! A Pod may be able to write there, and we are root: nothing is followed out of the target, neither a symlink nor a mount.
//! Knows no volume and no Listener beyond its addresses.

mod error;
mod layout;
mod read;
mod remove;
mod target;
mod write;

use lifecycle_specs_listener::listener::ListenerIngress;
use lifecycle_specs_listener::listener_mount::{Files, Folder, Tree};

pub(crate) use error::Error;
use remove::Removal;
use target::Target;

/// Returns the files that publish these addresses. The first address is the default.
pub(crate) fn files(addresses: &[ListenerIngress]) -> Files {
    let folder = |ingress: &ListenerIngress| {
        let number = |(name, number): (&String, &i32)| (name.clone(), number.to_string());
        (
            ingress.address.clone(),
            Folder {
                address: ingress.address.clone(),
                ports: ingress.ports.iter().map(number).collect(),
            },
        )
    };
    Files {
        addresses: addresses.iter().map(folder).collect(),
        default: addresses.first().map(|first| first.address.clone()),
    }
}

/// Reads the contents of a target. A file is reported as something other than our files, like a
/// folder with other content.
///
/// # Errors
/// If the path cannot be a target, is a mount, or cannot be read.
pub(crate) fn read(path: &str) -> Result<Tree, Error> {
    let Some(target) = Target::find(path)? else {
        return Ok(Tree::Absent);
    };
    if target.is_file() {
        return Ok(Tree::Other);
    }
    match target.open()? {
        None => Ok(Tree::Absent),
        Some(root) => Ok(read::tree(&root)),
    }
}

/// Replaces the files at a target with these, in steps that each leave complete files behind.
///
/// # Errors
/// The errors of [`read`], and if a file is at the path, a name is invalid or the file system
/// refuses. Previously readable files then stay readable.
pub(crate) fn write(path: &str, wanted: &Files) -> Result<(), Error> {
    check_names(wanted)?;
    let target = Target::find(path)?.ok_or(Error::Path("in a folder that does not exist"))?;
    let created = target.create()?;
    let root = target
        .open()?
        .ok_or(Error::Path("gone while it was written"))?;
    let written = write::files(
        &root,
        wanted,
        write::GRACE,
        &mut Removal::with_limit(remove::LIMIT),
    );
    if written.is_err() && created {
        // A caller that gives up removes the target itself, and can do so only if it is empty.
        let _ = target.remove_empty();
    }
    written
}

/// Removes the target and its content, or a file in its place, so that no Pod stays Terminating
/// because of it. A missing target is no error.
///
/// # Errors
/// As of [`read`], and if something cannot be removed, or not in the time of one call: then the next one goes on.
pub(crate) fn remove(path: &str) -> Result<(), Error> {
    let Some(target) = Target::find(path)? else {
        return Ok(());
    };
    if target.is_file() {
        return target.remove_file();
    }
    let Some(root) = target.open()? else {
        return Ok(());
    };
    remove::content(&root, &mut Removal::with_limit(remove::LIMIT))?;
    target.remove_empty()
}

/// Names that are one component of a path, and no other.
fn check_names(files: &Files) -> Result<(), Error> {
    let default = files.default.as_ref();
    if !default.is_some_and(|default| files.addresses.contains_key(default)) {
        return Err(Error::Nothing);
    }
    for (address, folder) in &files.addresses {
        check_name("the address", address)?;
        for port in folder.ports.keys() {
            check_name("the port", port)?;
        }
    }
    Ok(())
}

fn check_name(what: &'static str, name: &str) -> Result<(), Error> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.:".contains(c);
    let fit = !name.is_empty()
        && name.len() <= 253
        && name.chars().all(plain)
        && !name.chars().all(|c| c == '.');
    let shown = || name.chars().take(64).collect::<String>();
    if fit {
        Ok(())
    } else {
        Err(Error::Name {
            what,
            name: shown().escape_debug().to_string(),
        })
    }
}

#[cfg(test)]
mod much;
#[cfg(test)]
mod tests;
