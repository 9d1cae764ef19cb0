//! The socket that services listen on: a Unix socket that belongs to this process alone.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::net::{UnixListener, UnixSocket, UnixStream};
use tokio::time::timeout;

/// The kernel takes no longer path of a socket.
const MAX_PATH_BYTES: usize = 107;
/// As many connections may wait to be taken.
const BACKLOG: u32 = 1024;
/// A process that has not taken a connection by then is busy, and there.
const LIVES: Duration = Duration::from_secs(1);

/// Why nothing can listen there.
#[derive(Debug, thiserror::Error)]
pub enum SocketError {
    /// Not a path of a socket.
    #[error("{endpoint}: {why}")]
    Endpoint {
        /// As it was given.
        endpoint: String,
        /// Correction to make.
        why: &'static str,
    },
    /// The path is taken by something that is not a socket.
    #[error("{0} exists and is no socket: remove it, or listen elsewhere")]
    Taken(PathBuf),
    /// The system refuses.
    #[error("cannot listen at {path}")]
    Listen {
        /// Path of the socket.
        path: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}

/// The path of an endpoint: `/csi/csi.sock`, `unix:/csi/csi.sock`, `unix:///csi/csi.sock`.
///
/// # Errors
/// It is no absolute path, or a longer one than the kernel takes.
pub fn path_of(endpoint: &str) -> Result<PathBuf, SocketError> {
    let scheme = ["unix://", "unix:"];
    let mut stripped = scheme.iter().filter_map(|s| endpoint.strip_prefix(s));
    let path = stripped.next().unwrap_or(endpoint);
    let wrong = |why: &'static str| {
        let endpoint = endpoint.to_owned();
        Err(SocketError::Endpoint { endpoint, why })
    };
    match path {
        path if !path.starts_with('/') => {
            wrong("write an absolute path, or unix:// and an absolute path")
        }
        path if path.contains('\0') => wrong("a path has no NUL"),
        path if path.len() > MAX_PATH_BYTES => {
            wrong("the path of a socket has at most 107 bytes: take a shorter one")
        }
        path => Ok(PathBuf::from(path)),
    }
}

/// A socket that this process listens at; dropping it removes its file.
#[derive(Debug)]
pub(crate) struct BoundSocket {
    path: PathBuf,
    /// Device and inode of the file: another process may have put its own there.
    file: Option<(u64, u64)>,
}

/// Listens at a path. Removes an existing socket there as stale, but nothing else.
pub(crate) fn bind(path: &Path) -> Result<(UnixListener, BoundSocket), SocketError> {
    let failed = |source: io::Error| SocketError::Listen {
        path: path.to_owned(),
        source,
    };
    match fs::symlink_metadata(path) {
        Ok(there) if there.file_type().is_socket() => fs::remove_file(path).map_err(failed)?,
        Ok(_) => return Err(SocketError::Taken(path.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let listener = private(path).map_err(failed)?;
    let file = identity(path);
    let bound = BoundSocket {
        path: path.to_owned(),
        file,
    };
    Ok((listener, bound))
}

/// Listens at a path that no other user may ever open. The file gets the mode that the socket has
/// when it is bound.
fn private(path: &Path) -> io::Result<UnixListener> {
    let socket = UnixSocket::new_stream()?;
    let same = File::from(socket.as_fd().try_clone_to_owned()?);
    same.set_permissions(Permissions::from_mode(0o600))?;
    socket.bind(path)?;
    socket.listen(BACKLOG)
}

/// Returns true if a process listens at a path. A process that is gone may have left its file
/// behind.
pub(crate) async fn is_live(path: &Path) -> bool {
    let connected = timeout(LIVES, UnixStream::connect(path)).await;
    !matches!(connected, Ok(Err(_)))
}

fn identity(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let there = fs::symlink_metadata(path).ok()?;
    Some((there.dev(), there.ino()))
}

impl BoundSocket {
    /// Returns true if the file of the socket is still in its place and has not been replaced by
    /// another one.
    pub(crate) fn is_there(&self) -> bool {
        self.file.is_some() && identity(&self.path) == self.file
    }
}

impl Drop for BoundSocket {
    fn drop(&mut self) {
        if self.is_there() {
            // It may be gone by now, which is as good.
            let _ = fs::remove_file(&self.path).is_ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn b14_an_endpoint_is_a_path_or_a_url() {
        let check = |endpoint: &str, expected: Option<&str>| {
            let path = path_of(endpoint).ok();
            assert_eq!(path.as_deref(), expected.map(Path::new), "{endpoint}");
        };
        check("/csi/csi.sock", Some("/csi/csi.sock"));
        check("unix:///csi/csi.sock", Some("/csi/csi.sock"));
        check("unix:/csi/csi.sock", Some("/csi/csi.sock"));
        for wrong in [
            "",
            "csi.sock",
            "unix://csi.sock",
            "tcp://1.2.3.4:5",
            "/a\0b",
        ] {
            check(wrong, None);
        }
        let long = |bytes: usize| format!("/{}", "x".repeat(bytes - 1));
        check(&long(107), Some(&long(107)));
        check(&long(108), None);
    }
}
