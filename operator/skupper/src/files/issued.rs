//! Objects that a site has received or created, that no file declares, and that would be lost with
//! the process. These are Secrets and Links of tokens, which are issued only once, and certificates
//! with their keys, by which other sites know this one. They are kept below `runtime/issued`,
//! readable only for the user of the process, and put back before anything is reconciled. If no
//! file declares a token any more, the objects issued to it are removed, too.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use kube::api::{DeleteParams, DynamicObject, ListParams, Patch, PatchParams, PostParams};
use kube::{Api, ResourceExt};
use lifecycle_router::{file, plain};
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::documents::{ObjectKey, is_secret};
use super::memory::Known;
use super::store::{Store, is_absent};
use super::written::{Readers, WrittenFolder};
use crate::access_token::TOKEN;
use crate::grants::service::AUTHORITY;

/// Below the directory of a site.
pub(super) const ISSUED: &str = "runtime/issued";
/// Kinds that are kept, owners first: so each finds its own when it is put back.
const KINDS: [&str; 5] = [
    "RouterAccess",
    "SecuredAccess",
    "Certificate",
    "Secret",
    "Link",
];
/// Kinds that a token is given.
const GIVEN: [&str; 2] = ["Secret", "Link"];
/// Kinds that lifecycles make. Secrets count if a Certificate owns them.
const MADE: [&str; 3] = ["RouterAccess", "SecuredAccess", "Certificate"];
/// How the names of files of Secrets begin.
const SECRET: &str = "Secret-";
/// Folder below it for Secrets that are no longer requested.
const REMOVED: &str = "removed";
/// Fields of `metadata` that are kept.
const KEPT: [&str; 5] = [
    "name",
    "namespace",
    "labels",
    "annotations",
    "ownerReferences",
];
/// Field manager of objects that no client has applied.
const MANAGER: &str = "issued";
/// Beside the parts of an object: who has applied it, and does so again.
const APPLIED_BY: &str = "appliedBy";

/// Reason why issued objects cannot be used again.
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
        "{} is corrupt: restore it, or remove it. Its content is then created anew; in place of a token, a new one must be redeemed",
        plain::path(path)
    )]
    Broken {
        /// The file.
        path: PathBuf,
    },
}

/// Files of issued objects.
#[derive(Debug)]
pub(super) struct Issued {
    path: PathBuf,
    folder: WrittenFolder,
    /// Objects that an earlier process left.
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
            path,
        })
    }

    /// True if a process before has issued nothing.
    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// Returns true if other sites can reach this one through an object that an earlier process has
    /// issued.
    pub(super) fn is_reached(&self) -> bool {
        let mut objects = self.objects.iter();
        objects.any(|(key, _)| key.kind == "SecuredAccess")
    }

    /// Returns work that finds files removed by another process.
    pub(super) fn looking(&self) -> impl FnOnce() -> Vec<String> + Send + 'static {
        self.folder.looking()
    }

    /// Records that another process has removed files. Their content is in use, and the next save
    /// writes it again.
    pub(super) fn lost(&mut self, names: &[String]) {
        for name in names {
            self.folder.forget(name);
            let path = plain::path(&self.path.join(name));
            tracing::warn!(
                "{path} was removed while the site is served, which has no effect: it is written again; to have it made anew, remove it while no \
                 process serves the site"
            );
        }
    }

    /// Saves the currently issued objects. Returns true on success.
    pub(super) fn keep(&mut self, now: &BTreeMap<String, String>) -> bool {
        let texts = self.folder.texts().iter();
        let gone = texts.filter(|(name, _)| name.starts_with(SECRET) && !now.contains_key(*name));
        for (name, text) in gone {
            if let Err(error) = self.put_aside(name, text) {
                let path = plain::path(&self.path.join(name));
                tracing::warn!("{path} cannot be put aside, and stays: {error}");
                return false;
            }
        }
        self.folder.keep(now)
    }

    /// Moves a removed Secret aside. No second copy of a key exists, and its owner may have been
    /// removed by mistake.
    fn put_aside(&self, name: &str, text: &str) -> io::Result<()> {
        let folder = self.path.join(REMOVED);
        fs::create_dir_all(&folder)?;
        let to = folder.join(name);
        file::replace_secret(&to, text.as_bytes())?;
        let (name, to) = (plain::plain(name), plain::path(&to));
        tracing::warn!("{name} is no longer requested; it was moved to {to}");
        Ok(())
    }
}

