//! Command line of `plan` and its execution: prints the writes that an operator would make.

use std::fmt::Display;
use std::future::Future;
use std::io::Write;
use std::time::Duration;

use clap::Args;
use kube::Client;

use crate::output::print;
use crate::plan::dry_run::DryRun;
use crate::plan::error::Error;
use crate::plan::missing::Taken;
use crate::plan::planned::Planned;
use crate::plan::text::{text, whole_text};
use crate::plan::watched::{Operator, plan};
use crate::{Connection, Output};

/// Against which cluster, and how to print it.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Plan")]
pub struct Plan {
    /// API server to read.
    #[command(flatten)]
    pub connection: Connection,

    /// Show only changes in this namespace. The operator sees all namespaces in any case, and its
    /// writes elsewhere are counted.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,

    /// Dry run of each first write on the live API server, which does not persist it. Needs the
    /// rights to write.
    #[arg(long, value_enum, default_value_t, value_name = "BY")]
    pub dry_run: DryRun,

    /// Seconds that the operator may take to settle. After that, its writes so far are shown.
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub limit: u64,

    /// Show long values as a whole, and all fields of new CustomResourceDefinitions. JSON always has them.
    #[arg(long)]
    pub full: bool,

    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Output,
}

/// Outcome of a plan. As an exit code of a process it equals that of `kubectl diff`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing would be written.
    Nothing = 0,
    /// Something would be.
    Something = 1,
    /// The operator did not settle in time, or waits for a missing kind and has written nothing
    /// yet.
    Unknown = 2,
}

/// Prints the writes that an operator would make in the cluster behind `live`. `unasked` returns
/// the queries and actions that only its process performs.
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
        restrict_to_namespace(&mut planned, namespace);
    }
    let text = if options.full { whole_text } else { text };
    print(&options.output.render(&planned, text), into).map_err(Error::Print)?;
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

/// Restricts a plan to one namespace.
fn restrict_to_namespace(planned: &mut Planned, namespace: &str) {
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
    use crate::plan::planned::{Action, Change};

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
        restrict_to_namespace(&mut planned, "third");
        assert_eq!(verdict(&planned), Verdict::Something);
        assert_eq!(
            text(&planned),
            "Nothing would be written there: the operator manages 2 objects. 2 changes in other namespaces or in none are not shown.\n"
        );
    }

    #[test]
    fn what_is_in_the_namespace_is_told_with_the_number_of_the_rest() {
        let mut planned = planned();
        restrict_to_namespace(&mut planned, "one");
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
