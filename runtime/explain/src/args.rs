//! The command line of `explain`, and what it does: finds the object that is meant, prints why it is where it is, and with `--watch` prints again when
//! that has changed.

use std::io::Write;
use std::time::Duration;

use clap::{Args, ValueEnum};
use jiff::Timestamp;
use kube::Client;
use lifecycle_client::kube::{Chosen, connect_to};
use tokio::time::sleep;

use crate::explained::Explained;
use crate::explanation::Explanation;
use crate::fetch::{Unreadable, resource};
use crate::follow::explain;
use crate::kinds::{listed, meant};
use crate::text::text;

/// How often `--watch` looks.
const AGAIN: Duration = Duration::from_secs(2);

/// Which object to explain, and how to print it.
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

    /// Context of the kubeconfig. Without it, its current one.
    #[arg(long, value_name = "CONTEXT")]
    pub context: Option<String>,

    /// Ask as this user, as `kubectl --as` does.
    #[arg(long = "as", value_name = "USER")]
    pub impersonated: Option<String>,

    /// Print again whenever what is told has changed, until Ctrl-C.
    #[arg(short, long)]
    pub watch: bool,

    /// How it is printed.
    #[arg(short, long, value_enum, default_value_t, value_name = "FORMAT")]
    pub output: Output,
}

/// How an explanation is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    #[default]
    Text,
    /// One JSON object, for programs.
    Json,
}

impl Explain {
    /// A client for the API server that is meant, and the namespace of what names none.
    ///
    /// # Errors
    /// There is no configuration, or it cannot be used.
    pub async fn connect(&self) -> Result<(Client, String), Error> {
        let chosen = Chosen {
            context: self.context.clone(),
            impersonated: self.impersonated.clone(),
        };
        let connected = connect_to(&chosen).await;
        connected.map_err(|why| Error::Connect(Box::new(why)))
    }
}

/// Why nothing is explained.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No API server is configured.
    #[error(transparent)]
    Connect(Box<lifecycle_client::kube::Error>),
    /// No lifecycle is about such a kind.
    #[error("no lifecycle is about `{word}`: there are {known}")]
    Kind {
        /// As it was asked for.
        word: String,
        /// What there is.
        known: String,
    },
    /// No object was named.
    #[error("name an object: `explain {word} NAMESPACE/NAME`")]
    NoName {
        /// The kind that was asked for.
        word: String,
    },
    /// There is no such object.
    #[error(
        "there is no {resources} `{name}` in namespace `{namespace}`: see `kubectl get {first} --all-namespaces`"
    )]
    Absent {
        /// As kubectl takes the kinds that it may be of.
        resources: String,
        /// One of them.
        first: String,
        /// Its name.
        name: String,
        /// Where it was looked for.
        namespace: String,
    },
    /// Several kinds have an object of this name.
    #[error("`{word}` may be {kinds}, and there is one of each: say which")]
    Several {
        /// As it was asked for.
        word: String,
        /// The kinds.
        kinds: String,
    },
    /// Nothing was read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// Nobody listens.
    #[error("the explanation cannot be printed")]
    Print(#[source] std::io::Error),
}

/// Explains what the command line asks for, by these lifecycles; `namespace` is where an object is looked for that names none.
///
/// # Guarantees
/// Nothing is written to the API server.
///
/// # Errors
/// There is no such kind or object, or the API server does not answer.
pub async fn run(
    client: &Client,
    lifecycles: &[Explained],
    (options, namespace): (&Explain, &str),
    into: &mut impl Write,
) -> Result<(), Error> {
    let (word, namespace, name) = asked(options, namespace)?;
    let meant = meant(client, lifecycles, &word).await;
    if meant.is_empty() {
        let known = listed(lifecycles);
        return Err(Error::Kind { word, known });
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
        (None, Some(error)) if absent.is_empty() => return Err(error.into()),
        (None, _) => {
            return Err(Error::Absent {
                resources: absent.join(" or "),
                first: absent.swap_remove(0),
                name,
                namespace,
            });
        }
    };
    print(&explanation, options.output, into)?;
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
fn asked(options: &Explain, namespace: &str) -> Result<(String, String, String), Error> {
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

/// Looks again and again, and prints what has changed.
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
            print(&next, output, into)?;
        }
        last = next;
    }
}

fn print(explanation: &Explanation, output: Output, into: &mut impl Write) -> Result<(), Error> {
    let printed = match output {
        Output::Text => text(explanation),
        Output::Json => serde_json::to_string_pretty(explanation).unwrap_or_default() + "\n",
    };
    into.write_all(printed.as_bytes()).map_err(Error::Print)?;
    into.flush().map_err(Error::Print)
}