fn object(text: &str) -> Option<(ObjectKey, Value)> {
    let object: Value = serde_saphyr::from_str(text).ok()?;
    let kind = KINDS.iter().find(|kind| object["kind"] == **kind)?;
    let name = object["metadata"]["name"].as_str()?.to_owned();
    let key = ObjectKey { kind, name };
    let is_whole = key.kind != "Secret" || is_secret(&object);
    (is_whole && is_kept(&key, &object)).then_some((key, object))
}

/// Returns true if the object must be saved because no file declares it.
fn is_kept(key: &ObjectKey, object: &Value) -> bool {
    let is_secret = key.kind == "Secret";
    let certified = || owners(object).any(|owner| owner["kind"] == "Certificate");
    MADE.contains(&key.kind)
        || token(object).is_some()
        || is_secret && (key.name == AUTHORITY || certified())
}

fn owners(object: &Value) -> impl Iterator<Item = &Value> {
    let all = object["metadata"]["ownerReferences"].as_array();
    all.into_iter().flatten()
}

/// Field manager that has applied an object.
fn applied_by(object: &DynamicObject) -> Option<String> {
    let mut managers = object.metadata.managed_fields.iter().flatten();
    let applies = |operation: &str| operation == "Apply";
    let found = managers.find(|m| m.operation.as_deref().is_some_and(applies));
    found?.manager.clone()
}

/// The uid of the token that was given an object.
fn token(object: &Value) -> Option<&str> {
    object["metadata"]["annotations"][TOKEN].as_str()
}

impl Store {
    /// Puts back the issued objects: those of tokens that are still declared, and those with
    /// existing owners. An object that a file declares by now is left alone.
    ///
    /// # Errors
    /// The API server refuses it.
    pub(super) async fn put_back(&self, issued: &Issued, known: &Known) -> kube::Result<()> {
        let uids = self.uids(known).await?;
        let rank = |key: &ObjectKey| KINDS.iter().position(|kind| *kind == key.kind);
        let mut objects: Vec<_> = issued.objects.iter().collect();
        objects.sort_by_key(|(key, _)| rank(key));
        for (key, object) in objects {
            if self.applied.contains_key(key) {
                continue;
            }
            let mut object = object.clone();
            if let Some(of) = token(&object) {
                let Some(uid) = uids.get(of) else {
                    continue;
                };
                object["metadata"]["annotations"][TOKEN] = uid.as_str().into();
            }
            if self.owned(&mut object).await? {
                self.write_object(key, object).await?;
            }
        }
        Ok(())
    }

    /// Updates the owner references of an object to the owners' current uids. Returns true if all
    /// owners exist.
    async fn owned(&self, object: &mut Value) -> kube::Result<bool> {
        let owners = object["metadata"]["ownerReferences"].as_array_mut();
        for owner in owners.into_iter().flatten() {
            let (kind, name) = (owner["kind"].as_str(), owner["name"].as_str());
            let key = kind.zip(name).and_then(|(k, n)| ObjectKey::for_kind(k, n));
            let Some(key) = key else {
                return Ok(false);
            };
            let there = self.api(&key).get_opt(&key.name).await?;
            let Some(uid) = there.and_then(|there| there.uid()) else {
                return Ok(false);
            };
            owner["uid"] = uid.into();
        }
        Ok(true)
    }

