//! Knowledge about the ConfigMap and its Secrets, and the configuration that follows. Pure: news
//! in, snapshots out. An object that cannot be read keeps its last content. An object that is known
//! to be gone is gone, but a document stays.

use std::collections::{BTreeMap, BTreeSet};

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::{ConfigMap, Secret};

use super::cache::Copy;
use super::reference::ConfigMapRef;
use super::secrets::{Content, is_object_name, key_of, of_links, secret_of};
use super::watch::Watched;
use crate::cause;
use crate::config::{self, Desired, Profile, proxies};
use crate::snapshot::{DOCUMENT, Snapshot};
use crate::state::{State, Status};
use crate::tls::MissingFile;

/// Everything that is known.
#[derive(Debug)]
pub(super) struct Known {
    what: String,
    document: Option<Document>,
    error: Option<String>,
    secrets: BTreeMap<String, Content>,
    /// Files that were good, by path: of the last good copy.
    kept: BTreeMap<String, ByteString>,
    /// True if the passwords of proxies are needed, too.
    has_proxies: bool,
}

#[derive(Debug)]
struct Document {
    text: String,
    desired: Desired,
    /// The profiles of links.
    links: BTreeSet<String>,
}

impl Document {
    fn read(text: &str) -> Result<Self, config::Error> {
        Ok(Self {
            desired: config::read(text.as_bytes())?,
            links: of_links(text),
            text: text.to_owned(),
        })
    }

    fn secret_of<'a>(&self, name: &'a str, profile: &Profile) -> Option<&'a str> {
        secret_of(name, profile, self.links.contains(name))
    }

    fn profiles(&self) -> impl Iterator<Item = (&str, &Profile)> {
        let all = self.desired.profiles.iter();
        all.filter_map(|(name, entry)| Some((name.as_str(), entry.wanted.as_ref().ok()?)))
    }
}

impl Known {
    /// Returns the initial knowledge, before any query.
    pub(super) fn new(config_map: &ConfigMapRef, copy: Option<Copy>) -> Self {
        let (text, kept) =
            copy.map_or_else(Default::default, |copy| (Some(copy.document), copy.files));
        Self {
            what: format!("ConfigMap {}/{}", config_map.namespace, config_map.name),
            document: text.and_then(|text| Document::read(&text).ok()),
            error: None,
            secrets: BTreeMap::new(),
            kept,
            has_proxies: false,
        }
    }

    /// The same, with the passwords of proxies if they are needed.
    pub(super) fn with_proxies(self, has_proxies: bool) -> Self {
        Self {
            has_proxies,
            ..self
        }
    }

    /// Learns of the ConfigMap.
    pub(super) fn document(&mut self, watched: Watched<ConfigMap>) {
        let what = &self.what;
        self.error = match watched {
            Watched::There(map) => {
                let text = map.data.as_ref().and_then(|data| data.get(DOCUMENT));
                match text.map(|text| Document::read(text)) {
                    Some(Ok(document)) => {
                        self.document = Some(document);
                        None
                    }
                    Some(Err(error)) => {
                        Some(format!("cannot use {what}: {}", cause::chain(&error)))
                    }
                    None => Some(format!("{what} has no `{DOCUMENT}`")),
                }
            }
            Watched::Absent => Some(format!("{what} not found")),
            // The applied document may well be the newest.
            Watched::Unknown(_) if self.document.is_some() => return,
            Watched::Unknown(why) => Some(format!("cannot read {what}: {why}")),
        };
    }

    /// Learns of a Secret.
    pub(super) fn secret(&mut self, name: &str, watched: Watched<Secret>) {
        if let Some(content) = self.secrets.get_mut(name) {
            match (watched, &content) {
                (Watched::There(secret), _) => {
                    *content = Content::There(secret.data.unwrap_or_default());
                }
                (Watched::Absent, _) => *content = Content::Absent,
                (Watched::Unknown(why), Content::Unasked | Content::Unknown(_)) => {
                    *content = Content::Unknown(why);
                }
                (Watched::Unknown(_), Content::Absent | Content::There(_)) => {}
            }
        }
    }

