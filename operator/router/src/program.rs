//! The program: from its command line to its exit code. A library, so that another package can be the router in its own process.

use std::io::IsTerminal as _;
use std::process::ExitCode;
use std::thread::available_parallelism;

use clap::Parser;
use tracing_subscriber::EnvFilter;

use crate::args::Arguments;
#[cfg(feature = "adaptor")]
use crate::args::Command;
use crate::{cause, run};

/// Threads that resolve names: more would only hold memory.
const RESOLVERS: usize = 16;

/// Default log filter. Watches report their own failures.
const LOGGED: &str = "info,kube_client=off,kube_runtime=off";

/// The router with the command line of this process.
pub fn main() -> ExitCode {
    main_with(Arguments::parse())
}

/// The router with these arguments. Writes its log to standard error, ends by a signal, and is the only one of its process.
pub fn main_with(arguments: Arguments) -> ExitCode {
    let filter = EnvFilter::try_from_env("CONSOLE_LOG_LEVEL");
    tracing_subscriber::fmt()
        .with_env_filter(filter.unwrap_or_else(|_| EnvFilter::new(LOGGED)))
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
    match block_on(arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {}", cause::chain(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

/// Runs the mode that the command line names.
async fn chosen(arguments: Arguments) -> anyhow::Result<()> {
    #[cfg(feature = "adaptor")]
    let arguments = match arguments {
        Arguments {
            command: Some(Command::Adaptor(adaptor)),
            ..
        } => return run::adapt(*adaptor).await,
        router @ Arguments { command: None, .. } => router,
    };
    run::run(arguments).await
}

fn block_on(arguments: Arguments) -> anyhow::Result<()> {
    let default = || available_parallelism().map_or(1, |number| number.get().min(4));
    let threads = arguments.threads.map_or_else(default, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(RESOLVERS)
        .enable_all()
        .build()?;
    let done = runtime.block_on(chosen(arguments));
    // Waiting for a name that is being resolved would outlast the time that a Pod has to stop.
    runtime.shutdown_background();
    done
}
