//! A running sandbox, with the programs of this package and the real kubectl on the PATH of its
//! commands.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::Duration;

use lifecycle_tests::binaries;
use tempfile::TempDir;

const PROGRAM: &str = env!("CARGO_BIN_EXE_lifecycle-operator");
const PLUGIN: &str = env!("CARGO_BIN_EXE_kubectl-lifecycle");

pub(crate) struct Sandbox {
    child: Child,
    lines: BufReader<ChildStdout>,
    folder: TempDir,
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        let _ended = self.child.kill();
        let _reaped = self.child.wait();
    }
}

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

impl Sandbox {
    /// Starts one with the manifests of files, by their paths in the repository.
    pub(crate) fn start(manifests: &[&str]) -> Self {
        Self::start_within(3, manifests)
    }

    /// Starts a sandbox as `start` does, with further arguments, and with this time limit in
    /// seconds until all objects are Ready.
    pub(crate) fn start_within(seconds: u64, arguments: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bin = folder.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        symlink(PROGRAM, bin.join("lifecycle-operator")).unwrap();
        symlink(PLUGIN, bin.join("kubectl-lifecycle")).unwrap();
        let kubectl = binaries::locate().unwrap().kubectl();
        symlink(kubectl, bin.join("kubectl")).unwrap();
        let mut child = Command::new(PROGRAM)
            .arg("sandbox")
            .args(arguments)
            .args(["--timeout", &seconds.to_string(), "--kubeconfig"])
            .arg(folder.path().join("config"))
            .current_dir(root())
            .env_remove("CONSOLE_LOG_LEVEL")
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let mut sandbox = Self {
            child,
            lines,
            folder,
        };
        sandbox.until("Ctrl-C ends it");
        sandbox
    }

    fn until(&mut self, word: &str) {
        let mut line = String::new();
        while !line.contains(word) {
            line.clear();
            let read = self.lines.read_line(&mut line).unwrap();
            assert_ne!(read, 0, "the sandbox ended before it said `{word}`");
        }
    }

    /// Returns a command as a user types it.
    pub(crate) fn shell(&self, line: &str) -> Command {
        let bin = self.folder.path().join("bin");
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new("sh");
        command
            .args(["-c", line])
            .current_dir(root())
            .env("PATH", format!("{}:{path}", bin.display()))
            .env("KUBECONFIG", self.folder.path().join("config"))
            .env("KUBECACHEDIR", self.folder.path().join("cache"))
            .env("HOME", self.folder.path());
        command
    }

    /// Returns the output of a command, including errors.
    pub(crate) fn prints(&self, line: &str) -> String {
        let output = self.shell(&format!("{line} 2>&1")).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    /// Returns the output of a command that never ends, limited to this duration.
    pub(crate) fn prints_within(&self, line: &str, limit: Duration) -> String {
        let seconds = limit.as_secs();
        self.prints(&format!("timeout {seconds} {line}"))
    }
}
