//! `lifecycle-router`: the command line of the data plane.

use std::process::ExitCode;
use std::thread::available_parallelism;

use clap::Parser;
use lifecycle_router::args::Arguments;
use lifecycle_router::{cause, run};
use tracing_subscriber::EnvFilter;

/// Threads that resolve names: more would only hold memory.
const RESOLVERS: usize = 16;

/// What is logged unless it is asked for something else. Watches say themselves why they fail.
const LOGGED: &str = "info,kube_client=off,kube_runtime=off";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let filter = EnvFilter::try_from_env("CONSOLE_LOG_LEVEL");
    tracing_subscriber::fmt()
        .with_env_filter(filter.unwrap_or_else(|_| EnvFilter::new(LOGGED)))
        .with_writer(std::io::stderr)
        .init();
    main_of(arguments).map_or_else(
        |error| {
            eprintln!("error: {}", cause::chain(error.as_ref()));
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}

fn main_of(arguments: Arguments) -> anyhow::Result<()> {
    let usual = || available_parallelism().map_or(1, |number| number.get().min(4));
    let threads = arguments.threads.map_or_else(usual, usize::from);
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(threads)
        .max_blocking_threads(RESOLVERS)
        .enable_all()
        .build()?;
    let done = runtime.block_on(run::run(arguments));
    // Waiting for a name that is being resolved would outlast the time that a Pod has to stop.
    runtime.shutdown_background();
    done
}
