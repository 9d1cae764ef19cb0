//! Command line of `explain` and its execution. It finds the requested object and prints why it is
//! in its state. With `--watch` it prints again after each change.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::Duration;

use clap::Args;
use jiff::Timestamp;
use kube::Client;
use lifecycle_client::names;
use tokio::time::sleep;

use crate::explain::explained::Explained;
use crate::explain::explanation::Explanation;
use crate::explain::fetch::{Unreadable, resource};
use crate::explain::follow::explain;
use crate::explain::kinds::{find_lifecycles, listed};
use crate::explain::text::text;
use crate::output::print;
use crate::{Connection, Output};

/// How often `--watch` looks.
const AGAIN: Duration = Duration::from_secs(2);

/// Object to explain, and the output format.
#[derive(Clone, Debug, Args)]
pub struct Explain {
    /// Kind, as kubectl takes it: `listener`, `listeners`, a short name, `listeners.skupper.io`; or KIND/NAME.
    // No option of an author is called so: a program may have one that is called `kind`, and one called `name`.
    #[arg(id = "explained kind", value_name = "KIND")]
    pub kind: String,

    /// Name of the object, or NAMESPACE/NAME.
    #[arg(id = "explained name", value_name = "NAMESPACE/NAME")]
    pub name: Option<String>,

    /// Namespace of the object. Without it, that of the kubeconfig's context.
    #[arg(short, long, value_name = "NAMESPACE")]
    pub namespace: Option<String>,

    /// API server to read.
    #[command(flatten)]
    pub connection: Connection,

    /// Namespaces that the operator watches, with commas between them, if it runs with the same
    /// option. An object in another namespace is reported as not served. Empty: all namespaces.
    // As for the kind and the name, no option of an author has this id.
    #[arg(
        id = "watched namespaces",
        long = "watch-namespaces",
        env = "WATCH_NAMESPACES",
        value_name = "NAMESPACES",
        value_parser = names::parse_namespaces
    )]
    pub watched: Option<BTreeSet<String>>,

    /// Print again whenever the explanation changes, until Ctrl-C.
    #[arg(short, long)]
    pub watch: bool,

    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Output,
}

/// Why nothing is explained.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No lifecycle is about such a kind.
    #[error("no lifecycle is about `{word}`: there are {known}")]
    Kind {
        /// Kind as the user typed it.
        word: String,
        /// Kinds that exist.
        known: String,
    },
    /// No object was named.
    #[error("name an object: `explain {word} NAMESPACE/NAME`")]
    NoName {
        /// Kind as the user typed it.
        word: String,
    },
    /// The object does not exist.
    #[error(
        "{resources} `{name}` not found in namespace `{namespace}`: see `kubectl get {first} --all-namespaces`"
    )]
    Absent {
        /// As kubectl takes the kinds that it may be of.
        resources: String,
        /// One of them.
        first: String,
        /// Its name.
        name: String,
        /// Namespace of the lookup.
        namespace: String,
    },
    /// The operator does not watch the namespace of the object.
    #[error(
        "namespace `{namespace}` is not served by an operator that runs with --watch-namespaces {}: add it to that option of the operator, or run this command with the option that the operator has",
        .watched.iter().map(String::as_str).collect::<Vec<_>>().join(",")
    )]
    Unserved {
        /// Namespace of the lookup.
        namespace: String,
        /// Namespaces that the operator watches.
        watched: BTreeSet<String>,
    },
    /// Several kinds have an object of this name.
    #[error("`{word}` may be {kinds}, and each has an object of this name: specify the kind")]
    Several {
        /// Kind as the user typed it.
        word: String,
        /// The kinds.
        kinds: String,
    },
    /// Nothing was read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// The output cannot be printed, because its reader is gone.
    #[error("the explanation cannot be printed")]
    Print(#[source] std::io::Error),
}

