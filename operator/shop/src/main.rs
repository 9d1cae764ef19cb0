//! The program: `run` in a cluster, `sandbox` without one. `explain` reports why an object is in
//! its current condition. `crds`, `manifests`, `diagram` and `docs` print artifacts generated from
//! the lifecycle.

use std::process::ExitCode;

use lifecycle_cli::Program;
use lifecycle_runtime::Operator;
use shop_operator::lifecycle;
use shop_operator::logic::Logic;

fn main() -> ExitCode {
    Program::new("shop-operator", env!("CARGO_PKG_VERSION"))
        .about(
            "Keeps a server for each Shop, with its password, its data and a migration a version.",
        )
        .definitions(lifecycle::definitions)
        .rights(include_str!("../deploy/rbac.yaml"))
        .operator(|_| Operator::new("shop.example.org").run(lifecycle::machine(Logic)))
        .main()
}
