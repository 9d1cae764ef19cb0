//! Possible leftovers of a cluster: processes, namespaces, mounts, control groups, interfaces,
//! files, settings of the kernel. This module compares before and after, and does not depend on
//! Kubernetes.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use lifecycle_tests::harness::Deadline;

/// Paths that the programs of a node create by default, or without a way to prevent it.
const PLACES: [&str; 14] = [
    "/etc/cni",
    "/etc/containerd",
    "/etc/kubernetes",
    "/opt/cni",
    "/opt/containerd",
    "/run/containerd",
    "/run/netns",
    "/run/nri",
    "/run/runc",
    "/run/xtables.lock",
    "/usr/libexec/kubernetes",
    "/var/lib/cni",
    "/var/lib/kubelet",
    "/var/log/pods",
];

/// Settings that kubelet and kube-proxy change.
const SETTINGS: [&str; 7] = [
    "/proc/sys/kernel/keys/root_maxkeys",
    "/proc/sys/kernel/keys/root_maxbytes",
    "/proc/sys/kernel/panic",
    "/proc/sys/kernel/panic_on_oops",
    "/proc/sys/net/ipv4/ip_forward",
    "/proc/sys/vm/overcommit_memory",
    "/proc/sys/vm/panic_on_oom",
];

/// Visible state of the machine, except for changes that other processes make meanwhile.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Machine {
    mounts: BTreeSet<String>,
    interfaces: BTreeSet<PathBuf>,
    places: BTreeMap<&'static str, Option<BTreeSet<PathBuf>>>,
    settings: BTreeMap<&'static str, Option<String>>,
}

impl Machine {
    pub(crate) fn inspect() -> Result<Self> {
        let mounts = fs::read_to_string("/proc/self/mounts").context("cannot read the mounts")?;
        Ok(Self {
            mounts: mounts.lines().map(str::to_owned).collect(),
            interfaces: entries(Path::new("/sys/class/net")).context("there are no interfaces")?,
            places: PLACES
                .map(|place| (place, entries(Path::new(place))))
                .into(),
            settings: SETTINGS
                .map(|name| (name, fs::read_to_string(name).ok()))
                .into(),
        })
    }

    /// Checks that nothing has changed, and that the cluster with this folder and this control
    /// group has left nothing.
    pub(crate) fn is_unchanged(&self, folder: &Path, group: &str) -> Result<()> {
        let now = Self::inspect()?;
        ensure!(*self == now, "before: {self:#?}\nafter: {now:#?}");
        ensure!(!folder.exists(), "{} is left", folder.display());
        for controller in entries(Path::new("/sys/fs/cgroup")).unwrap_or_default() {
            let group = controller.join(group);
            ensure!(!group.exists(), "{} is left", group.display());
        }
        Ok(())
    }
}

/// Returns the entries of a folder. A file has no entries. Returns `None` if there is neither a
/// folder nor a file.
fn entries(path: &Path) -> Option<BTreeSet<PathBuf>> {
    path.symlink_metadata().ok()?;
    let found = fs::read_dir(path).into_iter().flatten().flatten();
    Some(found.map(|entry| entry.path()).collect())
}

/// Processes and their namespaces.
pub(crate) struct ProcessSet {
    /// With the time of their start, for pids are used again.
    processes: BTreeSet<(u32, String)>,
    namespaces: BTreeSet<PathBuf>,
}

impl ProcessSet {
    /// All processes in the PID namespace of this one, those in namespaces below it, and all namespaces that they do not share with us.
    pub(crate) fn in_namespace(init: u32) -> Result<Self> {
        let parents: BTreeMap<u32, (u32, String)> = processes();
        let space = |pid: &u32| fs::read_link(format!("/proc/{pid}/ns/pid")).ok();
        let common = space(&init).context("there is no such process")?;
        let mut found: BTreeSet<u32> = parents
            .keys()
            .filter(|pid| space(pid).as_ref() == Some(&common))
            .copied()
            .collect();
        loop {
            let children: BTreeSet<u32> = parents
                .iter()
                .filter(|(pid, (parent, _))| found.contains(parent) && !found.contains(*pid))
                .map(|(pid, _)| *pid)
                .collect();
            if children.is_empty() {
                break;
            }
            found.extend(children);
        }
        let ours = namespaces("self");
        let theirs = found.iter().flat_map(|pid| namespaces(&pid.to_string()));
        let namespaces: BTreeSet<PathBuf> = theirs.filter(|space| !ours.contains(space)).collect();
        let started = |pid: &u32| Some((*pid, parents.get(pid)?.1.clone()));
        let processes: BTreeSet<(u32, String)> = found.iter().filter_map(started).collect();
        // The comparison means nothing if it saw nothing.
        ensure!(processes.len() > 5, "only {} processes", processes.len());
        ensure!(namespaces.len() > 5, "only {} namespaces", namespaces.len());
        Ok(Self {
            processes,
            namespaces,
        })
    }

    /// Checks that the processes are gone. A process that waits for another may see its end a
    /// moment before others do.
    pub(crate) fn are_gone(&self) -> Result<()> {
        let mut deadline = Deadline::new(Duration::from_secs(120));
        loop {
            let left = self.left();
            if left.is_ok() || deadline.is_over() {
                return left;
            }
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn left(&self) -> Result<()> {
        for (pid, (_, started)) in processes() {
            ensure!(
                !self.processes.contains(&(pid, started)),
                "process {pid} is left"
            );
            for space in namespaces(&pid.to_string()) {
                let name = space.display();
                ensure!(
                    !self.namespaces.contains(&space),
                    "process {pid} is in {name}"
                );
            }
        }
        Ok(())
    }
}

/// All that are no zombies, with the pid of the parent and the time of the start.
fn processes() -> BTreeMap<u32, (u32, String)> {
    let folders = fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = folders.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid: u32| {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // A name in brackets may hold anything, also brackets.
        let words: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let parent = words.get(1)?.parse().ok()?;
        (*words.first()? != "Z").then(|| (pid, (parent, words[19].to_owned())))
    })
    .collect()
}

fn namespaces(pid: &str) -> BTreeSet<PathBuf> {
    let links = fs::read_dir(format!("/proc/{pid}/ns"))
        .into_iter()
        .flatten()
        .flatten();
    links
        .filter_map(|link| fs::read_link(link.path()).ok())
        .collect()
}
