//! The committed Go modules that pin the programs, and the folder names that follow from their content.
//! Pure: knows neither `go` nor the cache.

/// One Go module whose `tool` block names commands of other modules.
pub(super) struct Module {
    /// Name by which people know the product.
    pub(super) name: &'static str,
    /// The Go module that carries the version.
    pub(super) path: &'static str,
    pub(super) go_mod: &'static str,
    pub(super) go_sum: &'static str,
    /// Its own program, where it does not build one of others.
    pub(super) main_go: Option<&'static str>,
    /// Files of modules that come with its programs, such as definitions and roles: the path of the module, and that of the file in it.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// True if its programs take its version for that of Kubernetes. A program without this stamp
    /// reports the version of its libraries.
    pub(super) stamped: bool,
    /// Common names of the programs that it builds.
    pub(super) programs: &'static [&'static str],
    /// Go names a command after its package: that name and the program's, where they differ.
    pub(super) renamed: Option<(&'static str, &'static str)>,
    /// How long building it takes on two idle cores.
    pub(super) duration: &'static str,
}

/// Modules of a cluster, whose programs are used from one folder. They are separate, so that each
/// program has the versions of its own dependencies. In one module, all programs would use the
/// newest version that any of them requires, and an API server would differ from every released
/// one.
pub(super) struct Wrapper {
    pub(super) etcd: Module,
    pub(super) kubernetes: Module,
    pub(super) containerd: Module,
    pub(super) provisioner: Module,
}

impl Module {
    /// csi-sanity, as it is committed beside this crate: apart from the programs of a cluster.
    pub(super) fn csi_sanity() -> Self {
        Self {
            name: "csi-sanity",
            path: "github.com/kubernetes-csi/csi-test/v5",
            go_mod: include_str!("../../binaries/csi-sanity/go.mod"),
            go_sum: include_str!("../../binaries/csi-sanity/go.sum"),
            main_go: None,
            files: &[],
            stamped: true,
            programs: &["csi-sanity"],
            renamed: None,
            duration: "half a minute",
        }
    }

    /// Returns the module that prints how `kstatus` reads an object, as committed beside this
    /// crate.
    pub(super) fn kstatus() -> Self {
        Self {
            name: "kstatus",
            path: "sigs.k8s.io/cli-utils",
            go_mod: include_str!("../../binaries/kstatus/go.mod"),
            go_sum: include_str!("../../binaries/kstatus/go.sum"),
            main_go: Some(include_str!("../../binaries/kstatus/main.go")),
            files: &[],
            stamped: true,
            programs: &["kstatus"],
            renamed: None,
            duration: "half a minute",
        }
    }

    /// Helm, as it is committed beside this crate.
    pub(super) fn helm() -> Self {
        Self {
            name: "helm",
            path: "helm.sh/helm/v4",
            go_mod: include_str!("../../binaries/helm/go.mod"),
            go_sum: include_str!("../../binaries/helm/go.sum"),
            main_go: None,
            files: &[],
            stamped: true,
            programs: &["helm"],
            renamed: None,
            duration: "two minutes",
        }
    }

    /// Returns the modules of programs of other projects that use an API server, with their
    /// installation files. They are built on request.
    pub(super) fn others() -> [Self; 3] {
        [Self::snapshotter(), Self::kuberay(), Self::end_to_end()]
    }

    fn snapshotter() -> Self {
        const CLIENT: &str = "github.com/kubernetes-csi/external-snapshotter/client/v8";
        const SNAPSHOTTER: &str = "github.com/kubernetes-csi/external-snapshotter/v8";
        Self {
            name: "snapshot-controller",
            path: SNAPSHOTTER,
            go_mod: include_str!("../../binaries/snapshotter/go.mod"),
            go_sum: include_str!("../../binaries/snapshotter/go.sum"),
            main_go: None,
            files: &[
                (
                    CLIENT,
                    "config/crd/snapshot.storage.k8s.io_volumesnapshotclasses.yaml",
                ),
                (
                    CLIENT,
                    "config/crd/snapshot.storage.k8s.io_volumesnapshotcontents.yaml",
                ),
                (
                    CLIENT,
                    "config/crd/snapshot.storage.k8s.io_volumesnapshots.yaml",
                ),
                (
                    SNAPSHOTTER,
                    "deploy/kubernetes/snapshot-controller/rbac-snapshot-controller.yaml",
                ),
            ],
            stamped: false,
            programs: &["snapshot-controller"],
            renamed: None,
            duration: "two minutes",
        }
    }

    fn kuberay() -> Self {
        const RAY: &str = "github.com/ray-project/kuberay/ray-operator";
        Self {
            name: "ray-operator",
            path: RAY,
            go_mod: include_str!("../../binaries/kuberay/go.mod"),
            go_sum: include_str!("../../binaries/kuberay/go.sum"),
            main_go: None,
            files: &[
                (RAY, "config/crd/bases/ray.io_rayclusters.yaml"),
                (RAY, "config/crd/bases/ray.io_rayjobs.yaml"),
                (RAY, "config/crd/bases/ray.io_rayservices.yaml"),
                (RAY, "config/rbac/leader_election_role.yaml"),
                (RAY, "config/rbac/role.yaml"),
                (RAY, "config/samples/ray-cluster.sample.yaml"),
            ],
            stamped: false,
            programs: &["ray-operator"],
            renamed: None,
            duration: "two minutes",
        }
    }

