//! TLS profiles: the content of a profile's files, and the parts that a handshake needs. New files
//! take effect with the next handshake. Broken files, or files that do not match each other, change
//! nothing and are reported. Open streams keep the files with which they began.

mod credentials;
mod expiry;
mod files;
mod material;
mod verify;

use std::collections::BTreeMap;
use std::sync::Arc;

use ring::digest::{Context, SHA256};

use crate::config::{ConfigEntry, Profile};
pub use credentials::{Credentials, Slot};
pub use expiry::Expiry;
pub use files::{Files, MissingFile};
pub use material::Error;
pub(crate) use material::load;

/// Prefix of the report of an expired certificate. The router still serves the certificate, because
/// the client decides if that matters.
pub const EXPIRED: &str = "its certificate expired at ";

/// Result of loading one profile.
#[derive(Debug)]
pub struct LoadedProfile {
    /// Its credentials.
    pub slot: Arc<Slot>,
    /// Error in the files of the profile as they are now.
    pub wrong: Option<String>,
    /// True if the owner removed the files: the error is then a complete sentence.
    pub is_gone: bool,
    /// Digest of the files that the credentials come from.
    pub material: Option<String>,
    /// Until when the certificate of the credentials is good.
    pub expiry: Option<Expiry>,
    seen: String,
}

/// All profiles by name.
#[derive(Debug, Default)]
pub struct Profiles {
    loaded: BTreeMap<String, LoadedProfile>,
}

impl Profiles {
    /// Takes over the current content of a document and the files.
    pub fn update(&mut self, wanted: &BTreeMap<String, ConfigEntry<Profile>>, files: &Files) {
        self.loaded.retain(|name, _| wanted.contains_key(name));
        for (name, entry) in wanted {
            let loaded = self
                .loaded
                .entry(name.clone())
                .or_insert_with(|| LoadedProfile {
                    slot: Arc::default(),
                    wrong: None,
                    is_gone: false,
                    material: None,
                    expiry: None,
                    seen: String::new(),
                });
            match &entry.wanted {
                Err(wrong) => {
                    loaded.wrong = Some(wrong.to_string());
                    // The same files are good again when the entry is.
                    loaded.seen.clear();
                }
                Ok(profile) => loaded.update(profile, files),
            }
        }
    }

    /// A profile.
    pub fn get(&self, name: &str) -> Option<&LoadedProfile> {
        self.loaded.get(name)
    }

    /// All of them.
    pub fn all(&self) -> impl Iterator<Item = (&str, &LoadedProfile)> {
        self.loaded
            .iter()
            .map(|(name, loaded)| (name.as_str(), loaded))
    }
}

impl LoadedProfile {
    /// Returns true if the certificate has expired at this time, in seconds after 1970.
    pub fn is_expired(&self, now: i64) -> bool {
        self.expiry.as_ref().is_some_and(|end| end.is_over(now))
    }

    /// Returns the error of the profile at this time, in seconds after 1970.
    pub fn trouble(&self, now: i64) -> Option<String> {
        let expired = self.expiry.as_ref().filter(|end| end.is_over(now));
        let expired = || expired.map(|end| format!("{EXPIRED}{}: renew it", end.text));
        self.wrong.clone().or_else(expired)
    }

    /// Loads the files if they are others than those that were loaded last.
    fn update(&mut self, profile: &Profile, files: &Files) {
        let seen = digest(profile, files);
        if self.seen == seen {
            return;
        }
        let loaded = load(profile, files);
        self.is_gone = matches!(loaded, Err(Error::Gone(_)));
        match loaded {
            Ok(credentials) => {
                self.expiry = credentials.expiry();
                self.slot.set(Some(credentials));
                self.wrong = None;
                self.material = Some(seen.clone());
            }
            Err(error) => self.wrong = Some(crate::cause::chain(&error)),
        }
        if self.is_gone {
            self.slot.set(None);
            self.material = None;
            self.expiry = None;
        }
        self.seen = seen;
    }
}

fn digest(profile: &Profile, files: &Files) -> String {
    let mut context = Context::new(&SHA256);
    for path in profile.files() {
        let (kind, bytes) = match files.get(path) {
            Some(Ok(bytes)) => (b"+", bytes.as_slice()),
            Some(Err(MissingFile::Unread(why))) => (b"-", why.as_bytes()),
            Some(Err(MissingFile::Gone(why))) => (b"0", why.as_bytes()),
            None => (b"?", &[][..]),
        };
        context.update(kind);
        for part in [path.as_bytes(), bytes] {
            context.update(&part.len().to_be_bytes());
            context.update(part);
        }
    }
    let digest = context.finish();
    let digits = digest.as_ref().iter().take(8);
    digits.map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
