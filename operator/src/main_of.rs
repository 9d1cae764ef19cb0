//! The programs `lifecycle-operator` and `kubectl-lifecycle`, compiled with the library: their own files only link it.

use std::io::{Write as _, stderr, stdout};
use std::process::ExitCode;

use clap::Parser;
use lifecycle_cli::process::{definitions, exit_code, printed, until_done};
use lifecycle_skupper::files::token;

use crate::args::{Arguments, Command, Plugin, PluginCommand};
use crate::{
    check, cluster, explain, network, new, parts, plan, replay, sandbox, takeover, wiring,
};

/// The program.
pub fn main() -> ExitCode {
    exit_code(run(Arguments::parse().command))
}

/// The program `kubectl-lifecycle`.
pub fn plugin() -> ExitCode {
    let PluginCommand::Explain(options) = Plugin::parse().command;
    exit_code(run(Command::Explain(options)))
}

fn run(command: Command) -> anyhow::Result<ExitCode> {
    match command {
        Command::Crd { product } => {
            let kinds = wiring::kinds(product);
            let done = definitions::print((kinds.definitions)(), &mut stdout().lock());
            return printed(done.map(|()| ExitCode::SUCCESS));
        }
        Command::Run(options) => until_done(wiring::run(*options))??,
        Command::Sandbox(options) => return until_done(sandbox::run(options)),
        Command::Explain(options) => until_done(explain::run(&options))??,
        Command::Cluster(options) => return until_done(cluster::run(options)),
        Command::New(options) => stdout().write_all(new::run(&options)?.as_bytes())?,
        Command::Plan(options) => return until_done(plan::run(*options)),
        Command::Takeover(options) => return until_done(takeover::run(options)),
        Command::Replay(options) => return Ok(replay::run(&options)),
        Command::Check(options) => {
            let verdict = check::run(&options, &mut stdout().lock(), &mut stderr().lock());
            return printed(verdict.map(ExitCode::from));
        }
        Command::Lock(options) => {
            let verdict = check::lock(&options, &mut stdout().lock(), &mut stderr().lock());
            return printed(verdict.map(ExitCode::from));
        }
        Command::Token(command) => {
            until_done(async { token::run(&command, &mut stdout(), &mut stderr()).await })??;
        }
        Command::Network(options) => {
            until_done(async { network::run(&options, &mut stdout().lock()).await })??;
        }
        Command::Generate(generate) => {
            let done = generate.run(&parts::program(), &mut stdout().lock());
            return printed(done.map(|()| ExitCode::SUCCESS));
        }
    }
    Ok(ExitCode::SUCCESS)
}
