//! A router as a process of its own: its directory, its state, and its resource use according to
//! the system.

use std::fs;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use lifecycle_router::config::Profile;
use lifecycle_router::snapshot::Snapshot;
use lifecycle_router::tls::{MissingFile, Profiles};
use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::{TcpStream, UnixStream};
use tokio::time::sleep;

use std::time::Duration;

use crate::support::{address, with_timeout};

/// A router as a process of its own, killed when dropped.
pub(crate) struct Process {
    pub(crate) child: Child,
    pub(crate) directory: tempfile::TempDir,
    pub(crate) address: IpAddr,
}

impl Drop for Process {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn start(directory: &Path, address: IpAddr, more: &[&str]) -> Child {
    Command::new(env!("CARGO_BIN_EXE_lifecycle-router"))
        .arg("--directory")
        .arg(directory)
        .args(["--bind-address", &address.to_string(), "--threads", "2"])
        .arg("--state")
        .arg(format!("unix:{}", directory.join("state.sock").display()))
        .args(more)
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

impl Process {
    pub(crate) fn new(document: &Value) -> Self {
        Self::with_args(document, &[])
    }

    pub(crate) fn with_args(document: &Value, more: &[&str]) -> Self {
        let directory = tempfile::tempdir().unwrap();
        write(directory.path(), "skrouterd.json", &document.to_string());
        Self::start(directory, address(), more)
    }

    /// At an address, with a directory that is filled before.
    pub(crate) fn at_address(address: IpAddr, fill: impl FnOnce(&Path)) -> Self {
        let directory = tempfile::tempdir().unwrap();
        fill(directory.path());
        Self::start(directory, address, &[])
    }

    fn start(directory: tempfile::TempDir, address: IpAddr, more: &[&str]) -> Self {
        let child = start(directory.path(), address, more);
        Self {
            child,
            directory,
            address,
        }
    }

    /// Is gone from now on, as after `kill -9`.
    pub(crate) fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    pub(crate) fn restart(&mut self) {
        self.kill();
        self.child = start(self.directory.path(), self.address, &[]);
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        write(self.directory.path(), name, text);
    }

    /// Returns the body of an answer on the Unix socket, as soon as one arrives.
    pub(crate) async fn get(&self, path: &str) -> String {
        let socket = self.directory.path().join("state.sock");
        with_timeout(async {
            loop {
                if let Ok(stream) = UnixStream::connect(&socket).await
                    && let Ok(text) = get(stream, path).await
                {
                    return text;
                }
                sleep(Duration::from_millis(10)).await;
            }
        })
        .await
    }

    /// Waits until the state fulfils the condition.
    pub(crate) async fn until(&self, is_so: impl Fn(&Value) -> bool) -> Value {
        with_timeout(async {
            let mut query = String::new();
            loop {
                let state: Value =
                    serde_json::from_str(&self.get(&format!("/v1/state{query}")).await).unwrap();
                if is_so(&state) {
                    return state;
                }
                query = format!("?after={}&wait=10s", state["revision"].as_str().unwrap());
            }
        })
        .await
    }

    /// Waits until a listener is up.
    pub(crate) async fn up(&self, listener: &str) {
        self.until(|state| entry(state, listener)["state"] == "Up")
            .await;
    }

    /// Waits until something listens on a port.
    pub(crate) async fn up_at(&self, port: u16) {
        with_timeout(async {
            while TcpStream::connect((self.address, port)).await.is_err() {
                sleep(Duration::from_millis(10)).await;
            }
        })
        .await;
    }

    pub(crate) async fn connect(&self, port: u16) -> TcpStream {
        TcpStream::connect((self.address, port)).await.unwrap()
    }

    /// A line of /proc/PID/status in KiB.
    pub(crate) fn memory(&self, line: &str) -> u64 {
        let path = format!("/proc/{}/status", self.child.id());
        let text = fs::read_to_string(path).unwrap();
        let line = text.lines().find(|found| found.starts_with(line)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// How many files it has open, sockets included.
    pub(crate) fn files(&self) -> usize {
        let path = format!("/proc/{}/fd", self.child.id());
        fs::read_dir(path).unwrap().count()
    }

    pub(crate) async fn open(&self, wanted: usize) {
        let line = format!("router_connections_open {wanted}\n");
        with_timeout(async {
            while !self.get("/metrics").await.contains(&line) {
                sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
    }

    pub(crate) fn terminate(&self) {
        self.signal(Signal::TERM);
    }

    /// Stands still from now on, and keeps its sockets.
    pub(crate) fn freeze(&self) {
        self.signal(Signal::STOP);
        // Until it does, it may answer once more.
        let stopped = waitpid(Some(self.id()), WaitOptions::UNTRACED).unwrap();
        assert!(stopped.is_some_and(|(_, status)| status.stopped()));
    }

    /// Goes on.
    pub(crate) fn thaw(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        kill_process(self.id(), signal).unwrap();
    }

    fn id(&self) -> Pid {
        let id = i32::try_from(self.child.id()).unwrap();
        Pid::from_raw(id).unwrap()
    }

    /// Waits until the document is applied as it is written.
    pub(crate) async fn applied(&self) {
        let text = fs::read(self.directory.path().join("skrouterd.json")).unwrap();
        let file = |_: &str, _: &Profile, _: &str| Err(MissingFile::Unread(String::new()));
        let hash = Snapshot::read(&text, file).unwrap().hash;
        self.until(|state| state["configuration"] == hash).await;
    }

    /// Waits until handshakes use the files of a profile as they are written.
    pub(crate) async fn certified(&self, profile: &str) {
        let directory = self.directory.path();
        let text = fs::read(directory.join("skrouterd.json")).unwrap();
        let file = |_: &str, _: &Profile, path: &str| {
            Ok(fs::read(directory.join("certs").join(path)).unwrap())
        };
        let snapshot = Snapshot::read(&text, file).unwrap();
        let mut profiles = Profiles::default();
        profiles.update(&snapshot.desired.profiles, &snapshot.files);
        let material = profiles.get(profile).unwrap().material.clone().unwrap();
        self.until(|state| entry(state, profile)["material"] == material)
            .await;
    }
}

pub(crate) fn entry<'s>(state: &'s Value, name: &str) -> &'s Value {
    let entries = state["entries"].as_array().unwrap();
    let found = entries.iter().find(|entry| entry["name"] == name);
    found.unwrap_or(&Value::Null)
}

/// Writes a file in one step.
pub(crate) fn write(directory: &Path, name: &str, text: &str) {
    let path = directory.join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let beside: PathBuf = path.with_extension("new");
    fs::write(&beside, text).unwrap();
    fs::rename(beside, path).unwrap();
}

pub(crate) async fn get(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    path: &str,
) -> std::io::Result<String> {
    let request = format!("GET {path} HTTP/1.1\r\nhost: router\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await?;
    let (_, body) = answer
        .split_once("\r\n\r\n")
        .ok_or(std::io::ErrorKind::UnexpectedEof)?;
    Ok(body.to_owned())
}
