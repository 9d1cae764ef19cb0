//! The same on a command line: subcommands that any program flattens into its own.
//!
//! ```
#![doc = include_str!("command/example.rs")]
//! ```

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use lifecycle_runtime::lifecycle::Machine;
use thiserror::Error;

use crate::diagram::{self, Format};
use crate::program::{Part, Program, Purpose, file_name};
use crate::{held, list, manifests, page, pages, whole_file};

/// What is made from the description of lifecycles. None of it needs a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Generate {
    /// List the lifecycles of this program. Needs no cluster.
    Lifecycles,
    /// Draw the states of a lifecycle and what leads from one to another. Needs no cluster.
    Diagram {
        /// Which lifecycle: `Listener`, `listeners.skupper.io`, or the end of its path: `skupper::listener::Listener`. Without it, the only one that there is.
        #[arg(value_name = "LIFECYCLE")]
        lifecycle: Option<String>,

        /// How it is drawn.
        #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
        format: Format,
    },
    /// Print the page of a lifecycle: its states, who acts, what wakes it, conditions, reasons, calls. Needs no cluster.
    Docs {
        /// Which lifecycle, as for `diagram`.
        #[arg(value_name = "LIFECYCLE", conflicts_with = "directory")]
        lifecycle: Option<String>,

        /// Write the pages of all lifecycles into this folder, with a picture of each and a list.
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
    /// Print what an administrator applies before the program runs, as YAML. Needs no cluster.
    ///
    /// The rights are as few as there can be: each rule says which input or effect of which lifecycle needs it. What a lifecycle does, it does in all
    /// namespaces: a ClusterRole. What only concerns the program itself, as its Lease, is a Role in its namespace.
    Manifests {
        /// Which manifests.
        #[arg(value_enum, value_name = "WHAT")]
        what: What,

        /// Only of this part of the program: `controller`, `node`.
        #[arg(long, value_name = "PART")]
        part: Option<String>,

        /// What the rights are for. Those of a person are bound to nobody unless `--user` says to whom.
        // Programs of their own have options, and none is called so.
        #[arg(
            id = "purpose of rights",
            long = "for",
            value_enum,
            default_value_t,
            value_name = "PURPOSE"
        )]
        purpose: Purpose,

        /// Bind the rights to this user, as the API server calls him.
        #[arg(id = "user with rights", long = "user", value_name = "USER")]
        user: Option<String>,

        /// The namespace in which the program runs, if it is another one.
        #[arg(long, value_name = "NAMESPACE")]
        namespace: Option<String>,

        /// Namespaces that the program watches, with commas between them, if it runs with the same option: rights to what is in a namespace are a Role in each then.
        #[arg(
            id = "namespaces of rights",
            long = "watch-namespaces",
            value_name = "NAMESPACES",
            value_delimiter = ',',
            value_parser = lifecycle_runtime::names::of_namespace
        )]
        watched: Vec<String>,

        /// Print nothing, and end with 1 if what this file allows or defines is not the same. Comments, order and what else is in it do not count.
        #[arg(long, value_name = "FILE")]
        check: Option<PathBuf>,
    },
}

/// Which manifests are printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum What {
    /// The CustomResourceDefinitions.
    Crd,
    /// Roles, and what binds them to ServiceAccounts.
    Rbac,
    /// Both.
    All,
}

