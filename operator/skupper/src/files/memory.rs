//! What a site must know again after a restart: since when its objects are there, which files ask for them and what they have done, who has which host and port,
//! and what its uids are made from.

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

/// Why what was known cannot be known again.
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
    /// What uids are made from.
    pub(super) seed: u64,
    /// The objects, by kind and name.
    #[serde(default)]
    pub(super) objects: BTreeMap<String, Object>,
    /// The uid of the active Site.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) site: Option<String>,
    /// Name or address by which others reach the machine, as certificates and tokens have it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) host: Option<String>,
    /// Who has which host and port. Sites hold it under the name that it had first.
    #[serde(default, rename = "claims")]
    pub(super) allocations: Vec<PortAllocation>,
}

impl Known {
    /// Remembers by which host others reach the machine. The warning if it was another one before, and others may know it.
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

    /// True if a file has asked for any of it.
    pub(super) fn has_files(&self) -> bool {
        self.objects.values().any(|object| object.file.is_some())
    }
}

/// What is known of an object.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Object {
    /// When it was created, as RFC 3339 has it.
    pub(super) created: String,
    /// Its uid.
    pub(super) uid: String,
    /// The file that asks for it. Files of before do not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) file: Option<String>,
    /// Annotations in which its lifecycle remembers what it has done.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) records: BTreeMap<String, String>,
}

/// What is known, and the file where it is kept.
#[derive(Debug)]
pub(super) struct Memory {
    path: PathBuf,
    /// What is known.
    pub(super) known: Known,
    kept: Option<Known>,
}

impl Memory {
    /// What the file says; something new if there is none.
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

    /// Keeps what is known, if that is something else than before.
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

    /// Where it is kept.
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
        // Nobody links to it.
        assert_eq!(known.reached_at("192.0.2.2", false), None);
        assert_eq!(known.host.as_deref(), Some("192.0.2.2"));
    }

    /// Sites that run hold this file: a new version must find in it what an old one wrote.
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
