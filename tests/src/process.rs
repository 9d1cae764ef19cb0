//! One program that a test runs: started with its output in a file, signalled and ended by its pid.
//! Knows no Kubernetes.

use std::fs::{self, File};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::eventually::Deadline;

/// How much of a log goes into an error.
const TAIL_LINES: usize = 15;

/// A program that was stopped stands still by then.
const STOPS_WITHIN: Duration = Duration::from_secs(10);

/// A running program. Dropping it kills it.
pub struct Process {
    name: &'static str,
    child: Child,
    log: PathBuf,
    pid_file: PathBuf,
}

impl Process {
    /// Starts the program, its output appended to `<name>.log` and its pid written to `<name>.pid` in the folder.
    ///
    /// # Errors
    /// Returns an error if there is no such program, or the folder cannot be written.
    pub fn start(name: &'static str, mut command: Command, folder: &Path) -> Result<Self> {
        let log = folder.join(format!("{name}.log"));
        let output = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .with_context(|| format!("cannot write {}", log.display()))?;
        let child = command
            .stdin(Stdio::null())
            .stdout(output.try_clone().context("cannot share the log file")?)
            .stderr(output)
            // A group of its own: Ctrl-C in a terminal must reach us first.
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", command.get_program().display()))?;
        let pid_file = folder.join(format!("{name}.pid"));
        let process = Self {
            name,
            child,
            log,
            pid_file,
        };
        fs::write(&process.pid_file, format!("{}\n", process.child.id()))
            .with_context(|| format!("cannot write {}", process.pid_file.display()))?;
        Ok(process)
    }

    /// The pid, valid until the process is ended.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal. After one that stops it all of it stands still.
    ///
    /// # Errors
    /// It has ended and was waited for, or goes on although it was stopped.
    pub fn signal(&self, signal: Signal) -> Result<()> {
        kill_process(Pid::from_child(&self.child), signal)
            .with_context(|| format!("cannot signal {}", self.name))?;
        let mut deadline = Deadline::new(STOPS_WITHIN);
        // On a busy machine other threads go on until the first has seen the signal.
        while signal == Signal::STOP && !self.stands_still()? {
            let name = self.name;
            ensure!(!deadline.is_over(), "{name} was stopped and goes on");
            thread::sleep(Duration::from_millis(1));
        }
        Ok(())
    }

    fn stands_still(&self) -> Result<bool> {
        let threads = format!("/proc/{}/task", self.pid());
        let threads = fs::read_dir(&threads).with_context(|| format!("cannot read {threads}"))?;
        for thread in threads {
            let thread = thread.context("cannot read a thread")?.path().join("stat");
            // One that has ended meanwhile stands still.
            let stat = fs::read_to_string(thread).unwrap_or_default();
            let state = stat.rsplit_once(") ").map(|(_, rest)| rest);
            if state.is_some_and(|state| !state.starts_with(['T', 't', 'Z', 'X'])) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Returns the output of the program so far.
    pub fn log(&self) -> String {
        // Programs under test may write invalid UTF-8. The log must still be readable.
        String::from_utf8_lossy(&fs::read(&self.log).unwrap_or_default()).into_owned()
    }

    /// How the program ended, if it has.
    ///
    /// # Errors
    /// Returns an error if the operating system does not report it.
    pub fn exit_status(&mut self) -> Result<Option<ExitStatus>> {
        let ended = self.child.try_wait();
        ended.with_context(|| format!("cannot ask whether {} has ended", self.name))
    }

    /// An error with the end of the log, if the process has ended by itself.
    ///
    /// # Errors
    /// It has ended.
    pub fn check_alive(&mut self) -> Result<()> {
        match self.exit_status()? {
            None => Ok(()),
            Some(status) => Err(self.failure(&format!("ended early ({status})"))),
        }
    }

    /// Returns an error with the failure and the end of the log.
    pub fn failure(&self, what: &str) -> anyhow::Error {
        anyhow::anyhow!(
            "{} {what}; the end of its log:\n{}",
            self.name,
            tail(&self.log(), TAIL_LINES)
        )
    }

    /// Requests the process to end, and kills it after the grace period.
    ///
    /// # Errors
    /// It cannot be signalled.
    pub fn terminate(self, grace: Duration) -> Result<ExitStatus> {
        self.end_by(Signal::TERM, grace)
    }

    /// Requests the process to end by the given signal, and kills it after the grace period.
    ///
    /// # Errors
    /// It cannot be signalled.
    pub fn end_by(mut self, signal: Signal, grace: Duration) -> Result<ExitStatus> {
        self.signal(signal)?;
        let mut deadline = Deadline::new(grace);
        while !deadline.is_over() {
            if let Some(status) = self.exit_status()? {
                return Ok(status);
            }
            thread::sleep(Duration::from_millis(10));
        }
        self.kill()
    }

    /// Ends the process at once, as a crash would, also while it is frozen.
    ///
    /// # Errors
    /// It cannot be signalled.
    pub fn kill(&mut self) -> Result<ExitStatus> {
        let killed = self
            .child
            .kill()
            .and_then(|()| self.child.wait())
            .with_context(|| format!("cannot kill {}", self.name));
        // Without its file the guard leaves this pid alone, even if another process has it by
        // then.
        let _already_gone = fs::remove_file(&self.pid_file);
        killed
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        if let Err(error) = self.kill() {
            eprintln!("{error:#}");
        }
    }
}

/// The last lines of a text.
pub(crate) fn tail(text: &str, lines: usize) -> String {
    let all: Vec<&str> = text.lines().collect();
    all[all.len().saturating_sub(lines)..].join("\n")
}

/// Runs a command and returns its output.
///
/// # Errors
/// Returns an error with the output of the command if it fails.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "{command:?}: {error}");
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(folder: &Path, script: &str) -> Process {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        Process::start("shell", command, folder).unwrap()
    }

    #[test]
    fn an_early_end_shows_the_end_of_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let mut process = shell(
            folder.path(),
            "for i in 1 2 3; do echo line $i; done; exit 7",
        );
        let mut deadline = Deadline::new(Duration::from_secs(10));
        let error = loop {
            match process.check_alive() {
                Err(error) => break error.to_string(),
                Ok(()) => assert!(!deadline.is_over()),
            }
            thread::sleep(Duration::from_millis(5));
        };
        assert!(error.contains("exit status: 7"), "{error}");
        assert!(error.ends_with("line 3"), "{error}");
    }

    #[test]
    fn a_process_that_ignores_the_request_to_end_is_killed() {
        use std::os::unix::process::ExitStatusExt;
        let folder = tempfile::tempdir().unwrap();
        let process = shell(
            folder.path(),
            "trap '' TERM; echo ready; while :; do sleep 0.05; done",
        );
        while !process.log().contains("ready") {
            thread::sleep(Duration::from_millis(5));
        }
        let pid_file = folder.path().join("shell.pid");
        assert!(pid_file.exists());
        let status = process.terminate(Duration::from_millis(100)).unwrap();
        assert_eq!(status.signal(), Some(9));
        assert!(!pid_file.exists());
    }

    #[test]
    fn tail_keeps_the_last_lines() {
        assert_eq!(tail("a\nb\nc\n", 2), "b\nc");
        assert_eq!(tail("a", 2), "a");
    }
}
