//! How full a volume is, and who tells.

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

/// Tells how full a volume is, by where it is published or staged.
pub trait UsageSource: Send + Sync + 'static {
    /// Asked only of a path where the volume is.
    ///
    /// # Errors
    /// The system does not tell.
    fn usage(&self, path: &Path) -> io::Result<Usage>;
}

impl<F: Fn(&Path) -> io::Result<Usage> + Send + Sync + 'static> UsageSource for F {
    fn usage(&self, path: &Path) -> io::Result<Usage> {
        self(path)
    }
}
