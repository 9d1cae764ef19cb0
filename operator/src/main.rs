//! `lifecycle-operator`: the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    lifecycle_operator::main()
}
