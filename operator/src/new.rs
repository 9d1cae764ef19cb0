//! `lifecycle-operator new`: generates the crate of an operator that builds, passes its generated
//! suite and runs in a sandbox. The crate is a copy of a member of this workspace,
//! `operator/template` or `operator/shop`, with other names.

mod manifest;
mod names;
mod options;
mod renamed;
mod template;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use thiserror::Error;

use manifest::Source;
pub use options::New;

/// Reason why the crate cannot be generated.
#[derive(Debug, Error)]
enum Error {
    #[error(
        "a kind cannot be called {0}: the code of this template means something else by it; choose another"
    )]
    Word(String),
    #[error("{} is there and is not empty: choose another name, or remove it", .0.display())]
    Taken(PathBuf),
    #[error("{} cannot be read", path.display())]
    Look { path: PathBuf, source: io::Error },
    #[error("{} is no checkout of this repository: it has no {}", path.display(), missing.display())]
    NoCheckout { path: PathBuf, missing: PathBuf },
    #[error(
        "the packages that an operator is built of are not published yet: give the checkout of this repository with --path{}; --version takes published packages all the same",
        near(.0.as_deref())
    )]
    Unpublished(Option<PathBuf>),
    #[error("{} cannot be written", path.display())]
    Write { path: PathBuf, source: io::Error },
}

/// The checkout that surrounds the current folder, as part of an advice.
fn near(checkout: Option<&Path>) -> String {
    checkout.map_or_else(
        || " CHECKOUT".to_owned(),
        |path| format!(" {}", path.display()),
    )
}

/// Writes the crate into a folder of its name, and returns the next steps.
///
/// # Errors
/// The folder is not empty or cannot be written, `--path` leads to no checkout, or neither `--path` nor `--version` is given.
pub(crate) fn run(options: &New) -> anyhow::Result<String> {
    if options
        .template
        .reserved_words()
        .any(|word| word == options.kind)
    {
        return Err(Error::Word(options.kind.clone()).into());
    }
    let folder = Path::new(&options.name);
    check_free(folder)?;
    let source = source(options)?;
    let plural = options.plural.as_deref();
    let names = renamed::Names::new(&options.name, &options.kind, &options.group, plural);
    let mut sources = Vec::new();
    let files = options.template.files(&source, &names);
    for (path, text) in &files {
        let path = folder.join(path);
        write(&path, text)?;
        if path.extension().is_some_and(|ending| ending == "rs") {
            sources.push(path);
        }
    }
    format(&sources);
    let (name, number) = (&options.name, files.len());
    let now = match source {
        Source::Path(_) => "Now:",
        Source::Version(_) => {
            "The packages that it needs are not published yet, and Cargo does not find them. Once it does:"
        }
    };
    Ok(format!(
        "{name} is written, {number} files. {now}\n\n  cd {name}\n  cargo run -- sandbox example.yaml\n  cargo test\n"
    ))
}

fn check_free(folder: &Path) -> Result<(), Error> {
    match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Ok(false) => Ok(()),
        Ok(true) => Err(Error::Taken(folder.to_owned())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(Error::Taken(folder.to_owned()))
        }
        Err(source) => Err(Error::Look {
            path: folder.to_owned(),
            source,
        }),
    }
}

/// The place that the packages of this repository come from.
fn source(options: &New) -> Result<Source, Error> {
    match (&options.path, &options.version) {
        (Some(path), _) => Ok(Source::Path(checkout(path)?)),
        (None, Some(version)) => Ok(Source::Version(version.clone())),
        (None, None) => Err(Error::Unpublished(surrounding())),
    }
}

/// The checkout that the current folder is in, if any.
fn surrounding() -> Option<PathBuf> {
    let here = std::env::current_dir().ok()?;
    here.ancestors().find_map(|folder| checkout(folder).ok())
}

/// A checkout as the manifest of the crate names it.
fn checkout(path: &Path) -> Result<PathBuf, Error> {
    for needed in manifest::packages() {
        let missing = Path::new(needed).join("Cargo.toml");
        if !path.join(&missing).is_file() {
            let path = path.to_owned();
            return Err(Error::NoCheckout { path, missing });
        }
    }
    // Whole, so that the crate may be kept anywhere, and an image of it be built with the checkout at the same place.
    fs::canonicalize(path).map_err(|source| Error::Look {
        path: path.to_owned(),
        source,
    })
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    let failed = |source| Error::Write {
        path: path.to_owned(),
        source,
    };
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(failed)?;
    }
    fs::write(path, text).map_err(failed)
}

/// Formats the sources with rustfmt, if it is installed: other names change the length of lines and
/// the order of imports.
fn format(sources: &[PathBuf]) {
    let mut rustfmt = Command::new("rustfmt");
    rustfmt.args(["--edition", "2024"]).args(sources);
    let rustfmt = rustfmt.stdout(Stdio::null()).stderr(Stdio::null());
    let _as_it_is = rustfmt.status();
}
