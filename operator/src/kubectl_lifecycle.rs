//! `kubectl-lifecycle`: the plugin of kubectl.

use std::process::ExitCode;

fn main() -> ExitCode {
    lifecycle_operator::plugin()
}
