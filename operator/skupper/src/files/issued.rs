//! What tokens of a site were given: Secrets and Links that no file asks for, and that nobody gives twice. Kept below `runtime/issued` for the
//! user of the process alone to read, and put back before anything is reconciled. A token that no file asks for any more takes them with it.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};

use kube::api::{DeleteParams, ListParams, PostParams};
use kube::{Api, ResourceExt};
use lifecycle_router::plain;
use serde_json::{Map, Value};
use thiserror::Error;

use super::documents::ObjectKey;
use super::memory::Known;
use super::store::{Store, is_absent};
use super::written::{Readers, WrittenFolder};
use crate::access_token::TOKEN;

/// Below the directory of a site.
pub(super) const ISSUED: &str = "runtime/issued";
/// What a token is given.
const KINDS: [&str; 2] = ["Secret", "Link"];
/// What of `metadata` is kept.
const KEPT: [&str; 5] = [
    "name",
    "namespace",
    "labels",
    "annotations",
    "ownerReferences",
];
/// Who puts them back.
const MANAGER: &str = "issued";

/// Why what was issued cannot be used again.
#[derive(Debug, Error)]
pub(super) enum Error {
    /// The folder cannot be used.
    #[error("cannot use {}", plain::path(path))]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file is not as we wrote it.
    #[error(
        "{} is broken: put it back as it was, or remove it and redeem another token",
        plain::path(path)
    )]
    Broken {
        /// The file.
        path: PathBuf,
    },
}

/// The files of what was issued.
#[derive(Debug)]
pub(super) struct Issued {
    folder: WrittenFolder,
    /// What a process before has left.
    objects: Vec<(ObjectKey, Value)>,
}

impl Issued {
    /// Of the site in this directory.
    ///
    /// # Errors
    /// It cannot be read, or is broken: nothing of it is lost.
    pub(super) fn open(directory: &Path) -> Result<Self, Error> {
        let path = directory.join(ISSUED);
        let folder = WrittenFolder::open(path.clone(), Readers::Owner);
        let folder = folder.map_err(|source| Error::Folder {
            path: path.clone(),
            source,
        })?;
        let read = |(name, text): (&String, &String)| {
            let broken = || Error::Broken {
                path: path.join(name),
            };
            object(text).ok_or_else(broken)
        };
        let objects: Result<_, _> = folder.texts().iter().map(read).collect();
        Ok(Self {
            objects: objects?,
            folder,
        })
    }

    /// Keeps what is issued now. Tells whether that worked.
    pub(super) fn keep(&mut self, now: &BTreeMap<String, String>) -> bool {
        self.folder.keep(now)
    }
}

fn object(text: &str) -> Option<(ObjectKey, Value)> {
    let object: Value = serde_saphyr::from_str(text).ok()?;
    let kind = KINDS.iter().find(|kind| object["kind"] == **kind)?;
    let name = object["metadata"]["name"].as_str()?.to_owned();
    token(&object)?;
    Some((ObjectKey { kind, name }, object))
}

/// The uid of the token that was given an object.
fn token(object: &Value) -> Option<&str> {
    object["metadata"]["annotations"][TOKEN].as_str()
}

