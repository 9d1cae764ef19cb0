//! Output of a result: as text for people, or as one JSON object for programs.

use std::io::{self, Write};

use clap::ValueEnum;
use serde::Serialize;

/// How a result is printed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Output {
    /// For people.
    #[default]
    Text,
    /// One JSON object, for programs.
    Json,
}

impl Output {
    /// Returns a result in this format.
    pub(crate) fn render<T: Serialize>(
        self,
        result: &T,
        text: impl FnOnce(&T) -> String,
    ) -> String {
        match self {
            Self::Text => text(result),
            Self::Json => serde_json::to_string_pretty(result).unwrap_or_default() + "\n",
        }
    }
}

/// Prints a rendered result at once.
pub(crate) fn print(rendered: &str, into: &mut impl Write) -> io::Result<()> {
    into.write_all(rendered.as_bytes())?;
    into.flush()
}
