//! One node of a test cluster: its namespaces, containerd, kubelet and kube-proxy. This module
//! starts and ends them; `settings.rs` holds their configuration.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;

use super::inside::{Inside, Spaces, enter, run};
use super::network::node_address;
use super::settings::{self, NodePlace};
use crate::api_server::identity::Identity;
use crate::binaries::Binaries;
use crate::eventually::Deadline;

/// Makes the namespaces ready and keeps them: $1 is the folder of the node, $2 its name.
/// kubelet, containerd and CNI plugins have paths that cannot be configured; none of them may be shared with another node or left on the machine.
const HOLD: &str = r#"
hostname "$2"
for covered in /run /var/lib /var/log; do mount -t tmpfs -o mode=755 tmpfs $covered; done
mount --make-rshared /
mkdir -p /run/lock /var/lib/kubelet /var/lib/cni /var/log/pods /var/log/containers
mount --bind "$1/kubelet" /var/lib/kubelet
cd "$1/sysctl"
for file in *; do mount --bind "$1/sysctl/$file" "/proc/sys/$(echo "$file" | tr . /)"; done
cd /
touch "$1/held"
exec sleep infinity
"#;

/// Values that kubelet requires of these settings. kubelet sees files with these values, and leaves
/// the machine alone.
const SYSCTLS: [(&str, &str); 6] = [
    ("vm.overcommit_memory", "1"),
    ("vm.panic_on_oom", "0"),
    ("kernel.panic", "10"),
    ("kernel.panic_on_oops", "1"),
    ("kernel.keys.root_maxkeys", "1000000"),
    ("kernel.keys.root_maxbytes", "25000000"),
];

/// How long a step of a start may take on a machine that compiles beside it.
const WITHIN: Duration = Duration::from_secs(120);

/// A node of a test cluster.
pub struct Node {
    place: NodePlace,
    binaries: Binaries,
    holder: Inside,
    containerd: Option<Inside>,
    kubelet: Option<Inside>,
    kube_proxy: Option<Inside>,
}

impl Node {
    /// Makes the namespaces, inside those of the process `init`. Nothing runs in them yet.
    pub(super) fn hold(place: NodePlace, init: u32, binaries: Binaries) -> Result<Self> {
        let folder = &place.folder;
        for part in ["cni", "kubelet", "manifests", "sysctl"] {
            let part = folder.join(part);
            fs::create_dir_all(&part)
                .with_context(|| format!("cannot create {}", part.display()))?;
        }
        for (name, value) in SYSCTLS {
            fs::write(folder.join("sysctl").join(name), format!("{value}\n"))
                .context("cannot write what kubelet sees")?;
        }
        settings::control_groups(&place)?;
        let mut command = enter(init, Spaces::All, "unshare");
        command
            .args(["--mount", "--net", "--uts", "--propagation", "private"])
            .args(["sh", "-ec", HOLD, "hold"])
            .arg(folder)
            .arg(&place.name);
        let mut holder = Inside::start("hold", command, folder)?;
        let mut deadline = Deadline::new(WITHIN);
        while !folder.join("held").exists() {
            holder.check_alive()?;
            ensure!(!deadline.is_over(), "the namespaces are not ready");
            thread::sleep(Duration::from_millis(2));
        }
        Ok(Self {
            place,
            binaries,
            holder,
            containerd: None,
            kubelet: None,
            kube_proxy: None,
        })
    }

    /// The pid that holds the namespaces.
    pub(super) fn holder(&self) -> u32 {
        self.holder.pid()
    }

    /// The name, `node1` or `node2`.
    pub fn name(&self) -> &str {
        &self.place.name
    }

    /// The address, which clients outside the cluster can reach.
    pub fn address(&self) -> String {
        node_address(self.place.number)
    }

    /// The folder of everything that the node keeps; `kubelet` below it is its `/var/lib/kubelet`.
    pub fn folder(&self) -> &Path {
        &self.place.folder
    }

