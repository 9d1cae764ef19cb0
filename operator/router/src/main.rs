//! `lifecycle-router`: the program. All of it is in the library, so that no code is generated twice.

use std::process::ExitCode;

fn main() -> ExitCode {
    lifecycle_router::program::main()
}
