//! The command line of a program that has the subcommands.

use clap::{Parser, Subcommand};
use lifecycle_generate::command::Generate;
use lifecycle_generate::{Error, Part, Program};
use lifecycle_runtime::Machine;

#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Run until stopped.
    Run,
    #[command(flatten)]
    Generate(Generate),
}

/// `lease-operator manifests rbac` and the like.
fn answer(generate: &Generate, tenants: impl Machine) -> Result<(), Error> {
    let controller = Part::new("controller", "tenant-operator", "tenants").runs(tenants);
    let program = Program::new().part(controller);
    generate.run(&program, &mut std::io::stdout().lock())
}
