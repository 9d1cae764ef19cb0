//! Why the files at a target could not be read, written or removed.

/// Why files could not be read, written or removed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The requested path cannot be a target.
    #[error("the target path is {0}")]
    Path(&'static str),
    /// Something else is where the tree should be.
    #[error("the target path holds {0}, which was not made by this driver; remove it")]
    Taken(&'static str),
    /// An address or a port cannot be the name of a file.
    #[error("{what} `{name}` cannot be the name of a file")]
    Name { what: &'static str, name: String },
    /// The first address is none of them.
    #[error("there is no address to write")]
    Nothing,
    /// The target holds more than one call can remove; the removal continues with the next call.
    #[error(
        "the target path holds too much to remove in one call: {removed} entries are gone after {} s, the next call goes on",
        limit.as_secs()
    )]
    Unfinished {
        removed: u64,
        limit: std::time::Duration,
    },
    /// The file system refused.
    #[error("cannot {doing} at the target path")]
    File {
        doing: &'static str,
        #[source]
        source: rustix::io::Errno,
    },
}

/// Returns a function for `map_err` that adds the failed operation.
pub(super) fn doing(doing: &'static str) -> impl Fn(rustix::io::Errno) -> Error {
    move |source| Error::File { doing, source }
}
