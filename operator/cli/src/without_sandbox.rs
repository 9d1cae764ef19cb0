//! What stands for the sandbox in a program that was built without the simulated cluster.

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};

use crate::Program;

/// The command, which nobody is told of.
pub(crate) fn command() -> Command {
    let any = Arg::new("any")
        .num_args(0..)
        .trailing_var_arg(true)
        .allow_hyphen_values(true);
    Command::new("sandbox").hide(true).arg(any)
}

/// Says how the program gets a sandbox.
///
/// # Errors
/// Always.
pub(crate) fn asked(program: Program, _: &ArgMatches) -> anyhow::Result<ExitCode> {
    anyhow::bail!(
        "`{}` was built without a simulated cluster: build it with the feature `sandbox`, as `cargo run -- sandbox` does",
        program.name
    );
}
