//! Processes in the namespaces of a test cluster: started through `nsenter`, known by their pids on this machine.
//! Knows no Kubernetes.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};

use crate::eventually::Deadline;
use crate::process::Process;

/// How long a program may take to be started. It takes milliseconds, but not on a machine that compiles beside it.
const STARTED_WITHIN: Duration = Duration::from_secs(60);

/// A program and the `nsenter` or `unshare` that waits for it: one ends when the other does.
pub(super) struct Inside {
    wrapper: Process,
    pid: u32,
}

impl Inside {
    /// Starts a command made by `enter`; log and pid of the wrapper go into the folder.
    pub(super) fn start(name: &'static str, command: Command, folder: &Path) -> Result<Self> {
        let mut wrapper = Process::start(name, command, folder)?;
        let children = format!("/proc/{0}/task/{0}/children", wrapper.pid());
        let mut deadline = Deadline::new(STARTED_WITHIN);
        loop {
            wrapper.check_alive()?;
            let text = fs::read_to_string(&children).unwrap_or_default();
            if let Some(pid) = text.split_whitespace().next() {
                let pid = pid.parse().context("a pid is a number")?;
                return Ok(Self { wrapper, pid });
            }
            if deadline.is_over() {
                return Err(wrapper.failure("starts nothing"));
            }
            thread::sleep(Duration::from_millis(2));
        }
    }

    /// The pid of the program itself, on this machine.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// An error with the end of the log, if it has ended by itself.
    pub(super) fn check_alive(&mut self) -> Result<()> {
        self.wrapper.check_alive()
    }

    /// Returns an error with the failure and the end of the log.
    pub(super) fn failure(&self, what: &str) -> anyhow::Error {
        self.wrapper.failure(what)
    }

    /// Sends a signal to the program.
    pub(super) fn signal(&self, signal: Signal) -> Result<()> {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        kill_process(pid.context("a pid is positive")?, signal).context("cannot send a signal")
    }

    /// Sends a signal and waits until the program is gone.
    pub(super) fn end(mut self, signal: Signal) -> Result<()> {
        self.signal(signal)?;
        let mut deadline = Deadline::new(STARTED_WITHIN);
        while self.wrapper.exit_status()?.is_none() {
            if deadline.is_over() {
                bail!(self.failure("does not end"));
            }
            thread::sleep(Duration::from_millis(5));
        }
        Ok(())
    }
}

/// Namespaces of the target that a command enters in addition to the pid namespace.
#[derive(Clone, Copy)]
pub(super) enum Spaces {
    /// None: it sees the network and the files of this machine, but dies with the cluster.
    Own,
    /// The network alone.
    Network,
    /// Network, mounts and host name.
    All,
}

/// A command in the namespaces of the process with this pid. With `Spaces::All` it starts in `/`: name files by absolute paths.
pub(super) fn enter(target: u32, spaces: Spaces, program: impl AsRef<Path>) -> Command {
    let mut command = Command::new("nsenter");
    command.arg(format!("--target={target}")).arg("--pid");
    match spaces {
        Spaces::Own => {}
        Spaces::Network => {
            command.arg("--net");
        }
        Spaces::All => {
            command.args(["--net", "--mount", "--uts"]);
        }
    }
    command.arg("--").arg(program.as_ref());
    command
}

/// Runs a command to its end.
///
/// # Errors
/// Returns an error with the output of the command if it fails.
pub(super) fn run(what: &str, mut command: Command) -> Result<String> {
    let output = command
        .output()
        .with_context(|| format!("cannot run {}", command.get_program().display()))?;
    ensure!(
        output.status.success(),
        "cannot {what} ({}): {}",
        output.status,
        String::from_utf8_lossy(&output.stderr).trim()
    );
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Runs a shell script that stops at its first failure, in the network of the process with this pid, with tools and files of this machine.
pub(super) fn script_in_network(what: &str, target: u32, script: &str) -> Result<()> {
    let mut command = Command::new("nsenter");
    command.arg(format!("--target={target}")).arg("--net");
    command.args(["--", "sh", "-ec", script]);
    run(what, command).map(drop)
}
