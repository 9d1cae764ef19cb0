//! Starts the part of the product that the command line selects. Decides nothing about any object.

use lifecycle_cli::process::args::Run;
use lifecycle_cli::process::logging;
use lifecycle_runtime::crds::Kinds;

use crate::args::{Mode, Product};

/// Runs the command until it receives a signal to end.
///
/// # Errors
/// If logging cannot begin, no API server is configured, an option is missing, or something cannot be listened at.
pub(crate) async fn run(options: Run<Mode>) -> anyhow::Result<()> {
    let all = &options;
    let part = async |health, shutdown| match &all.mode {
        Mode::Controller(chosen) => {
            let kinds = kinds(Product::Listeners);
            lifecycle_listener::run_controller(all, chosen, kinds, health, shutdown).await
        }
        Mode::Node(chosen) => lifecycle_listener::run_node(all, chosen, health, shutdown).await,
        Mode::Skupper(chosen) => {
            let kinds = kinds(Product::Skupper);
            lifecycle_skupper::run_controller(all, chosen, kinds, health, shutdown).await
        }
        Mode::Site(chosen) => {
            all.records_nothing("site")?;
            lifecycle_skupper::files::run(chosen, health, shutdown).await
        }
    };
    let usual = match &all.mode {
        Mode::Site(_) => lifecycle_skupper::files::USUAL_LOG,
        Mode::Controller(_) | Mode::Node(_) | Mode::Skupper(_) => logging::USUAL_LEVEL,
    };
    lifecycle_cli::process::run_logging(usual, all.frame(), part).await
}

/// The kinds of a product, with the command of this program that prints them.
pub(crate) fn kinds(product: Product) -> Kinds {
    match product {
        Product::Listeners => Kinds {
            printed_by: "lifecycle-operator crd",
            ..lifecycle_listener::controller::KINDS
        },
        Product::Skupper => Kinds {
            printed_by: "lifecycle-operator crd skupper",
            ..lifecycle_skupper::controller::KINDS
        },
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser, ValueEnum};

    use super::*;
    use crate::args::{Arguments, Command};

    #[test]
    fn the_kinds_of_a_product_are_printed_by_the_command_that_they_name() {
        for wanted in Product::value_variants() {
            let words: Vec<&str> = kinds(*wanted).printed_by.split(' ').collect();
            assert_eq!(words[0], Arguments::command().get_name());
            let named = Arguments::try_parse_from(words).unwrap();
            assert!(matches!(named.command, Command::Crd { product } if product == *wanted));
        }
    }
}
