//! The same on a command line: subcommands that any program flattens into its own.
//!
//! ```
#![doc = include_str!("command/example.rs")]
//! ```

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::{Subcommand, ValueEnum};
use lifecycle_runtime::lifecycle::Machine;
use thiserror::Error;

use crate::diagram::{self, Format};
use crate::program::{Part, Program, Purpose, file_name};
use crate::{held, list, manifests, page, pages, whole_file};

/// Commands that generate output from the description of lifecycles. None of them needs a cluster.
#[derive(Clone, Debug, PartialEq, Eq, Subcommand)]
pub enum Generate {
    /// List the lifecycles of this program. Needs no cluster.
    Lifecycles,
    /// Draw the states of a lifecycle and the transitions between them. Needs no cluster.
    Diagram {
        /// Lifecycle to draw: `Listener`, `listeners.skupper.io`, or the end of its path:
        /// `skupper::listener::Listener`. Optional if there is only one.
        #[arg(value_name = "LIFECYCLE")]
        lifecycle: Option<String>,

        /// How it is drawn.
        #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
        format: Format,
    },
    /// Print the page of a lifecycle: states, actors, wakes, conditions, reasons, and calls. Needs
    /// no cluster.
    Docs {
        /// Lifecycle to describe, as for `diagram`.
        #[arg(value_name = "LIFECYCLE", conflicts_with = "directory")]
        lifecycle: Option<String>,

        /// Write the pages of all lifecycles into this folder, with a picture of each and a list.
        #[arg(long, value_name = "DIR")]
        directory: Option<PathBuf>,
    },
    /// Print the manifests that an administrator applies before the program runs, as YAML. Needs no
    /// cluster.
    ///
    /// The rights are minimal: each rule names the input or effect, and the lifecycle, that needs
    /// it. The rights of a lifecycle apply in all namespaces: a ClusterRole. Rights that only
    /// concern the program itself, such as those to its Lease, are a Role in its namespace.
    Manifests {
        /// Manifests to print.
        #[arg(value_enum, value_name = "WHAT")]
        what: ManifestKind,

        /// Only of this part of the program: `controller`, `node`.
        #[arg(long, value_name = "PART")]
        part: Option<String>,

        /// Purpose of the rights. The rights of a person are bound to no one unless `--user` names
        /// a user.
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

        /// Namespace in which the program runs, if not the default.
        #[arg(long, value_name = "NAMESPACE")]
        namespace: Option<String>,

        /// Comma-separated namespaces that the program watches, if it runs with the same option.
        /// Rights to namespaced objects then become one Role per namespace.
        #[arg(
            id = "namespaces of rights",
            long = "watch-namespaces",
            value_name = "NAMESPACES",
            value_parser = lifecycle_runtime::names::parse_namespaces
        )]
        watched: Option<BTreeSet<String>>,

        /// Print nothing, and exit with 1 if the rights or definitions in this file differ.
        /// Comments, order and other content of the file are ignored.
        #[arg(long, value_name = "FILE")]
        check: Option<PathBuf>,
    },
}

/// Manifests to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ManifestKind {
    /// The CustomResourceDefinitions.
    Crd,
    /// Roles, and their bindings to ServiceAccounts.
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
        /// Requested name.
        name: String,
        /// Lifecycles that exist.
        known: String,
    },
    /// A file of source code is named.
    #[error(
        "`{0}` is a source file, and this command knows the lifecycles that the program was built with: name one that the subcommand `lifecycles` lists. `lifecycle-operator check {0}` checks one that is not built"
    )]
    SourceFile(String),
    /// More than one could be meant.
    #[error("{asked}; specify one of: {known}")]
    Several {
        /// Request that is ambiguous.
        asked: String,
        /// Candidates.
        known: String,
    },
    /// No part is called so.
    #[error("the program has no part `{name}`; it has: {known}")]
    NoPart {
        /// Requested name.
        name: String,
        /// Parts that exist.
        known: String,
    },
    /// A picture cannot be laid out.
    #[error(transparent)]
    Draw(#[from] diagram::Error),
    /// A definition cannot be written.
    #[error("a CustomResourceDefinition cannot be written as YAML")]
    Yaml(#[from] serde_saphyr::SerializeError),
    /// The text cannot be written.
    #[error("the output cannot be written")]
    Write(#[from] io::Error),
    /// A file to be checked cannot be read.
    #[error("{} cannot be read", path.display())]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// Error of the operating system.
        source: io::Error,
    },
    /// A file to be checked holds no documents.
    #[error("{} is not YAML", path.display())]
    NoYaml {
        /// Path of the file.
        path: PathBuf,
        /// Error of the parser.
        source: Box<serde_saphyr::Error>,
    },
    /// A checked file differs from the current output.
    #[error("{} is not what follows from the lifecycles today: {}; take over what the command prints without --check", path.display(), differences.join("; "))]
    Behind {
        /// Path of the file.
        path: PathBuf,
        /// The differences, one sentence each.
        differences: Vec<String>,
    },
    /// A file cannot be written.
    #[error("{} cannot be written", path.display())]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the write.
        source: whole_file::Error,
    },
}

impl Generate {
    /// Generates the requested output for a program, and writes it.
    ///
    /// # Errors
    /// Returns an error if a name is unknown, or if the target cannot be written.
    pub fn run(&self, program: &Program, out: &mut impl Write) -> Result<(), Error> {
        let text = match self {
            Self::Lifecycles => list::render(&program.lifecycles()),
            Self::Diagram { lifecycle, format } => {
                diagram::render(find(program, lifecycle.as_deref())?.ir(), *format)?
            }
            Self::Docs {
                directory: Some(directory),
                ..
            } => return write_all(directory, program, out),
            Self::Docs { lifecycle, .. } => {
                page::render(find(program, lifecycle.as_deref())?.ir())?
            }
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
                let watched = Vec::from_iter(watched.iter().flatten().cloned());
                let made = documents(*what, &parts, (*purpose, user.as_deref()), &watched)?;
                match check {
                    Some(path) => return check_file(path, &made),
                    None => made,
                }
            }
        };
        Ok(out.write_all(text.as_bytes())?)
    }
}

fn documents(
    what: ManifestKind,
    parts: &[&Part],
    (purpose, user): (Purpose, Option<&str>),
    watched: &[String],
) -> Result<String, Error> {
    let crds = match what {
        ManifestKind::Crd | ManifestKind::All => manifests::definitions(parts)?,
        ManifestKind::Rbac => String::new(),
    };
    let rights = match what {
        ManifestKind::Rbac | ManifestKind::All => {
            manifests::rights_for(parts, purpose, user, watched)
        }
        ManifestKind::Crd => String::new(),
    };
    Ok(crds + &rights)
}

/// Checks that a file matches the generated text.
fn check_file(path: &Path, made: &str) -> Result<(), Error> {
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
        ([], Some(name)) if name.ends_with(".rs") => Err(Error::SourceFile(name.to_owned())),
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
    for file in pages::render(&program.machines())? {
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
