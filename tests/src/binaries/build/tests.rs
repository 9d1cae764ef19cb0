//! Tests of the modules that are built, and of the content of the cache afterwards. They use
//! modules of a few bytes, and files in the place of programs.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, Sender, channel};

use anyhow::bail;

use super::*;

const GO: &str = "go1";

fn module(name: &'static str, programs: &'static [&'static str]) -> Module {
    Module {
        name,
        path: "example.test/tiny",
        go_mod: "require example.test/tiny v1.2.3\n",
        go_sum: "",
        main_go: None,
        files: &[],
        stamped: true,
        programs,
        renamed: None,
        duration: "no time",
    }
}

fn wrapper() -> Wrapper {
    Wrapper {
        etcd: module("etcd", &["etcd"]),
        kubernetes: module("Kubernetes", &["kubectl", "kubelet"]),
        containerd: module("containerd", &["ctr"]),
        provisioner: module("csi-provisioner", &["csi-provisioner"]),
    }
}

/// A cache, and how often each module was built into it.
struct Site {
    root: tempfile::TempDir,
    built: Mutex<BTreeMap<&'static str, usize>>,
    /// The module that cannot be built.
    broken: Option<&'static str>,
    /// The program that no build makes.
    absent: Option<&'static str>,
    /// Pause of the first module that is built: it sends a message, and waits for an answer.
    pause: Mutex<Option<(Sender<()>, Receiver<()>)>>,
}

impl Site {
    fn empty() -> Self {
        Self {
            root: tempfile::tempdir().unwrap(),
            built: Mutex::default(),
            broken: None,
            absent: None,
            pause: Mutex::default(),
        }
    }

    fn with_builder<T>(&self, go: &str, act: impl FnOnce(&Builder<'_>) -> T) -> T {
        let install = |module: &Module, _: &Path, output: &Path| {
            *self.built.lock().unwrap().entry(module.name).or_default() += 1;
            for program in module.programs {
                if self.absent != Some(program) {
                    fs::write(output.join(program), module.go_sum)?;
                }
                if self.broken == Some(module.name) {
                    bail!("no space left");
                }
            }
            let pause = self.pause.lock().unwrap().take();
            if let Some((begun, go_on)) = pause {
                begun.send(()).unwrap();
                // An error ends the wait as well: the other end is gone.
                let _answer = go_on.recv();
            }
            Ok(())
        };
        act(&Builder {
            cache: Cache::new(self.root.path().join("binaries")),
            go: go.to_owned(),
            install: &install,
        })
    }

    fn build(&self, wrapper: &Wrapper) -> Result<PathBuf> {
        self.with_builder(GO, |builder| {
            let built = builder.build_all(wrapper, &mut |_| {})?;
            Ok(built.folder().to_owned())
        })
    }

    /// Returns the modules that were built since the last call.
    fn built(&self) -> Vec<(&'static str, usize)> {
        std::mem::take(&mut *self.built.lock().unwrap())
            .into_iter()
            .collect()
    }

    fn programs_dir(&self, module: &Module) -> PathBuf {
        self.with_builder(GO, |builder| {
            builder.cache.programs_dir(&module.folder(), GO)
        })
    }

    /// Returns the folders in the cache.
    fn folders(&self) -> Vec<String> {
        names(&self.root.path().join("binaries"))
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<String> = entries
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn every_module_is_built_once_and_all_programs_are_in_one_folder() {
    let site = Site::empty();
    let folder = site.build(&wrapper()).unwrap();
    assert_eq!(
        names(&folder),
        ["csi-provisioner", "ctr", "etcd", "kubectl", "kubelet"]
    );
    let once = [
        ("Kubernetes", 1),
        ("containerd", 1),
        ("csi-provisioner", 1),
        ("etcd", 1),
    ];
    assert_eq!(site.built(), once);
    assert_eq!(site.build(&wrapper()).unwrap(), folder);
    assert_eq!(site.built(), []);
    // Four modules, the folder of all programs, the lock, and nothing that was built in.
    assert_eq!(site.folders().len(), 6, "{:?}", site.folders());
}

#[test]
fn a_change_of_one_module_builds_that_one_alone() {
    let site = Site::empty();
    let before = site.build(&wrapper()).unwrap();
    site.built();
    let mut changed = wrapper();
    changed.containerd.go_sum = "changed";
    let after = site.build(&changed).unwrap();
    assert_eq!(site.built(), [("containerd", 1)]);
    assert_ne!(before, after);
    let content = |folder: &Path| fs::read_to_string(folder.join("ctr")).unwrap();
    assert_eq!(
        (content(&before), content(&after)),
        (String::new(), "changed".to_owned())
    );
    // Back again, such as on another branch, nothing is built.
    assert_eq!(site.build(&wrapper()).unwrap(), before);
    assert_eq!(site.built(), []);
}

#[test]
fn another_go_builds_all() {
    let site = Site::empty();
    site.build(&wrapper()).unwrap();
    site.built();
    site.with_builder("go2", |builder| {
        builder.build_all(&wrapper(), &mut |_| {}).unwrap();
    });
    assert_eq!(site.built().len(), 4);
}

#[test]
fn a_module_that_fails_is_named_and_those_before_it_stay() {
    let mut site = Site::empty();
    site.broken = Some("Kubernetes");
    let failed = format!("{:#}", site.build(&wrapper()).unwrap_err());
    assert_eq!(failed, "cannot build Kubernetes 1.2.3: no space left");
    assert!(!site.programs_dir(&wrapper().kubernetes).exists());
    // etcd and the lock.
    assert_eq!(site.folders().len(), 2, "{:?}", site.folders());
    site.broken = None;
    site.built();
    site.build(&wrapper()).unwrap();
    assert!(site.built().iter().all(|(name, _)| *name != "etcd"));
}

#[test]
fn a_module_that_builds_too_little_does_not_count() {
    let mut site = Site::empty();
    site.absent = Some("kubelet");
    let failed = format!("{:#}", site.build(&wrapper()).unwrap_err());
    assert!(failed.ends_with("has no kubelet"), "{failed}");
    assert!(!site.programs_dir(&wrapper().kubernetes).exists());
}

#[test]
fn what_an_interrupted_build_left_behind_does_not_count() {
    let site = Site::empty();
    let left = site.root.path().join("binaries/building-x/output");
    fs::create_dir_all(&left).unwrap();
    fs::write(left.join("etcd"), "half").unwrap();
    let folder = site.build(&wrapper()).unwrap();
    assert_eq!(site.built().len(), 4);
    assert_eq!(fs::read_to_string(folder.join("etcd")).unwrap(), "");
}

#[test]
fn a_program_that_a_person_removed_comes_back() {
    let site = Site::empty();
    let folder = site.build(&wrapper()).unwrap();
    site.built();
    fs::remove_file(folder.join("kubectl")).unwrap();
    site.build(&wrapper()).unwrap();
    assert_eq!(site.built(), []);
    assert!(folder.join("kubectl").is_file());

    fs::remove_file(folder.join("kubectl")).unwrap();
    fs::remove_file(site.programs_dir(&wrapper().kubernetes).join("kubelet")).unwrap();
    site.build(&wrapper()).unwrap();
    assert_eq!(site.built(), [("Kubernetes", 1)]);
}

#[test]
fn two_builds_at_once_build_every_module_once() {
    let (begun, has_begun) = channel();
    let (go_on, may_go_on) = channel();
    let site = Site {
        pause: Mutex::new(Some((begun, may_go_on))),
        ..Site::empty()
    };
    let mut said = Vec::new();
    std::thread::scope(|scope| {
        scope.spawn(|| site.build(&wrapper()).unwrap());
        has_begun.recv().unwrap();
        let mut progress = |line: &str| {
            said.push(line.split(':').next().unwrap_or_default().to_owned());
            go_on.send(()).unwrap_or_default();
        };
        site.with_builder(GO, |builder| builder.build_all(&wrapper(), &mut progress))
            .unwrap();
        drop(go_on);
    });
    assert_eq!(said, ["waiting for another build to end", "already built"]);
    assert!(site.built().iter().all(|(_, times)| *times == 1));
}

/// Before modules had folders of their own, all programs were built into the one that links them now.
#[test]
fn a_folder_of_all_programs_without_its_modules_is_taken_over() {
    let site = Site::empty();
    let folder = site.build(&wrapper()).unwrap();
    for module in wrapper().modules() {
        fs::remove_dir_all(site.programs_dir(module)).unwrap();
    }
    site.built();
    assert_eq!(site.build(&wrapper()).unwrap(), folder);
    let mut changed = wrapper();
    changed.etcd.go_sum = "changed";
    let other = site.build(&changed).unwrap();
    assert_eq!(site.built(), [("etcd", 1)]);
    let file = |folder: &Path| fs::metadata(folder.join("kubelet")).unwrap().ino();
    assert_eq!(file(&folder), file(&other));
    assert_eq!(file(&folder), file(&site.programs_dir(&changed.kubernetes)));
}
