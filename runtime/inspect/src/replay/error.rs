//! Why nothing is recorded or replayed.

use std::io;
use std::path::PathBuf;

use crate::replay::format::FORMAT;

/// Why nothing is recorded or replayed.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A recording cannot begin.
    #[error("{} cannot be written", .path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Cause of the failure.
        source: io::Error,
    },
    /// A recording cannot begin.
    #[error("no thread can be started that writes a trace")]
    Thread(#[source] io::Error),
    /// A recording cannot be read.
    #[error("{} cannot be read", .path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Cause of the failure.
        source: io::Error,
    },
    /// It is no recording.
    #[error("{} is no trace file: its first line does not begin one", .0.display())]
    NoTrace(PathBuf),
    /// Another version of this program wrote it.
    #[error("{} has format {found}, and this version reads format {FORMAT}: replay it with the version that recorded it", .path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: u64,
    },
    /// The object does not exist in the recording.
    #[error("the file has no reconciliation of {asked}: it has {}", several(.known))]
    NoSuchObject {
        /// `Listener default/web`.
        asked: String,
        /// Those that it has.
        known: Vec<String>,
    },
    /// Nothing can be compared.
    #[error("no reconciliation in the file can be replayed{}", .0.iter().map(|why| format!("; {why}")).collect::<String>())]
    Nothing(Vec<String>),
    /// The lifecycles cannot be made.
    #[error("the lifecycles of this version cannot be made: {0}")]
    Lifecycles(String),
    /// The output cannot be printed, because its reader is gone.
    #[error("the result cannot be printed")]
    Print(#[source] io::Error),
}

/// The first of them; there may be thousands.
fn several(known: &[String]) -> String {
    const MOST: usize = 5;
    match known {
        [] => "none at all".to_owned(),
        known if known.len() <= MOST => known.join(", "),
        known => format!(
            "{} and {} others",
            known[..MOST].join(", "),
            known.len() - MOST
        ),
    }
}
