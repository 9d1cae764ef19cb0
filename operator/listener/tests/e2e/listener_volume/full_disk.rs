//! A disk that is full at every point of a tree: the call reports it, published files stay
//! complete, and the next attempt after a cleanup succeeds. The disk is small, and only a process
//! of its own mounts it, which is this program once more.

use std::collections::BTreeSet;
use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context, Result, ensure};
use kube::Api;
use kube::api::{Patch, PatchParams};
use lifecycle_specs_listener::listener::Listener;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_tests::harness::eventually;
use serde_json::json;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tonic::Code;

use super::site::Site;
use super::{PATIENCE, balance};

/// Set where the small disk is; temporary folders are on it, too.
const DISK: &str = "LIFECYCLE_SMALL_DISK";
/// Lower bound on the size of a file on the disk.
const PAGE: usize = 4096;

/// Starts this program again, with a disk of its own.
pub(crate) async fn on_a_small_disk() -> Result<()> {
    let folder = TempDir::with_prefix("disk")?;
    let mount = "mount -t tmpfs -o size=256k,nr_inodes=200 tmpfs \"$0\" && exec \"$@\"";
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", mount]);
    command.arg(folder.path()).arg(env::current_exe()?);
    let command = command
        .env(DISK, folder.path())
        .env("TMPDIR", folder.path());
    let output = command.output().context("cannot run unshare")?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{said}");
    Ok(())
}

/// Runs the program if it was started so; `None` if it was not.
pub(crate) fn inside() -> Option<ExitCode> {
    let disk = PathBuf::from(env::var_os(DISK)?);
    let runtime = Runtime::new().map_err(anyhow::Error::from);
    let ended = runtime.and_then(|runtime| runtime.block_on(fill_and_free(&disk)));
    if let Err(error) = ended {
        eprintln!("{error:?}");
        return Some(ExitCode::FAILURE);
    }
    Some(ExitCode::SUCCESS)
}

async fn fill_and_free(disk: &Path) -> Result<()> {
    let (site, _) = Site::with_pod("cluster-internal").await?;
    site.stage().await?;
    let before = everything(disk)?;
    let failed = until_there_is_room(disk, &site, || {
        let now = everything(disk)?;
        ensure!(now == before, "left behind: {:?}", now.difference(&before));
        Ok(())
    })
    .await?;
    ensure!(failed >= 2, "it failed at {failed} points of a new tree");
    let old = site.read("default-address/address")?;
    ensure!(old == "web.apps.svc.cluster.local", "{old}");

    let classes: Api<ListenerClass> = Api::all(site.admin.clone());
    let balanced = json!({ "spec": { "serviceType": "LoadBalancer" } });
    let how = PatchParams::default();
    classes
        .patch("cluster-internal", &how, &Patch::Merge(&balanced))
        .await?;
    balance(&site, "192.0.2.7").await?;
    eventually("the Listener knows its new address", PATIENCE, async || {
        let listener = site.objects::<Listener>().get("web").await?;
        let addresses = listener.status.and_then(|status| status.ingress_addresses);
        let known = addresses.is_some_and(|all| all.iter().any(|a| a.address == "192.0.2.7"));
        Ok(known.then_some(()))
    })
    .await?;
    let failed = until_there_is_room(disk, &site, || {
        // One or the other, and whole.
        let told = site.read("default-address/address")?;
        ensure!(told == old || told == "192.0.2.7", "the Pod is told {told}");
        site.read("default-address/ports/http").map(drop)
    })
    .await?;
    ensure!(
        failed >= 2,
        "it failed at {failed} points of a tree that is replaced"
    );
    let told = site.read("default-address/address")?;
    ensure!(told == "192.0.2.7", "{told}");
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name()));
        entries.collect::<Result<BTreeSet<_>>>()
    };
    let whole = ["addresses", "default-address"].map(OsString::from).into();
    // Replaced files stay for a moment for their readers, and a later call removes them.
    eventually("nothing of the tries is left", PATIENCE, async || {
        site.publish().await?;
        Ok((names(&site.target())? == whole).then_some(()))
    })
    .await?;
    let left = names(&site.target().join("addresses"))?;
    ensure!(left == [OsString::from("192.0.2.7")].into(), "{left:?}");
    site.unpublish().await?;
    ensure!(!site.target().exists(), "it is published still");
    Ok(())
}

/// Fills the disk, and leaves one page more each time until the call succeeds; how often it failed before.
async fn until_there_is_room(
    disk: &Path,
    site: &Site,
    unharmed: impl Fn() -> Result<()>,
) -> Result<usize> {
    for pages in 0.. {
        let filler = fill(disk, pages)?;
        let answer = site.publish().await;
        fs::remove_file(filler)?;
        let Err(status) = answer else {
            return Ok(pages);
        };
        let is_final = !matches!(status.code(), Code::Unavailable | Code::Aborted);
        let said = status.message();
        ensure!(said.contains("No space left on device"), "{status:?}");
        ensure!(!is_final, "the volume may still be published: {status:?}");
        unharmed()?;
    }
    unreachable!("a disk is finite")
}

fn fill(disk: &Path, free: usize) -> Result<PathBuf> {
    let path = disk.join("filler");
    let mut file = File::create(&path)?;
    let mut written = 0;
    loop {
        match file.write(&[0; PAGE]) {
            Ok(0) => break,
            Ok(some) => written += some,
            Err(error) if error.kind() == ErrorKind::StorageFull => break,
            Err(error) => return Err(error.into()),
        }
    }
    let kept = written.saturating_sub(free * PAGE);
    file.set_len(u64::try_from(kept)?)?;
    Ok(path)
}

/// The paths of all that is on the disk.
fn everything(folder: &Path) -> Result<BTreeSet<PathBuf>> {
    let mut all = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() && !path.is_symlink() {
            all.append(&mut everything(&path)?);
        }
        all.insert(path);
    }
    Ok(all)
}
