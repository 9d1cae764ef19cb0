//! `lifecycle-operator`: the command line.

use std::io::{stderr, stdout};
use std::process::ExitCode;

use clap::Parser;
use lifecycle_operator::args::{Arguments, Command};
use lifecycle_operator::{cause, check, definitions};

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Crd => definitions::print(&mut stdout().lock()).map(|()| ExitCode::SUCCESS),
        Command::Run(_) => Ok(ExitCode::FAILURE),
        Command::Check(options) => check::run(&options, &mut stdout().lock(), &mut stderr().lock())
            .map(|verdict| ExitCode::from(verdict as u8))
            .map_err(anyhow::Error::from),
    };
    done.unwrap_or_else(|error| {
        eprintln!("error: {}", cause::in_one_line(error.as_ref()));
        ExitCode::FAILURE
    })
}
