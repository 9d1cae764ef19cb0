//! The commands that need the simulated cluster.

use std::process::ExitCode;

use clap::{ArgMatches, Command};

use crate::{Program, plan, sandbox};

/// These commands.
pub(crate) fn commands() -> [Command; 2] {
    [sandbox::command(), plan::command()]
}

/// Does what one of them says.
///
/// # Errors
/// As the command.
pub(crate) fn asked(
    program: Program,
    (name, told): (&str, &ArgMatches),
) -> anyhow::Result<ExitCode> {
    match name {
        "plan" => plan::asked(program, told),
        _ => sandbox::asked(program, told),
    }
}