    async fn write_object(&self, key: &ObjectKey, mut object: Value) -> kube::Result<()> {
        let fields = object.as_object_mut();
        let by = fields.and_then(|fields| fields.remove(APPLIED_BY));
        let api = self.api(key);
        if let Some(by) = by.as_ref().and_then(Value::as_str) {
            let params = PatchParams::apply(by).force();
            api.patch(&key.name, &params, &Patch::Apply(object)).await?;
            return Ok(());
        }
        let params = PostParams {
            field_manager: Some(MANAGER.to_owned()),
            ..PostParams::default()
        };
        let object = serde_json::from_value(object).map_err(kube::Error::SerdeError)?;
        api.create(&params, &object).await?;
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

    /// Returns the objects that are issued now, as YAML by the names of their files.
    ///
    /// # Errors
    /// The API server does not answer.
    pub(super) async fn issued(&self) -> anyhow::Result<BTreeMap<String, String>> {
        let mut issued = BTreeMap::new();
        for (key, mut object) in self.list_matching(&KINDS, is_kept).await? {
            // An object that a file declares is kept in that file.
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

    /// Removes objects that were issued to tokens that no longer exist.
    ///
    /// # Errors
    /// The API server does not answer.
    pub(super) async fn revoke(&self) -> kube::Result<()> {
        let tokens: Api<_> = self.api(&ObjectKey::token(""));
        let tokens = tokens.list(&ListParams::default()).await?;
        let there: BTreeSet<String> = tokens.iter().filter_map(ResourceExt::uid).collect();
        let gone = |uid: &str| !there.contains(uid);
        let left = |_: &ObjectKey, object: &Value| token(object).is_some_and(gone);
        for (key, _) in self.list_matching(&GIVEN, left).await? {
            let (api, params) = (self.api(&key), DeleteParams::background());
            match api.delete(&key.name, &params).await {
                Err(error) if is_absent(&error) => {}
                deleted => drop(deleted?),
            }
        }
        Ok(())
    }

    /// Gives Links the cost that their tokens have in their files now. The lifecycle creates Links
    /// once, and no other client can edit them here.
    ///
    /// # Errors
    /// The API server does not answer.
    pub(super) async fn set_costs(&self) -> kube::Result<()> {
        let tokens: Api<_> = self.api(&ObjectKey::token(""));
        let mut costs = BTreeMap::new();
        for one in tokens.list(&ListParams::default()).await? {
            let cost = one.data["spec"]["linkCost"].as_i64();
            if let (Some(uid), Some(cost)) = (one.uid(), cost.filter(|cost| *cost > 0)) {
                costs.insert(uid, (cost, one.name_any()));
            }
        }
        let is_given = |_: &ObjectKey, object: &Value| token(object).is_some();
        for (key, link) in self.list_matching(&["Link"], is_given).await? {
            let wanted = token(&link).and_then(|uid| costs.get(uid));
            let Some((cost, name)) = wanted.filter(|_| !self.applied.contains_key(&key)) else {
                continue;
            };
            if link["spec"]["cost"].as_i64() == Some(*cost) {
                continue;
            }
            let patch = Patch::Merge(json!({ "spec": { "cost": cost } }));
            let params = PatchParams::default();
            self.api(&key).patch(&key.name, &params, &patch).await?;
            let [key, name] = [&key.to_string(), name].map(|text| plain::plain(text));
            tracing::info!("the cost of {key} is now {cost}, as set in AccessToken {name}");
        }
        Ok(())
    }

    /// Objects of these kinds that are so, and do not go already.
    async fn list_matching(
        &self,
        kinds: &[&'static str],
        is: impl Fn(&ObjectKey, &Value) -> bool,
    ) -> kube::Result<Vec<(ObjectKey, Value)>> {
        let mut found = Vec::new();
        for kind in kinds {
            let any = ObjectKey {
                kind,
                name: String::new(),
            };
            for object in self.api(&any).list(&ListParams::default()).await? {
                let key = ObjectKey {
                    kind,
                    name: object.name_any(),
                };
                let goes = object.metadata.deletion_timestamp.is_some();
                let by = applied_by(&object);
                let mut value = serde_json::to_value(object).map_err(kube::Error::SerdeError)?;
                if goes || !is(&key, &value) {
                    continue;
                }
                value["kind"] = (*kind).into();
                value["apiVersion"] = any.version().into();
                if let Some(by) = by {
                    value[APPLIED_BY] = by.into();
                }
                found.push((key, value));
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
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
            assert!(error.contains("Secret-east.yaml is corrupt"), "{error}");
            assert_eq!(fs::read_to_string(&file).expect("it is there"), broken);
        }
    }

    #[test]
    fn a_file_that_is_removed_while_the_site_is_served_is_written_again() {
        let site = tempfile::tempdir().expect("a folder");
        let file = site.path().join(ISSUED).join("Secret-east.yaml");
        let mut issued = Issued::open(site.path()).expect("it is made");
        let files = BTreeMap::from([("Secret-east.yaml".to_owned(), "key".to_owned())]);
        assert!(issued.keep(&files));
        assert!(issued.looking()().is_empty());
        let removals: [fn(&Path); 2] = [
            |file| fs::remove_file(file).expect("it is there"),
            |file| fs::remove_dir_all(file.parent().expect("it has one")).expect("it is there"),
        ];
        for remove in removals {
            remove(&file);
            let lost = issued.looking()();
            assert_eq!(lost, ["Secret-east.yaml"]);
            issued.lost(&lost);
            assert!(issued.keep(&files));
            assert_eq!(fs::read_to_string(&file).expect("it is there"), "key");
        }
        assert!(!site.path().join(ISSUED).join(REMOVED).exists());
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
