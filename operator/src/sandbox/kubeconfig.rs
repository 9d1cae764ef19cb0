//! The file by which `kubectl` finds the simulated cluster. It goes with the cluster, for it would lead nowhere.

use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use thiserror::Error;

/// By its first line a file is known as ours, so that it may be replaced.
const MARK: &str = "# Written by `lifecycle-operator sandbox`, which removes it when it ends.\n";

/// Why there is no such file.
#[derive(Debug, Error)]
pub(super) enum Error {
    /// It cannot be written.
    #[error("the kubeconfig cannot be written to {}: choose another place with --kubeconfig", path.display())]
    Write {
        /// Where.
        path: PathBuf,
        /// What is said.
        source: io::Error,
    },
    /// There is something else that somebody may need.
    #[error("{} is there and was not written by the sandbox: choose another place with --kubeconfig", path.display())]
    Foreign {
        /// Where.
        path: PathBuf,
    },
}

/// A kubeconfig that is removed when it is dropped.
#[derive(Debug)]
pub(super) struct Kubeconfig {
    path: PathBuf,
    _folder: Option<TempDir>,
}

impl Kubeconfig {
    /// Writes the file: to `wanted`, or into a temporary folder.
    pub(super) fn write(wanted: Option<&Path>, server: SocketAddr) -> Result<Self, Error> {
        let folder = match wanted {
            Some(_) => None,
            None => {
                let made = tempfile::Builder::new()
                    .prefix("lifecycle-sandbox-")
                    .tempdir();
                Some(made.map_err(|source| Error::Write {
                    path: std::env::temp_dir(),
                    source,
                })?)
            }
        };
        let path = match (wanted, &folder) {
            (Some(wanted), _) => wanted.to_owned(),
            (None, Some(folder)) => folder.path().join("kubeconfig"),
            (None, None) => unreachable!("without a wish there is a folder"),
        };
        check_ours(&path)?;
        fs::write(&path, text(server)).map_err(|source| Error::Write {
            path: path.clone(),
            source,
        })?;
        Ok(Self {
            path,
            _folder: folder,
        })
    }

    /// Where it is.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        // Somebody may have replaced or removed it since.
        if check_ours(&self.path).is_ok() {
            let _already_gone = fs::remove_file(&self.path);
        }
    }
}

fn check_ours(path: &Path) -> Result<(), Error> {
    match fs::read(path) {
        Ok(found) if found.starts_with(MARK.as_bytes()) || found.is_empty() => Ok(()),
        Ok(_) => Err(Error::Foreign {
            path: path.to_owned(),
        }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(source) => Err(Error::Write {
            path: path.to_owned(),
            source,
        }),
    }
}

fn text(server: SocketAddr) -> String {
    format!(
        "{MARK}apiVersion: v1\nkind: Config\n\
         clusters: [{{name: sandbox, cluster: {{server: \"http://{server}\"}}}}]\n\
         contexts: [{{name: sandbox, context: {{cluster: sandbox, user: sandbox}}}}]\n\
         users: [{{name: sandbox, user: {{}}}}]\ncurrent-context: sandbox\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 7);

    #[test]
    fn it_is_read_as_a_kubeconfig_and_goes_with_its_owner() {
        let written = Kubeconfig::write(None, SERVER).unwrap();
        let path = written.path().to_owned();
        let read = kube::config::Kubeconfig::read_from(&path).unwrap();
        assert_eq!(read.current_context.as_deref(), Some("sandbox"));
        assert_eq!(
            read.clusters[0].cluster.as_ref().unwrap().server.as_deref(),
            Some("http://127.0.0.1:7")
        );
        drop(written);
        assert!(!path.exists());
    }

    #[test]
    fn what_others_wrote_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        fs::write(&path, "apiVersion: v1\n").unwrap();
        let refused = Kubeconfig::write(Some(&path), SERVER).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("was not written by the sandbox"),
            "{refused}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "apiVersion: v1\n");
        fs::write(&path, MARK).unwrap();
        drop(Kubeconfig::write(Some(&path), SERVER).unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let refused = Kubeconfig::write(Some(Path::new("/nowhere/at/all")), SERVER).unwrap_err();
        assert!(refused.to_string().contains("/nowhere/at/all"), "{refused}");
    }
}