impl Store {
    /// Puts back what was issued to tokens that are still asked for. What a file asks for meanwhile is left alone.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(super) async fn put_back(&self, issued: &Issued, known: &Known) -> kube::Result<()> {
        let uids = self.uids(known).await?;
        let params = PostParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PostParams::default()
        };
        for (key, object) in &issued.objects {
            let Some(uid) = token(object).and_then(|uid| uids.get(uid)) else {
                continue;
            };
            let mut object = object.clone();
            object["metadata"]["annotations"][TOKEN] = uid.as_str().into();
            for owner in object["metadata"]["ownerReferences"]
                .as_array_mut()
                .into_iter()
                .flatten()
            {
                if let Some(uid) = owner["uid"].as_str().and_then(|uid| uids.get(uid)) {
                    owner["uid"] = uid.as_str().into();
                }
            }
            let object = serde_json::from_value(object).map_err(kube::Error::SerdeError)?;
            match self.api(key).create(&params, &object).await {
                Err(kube::Error::Api(status)) if status.code == 409 => {}
                made => drop(made?),
            }
        }
        Ok(())
    }

    /// The uids of objects that files ask for, by those that they had before.
    async fn uids(&self, known: &Known) -> kube::Result<BTreeMap<String, String>> {
        let mut uids = BTreeMap::new();
        for key in self.applied.keys() {
            let before = known.objects.get(&key.to_string());
            let now = self.api(key).get_opt(&key.name).await?;
            if let (Some(before), Some(now)) = (before, now.and_then(|now| now.uid())) {
                uids.insert(before.uid.clone(), now);
            }
        }
        Ok(uids)
    }

    /// What is issued now, as YAML by the names of its files.
    ///
    /// # Errors
    /// The API server does not answer.
    pub(super) async fn issued(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let mut issued = BTreeMap::new();
        for (key, mut object) in self.of_tokens(|_| true).await? {
            // What a file asks for is kept there.
            if self.applied.contains_key(&key) {
                continue;
            }
            let metadata = object["metadata"].as_object_mut().map(std::mem::take);
            let mut metadata: Map<String, Value> = metadata.unwrap_or_default();
            metadata.retain(|field, _| KEPT.contains(&field.as_str()));
            object["metadata"] = metadata.into();
            if let Some(fields) = object.as_object_mut() {
                fields.remove("status");
            }
            let name = format!("{}-{}.yaml", key.kind, key.name);
            issued.insert(name, serde_saphyr::to_string(&object)?);
        }
        Ok(issued)
    }

    /// Removes what was issued to tokens that are not there.
    ///
    /// # Errors
    /// The API server does not answer.
    pub(super) async fn revoke(&self) -> kube::Result<()> {
        let tokens: Api<_> = self.api(&ObjectKey::token(""));
        let tokens = tokens.list(&ListParams::default()).await?;
        let there: BTreeSet<String> = tokens.iter().filter_map(ResourceExt::uid).collect();
        let left = self.of_tokens(|uid| !there.contains(uid)).await?;
        for (key, _) in left {
            let (api, params) = (self.api(&key), DeleteParams::background());
            match api.delete(&key.name, &params).await {
                Err(error) if is_absent(&error) => {}
                deleted => drop(deleted?),
            }
        }
        Ok(())
    }

    /// What was issued to tokens with such uids, and does not go already.
    async fn of_tokens(&self, is: impl Fn(&str) -> bool) -> kube::Result<Vec<(ObjectKey, Value)>> {
        let mut found = Vec::new();
        for kind in KINDS {
            let any = ObjectKey {
                kind,
                name: String::new(),
            };
            for object in self.api(&any).list(&ListParams::default()).await? {
                let name = object.name_any();
                let goes = object.metadata.deletion_timestamp.is_some();
                let mut value = serde_json::to_value(object).map_err(kube::Error::SerdeError)?;
                if goes || !token(&value).is_some_and(&is) {
                    continue;
                }
                value["kind"] = kind.into();
                value["apiVersion"] = any.version().into();
                found.push((ObjectKey { kind, name }, value));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_broken_is_not_lost() {
        let site = tempfile::tempdir().expect("a folder");
        let folder = site.path().join(ISSUED);
        assert!(
            Issued::open(site.path())
                .expect("it is made")
                .objects
                .is_empty()
        );
        let file = folder.join("Secret-east.yaml");
        let whole = "kind: Secret\nmetadata: { name: east, annotations: { internal.skupper.io/token: uid } }\n";
        fs::write(&file, whole).expect("a file");
        assert_eq!(
            Issued::open(site.path())
                .expect("it can be read")
                .objects
                .len(),
            1
        );
        for broken in [
            "{",
            "",
            "kind: Site\n",
            "kind: Secret\nmetadata: { name: east }\n",
        ] {
            fs::write(&file, broken).expect("a file");
            let error = Issued::open(site.path())
                .expect_err("it is broken")
                .to_string();
            assert!(error.contains("Secret-east.yaml is broken"), "{error}");
            assert_eq!(fs::read_to_string(&file).expect("it is there"), broken);
        }
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_reads_what_was_issued() {
        use std::os::unix::fs::PermissionsExt as _;

        let site = tempfile::tempdir().expect("a folder");
        let mut issued = Issued::open(site.path()).expect("it is made");
        let files = BTreeMap::from([("Secret-east.yaml".to_owned(), "key".to_owned())]);
        assert!(issued.keep(&files));
        let mode = |path: &str| {
            let metadata = fs::metadata(site.path().join(path)).expect("it is there");
            metadata.permissions().mode() & 0o777
        };
        assert_eq!(mode(ISSUED), 0o700);
        assert_eq!(mode("runtime/issued/Secret-east.yaml"), 0o600);
    }
}