/// Explains the object on the command line with these lifecycles. `namespace` is the default for an
/// object without a namespace.
///
/// # Guarantees
/// Nothing is written to the API server.
///
/// # Errors
/// Returns an error if the kind or the object does not exist, or the API server does not answer.
pub async fn run(
    client: &Client,
    lifecycles: &[Explained],
    (options, namespace): (&Explain, &str),
    into: &mut impl Write,
) -> Result<(), Error> {
    let (word, namespace, name) = parse_target(options, namespace)?;
    let mut meant = find_lifecycles(client, lifecycles, &word).await;
    if meant.is_empty() {
        let known = listed(lifecycles);
        return Err(Error::Kind { word, known });
    }
    if let Some(unserved) = unserved(options.watched.as_ref(), &namespace) {
        // Objects of the cluster are served in any case.
        meant.retain(|of| lifecycles[*of].kind().is_some_and(|kind| !kind.namespaced));
        if meant.is_empty() {
            return Err(unserved);
        }
    }
    let now = Timestamp::now();
    let mut found = Vec::new();
    let (mut failed, mut absent) = (None, Vec::new());
    for of in &meant {
        let of = &lifecycles[*of];
        match explain(client, lifecycles, of, (Some(&namespace), &name), now).await {
            Ok(Some(explanation)) => found.push((of, explanation)),
            Ok(None) => absent.extend(of.kind().map(|kind| resource(&kind))),
            Err(error) => failed = failed.or(Some(error)),
        }
    }
    let (of, explanation) = match (found.pop(), failed) {
        (Some(only), _) if found.is_empty() => only,
        (Some(last), _) => {
            found.push(last);
            let kinds = found.iter().map(|(_, one)| one.object.resource.clone());
            let kinds = kinds.collect::<Vec<_>>().join(" or ");
            return Err(Error::Several { word, kinds });
        }
        // An object that may not be read may well be there.
        (None, Some(error)) => return Err(error.into()),
        (None, _) => {
            return Err(Error::Absent {
                resources: absent.join(" or "),
                first: absent.swap_remove(0),
                name,
                namespace,
            });
        }
    };
    let rendered = options.output.render(&explanation, text);
    print(&rendered, into).map_err(Error::Print)?;
    if options.watch {
        let object = (Some(namespace.as_str()), name.as_str());
        watch(
            client,
            lifecycles,
            (of, object),
            (explanation, options.output),
            into,
        )
        .await?;
    }
    Ok(())
}

/// The kind, the namespace and the name that are meant.
fn parse_target(options: &Explain, namespace: &str) -> Result<(String, String, String), Error> {
    let (word, name) = match (&options.name, options.kind.split_once('/')) {
        (Some(name), _) => (options.kind.clone(), name.clone()),
        (None, Some((word, name))) => (word.to_owned(), name.to_owned()),
        (None, None) => {
            let word = options.kind.clone();
            return Err(Error::NoName { word });
        }
    };
    let chosen = options.namespace.as_deref().unwrap_or(namespace);
    Ok(match name.split_once('/') {
        Some((namespace, name)) => (word, namespace.to_owned(), name.to_owned()),
        None => (word, chosen.to_owned(), name),
    })
}

/// Returns the error for objects of a namespace that the operator does not watch.
fn unserved(watched: Option<&BTreeSet<String>>, namespace: &str) -> Option<Error> {
    let watched = watched.filter(|all| !all.is_empty() && !all.contains(namespace))?;
    Some(Error::Unserved {
        namespace: namespace.to_owned(),
        watched: watched.clone(),
    })
}

/// Looks repeatedly, and prints each change.
async fn watch(
    client: &Client,
    all: &[Explained],
    (of, object): (&Explained, (Option<&str>, &str)),
    (mut last, output): (Explanation, Output),
    into: &mut impl Write,
) -> Result<(), Error> {
    loop {
        sleep(AGAIN).await;
        let Some(next) = explain(client, all, of, object, Timestamp::now()).await? else {
            writeln!(into, "\n{} is gone", last.object).map_err(Error::Print)?;
            return Ok(());
        };
        if next.timeless() != last.timeless() {
            if output == Output::Text {
                writeln!(into, "\n---").map_err(Error::Print)?;
            }
            print(&output.render(&next, text), into).map_err(Error::Print)?;
        }
        last = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_namespace_that_the_operator_does_not_watch_is_named() {
        let watched = names::parse_namespaces("east,west").unwrap();
        let refused = unserved(Some(&watched), "north").unwrap();
        assert_eq!(
            refused.to_string(),
            "namespace `north` is not served by an operator that runs with --watch-namespaces east,west: add it to that option of the operator, or run this command with the option that the operator has"
        );
        assert!(unserved(Some(&watched), "west").is_none());
        assert!(unserved(Some(&BTreeSet::new()), "north").is_none());
        assert!(unserved(None, "north").is_none());
    }
}
