//! The control plane of a test cluster, on its first node: etcd, kube-apiserver, kube-controller-manager, kube-scheduler.
//! Knows their flags and their order, not the nodes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use rustix::process::Signal;

use super::inside::{Inside, Spaces, enter};
use super::network::SERVICES;
use crate::api_server::identity::Identity;
use crate::api_server::options::AUDIT_POLICY;
use crate::binaries::Binaries;

/// Address under which clients inside the cluster reach the API server.
pub(super) const URL: &str = "https://10.86.0.1:6443";

/// The port on the first node.
pub(super) const PORT: u16 = 6443;

/// The control plane.
pub(super) struct Control {
    folder: PathBuf,
    node: u32,
    binaries: Binaries,
    etcd: Inside,
    api_server: Option<Inside>,
    others: Vec<Inside>,
}

impl Control {
    /// Starts etcd and kube-apiserver in the network of the first node, given by the pid of the
    /// process that holds it.
    pub(super) fn start(
        folder: &Path,
        node: u32,
        identity: &Identity,
        binaries: Binaries,
    ) -> Result<Self> {
        let user = "kube-apiserver-kubelet-client";
        identity.client("kubelet-client", user, &["system:masters"])?;
        fs::write(folder.join("audit-policy.yaml"), AUDIT_POLICY)
            .context("cannot write the audit policy")?;
        let mut command = enter(node, Spaces::Network, binaries.etcd());
        command.args(etcd_arguments(folder));
        let etcd = Inside::start("etcd", command, folder)?;
        let mut control = Self {
            folder: folder.to_owned(),
            node,
            binaries,
            etcd,
            api_server: None,
            others: Vec::new(),
        };
        control.start_api_server(identity)?;
        Ok(control)
    }

    pub(super) fn start_api_server(&mut self, identity: &Identity) -> Result<()> {
        ensure!(self.api_server.is_none(), "kube-apiserver runs already");
        let mut command = self.enter(self.binaries.kube_apiserver());
        command.args(api_server_arguments(&self.folder, identity));
        self.api_server = Some(Inside::start("kube-apiserver", command, &self.folder)?);
        Ok(())
    }

    pub(super) fn end_api_server(&mut self, signal: Signal) -> Result<()> {
        let process = self.api_server.take();
        process.context("kube-apiserver does not run")?.end(signal)
    }

    pub(super) fn signal_api_server(&self, signal: Signal) -> Result<()> {
        let process = self.api_server.as_ref();
        process
            .context("kube-apiserver does not run")?
            .signal(signal)
    }

    /// Starts the programs that work through the API server.
    pub(super) fn start_others(&mut self, identity: &Identity) -> Result<()> {
        let mut command = self.enter(self.binaries.kube_controller_manager()?);
        let user = "system:kube-controller-manager";
        let kubeconfig = identity.kubeconfig(URL, user, &[])?;
        command.args(controller_manager_arguments(
            &self.folder,
            identity,
            &kubeconfig,
        ));
        let started = Inside::start("kube-controller-manager", command, &self.folder)?;
        self.others.push(started);
        let mut command = self.enter(self.binaries.program("kube-scheduler")?);
        let kubeconfig = identity.kubeconfig(URL, "system:kube-scheduler", &[])?;
        command
            .arg(format!("--kubeconfig={}", kubeconfig.display()))
            .args(["--leader-elect=false", "--bind-address=127.0.0.1"]);
        let started = Inside::start("kube-scheduler", command, &self.folder)?;
        self.others.push(started);
        Ok(())
    }

    /// An error if a program has ended by itself.
    pub(super) fn check_alive(&mut self) -> Result<()> {
        let first = [&mut self.etcd].into_iter().chain(&mut self.api_server);
        first
            .chain(&mut self.others)
            .try_for_each(Inside::check_alive)
    }

    fn enter(&self, program: PathBuf) -> Command {
        enter(self.node, Spaces::Network, program)
    }
}

fn etcd_arguments(folder: &Path) -> Vec<String> {
    vec![
        format!("--data-dir={}", folder.join("etcd").display()),
        "--listen-client-urls=http://127.0.0.1:2379".to_owned(),
        "--advertise-client-urls=http://127.0.0.1:2379".to_owned(),
        "--listen-peer-urls=http://127.0.0.1:2380".to_owned(),
        // The data goes with the cluster, so a power cut may take it too.
        "--unsafe-no-fsync".to_owned(),
        "--log-level=warn".to_owned(),
    ]
}

fn api_server_arguments(folder: &Path, identity: &Identity) -> Vec<String> {
    let file = |flag: &str, name: &str| format!("--{flag}={}", identity.file(name).display());
    let own = |flag: &str, name: &str| format!("--{flag}={}", folder.join(name).display());
    let mut arguments = vec![
        file("tls-cert-file", "apiserver.crt"),
        file("tls-private-key-file", "apiserver.key"),
        file("client-ca-file", "ca.crt"),
        file("kubelet-client-certificate", "kubelet-client.crt"),
        file("kubelet-client-key", "kubelet-client.key"),
        file("kubelet-certificate-authority", "ca.crt"),
        file("service-account-key-file", "accounts.pub"),
        file("service-account-signing-key-file", "accounts.key"),
        own("audit-policy-file", "audit-policy.yaml"),
        own("audit-log-path", super::AUDIT_LOG),
        format!("--service-cluster-ip-range={SERVICES}"),
        format!("--secure-port={PORT}"),
    ];
    let fixed = [
        "--etcd-servers=http://127.0.0.1:2379",
        "--advertise-address=10.86.0.1",
        "--authorization-mode=Node,RBAC",
        "--enable-admission-plugins=NodeRestriction",
        "--allow-privileged=true",
        "--kubelet-preferred-address-types=InternalIP",
        "--endpoint-reconciler-type=lease",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--api-audiences=https://kubernetes.default.svc",
        // In megabytes: a log that is rotated away could not be counted.
        "--audit-log-maxsize=100000",
    ];
    arguments.extend(fixed.map(str::to_owned));
    arguments
}

fn controller_manager_arguments(
    folder: &Path,
    identity: &Identity,
    kubeconfig: &Path,
) -> Vec<String> {
    let file = |flag: &str, name: &str| format!("--{flag}={}", identity.file(name).display());
    let mut arguments = vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        file("service-account-private-key-file", "accounts.key"),
        file("root-ca-file", "ca.crt"),
        file("cluster-signing-cert-file", "ca.crt"),
        file("cluster-signing-key-file", "ca.key"),
        format!("--flex-volume-plugin-dir={}", folder.join("flex").display()),
    ];
    let fixed = [
        "--use-service-account-credentials",
        "--leader-elect=false",
        "--bind-address=127.0.0.1",
        // With the default of 20 per second the first Pod is admitted 5 s later.
        "--kube-api-qps=500",
        "--kube-api-burst=1000",
    ];
    arguments.extend(fixed.map(str::to_owned));
    arguments
}
