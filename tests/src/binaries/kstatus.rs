//! kstatus, with which tools such as helm wait for objects. A program of a few lines wraps the
//! library. It is built once from a committed Go module.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::wrapper::Module;
use super::{Missing, alone};

/// The path of the program, without building it.
///
/// # Errors
/// It is not built.
pub fn kstatus() -> Result<PathBuf, Missing> {
    alone::find(&Module::kstatus())
}

/// Builds it, if it is not there; `progress` gets a line for a person.
///
/// # Errors
/// Go is absent, the module cannot be downloaded, or the cache cannot be written.
pub fn build_kstatus(progress: &mut dyn FnMut(&str)) -> Result<PathBuf> {
    alone::build(&Module::kstatus(), progress)
}

/// Returns the kstatus result for each object: `Current`, `InProgress`, `Failed` or `Terminating`.
///
/// # Errors
/// It is not built, or cannot read an object.
pub fn kstatus_of(objects: &[Value]) -> Result<Vec<String>> {
    let mut program = Command::new(kstatus()?);
    let program = program.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut running = program.spawn().context("cannot run kstatus")?;
    let mut input = running.stdin.take().context("it has an input")?;
    let lines: String = objects.iter().map(|object| format!("{object}\n")).collect();
    let writing = std::thread::spawn(move || input.write_all(lines.as_bytes()));
    let output = running
        .wait_with_output()
        .context("cannot wait for kstatus")?;
    ensure!(output.status.success(), "kstatus failed");
    let written = writing
        .join()
        .map_err(|_| anyhow::anyhow!("cannot write"))?;
    written.context("cannot write to kstatus")?;
    let said = String::from_utf8(output.stdout)?;
    let word = |line: &str| line.split(' ').next().unwrap_or_default().to_owned();
    let read: Vec<String> = said.lines().map(word).collect();
    ensure!(read.len() == objects.len(), "one answer an object: {said}");
    Ok(read)
}