    /// A command on the node: in its network, its mounts and its host name. It starts in `/`.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        enter(self.holder(), Spaces::All, program)
    }

    /// Starts containerd.
    ///
    /// # Errors
    /// Returns an error if it runs already, or there is no such program.
    pub fn start_containerd(&mut self) -> Result<()> {
        ensure!(self.containerd.is_none(), "containerd runs already");
        let config = self.place.folder.join("containerd.toml");
        fs::write(&config, settings::containerd(&self.place))
            .and_then(|()| {
                let network = self.place.folder.join("cni/10-bridge.conflist");
                fs::write(network, settings::pod_network(&self.place))
            })
            .context("cannot write the settings of containerd")?;
        let mut command = self.command(self.binaries.program("containerd")?);
        command.arg("--config").arg(config);
        let path = std::env::var("PATH").unwrap_or_default();
        let shim = self.binaries.folder().display();
        command.env("PATH", format!("{shim}:{path}:/usr/sbin:/sbin"));
        self.containerd = Some(Inside::start("containerd", command, &self.place.folder)?);
        Ok(())
    }

    /// Waits until containerd answers.
    pub(super) fn wait_for_containerd(&mut self) -> Result<()> {
        let mut deadline = Deadline::new(WITHIN);
        loop {
            let process = self.containerd.as_mut().context("containerd is stopped")?;
            process.check_alive()?;
            if run("ask containerd", self.ctr(&["version"])?).is_ok() {
                return Ok(());
            }
            ensure!(!deadline.is_over(), "containerd does not answer");
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Brings the images of an OCI archive onto the node.
    ///
    /// # Errors
    /// containerd does not run or does not take it.
    pub fn import(&self, archive: &Path) -> Result<()> {
        let mut command = self.ctr(&["images", "import"])?;
        command.arg(archive);
        run("import an image", command).map(drop)
    }

    fn ctr(&self, arguments: &[&str]) -> Result<Command> {
        let mut command = Command::new(self.binaries.program("ctr")?);
        command
            .arg("--address")
            .arg(self.place.socket())
            .args(["--namespace", "k8s.io", "--connect-timeout", "10s"])
            .args(arguments);
        Ok(command)
    }

    /// Writes the settings of kubelet and kube-proxy.
    pub(super) fn configure(&self, identity: &Identity, url: &str) -> Result<()> {
        let name = self.name();
        let user = format!("system:node:{name}");
        let kubelet = identity.kubeconfig(url, &user, &["system:nodes"])?;
        identity.server(name, &user, &[name, &self.address()])?;
        let proxy = identity.kubeconfig(url, "system:kube-proxy", &[])?;
        let file = |name: &str, text: String| -> Result<PathBuf> {
            let path = self.place.folder.join(name);
            fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
            Ok(path)
        };
        file("resolv.conf", String::new())?;
        file("kubelet.json", settings::kubelet(&self.place, identity))?;
        file("proxy.json", settings::kube_proxy(&self.place, &proxy))?;
        fs::copy(kubelet, self.place.folder.join("kubeconfig")).context("cannot copy")?;
        Ok(())
    }

    /// Starts kubelet.
    ///
    /// # Errors
    /// Returns an error if it runs already, or there is no such program.
    pub fn start_kubelet(&mut self) -> Result<()> {
        ensure!(self.kubelet.is_none(), "kubelet runs already");
        let mut command = self.command(self.binaries.program("kubelet")?);
        command.args(settings::kubelet_arguments(&self.place));
        self.kubelet = Some(Inside::start("kubelet", command, &self.place.folder)?);
        Ok(())
    }

    /// Ends kubelet: in an orderly way, or as a crash would.
    ///
    /// # Errors
    /// It does not run.
    pub fn stop_kubelet(&mut self, crash: bool) -> Result<()> {
        let kubelet = self.kubelet.take().context("kubelet does not run")?;
        kubelet.end(if crash { Signal::KILL } else { Signal::TERM })
    }

    /// Starts kube-proxy.
    ///
    /// # Errors
    /// Returns an error if it runs already, or there is no such program.
    pub fn start_kube_proxy(&mut self) -> Result<()> {
        ensure!(self.kube_proxy.is_none(), "kube-proxy runs already");
        let mut command = self.command(self.binaries.program("kube-proxy")?);
        let config = self.place.folder.join("proxy.json");
        command.arg(format!("--config={}", config.display()));
        self.kube_proxy = Some(Inside::start("kube-proxy", command, &self.place.folder)?);
        Ok(())
    }

    /// Returns the log of a program of this node: `containerd`, `kubelet` or `kube-proxy`.
    pub fn log(&self, program: &str) -> String {
        let path = self.place.folder.join(format!("{program}.log"));
        String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).into_owned()
    }

    /// An error if a program of this node has ended by itself.
    pub(super) fn check_alive(&mut self) -> Result<()> {
        let programs = [
            &mut self.containerd,
            &mut self.kubelet,
            &mut self.kube_proxy,
        ];
        let mut running = programs.into_iter().flatten();
        running.try_for_each(Inside::check_alive)
    }
}
