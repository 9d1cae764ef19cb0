//! `run-tests MESSAGES TABLE`: runs `cargo test --workspace`, judges the failures by
//! `lifecycle_tidy::verdict`, and writes a table to the file TABLE. MESSAGES is the output of
//! `cargo test --no-run --message-format=json`. Exits 1 if the check fails.

#![allow(clippy::print_stdout, reason = "it prints what Cargo prints")]

use std::collections::BTreeMap;
use std::env;
use std::error::Error;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use lifecycle_tidy::Tree;
use lifecycle_tidy::verdict::{self, Executable, Failure, Verdict};

fn main() -> ExitCode {
    match run() {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("run-tests: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<bool, Box<dyn Error>> {
    let arguments: Vec<PathBuf> = env::args_os().skip(1).map(PathBuf::from).collect();
    let [messages, table] = &arguments[..] else {
        return Err("usage: run-tests MESSAGES TABLE".into());
    };
    let root = env::current_dir()?;
    let messages = read(messages)?;
    let sources = verdict::sources(&messages, &root);
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["test", "--workspace", "--no-fail-fast"]);
    let (log, has_passed) = show(cargo)?;
    let programs = verdict::read(&log, &sources);
    let verdict = Verdict::new(&programs);
    if !has_passed && verdict == Verdict::default() {
        return Err("cargo test failed, and no test of it did; its output is above".into());
    }
    let executables = verdict::executables(&messages, &root);
    let verdict = verdict.settle(|failure| passes(failure, &executables))?;
    let required = env::var("LIFECYCLE_REQUIRE").unwrap_or_default();
    let left_out = verdict::left_out(&Tree::read(&root)?, &programs, &required);
    let times = match env::var_os("LIFECYCLE_TIMES") {
        Some(file) => verdict::times(&read(Path::new(&file))?, &sources),
        None => BTreeMap::new(),
    };
    for program in &programs {
        let counts = (program.passed, program.failed, program.ignored);
        let (passed, failed, ignored) = counts;
        let source = &program.source;
        println!("{source:<50} {passed:>5} passed {failed:>3} failed {ignored:>3} ignored");
    }
    let text = verdict::render(&programs, &verdict, &left_out, &times);
    fs::write(table, text).map_err(|error| format!("cannot write {}: {error}", table.display()))?;
    Ok(verdict.failed.is_empty() && left_out.is_empty())
}

/// Runs one test once more, alone, and returns true if it passed. Runs the existing program: for
/// one program of the workspace, Cargo may compile a different one.
fn passes(
    failure: &Failure,
    executables: &BTreeMap<String, Executable>,
) -> Result<bool, Box<dyn Error>> {
    let Some(test) = &failure.test else {
        return Ok(false);
    };
    let source = &failure.program;
    println!("\n== once more, alone: {source} {test}");
    let executable = executables.get(source);
    let executable = executable.ok_or_else(|| format!("no message names a program of {source}"))?;
    let mut command = Command::new(&executable.path);
    command
        .args(["--exact", test])
        .current_dir(&executable.package);
    command.env("CARGO_MANIFEST_DIR", &executable.package);
    let (log, has_passed) = show(command)?;
    Ok(has_passed && verdict::has_passed_one(&log))
}

/// Runs a command and forwards its output. Returns the output, and true if the command succeeded.
fn show(mut command: Command) -> Result<(String, bool), io::Error> {
    let (mut output, input) = io::pipe()?;
    command.stdout(input.try_clone()?).stderr(input);
    let mut child = command.spawn()?;
    // The command holds the writing ends; without it the pipe ends with the last process that writes.
    drop(command);
    let (mut log, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let count = output.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        io::stdout().write_all(&buffer[..count])?;
        log.extend_from_slice(&buffer[..count]);
    }
    let status = child.wait()?;
    Ok((String::from_utf8_lossy(&log).into_owned(), status.success()))
}

fn read(file: &Path) -> Result<String, Box<dyn Error>> {
    let text =
        fs::read(file).map_err(|error| format!("cannot read {}: {error}", file.display()))?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
