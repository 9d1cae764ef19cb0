//! The files of profiles, as a source delivers them. Knows nothing of what is in them.

use std::collections::BTreeMap;

/// The files of profiles by their path below the directory of certificates, or why one is not there.
pub type Files = BTreeMap<String, Result<Vec<u8>, Lack>>;

/// Why a file of a profile is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Lack {
    /// It cannot be read, for this reason. What was good before stays in use.
    Unread(String),
    /// Its owner took it away, and nothing of the profile is to be used any more. The whole sentence that is reported.
    Gone(String),
}
