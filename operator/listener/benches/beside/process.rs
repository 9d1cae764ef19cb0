//! A separate process for each subject, so that its processor time is measured alone.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result};

use super::subject::Subject;

/// A process that runs one; it ends when this is dropped.
pub(crate) struct Running(Child);

impl Running {
    pub(crate) fn start(subject: Subject, kubeconfig: &Path) -> Result<Self> {
        let mut command = Command::new(std::env::current_exe()?);
        let command = command.args(["run", subject.name()]);
        let command = command.env("KUBECONFIG", kubeconfig).stdin(Stdio::null());
        Ok(Self(command.spawn().context("cannot start a process")?))
    }

    /// Processor time so far, by the scheduler's own count.
    pub(crate) fn cpu(&self) -> Result<Duration> {
        let mut nanoseconds = 0;
        for thread in fs::read_dir(format!("/proc/{}/task", self.0.id()))? {
            let Ok(text) = fs::read_to_string(thread?.path().join("schedstat")) else {
                continue;
            };
            let first = text.split_whitespace().next();
            nanoseconds += first.context("an empty schedstat")?.parse::<u64>()?;
        }
        Ok(Duration::from_nanos(nanoseconds))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The process has no state to lose, and nothing else could end it.
        drop(self.0.kill());
        drop(self.0.wait());
    }
}
