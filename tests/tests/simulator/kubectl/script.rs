//! Scripts: shell commands, one a line. `! ` precedes a command that must fail. `~ ` precedes a
//! command that is repeated until it succeeds, and whose output is not compared. Both servers must
//! agree on everything else.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use lifecycle_tests::harness::Deadline;

use super::servers::ScriptRun;

/// After how many seconds a command has hung.
const LIMIT: &str = "120";
const PATIENCE: Duration = Duration::from_secs(120);
const AGAIN: Duration = Duration::from_millis(200);

/// A list of commands.
pub(crate) struct Script {
    pub(crate) name: String,
    lines: Vec<Line>,
}

struct Line {
    command: String,
    expected: Expected,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Expected {
    Success,
    Failure,
    /// Sooner or later.
    Eventually,
}

/// A command and its result.
pub(crate) struct CommandOutput {
    pub(crate) command: String,
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Script {
    /// All scripts of the folder, by name.
    pub(crate) fn read_all() -> Result<Vec<Self>> {
        let mut paths = Vec::new();
        for entry in fs::read_dir(folder().join("scripts")).context("there are no scripts")? {
            paths.push(entry?.path());
        }
        paths.sort();
        paths.iter().map(|path| Self::read(path)).collect()
    }

    fn read(path: &Path) -> Result<Self> {
        let text = fs::read_to_string(path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let wanted = |line: &&str| !line.is_empty() && !line.starts_with('#');
        let lines: Vec<Line> = text.lines().filter(wanted).map(Line::parse).collect();
        ensure!(!lines.is_empty(), "{} is empty", path.display());
        Ok(Self {
            name: name.into_owned(),
            lines,
        })
    }

    /// Runs it from beginning to end.
    pub(crate) fn play(&self, place: &ScriptRun) -> Result<Vec<CommandOutput>> {
        let mut said = Vec::new();
        for line in &self.lines {
            if line.expected == Expected::Eventually {
                line.repeat(place)?;
                continue;
            }
            let one = line.run(place)?;
            ensure!(
                (one.code == 0) == (line.expected == Expected::Success),
                "`{}` ended with {}: {}{}",
                one.command,
                one.code,
                one.out,
                one.err
            );
            said.push(one);
        }
        Ok(said)
    }
}

impl Line {
    fn parse(text: &str) -> Self {
        let (expected, command) = match text.split_at_checked(2) {
            Some(("! ", rest)) => (Expected::Failure, rest),
            Some(("~ ", rest)) => (Expected::Eventually, rest),
            _ => (Expected::Success, text),
        };
        Self {
            command: command.to_owned(),
            expected,
        }
    }

    fn run(&self, place: &ScriptRun) -> Result<CommandOutput> {
        let mut command = Command::new("timeout");
        command.args([LIMIT, "bash", "-o", "pipefail", "-c", &self.command]);
        place.enter(&mut command);
        command.current_dir(folder().join("manifests"));
        command.env("BASH_ENV", folder().join("watching.sh"));
        let output = command.output().context("there is no bash")?;
        Ok(CommandOutput {
            command: self.command.clone(),
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8_lossy(&output.stdout).into_owned(),
            err: String::from_utf8_lossy(&output.stderr).into_owned(),
        })
    }

    fn repeat(&self, place: &ScriptRun) -> Result<()> {
        let mut deadline = Deadline::new(PATIENCE);
        loop {
            let said = self.run(place)?;
            if said.code == 0 {
                return Ok(());
            }
            if deadline.is_over() {
                bail!(
                    "`{}` never succeeded: {}{}",
                    said.command,
                    said.out,
                    said.err
                );
            }
            std::thread::sleep(AGAIN);
        }
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/simulator/kubectl")
}
