//! `listener-operator`: the Listener operator without the sandbox, for images.

use std::process::ExitCode;

fn main() -> ExitCode {
    lifecycle_listener::main()
}
