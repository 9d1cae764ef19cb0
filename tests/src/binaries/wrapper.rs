//! The committed Go modules that pin the programs, and the folder name that follows from them.
//! Pure but for asking `go` for its version.

use std::process::Command;

use anyhow::{Context, Result, bail};

/// Every program that the wrapper modules build.
pub(super) const PROGRAMS: [&str; 11] = [
    super::ETCD,
    super::KUBE_APISERVER,
    super::KUBE_CONTROLLER_MANAGER,
    super::KUBECTL,
    "containerd",
    "containerd-shim-runc-v2",
    "csi-provisioner",
    "ctr",
    "kube-proxy",
    "kube-scheduler",
    "kubelet",
];

/// One Go module whose `tool` block names commands of other modules.
pub(super) struct Module {
    /// What people call the product.
    pub(super) name: &'static str,
    /// The Go module that carries the version.
    path: &'static str,
    pub(super) go_mod: &'static str,
    pub(super) go_sum: &'static str,
}

/// The modules together: what the cache is keyed by. They are apart, so that each program has the versions of its own dependencies:
/// in one module, the newest that any asks for would be taken for all, and an API server would answer as no released one does.
pub(super) struct Wrapper {
    pub(super) etcd: Module,
    pub(super) kubernetes: Module,
    pub(super) containerd: Module,
    pub(super) provisioner: Module,
}

impl Module {
    /// The pinned version, such as `v1.36.3`.
    pub(super) fn version(&self) -> &'static str {
        let words = self.go_mod.lines().map(|line| {
            let line = line.trim_start().trim_start_matches("require ");
            let mut words = line.split_whitespace();
            (words.next(), words.next())
        });
        words
            .filter_map(|(path, version)| path.filter(|path| *path == self.path).and(version))
            .find(|version| version.starts_with('v'))
            .expect("the committed go.mod requires the module that it wraps")
    }

    /// Linker flags. Unstamped, the API server would call itself v0.0.0-master.
    pub(super) fn linker_flags(&self) -> String {
        let version = self.version();
        let mut parts = version.trim_start_matches('v').split('.');
        let (major, minor) = (
            parts.next().unwrap_or_default(),
            parts.next().unwrap_or_default(),
        );
        let stamp = "-X k8s.io/component-base/version";
        format!(
            "-s -w {stamp}.gitVersion={version} {stamp}.gitMajor={major} {stamp}.gitMinor={minor}"
        )
    }
}

impl Wrapper {
    /// The modules as they are committed beside this crate.
    pub(super) fn committed() -> Self {
        Self {
            etcd: Module {
                name: "etcd",
                path: "go.etcd.io/etcd/server/v3",
                go_mod: include_str!("../../binaries/etcd/go.mod"),
                go_sum: include_str!("../../binaries/etcd/go.sum"),
            },
            kubernetes: Module {
                name: "Kubernetes",
                path: "k8s.io/kubernetes",
                go_mod: include_str!("../../binaries/kubernetes/go.mod"),
                go_sum: include_str!("../../binaries/kubernetes/go.sum"),
            },
            containerd: Module {
                name: "containerd",
                path: "github.com/containerd/containerd/v2",
                go_mod: include_str!("../../binaries/containerd/go.mod"),
                go_sum: include_str!("../../binaries/containerd/go.sum"),
            },
            provisioner: Module {
                name: "csi-provisioner",
                path: "github.com/kubernetes-csi/external-provisioner/v6",
                go_mod: include_str!("../../binaries/provisioner/go.mod"),
                go_sum: include_str!("../../binaries/provisioner/go.sum"),
            },
        }
    }

    /// The folder in the cache for programs built by this Go, such as `v1.36.3-0123456789abcdef-go1.26.8-linux-amd64`.
    pub(super) fn folder_name(&self, go: &str) -> String {
        format!("{}{go}", self.folder_name_without_go())
    }

    pub(super) fn folder_name_without_go(&self) -> String {
        let mut hash = Fnv::default();
        let modules = [
            &self.etcd,
            &self.kubernetes,
            &self.containerd,
            &self.provisioner,
        ];
        for module in modules {
            for part in [module.go_mod, module.go_sum, &module.linker_flags()] {
                hash.write(part);
            }
        }
        format!("{}-{:016x}-", self.kubernetes.version(), hash.0)
    }
}

/// FNV-1a with 64 bits: the same in every release of Rust, which std's hashers do not promise.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn write(&mut self, text: &str) {
        // 0xff is no byte of UTF-8, so it keeps "ab" + "c" apart from "a" + "bc".
        for byte in text.bytes().chain([0xff]) {
            self.write_byte(byte);
        }
    }

    fn write_byte(&mut self, byte: u8) {
        self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
}

/// The Go on PATH and what it builds for, such as `go1.26.8-linux-amd64`.
///
/// # Errors
/// There is no Go, or it does not answer.
pub(super) fn go_version() -> Result<String> {
    let output = Command::new("go")
        .args(["env", "GOVERSION", "GOOS", "GOARCH"])
        .env("GOWORK", "off")
        .output()
        .context("Go is not installed or not on PATH; install Go 1.26 or newer")?;
    if !output.status.success() {
        bail!(
            "`go env` failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let text = String::from_utf8_lossy(&output.stdout);
    Ok(text.lines().collect::<Vec<_>>().join("-"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: Module = Module {
        name: "Kubernetes",
        path: "k8s.io/kubernetes",
        go_mod: "tool k8s.io/kubernetes/cmd/kubectl\nrequire (\n\tk8s.io/kubernetes v1.99.7\n)\n",
        go_sum: "",
    };

    fn wrapper(go_sum: &'static str) -> Wrapper {
        Wrapper {
            etcd: MODULE,
            kubernetes: Module { go_sum, ..MODULE },
            containerd: MODULE,
            provisioner: MODULE,
        }
    }

    #[test]
    fn the_version_is_read_from_the_module_that_pins_it() {
        assert_eq!(MODULE.version(), "v1.99.7");
        assert!(
            MODULE
                .linker_flags()
                .ends_with("gitMajor=1 -X k8s.io/component-base/version.gitMinor=99")
        );
        let committed = Wrapper::committed();
        assert_eq!(committed.kubernetes.version(), "v1.36.3");
        assert_eq!(committed.etcd.version(), "v3.6.16");
        assert_eq!(committed.containerd.version(), "v2.3.7");
        assert_eq!(committed.provisioner.version(), "v6.3.0");
    }

    /// What merges applied objects: another version answers otherwise, and Kubernetes 1.36 was released with this one.
    #[test]
    fn kubernetes_has_the_dependencies_that_it_was_released_with() {
        let kubernetes = Wrapper::committed().kubernetes.go_mod;
        assert!(kubernetes.contains("sigs.k8s.io/structured-merge-diff/v6 v6.3.3 "));
    }

    #[test]
    fn every_change_of_the_wrapper_or_of_go_is_another_folder() {
        let base = wrapper("a").folder_name("go1");
        assert_eq!(base, wrapper("a").folder_name("go1"));
        assert_ne!(base, wrapper("b").folder_name("go1"));
        assert_ne!(base, wrapper("a").folder_name("go2"));
        assert!(base.starts_with(&wrapper("a").folder_name_without_go()));
    }

    #[test]
    fn the_hash_is_the_published_fnv_1a() {
        let mut hash = Fnv::default();
        b"foobar".iter().for_each(|byte| hash.write_byte(*byte));
        assert_eq!(hash.0, 0x8594_4171_f739_67e8);
    }
}