    fn end_to_end() -> Self {
        Self {
            name: "e2e.test",
            path: "k8s.io/kubernetes",
            go_mod: include_str!("../../binaries/e2e/go.mod"),
            go_sum: include_str!("../../binaries/e2e/go.sum"),
            main_go: Some(include_str!("../../binaries/e2e/main.go")),
            files: &[],
            stamped: true,
            programs: &["e2e.test"],
            renamed: Some(("e2e", "e2e.test")),
            duration: "three minutes",
        }
    }

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
        if !self.stamped {
            return "-s -w".to_owned();
        }
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

    /// Its folder in the cache, such as `etcd-v3.6.16-0123456789abcdef-go1.26.8-linux-amd64`.
    pub(super) fn folder(&self) -> Folder {
        let mut hash = Fnv::default();
        self.write_to(&mut hash);
        let name = self.name.to_lowercase();
        Folder(format!("{name}-{}-{:016x}-", self.version(), hash.0))
    }

    fn write_to(&self, hash: &mut Fnv) {
        for part in [self.go_mod, self.go_sum, &self.linker_flags()] {
            hash.write(part);
        }
        if let Some(program) = self.main_go {
            hash.write(program);
        }
        for (module, file) in self.files {
            hash.write(module);
            hash.write(file);
        }
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
                main_go: None,
                files: &[],
                stamped: true,
                programs: &[super::ETCD],
                renamed: Some(("server", super::ETCD)),
                duration: "half a minute",
            },
            kubernetes: Module {
                name: "Kubernetes",
                path: "k8s.io/kubernetes",
                go_mod: include_str!("../../binaries/kubernetes/go.mod"),
                go_sum: include_str!("../../binaries/kubernetes/go.sum"),
                main_go: None,
                files: &[],
                stamped: true,
                programs: &[
                    super::KUBE_APISERVER,
                    super::KUBE_CONTROLLER_MANAGER,
                    "kube-proxy",
                    "kube-scheduler",
                    super::KUBECTL,
                    "kubelet",
                ],
                renamed: None,
                duration: "about five minutes",
            },
            containerd: Module {
                name: "containerd",
                path: "github.com/containerd/containerd/v2",
                go_mod: include_str!("../../binaries/containerd/go.mod"),
                go_sum: include_str!("../../binaries/containerd/go.sum"),
                main_go: None,
                files: &[],
                stamped: true,
                programs: &["containerd", "containerd-shim-runc-v2", "ctr"],
                renamed: None,
                duration: "under a minute",
            },
            provisioner: Module {
                name: "csi-provisioner",
                path: "github.com/kubernetes-csi/external-provisioner/v6",
                go_mod: include_str!("../../binaries/provisioner/go.mod"),
                go_sum: include_str!("../../binaries/provisioner/go.sum"),
                main_go: None,
                files: &[],
                stamped: true,
                programs: &["csi-provisioner"],
                renamed: None,
                duration: "four minutes",
            },
        }
    }

    /// All of them.
    pub(super) fn modules(&self) -> [&Module; 4] {
        [
            &self.etcd,
            &self.kubernetes,
            &self.containerd,
            &self.provisioner,
        ]
    }

    /// Every program that they build.
    pub(super) fn programs(&self) -> Vec<&'static str> {
        let modules = self.modules().into_iter();
        modules
            .flat_map(|module| module.programs)
            .copied()
            .collect()
    }

    /// The folder in the cache that has all of them, such as `v1.36.3-0123456789abcdef-go1.26.8-linux-amd64`.
    pub(super) fn folder(&self) -> Folder {
        let mut hash = Fnv::default();
        for module in self.modules() {
            module.write_to(&mut hash);
        }
        Folder(format!("{}-{:016x}-", self.kubernetes.version(), hash.0))
    }
}

/// Name of a folder in the cache, without the version of the Go that built its content.
pub(super) struct Folder(String);

impl Folder {
    /// The whole name for programs built by this Go.
    pub(super) fn built_by(&self, go: &str) -> String {
        format!("{}{go}", self.0)
    }

