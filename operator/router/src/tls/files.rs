//! The files of profiles, as a source delivers them. Independent of their content.

use std::collections::BTreeMap;

/// The files of profiles by their path below the directory of certificates, or why one is not there.
pub type Files = BTreeMap<String, Result<Vec<u8>, MissingFile>>;

/// Why a file of a profile is not there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MissingFile {
    /// The file cannot be read, for this reason. The last good content stays in use.
    Unread(String),
    /// The owner removed the file, and no part of the profile may be used any more. Contains the
    /// whole reported sentence.
    Gone(String),
}
