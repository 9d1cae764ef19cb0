//! Files that another process writes: detects that one changed, and reads one of bounded size
//! without ever blocking on something that is not a file. Independent of the content of the files.

use std::fs::{self, Metadata, OpenOptions};
use std::future::pending;
use std::io::{self, Read as _, Write as _};
use std::panic::resume_unwind;
use std::path::Path;
use std::time::{Duration, SystemTime};

use tokio::task::{JoinError, spawn_blocking};
use tokio::time::timeout;

/// Time that reading files may take before the delay is reported.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// A file that was changed less than this ago may be changed again without another time.
const YOUNG: Duration = Duration::from_secs(2);

/// Metadata of a file that changes when the file does.
#[derive(Clone, Debug, PartialEq)]
pub struct FileStamp {
    changed: Option<SystemTime>,
    size: u64,
    file: u64,
}

impl FileStamp {
    /// Of a file with this metadata.
    pub fn from_metadata(metadata: &Metadata) -> Self {
        Self {
            changed: metadata.modified().ok(),
            size: metadata.len(),
            file: file_number(metadata),
        }
    }

    /// Returns true if the file changed so recently that it may change again and keep the same
    /// stamp.
    pub fn is_young(&self) -> bool {
        let age = |changed| SystemTime::now().duration_since(changed).ok();
        let age = self.changed.and_then(age);
        age.is_none_or(|age| age < YOUNG)
    }
}

#[cfg(unix)]
fn file_number(metadata: &Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(metadata)
}

#[cfg(not(unix))]
fn file_number(_metadata: &Metadata) -> u64 {
    0
}

/// Reads a file that may be no larger.
///
/// # Errors
/// It cannot be read, is no file, or is larger.
pub fn read(path: &Path, largest: u64) -> io::Result<Vec<u8>> {
    // Some devices do something when they are opened.
    check(&fs::metadata(path)?)?;
    let file = options().read(true).open(path)?;
    // A pipe that has come meanwhile would never end.
    check(&file.metadata()?)?;
    let mut bytes = Vec::new();
    file.take(largest + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > largest {
        return Err(io::Error::other(format!(
            "it is larger than {largest} bytes"
        )));
    }
    Ok(bytes)
}

/// Puts a file in the place of another, whole: who reads sees the one before or the one after.
///
/// # Errors
/// It cannot be written.
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_by(&mut options(), path, bytes)
}

/// The same, for the user of this process alone to read.
///
/// # Errors
/// It cannot be written.
pub fn replace_secret(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = options();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    replace_by(&mut options, path, bytes)
}

/// Takes a file from all but its owner.
///
/// # Errors
/// It is another's.
pub fn only_for_owner(path: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
    }
    Ok(())
}

fn replace_by(options: &mut OpenOptions, path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".new");
    let beside = Path::new(&beside);
    // The leftover may not be a regular file, or may be a link to another place.
    match fs::remove_file(beside) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        Err(_) | Ok(()) => {}
    }
    let mut file = options.write(true).create_new(true).open(beside)?;
    file.write_all(bytes)?;
    fs::rename(beside, path)
}

/// Opens a file and keeps it open. Creates the file if it does not exist.
///
/// # Errors
/// It cannot be opened, or is no file.
pub fn hold(path: &Path) -> io::Result<fs::File> {
    let file = options()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

/// Works on files beside the tasks of the runtime. Calls `late` if that takes longer than [`PATIENCE`], and goes on to wait: another try would
/// wait for the same.
pub async fn run_blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
    late: impl FnOnce(),
) -> T {
    run_with_limit(PATIENCE, work, late).await
}

async fn run_with_limit<T: Send + 'static>(
    limit: Duration,
    work: impl FnOnce() -> T + Send + 'static,
    late: impl FnOnce(),
) -> T {
    let mut working = spawn_blocking(work);
    match timeout(limit, &mut working).await {
        Ok(done) => result(done).await,
        Err(_late) => {
            late();
            result(working.await).await
        }
    }
}

async fn result<T>(done: Result<T, JoinError>) -> T {
    match done.map_err(JoinError::try_into_panic) {
        Ok(done) => done,
        Err(Ok(panic)) => resume_unwind(panic),
        // The runtime ends, and this task with it.
        Err(Err(_cancelled)) => pending().await,
    }
}

fn check(metadata: &Metadata) -> io::Result<()> {
    match metadata.is_file() {
        true => Ok(()),
        false => Err(io::Error::other("it is no file")),
    }
}

/// Returns options that never block on opening, as they would for the other end of a pipe.
fn options() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt as _;
        let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY;
        options.custom_flags(flags.bits().cast_signed());
    }
    options
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use rustix::fs::{CWD, FileType, Mode, mknodat};

    use super::*;

    /// Returns the result of work that completes at once and does not wait until the other end is
    /// opened.
    fn soon<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
        let (done, result) = mpsc::channel();
        thread::spawn(move || done.send(work()));
        let result = result.recv_timeout(Duration::from_secs(5));
        result.expect("it waits for the other end of a pipe")
    }

    fn pipe(path: &Path) {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    #[test]
    fn a_pipe_a_device_and_a_directory_are_no_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        pipe(&path);
        for path in [path, "/dev/zero".into(), folder.path().to_owned()] {
            let (of, to) = (path.clone(), path.clone());
            let read = soon(move || read(&of, 10)).unwrap_err();
            assert_eq!(read.to_string(), "it is no file", "{}", path.display());
            assert!(soon(move || hold(&to)).is_err(), "{}", path.display());
        }
    }

    #[test]
    fn what_is_left_over_in_the_place_of_the_next_file_goes() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        pipe(&folder.path().join("file.new"));
        let to = path.clone();
        soon(move || replace(&to, b"one")).unwrap();
        assert_eq!(read(&path, 10).unwrap(), b"one");
        // Nothing is written where a link leads.
        let other = folder.path().join("other");
        std::os::unix::fs::symlink(&other, folder.path().join("file.new")).unwrap();
        replace(&path, b"two").unwrap();
        assert_eq!(read(&path, 10).unwrap(), b"two");
        assert!(!other.exists());
    }

    #[tokio::test]
    async fn what_takes_long_is_told_and_waited_for() {
        let (go, wait) = mpsc::channel();
        let work = move || wait.recv().unwrap();
        let late = move || go.send(7).unwrap();
        let done = run_with_limit(Duration::from_millis(20), work, late).await;
        assert_eq!(done, 7);
        let at_once = run_with_limit(PATIENCE, || 8, || panic!("it is not late")).await;
        assert_eq!(at_once, 8);
    }
}
