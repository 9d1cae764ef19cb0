//! Configuration of the programs of a test node: files and flags. This module is pure except for
//! the control groups, and does not handle processes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde_json::json;

use super::images::PAUSE;
use super::network::{PODS, node_address, pod_subnet};
use crate::api_server::identity::Identity;

/// Folder in which Debian installs the CNI plugins.
pub(super) const CNI_PLUGINS: &str = "/usr/lib/cni";

/// Below it is a folder for each controller of version 1.
pub(super) const CONTROL_GROUPS: &str = "/sys/fs/cgroup";

/// Identity of a node and the location of its files.
#[derive(Clone, Debug)]
pub(super) struct NodePlace {
    /// Counted from 1.
    pub(super) number: usize,
    pub(super) name: String,
    pub(super) folder: PathBuf,
    /// The control group of the cluster, unlike any other on the machine.
    pub(super) group: String,
}

impl NodePlace {
    pub(super) fn new(number: usize, cluster: &Path, group: &str) -> Self {
        let name = format!("node{number}");
        Self {
            number,
            folder: cluster.join(&name),
            group: group.to_owned(),
            name,
        }
    }

    /// Returns the socket on which containerd listens.
    pub(super) fn socket(&self) -> PathBuf {
        self.folder.join("containerd.sock")
    }
}

/// The controllers of version 1 that this machine has mounted.
pub(super) fn controllers() -> Vec<PathBuf> {
    let mounts = fs::read_to_string("/proc/self/mounts").unwrap_or_default();
    let mounts = mounts.lines().map(|line| {
        let mut words = line.split(' ');
        (words.nth(1), words.next())
    });
    mounts
        .filter(|(_, kind)| *kind == Some("cgroup"))
        .filter_map(|(path, _)| path.map(PathBuf::from))
        .filter(|path| path.starts_with(CONTROL_GROUPS))
        .collect()
}

/// Makes the control group below which kubelet makes those of Pods.
pub(super) fn control_groups(place: &NodePlace) -> Result<()> {
    for controller in controllers() {
        let mut path = controller;
        for part in [&place.group, &place.name] {
            let parent = path.clone();
            path.push(part);
            fs::create_dir_all(&path)
                .with_context(|| format!("cannot create {}", path.display()))?;
            // A process can enter a group only after its processors and memory are set.
            for file in ["cpuset.cpus", "cpuset.mems"] {
                if let Ok(value) = fs::read(parent.join(file)) {
                    fs::write(path.join(file), value)
                        .with_context(|| format!("cannot write {file} of {}", path.display()))?;
                }
            }
        }
    }
    Ok(())
}

pub(super) fn containerd(place: &NodePlace) -> String {
    let folder = place.folder.display();
    let socket = place.socket();
    let socket = socket.display();
    format!(
        r#"version = 3
root = "{folder}/root"
state = "{folder}/state"
oom_score = 0
imports = []
[grpc]
  address = "{socket}"
[plugins."io.containerd.cri.v1.images"]
  snapshotter = "overlayfs"
  [plugins."io.containerd.cri.v1.images".pinned_images]
    sandbox = "{PAUSE}"
[plugins."io.containerd.cri.v1.runtime"]
  disable_apparmor = true
  # Without the right to lower scores, runc would start nothing.
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.cri.v1.runtime".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.cri.v1.runtime".containerd.runtimes.runc.options]
        SystemdCgroup = false
  [plugins."io.containerd.cri.v1.runtime".cni]
    bin_dirs = ["{CNI_PLUGINS}"]
    conf_dir = "{folder}/cni"
[plugins."io.containerd.grpc.v1.cri"]
  stream_server_address = "127.0.0.1"
[plugins."io.containerd.nri.v1.nri"]
  disable = true
[plugins."io.containerd.internal.v1.opt"]
  path = "{folder}/opt"
"#
    )
}

pub(super) fn pod_network(place: &NodePlace) -> String {
    let network = json!({
        "cniVersion": "0.4.0",
        "name": "pods",
        "plugins": [
            {
                "type": "bridge",
                "bridge": "cni0",
                "isGateway": true,
                "hairpinMode": true,
                "ipam": {
                    "type": "host-local",
                    "dataDir": place.folder.join("ipam"),
                    "ranges": [[{ "subnet": pod_subnet(place.number) }]],
                    "routes": [{ "dst": "0.0.0.0/0" }],
                },
            },
            { "type": "portmap", "capabilities": { "portMappings": true } },
        ],
    });
    network.to_string()
}

pub(super) fn kubelet(place: &NodePlace, identity: &Identity) -> String {
    let own = |name: &str| place.folder.join(name);
    let config = json!({
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "containerRuntimeEndpoint": format!("unix://{}", place.socket().display()),
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": format!("/{}/{}", place.group, place.name),
        "failCgroupV1": false,
        "failSwapOn": false,
        "oomScoreAdj": 0,
        "clusterDNS": ["10.96.0.10"],
        "clusterDomain": "cluster.local",
        "authentication": {
            "anonymous": { "enabled": false },
            "webhook": { "enabled": true },
            "x509": { "clientCAFile": identity.file("ca.crt") },
        },
        "authorization": { "mode": "Webhook" },
        "tlsCertFile": identity.file(&format!("{}.crt", place.name)),
        "tlsPrivateKeyFile": identity.file(&format!("{}.key", place.name)),
        "readOnlyPort": 0,
        "staticPodPath": own("manifests"),
        "volumePluginDir": own("flex"),
        "resolvConf": own("resolv.conf"),
        // Kubelet reconciles statuses and volumes more often than on a large cluster.
        "syncFrequency": "10s",
        // A machine that also builds software may be short of resources that the tests do not
        // need.
        "evictionHard": {
            "memory.available": "100Mi",
            "nodefs.available": "64Mi",
            "nodefs.inodesFree": "1%",
            "imagefs.available": "64Mi",
            "imagefs.inodesFree": "1%",
        },
        "imageGCHighThresholdPercent": 100,
        "imageGCLowThresholdPercent": 99,
    });
    config.to_string()
}

pub(super) fn kubelet_arguments(place: &NodePlace) -> Vec<String> {
    let own = |flag: &str, name: &str| format!("--{flag}={}", place.folder.join(name).display());
    vec![
        own("config", "kubelet.json"),
        own("kubeconfig", "kubeconfig"),
        own("cert-dir", "pki"),
        format!("--hostname-override={}", place.name),
        format!("--node-ip={}", node_address(place.number)),
    ]
}

pub(super) fn kube_proxy(place: &NodePlace, kubeconfig: &Path) -> String {
    let config = json!({
        "apiVersion": "kubeproxy.config.k8s.io/v1alpha1",
        "kind": "KubeProxyConfiguration",
        "clientConnection": { "kubeconfig": kubeconfig },
        "clusterCIDR": PODS,
        "hostnameOverride": place.name,
        "mode": "iptables",
        "oomScoreAdj": 0,
        "healthzBindAddress": "127.0.0.1:10256",
        "metricsBindAddress": "127.0.0.1:10249",
        "conntrack": { "maxPerCore": 0 },
        // The default waits a second between two changes.
        "iptables": { "minSyncPeriod": "100ms" },
    });
    config.to_string()
}
