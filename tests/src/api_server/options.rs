//! Start options of a test API server, and the command lines that follow from them. This module is
//! pure and does not handle processes.

use std::path::Path;

use super::identity::Identity;
use super::ports::Ports;

/// Differences from a plain etcd and kube-apiserver.
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(super) flags: Vec<String>,
    pub(super) controllers: Vec<String>,
    pub(super) storage: Option<u64>,
}

impl Options {
    /// Also runs the controllers that collect garbage (foreground deletion, owner references) and finish deleted namespaces.
    ///
    /// Needs `harness::Need::ControllerManager`.
    pub fn with_controllers(self) -> Self {
        self.controller("garbage-collector-controller")
            .controller("namespace-controller")
    }

    /// Also runs one controller of kube-controller-manager, by its name there.
    pub fn controller(mut self, name: &str) -> Self {
        self.controllers.push(name.to_owned());
        self
    }

    /// Limits the storage of etcd to this many bytes. Further writes are refused until space is
    /// freed (`ApiServer::free_storage`).
    pub fn storage(mut self, bytes: u64) -> Self {
        self.storage = Some(bytes);
        self
    }

    /// Adds a flag of kube-apiserver, such as `--enable-admission-plugins=ResourceQuota`. Lists are
    /// added to ours, single values replace ours.
    pub fn flag(mut self, flag: impl Into<String>) -> Self {
        self.flags.push(flag.into());
        self
    }
}

/// Every request once at level Metadata: no bodies, and not a second entry for its arrival.
pub(crate) const AUDIT_POLICY: &str = "\
apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived]
rules: [{level: Metadata}]
";

pub(super) fn etcd_arguments(options: &Options, ports: Ports, folder: &Path) -> Vec<String> {
    let url = ports.etcd_url();
    let mut arguments = vec![
        format!("--data-dir={}", folder.join("etcd").display()),
        format!("--listen-client-urls={url}"),
        format!("--advertise-client-urls={url}"),
        "--listen-peer-urls=http://127.0.0.1:0".to_owned(),
        // The data goes with the server, so a power cut may take it too.
        "--unsafe-no-fsync".to_owned(),
        "--log-level=warn".to_owned(),
    ];
    let storage = options.storage.iter();
    arguments.extend(storage.map(|bytes| format!("--quota-backend-bytes={bytes}")));
    arguments
}

pub(super) fn api_server_arguments(
    options: &Options,
    ports: Ports,
    folder: &Path,
    identity: &Identity,
) -> Vec<String> {
    let file = |flag: &str, name: &str| format!("--{flag}={}", identity.file(name).display());
    let own = |flag: &str, name: &str| format!("--{flag}={}", folder.join(name).display());
    let mut arguments = vec![
        format!("--etcd-servers={}", ports.etcd_url()),
        format!("--secure-port={}", ports.api_server),
        file("tls-cert-file", "apiserver.crt"),
        file("tls-private-key-file", "apiserver.key"),
        file("client-ca-file", "ca.crt"),
        file("service-account-key-file", "accounts.pub"),
        file("service-account-signing-key-file", "accounts.key"),
        own("audit-policy-file", "audit-policy.yaml"),
        own("audit-log-path", super::AUDIT_LOG),
    ];
    let fixed = [
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        "--service-cluster-ip-range=10.96.0.0/16",
        "--authorization-mode=RBAC",
        "--allow-privileged=true",
        // No controller makes the ServiceAccount `default` without which no Pod would be admitted.
        "--disable-admission-plugins=ServiceAccount",
        "--service-account-issuer=https://kubernetes.default.svc",
        // In megabytes: a log that is rotated away could not be counted.
        "--audit-log-maxsize=100000",
    ];
    arguments.extend(fixed.map(str::to_owned));
    arguments.extend(options.flags.iter().cloned());
    arguments
}

pub(super) fn controller_manager_arguments(
    options: &Options,
    folder: &Path,
    identity: &Identity,
    kubeconfig: &Path,
) -> Vec<String> {
    vec![
        format!("--kubeconfig={}", kubeconfig.display()),
        format!("--controllers={}", options.controllers.join(",")),
        format!(
            "--service-account-private-key-file={}",
            identity.file("accounts.key").display()
        ),
        format!("--root-ca-file={}", identity.file("ca.crt").display()),
        // It would be made in /usr/libexec otherwise.
        format!("--flex-volume-plugin-dir={}", folder.join("flex").display()),
        "--leader-elect=false".to_owned(),
        "--secure-port=0".to_owned(),
        // With the default of 20 per second the controllers start 5 s later.
        "--kube-api-qps=500".to_owned(),
        "--kube-api-burst=1000".to_owned(),
    ]
}
