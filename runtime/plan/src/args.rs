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
use crate::missing::Taken;
use crate::planned::Planned;
use crate::text::{text, whole_text};
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

    /// Show only what is in this namespace. The operator sees all of them in any case, and what it would write elsewhere is counted.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,

    /// Whether to ask the API server what it would say of each first write, which it does not keep. Needs the rights to write.
    #[arg(long, value_enum, default_value_t, value_name = "BY")]
    pub dry_run: DryRun,

    /// Seconds that the operator may take to come to rest. Then what it did so far is shown.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub limit: u64,

    /// Show long values as a whole, and all fields of new CustomResourceDefinitions. JSON always has them.
    #[arg(long)]
    pub full: bool,

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
    /// It did not come to rest in time, or a kind is missing that it waits for, and nothing was written until then.
    Unknown = 2,
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
        Output::Text if options.full => whole_text(&planned),
        Output::Text => text(&planned),
        Output::Json => serde_json::to_string_pretty(&planned).unwrap_or_default() + "\n",
    };
    into.write_all(printed.as_bytes()).map_err(Error::Print)?;
    into.flush().map_err(Error::Print)?;
    Ok(verdict(&planned))
}

fn verdict(planned: &Planned) -> Verdict {
    let waits = planned
        .missing
        .iter()
        .any(|one| one.taken != Taken::Installed);
    match (planned.is_empty(), planned.unfinished || waits) {
        (true, false) => Verdict::Nothing,
        (true, true) => Verdict::Unknown,
        (false, _) => Verdict::Something,
    }
}

/// What is in one namespace alone.
fn within(planned: &mut Planned, namespace: &str) {
    let inside = |object: &str| object.contains(&format!(" {namespace}/"));
    let is_inside = |of: &Option<String>| of.as_deref() == Some(namespace);
    let all = planned.changes.len();
    planned
        .changes
        .retain(|change| is_inside(&change.namespace));
    planned.elsewhere = all - planned.changes.len();
    planned.restarts.retain(|restart| inside(&restart.object));
    planned.waiting.retain(|standing| inside(&standing.object));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::planned::{Action, Change};

    fn planned() -> Planned {
        let of = |namespace: &str| Change {
            action: Action::Create,
            group: String::new(),
            kind: "Service".to_owned(),
            namespace: Some(namespace.to_owned()),
            name: "a".to_owned(),
            managers: Vec::new(),
            fields: Vec::new(),
            refused: None,
            server: None,
        };
        Planned {
            changes: vec![of("one"), of("other")],
            objects: 2,
            ..Planned::default()
        }
    }

    #[test]
    fn what_is_written_elsewhere_is_no_all_clear() {
        let mut planned = planned();
        within(&mut planned, "third");
        assert_eq!(verdict(&planned), Verdict::Something);
        assert_eq!(
            text(&planned),
            "Nothing would be written there: the operator looks after 2 objects. 2 changes in other namespaces or in none are not shown.\n"
        );
    }

    #[test]
    fn what_is_in_the_namespace_is_told_with_the_number_of_the_rest() {
        let mut planned = planned();
        within(&mut planned, "one");
        let said = text(&planned);
        assert!(said.contains("+ Service one/a"), "{said}");
        assert!(
            said.contains(" 1 change in another namespace or in none is not shown.\n"),
            "{said}"
        );
    }

    #[test]
    fn nothing_until_the_time_was_over_says_nothing() {
        let mut planned = Planned {
            unfinished: true,
            ..Planned::default()
        };
        assert_eq!(verdict(&planned), Verdict::Unknown);
        assert!(text(&planned).starts_with("Nothing would be written until then"));
        planned.unfinished = false;
        assert_eq!(verdict(&planned), Verdict::Nothing);
    }
}
