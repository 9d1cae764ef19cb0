//! Requirements on a machine that runs test nodes, besides the programs that we build. This module
//! only inspects the machine and changes nothing.

use std::env;
use std::path::Path;

use super::settings::{CNI_PLUGINS, controllers};
use crate::binaries;

/// Programs and the Debian packages they come from.
const PROGRAMS: [(&str, &str); 8] = [
    ("hostname", "hostname"),
    ("ip", "iproute2"),
    ("iptables", "iptables"),
    ("mount", "mount"),
    ("nsenter", "util-linux"),
    ("runc", "runc"),
    ("socat", "socat"),
    ("unshare", "util-linux"),
];

/// Required programs that we build.
const BUILT: [&str; 7] = [
    "containerd",
    "containerd-shim-runc-v2",
    "ctr",
    "kube-controller-manager",
    "kube-proxy",
    "kube-scheduler",
    "kubelet",
];

/// Returns the missing requirement, as one sentence that explains how to provide it.
pub(crate) fn absence() -> Option<String> {
    if !rustix::process::geteuid().is_root() {
        return Some("a cluster needs namespaces and mounts; run it as root".to_owned());
    }
    let built = binaries::locate().and_then(|found| {
        BUILT
            .iter()
            .try_for_each(|name| found.program(name).map(drop))
    });
    if let Err(missing) = built {
        return Some(missing.to_string());
    }
    for (program, package) in PROGRAMS {
        if !is_on_path(program) {
            return Some(format!("there is no {program}; install {package}"));
        }
    }
    if !Path::new(CNI_PLUGINS).join("bridge").exists() {
        return Some(format!(
            "{CNI_PLUGINS} has no bridge; install containernetworking-plugins"
        ));
    }
    if controllers().is_empty() {
        return Some(
            "control groups of version 1 are not mounted, and others are not supported".to_owned(),
        );
    }
    None
}

fn is_on_path(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
