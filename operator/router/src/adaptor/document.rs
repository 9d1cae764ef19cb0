//! A configuration as the adaptor applies it: the entries with the problems that are known before a router sees them, and the files of
//! profiles that are good. Knows neither the router nor where files are written.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::certificates::Folders;
use super::changes::parse_elements;
use super::passwords::Passwords;
use super::{Attributes, Entity};
use crate::config::{self, Profile, SiteIdentity, Wrong};
use crate::snapshot::Snapshot;
use crate::tls::{Files, Profiles};

/// The type and the name of an entry.
pub(super) type Key = (Entity, String);

/// The attributes of a profile that name files.
const FILES: [&str; 3] = ["caCertFile", "certFile", "privateKeyFile"];

/// An entry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Item {
    pub(super) entity: Entity,
    pub(super) name: String,
    /// See [`config::hash`].
    pub(super) hash: String,
    /// The attributes as they are written.
    pub(super) attributes: Attributes,
    /// The attributes for the router, or why it does not get the entry.
    pub(super) wanted: Result<Attributes, String>,
}

impl Item {
    pub(super) fn key(&self) -> Key {
        (self.entity, self.name.clone())
    }
}

/// A configuration.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Document {
    pub(super) hash: String,
    pub(super) router: Option<String>,
    pub(super) site: SiteIdentity,
    pub(super) faults: Vec<String>,
    /// All elements as they are written.
    pub(super) elements: Vec<Value>,
    /// The entries that the adaptor manages.
    pub(super) items: Vec<Item>,
    /// The good files of all profiles.
    pub(super) folders: Folders,
    /// The folder of each profile with good files.
    pub(super) folder_of: BTreeMap<String, String>,
    /// Digest of the valid files of each profile.
    pub(super) material: BTreeMap<String, String>,
    /// The folder of each proxy with a good password.
    pub(super) passwords: Folders,
}

impl Document {
    /// Reads a snapshot; below these folders the router finds certificates, and the passwords of proxies.
    pub(super) fn new(
        snapshot: &Snapshot,
        loaded: &Loaded,
        (root, proxies): (&Path, &Path),
    ) -> Self {
        // The snapshot was read from it.
        let elements: Vec<Value> = serde_json::from_slice(&snapshot.document).unwrap_or_default();
        let wanted = parse_elements(&elements);
        let items = wanted.entries.into_iter().map(|entry| Item {
            hash: config::hash(&entry.attributes),
            wanted: match entry.entity {
                Entity::SslProfile => loaded.profile(&entry.name, &entry.attributes, root),
                Entity::TcpListener | Entity::TcpConnector => with_port(&entry.attributes),
                Entity::ProxyProfile => {
                    let passwords = &loaded.passwords;
                    passwords.proxy(&entry.name, &entry.attributes, proxies)
                }
                Entity::Connector | Entity::Listener | Entity::ListenerAddress => {
                    Ok(entry.attributes.clone())
                }
            },
            entity: entry.entity,
            name: entry.name,
            attributes: entry.attributes,
        });
        let items = items.collect();
        let mut folders = Folders::new();
        for good in loaded.good.values() {
            let folder = folders.entry(good.folder.clone()).or_default();
            folder.extend(good.files.clone());
        }
        let good = loaded.good.iter();
        let folder_of = good.map(|(name, good)| (name.clone(), good.folder.clone()));
        let material = loaded
            .profiles
            .all()
            .filter_map(|(name, one)| Some((name.to_owned(), one.material.clone()?)));
        Self {
            hash: snapshot.hash.clone(),
            router: snapshot.desired.router.clone(),
            site: snapshot.desired.site.clone(),
            faults: wanted.faults,
            folder_of: folder_of.collect(),
            material: material.collect(),
            passwords: loaded.passwords.folders(),
            elements,
            items,
            folders,
        }
    }

    /// Returns the profiles with ordinals that the router would refuse, with the reasons. The
    /// router keeps its present version of them.
    pub(super) fn misnumbered(&self) -> impl Iterator<Item = (Key, String)> {
        let profiles = self
            .items
            .iter()
            .filter(|item| item.entity == Entity::SslProfile);
        profiles.filter_map(|item| {
            let why = misnumbered(&item.attributes)?;
            Some((item.key(), format!("sslProfile `{}`: {why}", item.name)))
        })
    }
}

/// Why the router would not take the numbers of a profile. It keeps them nevertheless, so they must not get there.
fn misnumbered(attributes: &Attributes) -> Option<String> {
    let number = |name: &str| {
        let text = Entity::SslProfile.effective(attributes, name)?;
        text.parse::<i64>().ok()
    };
    // Without one in the document, one that fits is found.
    attributes
        .get("ordinal")
        .and_then(super::schema::plain_text)?;
    let (ordinal, oldest) = (number("ordinal")?, number("oldestValidOrdinal")?);
    (oldest > ordinal).then(|| {
        format!(
            "`oldestValidOrdinal` {oldest} is greater than `ordinal` {ordinal}, expected it to be at most that"
        )
    })
}

