//! `lifecycle-operator`: the command line.

use std::io::{stderr, stdout};
use std::process::ExitCode;

use clap::Parser;
use lifecycle_operator::args::{Arguments, Command};
use lifecycle_operator::{cause, check, definitions, sandbox, wiring};

fn main() -> ExitCode {
    main_of(Arguments::parse().command).unwrap_or_else(|error| {
        eprintln!("error: {}", cause::in_one_line(error.as_ref()));
        ExitCode::FAILURE
    })
}

fn main_of(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Crd { product } => definitions::print(product, &mut stdout().lock())?,
        Command::Run(options) => {
            let runtime = tokio::runtime::Runtime::new()?;
            let done = runtime.block_on(wiring::run(*options));
            // Waiting for a name that is being resolved would outlast the time that a Pod has to stop.
            runtime.shutdown_background();
            done?;
        }
        Command::Sandbox(options) => {
            let runtime = tokio::runtime::Runtime::new()?;
            let ended = runtime.block_on(sandbox::run(options));
            runtime.shutdown_background();
            return Ok(ended);
        }
        Command::Check(options) => {
            let verdict = check::run(&options, &mut stdout().lock(), &mut stderr().lock())?;
            return Ok(ExitCode::from(verdict as u8));
        }
    }
    Ok(ExitCode::SUCCESS)
}
