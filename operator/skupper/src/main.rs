//! `skupper-operator`: the operator of Skupper sites by itself.

use std::process::ExitCode;

fn main() -> ExitCode {
    lifecycle_skupper::main()
}