/// The router takes any port, and never opens a socket at one that does not exist.
fn with_port(attributes: &Attributes) -> Result<Attributes, String> {
    let text = attributes
        .get("port")
        .and_then(super::schema::plain_text)
        .ok_or_else(|| Wrong::Missing("port").to_string())?;
    match text.parse::<u16>() {
        Ok(port) if port > 0 => Ok(attributes.clone()),
        Ok(_) | Err(_) => Err(Wrong::Port(text).to_string()),
    }
}

/// The good files of a profile.
#[derive(Clone, Debug, PartialEq)]
struct Good {
    profile: Profile,
    folder: String,
    files: BTreeMap<String, Vec<u8>>,
}

/// The profiles of the newest document, and their files that were good last.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) profiles: Profiles,
    good: BTreeMap<String, Good>,
    /// Profiles with valid files that cannot be written under their names.
    misplaced: BTreeMap<String, String>,
    /// The passwords of proxies.
    pub(super) passwords: Passwords,
}

impl Loaded {
    /// Takes over the profiles of a snapshot. Files that are no good change nothing.
    pub(super) fn update(&mut self, snapshot: &Snapshot) {
        self.passwords.update(snapshot);
        let wanted = &snapshot.desired.profiles;
        self.profiles.update(wanted, &snapshot.files);
        self.good.retain(|name, _| wanted.contains_key(name));
        self.misplaced.clear();
        for (name, entry) in wanted {
            let Some(loaded) = self.profiles.get(name) else {
                continue;
            };
            match &entry.wanted {
                Ok(profile) if loaded.wrong.is_none() => {
                    match Good::new(profile, &snapshot.files) {
                        Ok(good) => {
                            self.good.insert(name.clone(), good);
                        }
                        Err(why) => {
                            self.good.remove(name);
                            self.misplaced.insert(name.clone(), why);
                        }
                    }
                }
                Ok(_) if loaded.is_gone => {
                    self.good.remove(name);
                }
                // The files that were good before stay in use.
                Ok(_) => {}
                Err(_) => {
                    self.good.remove(name);
                }
            }
        }
    }

    /// Returns the problem of a profile at `now`, in seconds since 1970. It also reports problems
    /// of a profile that still has valid earlier files.
    pub(super) fn trouble(&self, name: &str, now: i64) -> Option<String> {
        let misplaced = self.misplaced.get(name).cloned();
        misplaced.or_else(|| self.profiles.get(name)?.trouble(now))
    }

    /// When the certificate of each profile ends, in seconds since 1970.
    pub(super) fn ends(&self) -> BTreeMap<String, i64> {
        let all = self.profiles.all();
        all.filter_map(|(name, one)| Some((name.to_owned(), one.expiry.as_ref()?.seconds)))
            .collect()
    }

    /// True if the problem of the profile is a sentence of its own.
    fn is_gone(&self, name: &str) -> bool {
        self.profiles.get(name).is_some_and(|one| one.is_gone)
    }

    /// The attributes of a profile for the router, with the files where they are written.
    fn profile(
        &self,
        name: &str,
        attributes: &Attributes,
        root: &Path,
    ) -> Result<Attributes, String> {
        let Some(good) = self.good.get(name) else {
            let why = self.trouble(name, 0);
            let why = why.unwrap_or_else(|| "it has no files yet".to_owned());
            let is_whole = self.is_gone(name);
            return Err(if is_whole {
                why
            } else {
                format!("sslProfile `{name}`: {why}")
            });
        };
        let mut attributes = attributes.clone();
        attributes.retain(|name, _| !FILES.contains(&name.as_str()));
        let pair = good.profile.pair.as_ref();
        let paths = [
            good.profile.ca.as_ref(),
            pair.map(|(chain, _)| chain),
            pair.map(|(_, key)| key),
        ];
        for (attribute, path) in FILES.into_iter().zip(paths) {
            if let Some(path) = path {
                let path = root.join(path).to_string_lossy().into_owned();
                attributes.insert(attribute.to_owned(), Value::String(path));
            }
        }
        Ok(attributes)
    }
}

impl Good {
    fn new(profile: &Profile, files: &Files) -> Result<Self, String> {
        let mut of: Option<&str> = None;
        let mut good = BTreeMap::new();
        for path in profile.files() {
            let named = path.split_once('/').filter(|(folder, name)| {
                !name.contains('/')
                    && !folder.starts_with("..")
                    && of.is_none_or(|of| of == *folder)
            });
            let Some((folder, name)) = named else {
                return Err(format!(
                    "file `{path}` cannot be written: name all files of the profile FOLDER/FILE, with one folder"
                ));
            };
            of = Some(folder);
            if let Some(Ok(bytes)) = files.get(path) {
                good.insert(name.to_owned(), bytes.clone());
            }
        }
        Ok(Self {
            profile: profile.clone(),
            folder: of.unwrap_or_default().to_owned(),
            files: good,
        })
    }
}
