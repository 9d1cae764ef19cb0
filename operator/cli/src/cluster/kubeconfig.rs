//! The kubeconfig by which `kubectl` finds the simulated cluster and authenticates. It is removed
//! with the cluster, because it would lead nowhere.

use std::fs;
use std::io::{self, Read as _, Write as _};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use tempfile::TempDir;
use thiserror::Error;

use super::door::Key;

/// First line that identifies the file as ours, so that it may be replaced.
const MARK: &str = "# Written by a simulated cluster, which removes it when it ends.\n";

/// Upper bound on the size that is read. Our file is far smaller.
const LARGEST: u64 = 1 << 20;

/// Reason why the file is missing.
#[derive(Debug, Error)]
pub(crate) enum Error {
    /// It cannot be written.
    #[error("the kubeconfig cannot be written to {}: choose another place with --kubeconfig", path.display())]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// Another file is in this place that a user may need.
    #[error("{} is there and was not written by the sandbox: choose another place with --kubeconfig", path.display())]
    Foreign {
        /// Path of the file.
        path: PathBuf,
    },
}

/// A kubeconfig that is removed when it is dropped.
#[derive(Debug)]
pub(crate) struct Kubeconfig {
    path: PathBuf,
    _folder: Option<TempDir>,
}

impl Kubeconfig {
    /// Writes the file: to `wanted`, or into a temporary folder.
    pub(crate) fn write(
        wanted: Option<&Path>,
        server: SocketAddr,
        key: &Key,
    ) -> Result<Self, Error> {
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
            (None, None) => unreachable!("a temporary folder exists if no path was requested"),
        };
        check_ours(&path)?;
        write(&path, &text(server, key)).map_err(|source| Error::Write {
            path: path.clone(),
            source,
        })?;
        Ok(Self {
            path,
            _folder: folder,
        })
    }

    /// Returns the path of the file.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Kubeconfig {
    fn drop(&mut self) {
        // A user may have replaced or removed it since.
        if check_ours(&self.path).is_ok() {
            let _already_gone = fs::remove_file(&self.path);
        }
    }
}

fn check_ours(path: &Path) -> Result<(), Error> {
    match read(path) {
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

/// Returns the contents of the file, up to the maximum size of ours. Rejects a pipe, which would
/// never end.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut bytes = Vec::new();
    fs::File::open(path)?
        .take(LARGEST)
        .read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Writes a file that only its owner can read, in place of one of ours.
fn write(path: &Path, text: &str) -> io::Result<()> {
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    // A temporary file is readable by its owner only from the start, and no reader observes a
    // partial file.
    let mut beside = tempfile::NamedTempFile::new_in(folder)?;
    beside.write_all(text.as_bytes())?;
    beside.persist(path)?;
    Ok(())
}

fn text(server: SocketAddr, key: &Key) -> String {
    let Key { authority, token } = key;
    let authority = STANDARD.encode(authority);
    format!(
        "{MARK}apiVersion: v1\nkind: Config\n\
         clusters: [{{name: sandbox, cluster: {{server: \"https://{server}\", certificate-authority-data: {authority}}}}}]\n\
         contexts: [{{name: sandbox, context: {{cluster: sandbox, user: sandbox}}}}]\n\
         users: [{{name: sandbox, user: {{token: \"{token}\"}}}}]\ncurrent-context: sandbox\n"
    )
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    fn key() -> Key {
        Key {
            authority: "authority".to_owned(),
            token: "7".to_owned(),
        }
    }

    const SERVER: SocketAddr =
        SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 7);

    #[test]
    fn it_is_read_as_a_kubeconfig_and_goes_with_its_owner() {
        let written = Kubeconfig::write(None, SERVER, &key()).unwrap();
        let path = written.path().to_owned();
        let read = kube::config::Kubeconfig::read_from(&path).unwrap();
        assert_eq!(read.current_context.as_deref(), Some("sandbox"));
        assert_eq!(
            read.clusters[0].cluster.as_ref().unwrap().server.as_deref(),
            Some("https://127.0.0.1:7")
        );
        let user = read.auth_infos[0].auth_info.as_ref().unwrap();
        assert!(user.token.is_some());
        let mode = fs::metadata(&path).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        drop(written);
        assert!(!path.exists());
    }

    #[test]
    fn what_others_wrote_is_never_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("config");
        fs::write(&path, "apiVersion: v1\n").unwrap();
        let refused = Kubeconfig::write(Some(&path), SERVER, &key()).unwrap_err();
        assert!(
            refused
                .to_string()
                .contains("was not written by the sandbox"),
            "{refused}"
        );
        assert_eq!(fs::read_to_string(&path).unwrap(), "apiVersion: v1\n");
        fs::write(&path, MARK).unwrap();
        drop(Kubeconfig::write(Some(&path), SERVER, &key()).unwrap());
        assert!(!path.exists());
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let refused =
            Kubeconfig::write(Some(Path::new("/nowhere/at/all")), SERVER, &key()).unwrap_err();
        assert!(refused.to_string().contains("/nowhere/at/all"), "{refused}");
    }
}
