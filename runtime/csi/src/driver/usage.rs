//! Usage of a volume, and its source.

use std::io;
use std::path::Path;

/// How full a published volume is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// How many bytes there are; zero if unknown.
    pub total_bytes: u64,
    /// How many are used.
    pub used_bytes: u64,
    /// How many can still be written.
    pub available_bytes: u64,
}

/// Reports the usage of a volume, given the path at which it is published or staged.
pub trait UsageSource: Send + Sync + 'static {
    /// Returns the usage at a path. Called only for a path at which the volume is present.
    ///
    /// # Errors
    /// Returns an error if the system does not report the usage.
    fn usage(&self, path: &Path) -> io::Result<Usage>;
}

impl<F: Fn(&Path) -> io::Result<Usage> + Send + Sync + 'static> UsageSource for F {
    fn usage(&self, path: &Path) -> io::Result<Usage> {
        self(path)
    }
}
