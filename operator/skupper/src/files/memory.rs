//! Knowledge that a site needs again after a restart. It holds the age of its objects, the files
//! that ask for them, and the operations that they have done. It also holds the allocated hosts and
//! ports with their holders, and the seed of the uids.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::config::ports::PortAllocation;
use lifecycle_router::{file, plain};

/// A site has thousands of objects, and each a line or two.
const LARGEST: u64 = 64 << 20;

/// Reason why the saved knowledge cannot be restored.
#[derive(Debug, Error)]
pub(super) enum Error {
    /// The file cannot be read.
    #[error("cannot read {}", plain::path(path))]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It is not as we wrote it.
    #[error(
        "{} is broken: put it back as it was, or remove it, which forgets who has which host and port, and ends all AccessGrants: delete each, and create it again",
        plain::path(path)
    )]
    Broken {
        /// The file.
        path: PathBuf,
        /// Why.
        source: serde_json::Error,
    },
}

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Known {
    /// Seed of the uids.
    pub(super) seed: u64,
    /// The objects, by kind and name.
    #[serde(default)]
    pub(super) objects: BTreeMap<String, Object>,
    /// The uid of the active Site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) site: Option<String>,
    /// Name or address by which other sites reach the machine, as in certificates and tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) host: Option<String>,
    /// Allocated hosts and ports, with their holders. Files of sites keep the field under its first
    /// name.
    #[serde(default, rename = "claims")]
    pub(super) allocations: Vec<PortAllocation>,
}

impl Known {
    /// Records the host by which other sites reach the machine. Returns a warning if it was a
    /// different one before that other sites may use.
    pub(super) fn reached_at(&mut self, host: &str, is_reached: bool) -> Option<String> {
        let before = self.host.replace(host.to_owned());
        let before = before.filter(|before| before != host && is_reached);
        before.map(|before| {
            format!(
                "other sites reached this one at {before}, and from now on at {host} (--host): its certificates are made anew for {host}, so links and \
                 tokens that name {before} end; serve it with --host {before} as before, or let the other sites redeem new tokens"
            )
        })
    }

    /// Returns true if a file has declared any of it.
    pub(super) fn has_files(&self) -> bool {
        self.objects.values().any(|object| object.file.is_some())
    }
}

/// Knowledge about an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Object {
    /// When it was created, as RFC 3339 has it.
    pub(super) created: String,
    /// Its uid.
    pub(super) uid: String,
    /// File that declares the object. Older versions of the knowledge lack this field.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    /// Annotations in which its lifecycle records completed operations.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) records: BTreeMap<String, String>,
}

/// Knowledge of a site, and the file that keeps it.
#[derive(Debug)]
pub(super) struct Memory {
    path: PathBuf,
    /// Current knowledge.
    pub(super) known: Known,
    kept: Option<Known>,
}

impl Memory {
    /// Reads the knowledge from the file, or creates the file if it does not exist.
    ///
    /// # Errors
    /// It cannot be read, or is broken: nothing is guessed, and nothing of it is lost.
    pub(super) fn read(path: PathBuf) -> Result<Self, Error> {
        let read = || {
            let text = file::read(&path, LARGEST)?;
            file::only_for_owner(&path)?;
            Ok::<_, io::Error>(text)
        };
        let known = match read() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => None,
            Err(source) => return Err(Error::Read { path, source }),
            Ok(text) => match serde_json::from_slice(&text) {
                Ok(known) => Some(known),
                Err(source) => return Err(Error::Broken { path, source }),
            },
        };
        let new = || Known {
            seed: seed(),
            ..Known::default()
        };
        Ok(Self {
            known: known.clone().unwrap_or_else(new),
            path,
            kept: known,
        })
    }

    /// Saves the knowledge, if it has changed.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn keep(&mut self) -> io::Result<()> {
        if self.kept.as_ref() != Some(&self.known) {
            let text = serde_json::to_vec_pretty(&self.known).map_err(io::Error::other)?;
            // Codes of grants are among it.
            file::replace_secret(&self.path, &text)?;
            self.kept = Some(self.known.clone());
        }
        Ok(())
    }

    /// True if nothing was kept before.
    pub(super) fn is_new(&self) -> bool {
        self.kept.is_none()
    }

    /// Returns the path of the file.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

fn seed() -> u64 {
    let mut bytes = [0; 8];
    SystemRandom::new()
        .fill(&mut bytes)
        .expect("the system has random numbers");
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_kept_is_known_again_and_what_is_broken_is_not_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("state.json");
        let mut memory = Memory::read(path.clone()).expect("there is none");
        assert!(memory.is_new());
        let other = Memory::read(path.clone()).expect("there is none");
        assert_ne!(memory.known.seed, other.known.seed);
        let object = Object {
            created: "2026-01-01T00:00:00Z".to_owned(),
            uid: "u".to_owned(),
            file: Some("input/resources/a.yaml".to_owned()),
            records: [("done".to_owned(), "[]".to_owned())].into(),
        };
        memory.known.objects = [("Site west".to_owned(), object)].into();
        memory.keep().expect("it can be written");
        let again = Memory::read(path.clone()).expect("it can be read");
        assert_eq!(again.known, memory.known);
        assert!(!again.is_new());
        fs::write(&path, "{").expect("a file");
        let error = Memory::read(path.clone()).expect_err("it is broken");
        assert!(error.to_string().contains("is broken"), "{error}");
        assert_eq!(fs::read(&path).expect("it is there"), b"{");
    }

    #[test]
    fn another_host_is_told_where_other_sites_know_the_one_before() {
        let mut known = Known::default();
        assert_eq!(known.reached_at("old.example.com", true), None);
        assert_eq!(known.reached_at("old.example.com", true), None);
        let said = known.reached_at("192.0.2.1", true).expect("it is another");
        for part in ["old.example.com", "192.0.2.1", "redeem new tokens"] {
            assert!(said.contains(part), "{said}");
        }
        assert_eq!(known.reached_at("192.0.2.1", true), None);
        // No other site links to it.
        assert_eq!(known.reached_at("192.0.2.2", false), None);
        assert_eq!(known.host.as_deref(), Some("192.0.2.2"));
    }

    /// Running sites have this file: a new version must find the fields that an old one wrote.
    #[test]
    fn the_names_in_the_file_stay() {
        let allocation =
            json!({ "uid": "u", "name": "a", "host": "db", "port": 80, "routerPort": 1024 });
        let text = json!({
            "seed": 7,
            "objects": { "Site west": { "created": "2026-01-01T00:00:00Z", "uid": "u" } },
            "site": "u",
            "claims": [allocation],
        });
        let known: Known = serde_json::from_value(text.clone()).expect("it can be read");
        let ports: Vec<_> = known.allocations.iter().map(|a| a.router_port).collect();
        assert_eq!(ports, [1024]);
        assert_eq!(json!(known), text);
    }
}
