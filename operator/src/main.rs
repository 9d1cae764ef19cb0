//! `lifecycle-operator`: the command line.

use std::io::stdout;

use clap::Parser;
use lifecycle_operator::args::{Arguments, Command};
use lifecycle_operator::definitions;

fn main() -> anyhow::Result<()> {
    match Arguments::parse().command {
        Command::Crd => definitions::print(&mut stdout().lock()),
        Command::Run(_) => Ok(()),
        Command::Check(_) => Ok(()),
    }
}
