//! Charts: those of this repository, and what stands for those that they replace.

use std::path::{Path, PathBuf};

/// A chart of this repository.
pub(crate) fn chart(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../deploy/charts/{name}"))
}

/// A chart that stands for one that is replaced.
pub(crate) fn replaced(name: &str) -> PathBuf {
    here(&format!("replaced/{name}"))
}

/// A file beside these tests.
pub(crate) fn here(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/charts/{path}"))
}
