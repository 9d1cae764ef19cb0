//! Locations of the programs of a test API server and of test nodes: `KUBEBUILDER_ASSETS`, or the
//! cache that `build` fills. This module does not know how the programs are built (`build.rs` does)
//! or started.

mod alone;
mod build;
mod cache;
mod go;
mod helm;
mod kstatus;
mod others;
mod sanity;
mod wrapper;

use std::env;
use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};

pub use build::build;
pub use helm::{build_helm, helm};
pub use kstatus::{build_kstatus, kstatus, kstatus_of};
pub use others::{build_others, other, others_are_wanted};
pub use sanity::{build_csi_sanity, csi_sanity, csi_sanity_version};

use cache::Cache;
use wrapper::{Folder, Wrapper};

const ETCD: &str = "etcd";
const KUBE_APISERVER: &str = "kube-apiserver";
const KUBE_CONTROLLER_MANAGER: &str = "kube-controller-manager";
const KUBECTL: &str = "kubectl";

/// A folder that holds the programs of a test API server, and those of nodes if it is the cache.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Binaries {
    folder: PathBuf,
}

/// Reason why the programs are not available: one sentence with the necessary action.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing(String);

impl fmt::Display for Missing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

impl Binaries {
    /// The folder itself, fit for `KUBEBUILDER_ASSETS`.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The path of `etcd`.
    pub fn etcd(&self) -> PathBuf {
        self.folder.join(ETCD)
    }

    /// The path of `kube-apiserver`.
    pub fn kube_apiserver(&self) -> PathBuf {
        self.folder.join(KUBE_APISERVER)
    }

    /// The path of `kubectl`.
    pub fn kubectl(&self) -> PathBuf {
        self.folder.join(KUBECTL)
    }

    /// The path of `kube-controller-manager`.
    ///
    /// # Errors
    /// A folder named by `KUBEBUILDER_ASSETS` usually lacks it.
    pub fn kube_controller_manager(&self) -> Result<PathBuf, Missing> {
        self.program(KUBE_CONTROLLER_MANAGER)
    }

    /// The path of any other program that `build` builds, such as `kubelet` or `csi-provisioner`.
    ///
    /// # Errors
    /// A folder named by `KUBEBUILDER_ASSETS` usually lacks it.
    pub fn program(&self, name: &str) -> Result<PathBuf, Missing> {
        let path = self.folder.join(name);
        if path.is_file() {
            Ok(path)
        } else {
            Err(Missing(format!(
                "{} has no {name}; unset KUBEBUILDER_ASSETS and run `{BUILD_COMMAND}`",
                self.folder.display()
            )))
        }
    }

    fn complete(folder: PathBuf, programs: &[&str]) -> Result<Self, String> {
        match programs
            .iter()
            .find(|program| !folder.join(program).is_file())
        {
            None => Ok(Self { folder }),
            Some(absent) => Err(format!("{} has no {absent}", folder.display())),
        }
    }
}

/// Command that a person types to get the programs.
pub const BUILD_COMMAND: &str = "cargo run -p lifecycle-tests --bin test-cluster -- build";

/// Finds the programs, without building anything.
///
/// # Errors
/// Returns an error if a program is missing, in one sentence with the necessary action.
pub fn locate() -> Result<Binaries, Missing> {
    if let Some(folder) = assets() {
        return Binaries::complete(folder, &[ETCD, KUBE_APISERVER, KUBECTL])
            .map_err(|absent| Missing(format!("KUBEBUILDER_ASSETS is set but {absent}")));
    }
    let wrapper = Wrapper::committed();
    programs_dir(&cache()?, &wrapper.folder())
        .and_then(|folder| Binaries::complete(folder, &wrapper.programs()).ok())
        .ok_or_else(|| {
            Missing(format!(
                "the programs of Kubernetes are not built; run `{BUILD_COMMAND}`"
            ))
        })
}

/// Returns the location of the programs of this name, if they are built.
fn programs_dir(cache: &Cache, folder: &Folder) -> Option<PathBuf> {
    match go::version() {
        Ok(go) => Some(cache.programs_dir(folder, &go)),
        // A machine may have been given the programs without the compiler that built them.
        Err(_) => cache.built_by_any_go(folder),
    }
}

fn assets() -> Option<PathBuf> {
    env::var_os("KUBEBUILDER_ASSETS")
        .filter(|value| !value.is_empty())
        .map(PathBuf::from)
}

/// The cache that the environment names.
fn cache() -> Result<Cache, Missing> {
    let root = cache_folder_from(|name| env::var_os(name).filter(|value| !value.is_empty()))?;
    Ok(Cache::new(root))
}

/// Returns the folder outside the checkout that stores the built programs.
fn cache_folder_from(variable: impl Fn(&str) -> Option<OsString>) -> Result<PathBuf, Missing> {
    let root = variable("LIFECYCLE_CACHE")
        .map(PathBuf::from)
        .or_else(|| Some(PathBuf::from(variable("XDG_CACHE_HOME")?).join("lifecycle")))
        .or_else(|| Some(PathBuf::from(variable("HOME")?).join(".cache/lifecycle")));
    root.map(|root| root.join("binaries")).ok_or_else(|| {
        Missing("there is no HOME to keep built programs in; set LIFECYCLE_CACHE".to_owned())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn cache_with(set: &[(&str, &str)]) -> Result<PathBuf, Missing> {
        cache_folder_from(|name| {
            let found = set.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| OsString::from(value))
        })
    }

    #[test]
    fn cache_folder_prefers_our_variable_then_xdg_then_home() {
        let all = [
            ("LIFECYCLE_CACHE", "/a"),
            ("XDG_CACHE_HOME", "/b"),
            ("HOME", "/c"),
        ];
        assert_eq!(cache_with(&all), Ok(PathBuf::from("/a/binaries")));
        assert_eq!(
            cache_with(&all[1..]),
            Ok(PathBuf::from("/b/lifecycle/binaries"))
        );
        assert_eq!(
            cache_with(&all[2..]),
            Ok(PathBuf::from("/c/.cache/lifecycle/binaries"))
        );
        assert!(
            cache_with(&[])
                .unwrap_err()
                .to_string()
                .contains("LIFECYCLE_CACHE")
        );
    }

    #[test]
    fn a_folder_that_lacks_a_program_is_refused_by_name() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(ETCD), "").unwrap();
        let refused = Binaries::complete(folder.path().to_owned(), &[ETCD, KUBECTL]).unwrap_err();
        assert!(refused.ends_with("has no kubectl"), "{refused}");
        assert!(Binaries::complete(folder.path().to_owned(), &[ETCD]).is_ok());
    }
}
