//! The command line of `plan`, and what it does: prints what an operator would write.

use std::fmt::Display;
use std::future::Future;
use std::io::Write;
use std::time::Duration;

use clap::{Args, ValueEnum};
use kube::Client;
use lifecycle_client::kube::{Chosen, connect_to};

use crate::dry_run::DryRun;
use crate::error::Error;
use crate::planned::Planned;
use crate::text::text;
use crate::watched::{Operator, plan};

/// Against which cluster, and how to print it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Plan")]
pub struct Plan {
    /// Context of the kubeconfig. Without it, its current one.
    #[arg(long, value_name = "CONTEXT")]
    pub context: Option<String>,

    /// Ask as this user, as `kubectl --as` does.
    #[arg(long = "as", value_name = "USER")]
    pub impersonated: Option<String>,

    /// Show only what is in this namespace. The operator sees all of them in any case.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,

    /// Whether to ask the API server what it would say of each first write, which it does not keep. Needs the rights to write.
    #[arg(long, value_enum, default_value_t, value_name = "BY")]
    pub dry_run: DryRun,

    /// Seconds that the operator may take to come to rest. Then what it did so far is shown.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub limit: u64,

    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Output,
}

/// How a plan is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    #[default]
    Text,
    /// One JSON object, for programs.
    Json,
}

/// What a plan comes to. As a code of a process it is that of `kubectl diff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing would be written.
    Nothing = 0,
    /// Something would be.
    Something = 1,
}

impl Plan {
    /// A client for the API server that is meant.
    ///
    /// # Errors
    /// There is no configuration, or it cannot be used.
    pub async fn connect(&self) -> Result<Client, Error> {
        let chosen = Chosen {
            context: self.context.clone(),
            impersonated: self.impersonated.clone(),
        };
        Ok(connect_to(&chosen).await?.0)
    }
}

/// Prints what an operator would write into the cluster that `live` is connected to. `unasked` says what only its process asks or does.
///
/// # Guarantees
/// Nothing is written to the API server.
///
/// # Errors
/// As [`plan`], or nothing can be printed.
pub async fn run<F, E>(
    live: &Client,
    options: &Plan,
    (unasked, start): (impl FnOnce() -> Vec<String>, impl FnOnce(Operator) -> F),
    into: &mut impl Write,
) -> Result<Verdict, Error>
where
    F: Future<Output = Result<(), E>>,
    E: Display,
{
    let limit = Duration::from_secs(options.limit);
    let mut planned = plan(live, (options.dry_run, limit), start).await?;
    planned.unasked = unasked();
    if let Some(namespace) = &options.namespace {
        within(&mut planned, namespace);
    }
    let printed = match options.output {
        Output::Text => text(&planned),
        Output::Json => serde_json::to_string_pretty(&planned).unwrap_or_default() + "\n",
    };
    into.write_all(printed.as_bytes()).map_err(Error::Print)?;
    into.flush().map_err(Error::Print)?;
    Ok(match planned.is_empty() {
        true => Verdict::Nothing,
        false => Verdict::Something,
    })
}

/// What is in one namespace alone.
fn within(planned: &mut Planned, namespace: &str) {
    let inside = |object: &str| object.contains(&format!(" {namespace}/"));
    let is_inside = |of: &Option<String>| of.as_deref() == Some(namespace);
    planned
        .changes
        .retain(|change| is_inside(&change.namespace));
    planned.restarts.retain(|restart| inside(&restart.object));
    planned.waiting.retain(|standing| inside(&standing.object));
}
