//! A Git repository whose newest revision is kept. A remote is queried by address, branch and
//! credentials, and all objects with the same query share the result.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::{Because, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::provider::{Provider, ProviderState};

/// Desired state of a GitRepository.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "git.tests",
    version = "v1",
    kind = "GitRepository",
    namespaced,
    status = "GitRepositoryStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct GitRepositorySpec {
    /// URL of the repository.
    pub url: String,
    /// Branch of the repository.
    pub branch: String,
    /// Interval of the poll, such as `5m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interval: Option<String>,
    /// True if fetching is suspended for now.
    #[serde(default)]
    pub suspended: bool,
    /// The Secret with the password.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret_ref: Option<String>,
    /// The Secret with the keys of those who may sign.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verify_ref: Option<String>,
}

/// Observed state of a GitRepository.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct GitRepositoryStatus {
    /// Generation that the rest of the status is about.
    #[serde(default)]
    pub observed_generation: Option<i64>,
    /// Fetched, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// State of a branch, as a remote reports it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Head {
    /// Its newest revision, and who signed it.
    At {
        /// Of all that there are.
        revision: String,
        /// The name of a key.
        signer: String,
    },
    /// The password is wrong or missing.
    Denied,
    /// The branch does not exist.
    Missing,
    /// It answers that it is out of order.
    Broken,
}

/// Archive that the store keeps for one object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Archive(pub Option<String>);

/// All remotes, which are at one revision, and the store with an archive for each object.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Forge {
    revision: u32,
    archives: BTreeMap<String, String>,
}

/// A forge outside the cluster, and the store.
pub type Remotes = Provider<Forge>;

include!("../../../macros/core/tests/lifecycles/git.txt");

impl ProviderState for Forge {
    fn leftovers(&self) -> Vec<String> {
        let archives = self.archives.iter();
        archives
            .map(|(uid, revision)| format!("the archive {revision} of {uid}"))
            .collect()
    }

    const MEDDLINGS: &[&str] = &["push a revision", "empty the store", "spoil the archives"];

    fn perturb(&mut self, what: &str) {
        match what {
            "push a revision" => self.revision = 1 - self.revision,
            "empty the store" => self.archives.clear(),
            _ => self
                .archives
                .values_mut()
                .for_each(|revision| "nothing".clone_into(revision)),
        }
    }
}

/// The logic of a GitRepository: where its remote and its store are.
pub struct FromForge(pub Remotes);

impl FromForge {
    /// Returns the forge's answer about this branch to a client with this password.
    fn head(forge: &Forge, spec: &GitRepositorySpec, password: Option<&str>) -> Head {
        match spec.url.as_str() {
            "https://broken" => Head::Broken,
            "https://private" if password != Some("right") => Head::Denied,
            _ if spec.branch == "gone" => Head::Missing,
            url => Head::At {
                revision: format!("{url}/{}@{}", spec.branch, forge.revision),
                signer: "alice".to_owned(),
            },
        }
    }
}

fn secret_text<'a>(secret: &'a Secret, key: &str) -> Option<&'a str> {
    let value = secret.data.as_ref()?.get(key)?;
    std::str::from_utf8(&value.0).ok()
}

fn uid(meta: &ObjectMeta) -> String {
    meta.uid.clone().unwrap_or_default()
}

impl GitRepositoryLogic for FromForge {
    async fn poll_remote(
        &self,
        this: This<'_, GitRepository>,
        secret: Option<&Secret>,
    ) -> Result<Head, CallError> {
        let password = secret.and_then(|secret| secret_text(secret, "password"));
        let what = format!("look at {}/{}", this.spec.url, this.spec.branch);
        let look = |forge: &mut Forge| Ok(Self::head(forge, this.spec, password));
        self.0.query(&what, look).await
    }

    async fn poll_archive(&self, this: This<'_, GitRepository>) -> Result<Archive, CallError> {
        let uid = uid(this.meta);
        let look = |forge: &mut Forge| Ok(Archive(forge.archives.get(&uid).cloned()));
        self.0
            .query(&format!("look for the archive of {uid}"), look)
            .await
    }

    fn suspended(&self, this: This<'_, GitRepository>) -> Because<bool> {
        Because::plain(this.spec.suspended)
    }

    fn head(&self, this: This<'_, GitRepository>, remote: &Head) -> Because<HeadValue> {
        let (url, branch) = (&this.spec.url, &this.spec.branch);
        match remote {
            Head::At { .. } => Because::plain(HeadValue::Found),
            Head::Denied => Because::new(
                HeadValue::NoAuth,
                format!("{url} wants a password: name a Secret with it in spec.secretRef"),
            ),
            Head::Missing => {
                Because::new(HeadValue::NoBranch, format!("{url} has no branch {branch}"))
            }
            Head::Broken => Because::new(HeadValue::Down, format!("{url} is out of order")),
        }
    }

    fn signed(
        &self,
        _: This<'_, GitRepository>,
        remote: &Head,
        keys: Option<&Secret>,
    ) -> Because<Signed> {
        match (remote, keys) {
            (Head::At { signer, .. }, Some(keys)) if secret_text(keys, signer).is_none() => {
                Because::new(
                    Signed::Bad,
                    format!("the revision is signed by {signer}, whose key is not known"),
                )
            }
            (_, Some(_)) => Because::plain(Signed::Good),
            (_, None) => Because::plain(Signed::Unasked),
        }
    }

    fn stored(
        &self,
        _: This<'_, GitRepository>,
        archive: &Archive,
        remote: Option<&Head>,
    ) -> Because<Stored> {
        match (&archive.0, remote) {
            (None, _) => Because::plain(Stored::No),
            (Some(kept), Some(Head::At { revision, .. })) if kept == revision => {
                Because::plain(Stored::Newest)
            }
            (Some(kept), _) => Because::new(Stored::Old, format!("the archive is of {kept}")),
        }
    }

    async fn fetch(&self, at: Fetch<'_>, once: Once<'_>) -> Outcome<FetchResult> {
        let uid = once.key().to_owned();
        let (url, wanted) = (at.this.spec.url.clone(), at.remote.clone());
        let operation = move |forge: &mut Forge| {
            if url == "https://huge" {
                let said = "the archive is larger than the store: leave files out".to_owned();
                return Err(CallError::Refused(said));
            }
            if let Head::At { revision, .. } = wanted {
                forge.archives.insert(uid, revision);
            }
            Ok(FetchResult::Newest)
        };
        let what = format!("fetch {} for {}", at.this.spec.url, once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }

    async fn clear(&self, _: Clear<'_>, once: Once<'_>) -> Outcome<ClearResult> {
        let uid = once.key().to_owned();
        let what = format!("clear {uid}");
        let operation = move |forge: &mut Forge| {
            forge.archives.remove(&uid);
            Ok(ClearResult::No)
        };
        once.spend(self.0.mutate(&what, operation)).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, branch: &str, password: Option<&str>, expected: &str) {
        let spec = GitRepositorySpec {
            url: url.to_owned(),
            branch: branch.to_owned(),
            ..GitRepositorySpec::default()
        };
        let head = FromForge::head(&Forge::default(), &spec, password);
        assert!(format!("{head:?}").starts_with(expected), "{head:?}");
    }

    #[test]
    fn what_a_remote_says_follows_from_address_branch_and_password() {
        check("https://public", "main", None, "At");
        check("https://public", "gone", None, "Missing");
        check("https://private", "main", None, "Denied");
        check("https://private", "main", Some("wrong"), "Denied");
        check("https://private", "main", Some("right"), "At");
        check("https://broken", "main", None, "Broken");
    }
}