/// Why nothing was made.
#[derive(Debug, Error)]
pub enum Error {
    /// No lifecycle is called so.
    #[error("no lifecycle is called `{name}`; there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// More than one could be meant.
    #[error("{asked}; say which: {known}")]
    Several {
        /// What was asked for.
        asked: String,
        /// Which there are.
        known: String,
    },
    /// No part is called so.
    #[error("the program has no part `{name}`; it has: {known}")]
    NoPart {
        /// What was asked for.
        name: String,
        /// What there is.
        known: String,
    },
    /// A picture cannot be laid out.
    #[error(transparent)]
    Draw(#[from] diagram::Error),
    /// A definition cannot be written.
    #[error("a CustomResourceDefinition cannot be written as YAML")]
    Yaml(#[from] serde_saphyr::SerializeError),
    /// The text cannot be written.
    #[error("what was made cannot be written")]
    Write(#[from] io::Error),
    /// A file to be checked cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// What is said.
        source: io::Error,
    },
    /// A file to be checked holds no documents.
    #[error("{} is not YAML", path.display())]
    NoYaml {
        /// Which.
        path: PathBuf,
        /// What is said.
        source: Box<serde_saphyr::Error>,
    },
    /// A file to be checked says something else than what is made today.
    #[error("{} is not what follows from the lifecycles today: {}; take over what the command prints without --check", path.display(), differences.join("; "))]
    Behind {
        /// Which.
        path: PathBuf,
        /// In what, a sentence each.
        differences: Vec<String>,
    },
    /// A file cannot be written.
    #[error("{} cannot be written", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// What is said.
        source: whole_file::Error,
    },
}

impl Generate {
    /// Makes what is asked for of a program, and writes it.
    ///
    /// # Errors
    /// A name of which there is nothing, or a place that cannot be written to.
    pub fn run(&self, program: &Program, out: &mut impl Write) -> Result<(), Error> {
        let text = match self {
            Self::Lifecycles => list::of(&program.lifecycles()),
            Self::Diagram { lifecycle, format } => {
                diagram::of(find(program, lifecycle.as_deref())?.ir(), *format)?
            }
            Self::Docs {
                directory: Some(directory),
                ..
            } => return write_all(directory, program, out),
            Self::Docs { lifecycle, .. } => page::of(find(program, lifecycle.as_deref())?.ir())?,
            Self::Manifests {
                what,
                part,
                purpose,
                user,
                namespace,
                watched,
                check,
            } => {
                let parts = parts(program, part.as_deref(), namespace.as_deref())?;
                let parts: Vec<&Part> = parts.iter().collect();
                let made = documents(*what, &parts, (*purpose, user.as_deref()), watched)?;
                match check {
                    Some(path) => return held(path, &made),
                    None => made,
                }
            }
        };
        Ok(out.write_all(text.as_bytes())?)
    }
}

fn documents(
    what: What,
    parts: &[&Part],
    (purpose, user): (Purpose, Option<&str>),
    watched: &[String],
) -> Result<String, Error> {
    let crds = match what {
        What::Crd | What::All => manifests::definitions(parts)?,
        What::Rbac => String::new(),
    };
    let rights = match what {
        What::Rbac | What::All => manifests::rights_for(parts, purpose, user, watched),
        What::Crd => String::new(),
    };
    Ok(crds + &rights)
}

/// Whether a file says what is made.
fn held(path: &Path, made: &str) -> Result<(), Error> {
    let path = path.to_owned();
    let kept = match std::fs::read_to_string(&path) {
        Ok(kept) => kept,
        Err(source) => return Err(Error::Read { path, source }),
    };
    match held::differences(made, &kept) {
        Ok(differences) if differences.is_empty() => Ok(()),
        Ok(differences) => Err(Error::Behind { path, differences }),
        Err(source) => Err(Error::NoYaml {
            path,
            source: Box::new(source),
        }),
    }
}

/// The one lifecycle that is meant.
fn find<'a>(program: &'a Program, name: Option<&str>) -> Result<&'a dyn Machine, Error> {
    let mut meant = program.machines();
    let known = names(&meant);
    if let Some(name) = name {
        meant.retain(|machine| is_called(*machine, name));
    }
    match (&meant[..], name) {
        ([one], _) => Ok(*one),
        ([], Some(name)) => Err(Error::Unknown {
            name: name.to_owned(),
            known,
        }),
        (several, name) => Err(Error::Several {
            asked: name.map_or("there are several lifecycles".to_owned(), |name| {
                format!("several lifecycles are called `{name}`")
            }),
            known: names(several),
        }),
    }
}

fn is_called(machine: &dyn Machine, name: &str) -> bool {
    let lifecycle = machine.ir();
    let end = lifecycle.path.strip_suffix(name);
    let is_end = end.is_some_and(|rest| rest.is_empty() || rest.ends_with("::"));
    is_end || lifecycle.name == name || file_name(machine) == name
}

fn names(machines: &[&dyn Machine]) -> String {
    let names = machines.iter().map(|machine| file_name(*machine));
    names.collect::<Vec<_>>().join(", ")
}

fn parts(
    program: &Program,
    name: Option<&str>,
    namespace: Option<&str>,
) -> Result<Vec<Part>, Error> {
    let meant = program.parts().iter();
    let meant = meant.filter(|part| name.is_none_or(|name| part.name == name));
    let mut meant: Vec<Part> = meant.cloned().collect();
    if let (Some(name), []) = (name, &meant[..]) {
        let known = program.parts().iter().map(|part| part.name.as_str());
        return Err(Error::NoPart {
            name: name.to_owned(),
            known: known.collect::<Vec<_>>().join(", "),
        });
    }
    for part in &mut meant {
        if let Some(namespace) = namespace {
            namespace.clone_into(&mut part.account.namespace);
        }
    }
    Ok(meant)
}

fn write_all(directory: &Path, program: &Program, out: &mut impl Write) -> Result<(), Error> {
    let failed = |path: &Path, source| Error::File {
        path: path.to_owned(),
        source,
    };
    let made = std::fs::create_dir_all(directory);
    made.map_err(|error| failed(directory, error.into()))?;
    for file in pages::of(&program.machines())? {
        let path = directory.join(&file.name);
        write(&path, file.text.as_bytes()).map_err(|error| failed(&path, error))?;
        writeln!(out, "{}", path.display())?;
    }
    Ok(())
}

/// Writes a file unless it is so already.
fn write(path: &Path, text: &[u8]) -> Result<(), whole_file::Error> {
    let before = whole_file::read(path)?;
    match before.as_deref() == Some(text) {
        true => Ok(()),
        false => whole_file::replace(path, before.as_deref(), text),
    }
}

#[cfg(test)]
#[allow(
    dead_code,
    reason = "the documentation shows it: that it compiles is the point"
)]
mod example;
