//! Replacement for the commands that need the simulated cluster, in a program built without it.

use std::process::ExitCode;

use clap::{Arg, ArgMatches, Command};

use crate::Program;

/// Returns these commands, which the help does not list.
pub(crate) fn commands() -> [Command; 2] {
    ["sandbox", "plan"].map(|name| {
        let any = Arg::new("any")
            .num_args(0..)
            .trailing_var_arg(true)
            .allow_hyphen_values(true);
        Command::new(name).hide(true).arg(any)
    })
}

/// Fails with a message that names the required feature.
///
/// # Errors
/// Always.
pub(crate) fn run_command(
    program: Program,
    (name, _): (&str, &ArgMatches),
) -> anyhow::Result<ExitCode> {
    anyhow::bail!(
        "`{}` was built without a simulated cluster: build it with the feature `sandbox`, as `cargo run -- {name}` does",
        program.name
    );
}