    /// The Secret of a profile of the document.
    fn secret_of<'a>(&self, name: &'a str, profile: &Profile) -> Option<&'a str> {
        self.document.as_ref()?.secret_of(name, profile)
    }

    /// The Secrets that the document names.
    pub(super) fn secrets(&self) -> BTreeSet<String> {
        let profiles = self.document.iter().flat_map(Document::profiles);
        let names = profiles.filter_map(|(name, profile)| self.secret_of(name, profile));
        names.chain(self.proxies()).map(str::to_owned).collect()
    }

    /// Returns the proxies with a password. Each has the name of its Secret.
    fn proxies(&self) -> impl Iterator<Item = &str> {
        let document = self.document.iter().filter(|_| self.has_proxies);
        let names = document.flat_map(|document| &document.desired.proxies);
        names
            .map(String::as_str)
            .filter(|name| is_object_name(name))
    }

    /// Forgets all Secrets but these.
    pub(super) fn keep_secrets(&mut self, wanted: &BTreeSet<String>) {
        self.secrets.retain(|name, _| wanted.contains(name));
        for name in wanted {
            let content = self.secrets.entry(name.clone());
            content.or_insert(Content::Unasked);
        }
    }

    /// Returns true if the first answer about a Secret is still to come, and no copy is available
    /// meanwhile.
    pub(super) fn waits(&self) -> bool {
        let is_unasked = |secret: &str| matches!(self.secrets.get(secret), Some(Content::Unasked));
        let mut profiles = self.document.iter().flat_map(Document::profiles);
        let waits = profiles.any(|(name, profile)| {
            let secret = self.secret_of(name, profile);
            secret.is_some_and(is_unasked) && !self.is_kept(profile)
        });
        let is_kept = |name: &str| self.kept.contains_key(&proxies::file(name));
        waits
            || self
                .proxies()
                .any(|name| is_unasked(name) && !is_kept(name))
    }

    /// Returns true if copies of everything that the profile needs are kept. A pair works without
    /// an authority.
    fn is_kept(&self, profile: &Profile) -> bool {
        let has = |path: &String| self.kept.contains_key(path);
        match (&profile.pair, &profile.ca) {
            (Some((chain, key)), _) => has(chain) && has(key),
            (None, Some(ca)) => has(ca),
            (None, None) => false,
        }
    }

    /// Why the ConfigMap as it is now is not applied.
    pub(super) fn error(&self) -> Option<&str> {
        self.error.as_deref()
    }

    /// Returns the configuration to apply; absent before there was a document.
    pub(super) fn snapshot(&self) -> Option<Snapshot> {
        let document = self.document.as_ref()?;
        let file = |name: &str, profile: &Profile, path: &str| self.file(name, profile, path);
        let mut snapshot = Snapshot::read(document.text.as_bytes(), file).ok()?;
        for (name, entry) in &mut snapshot.desired.profiles {
            // Secrets of type kubernetes.io/tls need no authority, and who verifies no clients needs none either.
            if let Ok(profile) = &mut entry.wanted
                && profile.pair.is_some()
                && let Some(ca) = profile.ca.clone()
                && self.lacks(name, profile, &ca)
            {
                snapshot.files.remove(&ca);
                profile.ca = None;
            }
        }
        Some(match self.has_proxies {
            true => snapshot.with_passwords(|name| self.password(name)),
            false => snapshot,
        })
    }

    /// Returns true if the Secret exists without this key. Before the Secret is known, returns true
    /// if a copy exists without the key.
    fn lacks(&self, name: &str, profile: &Profile, path: &str) -> bool {
        let secret = self.secret_of(name, profile);
        let secret = secret.and_then(|secret| self.secrets.get(secret));
        match (secret, key_of(name, path)) {
            (Some(Content::There(data)), Some(key)) => !data.contains_key(key),
            (Some(Content::Unasked | Content::Unknown(_)) | None, Some(_)) => {
                self.is_kept(profile) && !self.kept.contains_key(path)
            }
            (Some(Content::Absent), _) | (_, None) => false,
        }
    }

    fn file(&self, name: &str, profile: &Profile, path: &str) -> Result<Vec<u8>, MissingFile> {
        let unread = |why: &str| MissingFile::Unread(why.to_owned());
        let secret = self
            .secret_of(name, profile)
            .ok_or_else(|| unread("no Secret can have this name"))?;
        let key =
            key_of(name, path).ok_or_else(|| unread("it is not in the folder of its profile"))?;
        let kept = |why: &str| {
            let bytes = self.kept.get(path).map(|bytes| bytes.0.clone());
            bytes.ok_or_else(|| unread(why))
        };
        match self.secrets.get(secret) {
            Some(Content::There(data)) => {
                let bytes = data.get(key).map(|bytes| bytes.0.clone());
                bytes
                    .ok_or_else(|| MissingFile::Unread(format!("Secret `{secret}` has no `{key}`")))
            }
            Some(Content::Absent) => {
                let gone = format!("TLS credentials secret \"{secret}\" not found");
                Err(MissingFile::Gone(gone))
            }
            Some(Content::Unknown(why)) => kept(why),
            Some(Content::Unasked) | None => kept("the API server has not answered yet"),
        }
    }

    /// The password of a proxy.
    fn password(&self, name: &str) -> Result<Vec<u8>, MissingFile> {
        let kept = |why: &str| {
            let bytes = self.kept.get(&proxies::file(name));
            let bytes = bytes.map(|bytes| bytes.0.clone());
            bytes.ok_or_else(|| MissingFile::Unread(why.to_owned()))
        };
        match self.secrets.get(name) {
            Some(Content::There(data)) => {
                let bytes = data.get("password").filter(|bytes| !bytes.0.is_empty());
                let bytes = bytes.map(|bytes| bytes.0.clone());
                bytes.ok_or_else(|| {
                    MissingFile::Unread(format!("Secret `{name}` has no `password`"))
                })
            }
            Some(Content::Absent) => {
                let gone = format!("Secret \"{name}\" not found for proxy configuration");
                Err(MissingFile::Gone(gone))
            }
            Some(Content::Unknown(why)) => kept(why),
            Some(Content::Unasked) => kept("the API server has not answered yet"),
            None => Err(MissingFile::Unread(
                "no Secret can have this name".to_owned(),
            )),
        }
    }

    /// Returns the content worth keeping on disk: the document, and for each profile the files that
    /// handshakes use. It counts as the last good copy from now on.
    pub(super) fn copy(&mut self, state: &State) -> Option<Copy> {
        let document = self.document.as_ref()?;
        let mut files = BTreeMap::new();
        for (name, profile) in document.profiles() {
            let entry = state.entry("sslProfile", name);
            let is_good = entry.is_some_and(|entry| entry.status == Status::Up);
            for path in profile.files() {
                let bytes = match self.file(name, profile, path) {
                    Ok(bytes) if is_good => Some(ByteString(bytes)),
                    Err(MissingFile::Gone(_)) => None,
                    // A working profile keeps working without the unread file.
                    Err(MissingFile::Unread(_)) if is_good && self.lacks(name, profile, path) => {
                        None
                    }
                    Ok(_) | Err(MissingFile::Unread(_)) => self.kept.get(path).cloned(),
                };
                files.extend(bytes.map(|bytes| (path.to_owned(), bytes)));
            }
        }
        for name in self.proxies() {
            let path = proxies::file(name);
            let bytes = match self.password(name) {
                Ok(bytes) => Some(ByteString(bytes)),
                Err(MissingFile::Gone(_)) => None,
                Err(MissingFile::Unread(_)) => self.kept.get(&path).cloned(),
            };
            files.extend(bytes.map(|bytes| (path, bytes)));
        }
        let text = document.text.clone();
        self.kept.clone_from(&files);
        Some(Copy {
            document: text,
            files,
        })
    }
}

#[cfg(test)]
mod tests;
