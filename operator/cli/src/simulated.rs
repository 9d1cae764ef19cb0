//! The commands that need the simulated cluster.

use std::process::ExitCode;

use clap::{ArgMatches, Command};

use crate::{Program, plan, sandbox};

/// These commands.
pub(crate) fn commands() -> [Command; 2] {
    [sandbox::command(), plan::command()]
}

/// Runs one of the commands.
///
/// # Errors
/// As the command.
pub(crate) fn run_command(
    program: Program,
    (name, told): (&str, &ArgMatches),
) -> anyhow::Result<ExitCode> {
    match name {
        "plan" => plan::run_command(program, told),
        _ => sandbox::run_command(program, told),
    }
}
