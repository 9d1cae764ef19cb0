//! Charts: those of this repository, and stand-ins for the charts that they replace.

use std::path::{Path, PathBuf};

/// A chart of this repository.
pub(crate) fn chart(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../deploy/charts/{name}"))
}

/// Returns the path of a stand-in for a replaced chart.
pub(crate) fn replaced(name: &str) -> PathBuf {
    here(&format!("replaced/{name}"))
}

/// A file beside these tests.
pub(crate) fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/charts/{path}"))
}
