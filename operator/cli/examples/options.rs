//! A program with options of its own: `run` and `sandbox` take them, beside those that every program has.

use anyhow::ensure;
use clap::Args;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::CustomResourceExt as _;
use lifecycle_cli::Program;
use lifecycle_runtime::Operator;

use crate::mirror;

/// Options of this operator alone.
#[derive(Debug, Args)]
struct Options {
    /// How many writes may be on their way at once.
    #[arg(
        long,
        env = "MIRROR_WRITES",
        value_name = "NUMBER",
        default_value_t = 16
    )]
    writes: usize,
}

/// The program; its `main` is `program().main()`.
pub(crate) fn program() -> Program {
    Program::new("mirror-operator", "1.0.0")
        .about("Copies ConfigMaps.")
        .definitions(definitions)
        .operator_with(|surroundings, options: Options| {
            ensure!(options.writes > 0, "--writes 0 would never write anything");
            // Some operators query the cluster before they begin, or publish their own namespace.
            let _own_namespace = surroundings.namespace;
            let operator: Operator = mirror::operator();
            Ok(operator.concurrency(options.writes))
        })
}

fn definitions() -> Vec<CustomResourceDefinition> {
    vec![mirror::Mirror::crd()]
}
