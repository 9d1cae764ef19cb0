//! The program: `run` in a cluster, `sandbox` without one. `explain` reports why an object is in
//! its current condition. `crds`, `manifests`, `diagram` and `docs` print artifacts generated from
//! the lifecycle.

use std::process::ExitCode;

use lifecycle_cli::Program;
use lifecycle_runtime::Operator;
use website_operator::lifecycle;
use website_operator::logic::Logic;

fn main() -> ExitCode {
    Program::new("website-operator", env!("CARGO_PKG_VERSION"))
        .about("Keeps a Deployment for each Website.")
        .definitions(lifecycle::definitions)
        .rights(include_str!("../deploy/rbac.yaml"))
        .operator(|_| Operator::new("web.example.org").run(lifecycle::machine(Logic)))
        .main()
}
