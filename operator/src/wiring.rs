//! What runs: which part of which product the command line asks for. Decides nothing about any object.

use lifecycle_process::args::Run;

use crate::args::Mode;

/// Runs what the command line asks for, until the process is told to stop.
///
/// # Errors
/// If logging cannot begin, no API server is configured, an option is missing, or something cannot be listened at.
pub(crate) async fn run(options: Run<Mode>) -> anyhow::Result<()> {
    let all = &options;
    let part = async |health, shutdown| match &all.mode {
        Mode::Controller(chosen) => {
            lifecycle_listener::run_controller(all, chosen, health, shutdown).await
        }
        Mode::Node(chosen) => lifecycle_listener::run_node(all, chosen, health, shutdown).await,
        Mode::Skupper(chosen) => {
            lifecycle_skupper::run_controller(all, chosen, health, shutdown).await
        }
        Mode::Site(chosen) => lifecycle_skupper::files::run(chosen, health, shutdown).await,
    };
    lifecycle_process::run(all, part).await
}