    /// Returns true if `name` is this folder name completed by some Go version.
    pub(super) fn is_start_of(&self, name: &str) -> bool {
        name.starts_with(&self.0)
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

#[cfg(test)]
mod tests {
    use super::*;

    const GO_MOD: &str =
        "tool k8s.io/kubernetes/cmd/kubectl\nrequire (\n\tk8s.io/kubernetes v1.99.7\n)\n";

    const MODULE: Module = Module {
        name: "Kubernetes",
        path: "k8s.io/kubernetes",
        go_mod: GO_MOD,
        go_sum: "",
        main_go: None,
        files: &[],
        stamped: true,
        programs: &["kubectl"],
        renamed: None,
        duration: "no time",
    };

    fn wrapper(go_sum: &'static str) -> Wrapper {
        let named = |name| Module { name, ..MODULE };
        Wrapper {
            etcd: named("etcd"),
            kubernetes: Module { go_sum, ..MODULE },
            containerd: named("containerd"),
            provisioner: named("csi-provisioner"),
        }
    }

    fn names(wrapper: &Wrapper, go: &str) -> [String; 4] {
        wrapper.modules().map(|module| module.folder().built_by(go))
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
        let others = Module::others().map(|module| module.version());
        assert_eq!(others, ["v8.7.0", "v1.5.0", "v1.36.3"]);
        // A program that is not part of Kubernetes must not be stamped with its own version as the
        // version of Kubernetes.
        let stamped = Module::others().map(|module| module.linker_flags().contains("gitVersion"));
        assert_eq!(stamped, [false, false, true]);
    }

    /// Checks the library that merges applied objects. Another version answers differently, and
    /// Kubernetes 1.36 was released with this one.
    #[test]
    fn kubernetes_has_the_dependencies_that_it_was_released_with() {
        let kubernetes = Wrapper::committed().kubernetes.go_mod;
        assert!(kubernetes.contains("sigs.k8s.io/structured-merge-diff/v6 v6.3.3 "));
    }

    /// Checks that every built program is named. No other test would notice one that is not.
    #[test]
    fn the_programs_of_a_module_are_its_tools() {
        let committed = Wrapper::committed();
        let alone = [Module::csi_sanity(), Module::kstatus(), Module::helm()];
        let others = Module::others();
        let apart = alone.iter().chain(&others);
        for module in committed.modules().into_iter().chain(apart) {
            let words = module.go_mod.split_whitespace();
            let words = words.skip_while(|word| *word != "tool").skip(1);
            let tools = words
                .skip_while(|word| *word == "(")
                .take_while(|word| !["require", ")"].contains(word));
            let mut built: Vec<&str> = tools
                .map(|tool| tool.trim_end_matches("/v3").rsplit('/').next().unwrap())
                .map(|name| match module.renamed {
                    Some((from, to)) if from == name => to,
                    _ => name,
                })
                .collect();
            built.sort_unstable();
            let mut programs = module.programs.to_vec();
            programs.sort_unstable();
            assert_eq!(built, programs, "{}", module.name);
        }
        assert_eq!(committed.programs().len(), 11);
    }

    #[test]
    fn every_change_of_the_wrapper_or_of_go_is_another_folder() {
        let folder = |go_sum, go| wrapper(go_sum).folder().built_by(go);
        let base = folder("a", "go1");
        assert_eq!(base, folder("a", "go1"));
        assert_ne!(base, folder("b", "go1"));
        assert_ne!(base, folder("a", "go2"));
        assert!(wrapper("a").folder().is_start_of(&base));
        assert!(!wrapper("b").folder().is_start_of(&base));
    }

    #[test]
    fn a_change_of_one_module_is_another_folder_of_that_one_alone() {
        let [etcd, kubernetes, containerd, provisioner] = names(&wrapper("a"), "go1");
        let changed = names(&wrapper("b"), "go1");
        assert_eq!(
            [&etcd, &containerd, &provisioner],
            [&changed[0], &changed[2], &changed[3]]
        );
        assert_ne!(kubernetes, changed[1]);
    }

    #[test]
    fn the_folder_of_a_module_follows_from_its_content_and_go() {
        let name = |module: &Module, go| module.folder().built_by(go);
        let base = name(&MODULE, "go1");
        assert!(base.starts_with("kubernetes-v1.99.7-") && base.ends_with("-go1"));
        let comment: &'static str = Box::leak(format!("{GO_MOD}// more").into_boxed_str());
        let (go_mod, go_sum) = (comment, "k8s.io/kubernetes v1.99.7 h1:");
        // Text that moves from one file to the other is a change as well.
        let (moved, rest) = ("// more", GO_MOD);
        let others = [
            name(&Module { go_mod, ..MODULE }, "go1"),
            name(&Module { go_sum, ..MODULE }, "go1"),
            name(
                &Module {
                    go_mod: rest,
                    go_sum: moved,
                    ..MODULE
                },
                "go1",
            ),
            name(&MODULE, "go2"),
        ];
        for (index, other) in others.iter().enumerate() {
            assert_ne!(base, *other);
            assert!(!others[..index].contains(other), "{other}");
        }
    }

    #[test]
    fn the_folders_of_the_committed_modules_differ() {
        let committed = Wrapper::committed();
        let mut folders = names(&committed, "go1").to_vec();
        folders.push(Module::csi_sanity().folder().built_by("go1"));
        folders.push(Module::kstatus().folder().built_by("go1"));
        folders.push(committed.folder().built_by("go1"));
        folders.sort_unstable();
        folders.dedup();
        assert_eq!(folders.len(), 7);
    }

    #[test]
    fn the_hash_is_the_published_fnv_1a() {
        let mut hash = Fnv::default();
        b"foobar".iter().for_each(|byte| hash.write_byte(*byte));
        assert_eq!(hash.0, 0x8594_4171_f739_67e8);
    }
}
