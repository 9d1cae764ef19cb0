//! A bucket of a cloud account, handled by policy: observed only, taken over, left behind, or left
//! alone. `bucket.rs` does not cover these cases.
//!
//! The declaration uses `abandoned` for a bucket that stays. Its object is deleted with a warning
//! that reports this, although nothing went wrong. The language has `retain` only for objects of
//! the cluster.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::provider::{Provider, ProviderState};

/// Desired state of a ManagedBucket.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "cloud.tests",
    version = "v1",
    kind = "ManagedBucket",
    namespaced,
    status = "ManagedBucketStatus"
)]
pub struct ManagedBucketSpec {
    /// The ProviderConfig.
    pub provider: String,
    /// Its name there; it gets one without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// How much it holds.
    pub quota: u32,
    /// Policy for the bucket.
    #[serde(default)]
    pub policy: Policy,
    /// True if an existing bucket may be taken over.
    #[serde(default)]
    pub adopt: bool,
}

/// Policy for a bucket.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum Policy {
    /// It is made, and goes with its object.
    #[default]
    Manage,
    /// It is made, and stays.
    Orphan,
    /// Only reads the bucket.
    Observe,
}

/// Observed state of a ManagedBucket.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ManagedBucketStatus {
    /// Synced, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// An account of a cloud.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "cloud.tests",
    version = "v1",
    kind = "ProviderConfig",
    namespaced
)]
pub struct ProviderConfigSpec {
    /// The largest bucket that it may have.
    pub largest: u32,
}

/// State of a bucket, as the cloud reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CloudBucket {
    /// Owner of the bucket, if it exists.
    owner: Option<String>,
    quota: u32,
    /// True if the owner wants the bucket to stay.
    stays: bool,
}

/// All buckets of an account, by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account(BTreeMap<String, CloudBucket>);

/// A cloud.
pub type Cloud = Provider<Account>;

/// On the object, with `true`: it is left alone.
pub const PAUSED: &str = "cloud.tests/paused";

include!("../../../macros/core/tests/lifecycles/managed-bucket.txt");

/// Owner of buckets that are not ours.
const SOMEBODY: &str = "somebody";

fn theirs() -> CloudBucket {
    CloudBucket {
        owner: Some(SOMEBODY.to_owned()),
        quota: 3,
        stays: false,
    }
}

impl Default for Account {
    fn default() -> Self {
        Self(BTreeMap::from([("theirs".to_owned(), theirs())]))
    }
}

impl ProviderState for Account {
    fn leftovers(&self) -> Vec<String> {
        let line = |(name, bucket): (&String, &CloudBucket)| {
            let owner = bucket.owner.as_deref().filter(|o| *o != SOMEBODY)?;
            (!bucket.stays).then(|| format!("the bucket {name} of {owner}"))
        };
        self.0.iter().filter_map(line).collect()
    }

    const MEDDLINGS: &[&str] = &["empty the account", "grant another quota", "take them all"];

    fn perturb(&mut self, what: &str) {
        let all = self.0.values_mut();
        match what {
            "empty the account" => self.0.clear(),
            "grant another quota" => all.for_each(|bucket| bucket.quota = 1),
            _ => all.for_each(|bucket| *bucket = theirs()),
        }
    }
}

/// The logic of a ManagedBucket: where its account is.
pub struct InAccount(pub Cloud);

fn uid(meta: &ObjectMeta) -> String {
    meta.uid.clone().unwrap_or_default()
}

/// The bucket as its object wants it.
fn desired_bucket(this: This<'_, ManagedBucket>) -> CloudBucket {
    CloudBucket {
        owner: Some(uid(this.meta)),
        quota: this.spec.quota,
        stays: this.spec.policy == Policy::Orphan,
    }
}

impl ManagedBucketLogic for InAccount {
    async fn poll_cloud(
        &self,
        _: This<'_, ManagedBucket>,
        handle: &String,
    ) -> Result<CloudBucket, CallError> {
        let look = |all: &mut Account| Ok(all.0.get(handle).cloned().unwrap_or_default());
        self.0.query(&format!("look at {handle}"), look).await
    }

    fn paused(&self, this: This<'_, ManagedBucket>) -> Because<bool> {
        let annotations = this.meta.annotations.as_ref();
        let value = annotations.and_then(|all| all.get(PAUSED));
        Because::new(
            value.is_some_and(|value| value == "true"),
            format!("the annotation {PAUSED} says so"),
        )
    }

    fn watched(&self, this: This<'_, ManagedBucket>) -> Because<bool> {
        Because::plain(this.spec.policy == Policy::Observe)
    }

    fn stays(&self, this: This<'_, ManagedBucket>) -> Because<bool> {
        Because::plain(this.spec.policy == Policy::Orphan)
    }

    fn consent(&self, this: This<'_, ManagedBucket>) -> Because<bool> {
        Because::plain(this.spec.adopt)
    }

    fn room(&self, this: This<'_, ManagedBucket>, config: &ProviderConfig) -> Because<bool> {
        let largest = config.spec.largest;
        match this.spec.quota <= largest {
            true => Because::plain(true),
            false => Because::new(false, format!("the account grants at most {largest}")),
        }
    }

    fn bucket(&self, this: This<'_, ManagedBucket>, cloud: &CloudBucket) -> Because<Bucket> {
        match &cloud.owner {
            None => Because::new(Bucket::No, "the account has no bucket of this name"),
            Some(owner) if *owner != uid(this.meta) => Because::new(
                Bucket::Taken,
                "the bucket belongs to another owner: choose another name, or set spec.adopt",
            ),
            Some(_) if *cloud != desired_bucket(this) => {
                Because::new(Bucket::Stale, "the bucket differs from what is wanted")
            }
            Some(_) => Because::plain(Bucket::Current),
        }
    }

    async fn drop(&self, at: Drop<'_>, once: Once<'_>) -> Outcome<DropResult> {
        let (key, owner) = (once.key().to_owned(), uid(at.this.meta));
        let operation = move |all: &mut Account| {
            let is_ours = |bucket: &CloudBucket| bucket.owner.as_ref() == Some(&owner);
            if all.0.get(&key).is_some_and(is_ours) {
                all.0.remove(&key);
            }
            Ok(DropResult::No)
        };
        let what = format!("drop {}", once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }

    fn apply_handle(&self, at: ApplyHandle<'_>) -> String {
        let called = at.this.spec.called.clone();
        called.unwrap_or_else(|| uid(at.this.meta))
    }

    async fn put(&self, at: Put<'_>, once: Once<'_>) -> Outcome<PutResult> {
        let (key, wanted) = (once.key().to_owned(), desired_bucket(at.this));
        let operation = move |all: &mut Account| {
            if key.contains(' ') {
                let said = format!("no bucket can be called `{key}`: correct spec.called");
                return Err(CallError::Refused(said));
            }
            let found = all.0.entry(key).or_default();
            if found.owner.is_some() && found.owner != wanted.owner {
                return Ok(PutResult::Taken);
            }
            *found = wanted;
            Ok(PutResult::Current)
        };
        let what = format!("put {}", once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }

    async fn take(&self, at: Take<'_>, once: Once<'_>) -> Outcome<TakeResult> {
        let (key, wanted) = (once.key().to_owned(), desired_bucket(at.this));
        let operation = move |all: &mut Account| {
            all.0.insert(key, wanted);
            Ok(TakeResult::Current)
        };
        let what = format!("take {}", once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }

    fn apply_secret(&self, at: ApplySecret<'_>) -> Desired<Secret> {
        let quota = at.cloud.quota.to_string();
        Desired::from_object(&Secret {
            data: Some([("quota".to_owned(), ByteString(quota.into_bytes()))].into()),
            ..Secret::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_ours_by_the_uid_of_its_owner_and_says_whether_it_stays() {
        let check = |owner: Option<&str>, stays: bool, expected: Bucket| {
            let spec = ManagedBucketSpec {
                quota: 5,
                policy: Policy::Orphan,
                ..ManagedBucketSpec::default()
            };
            let mut bucket = ManagedBucket::new("b", spec);
            bucket.metadata.uid = Some("u".to_owned());
            let seen = CloudBucket {
                owner: owner.map(str::to_owned),
                quota: 5,
                stays,
            };
            let said = InAccount(Cloud::default()).bucket(This::new(&bucket), &seen);
            assert_eq!(said.value, expected);
        };
        check(None, false, Bucket::No);
        check(Some("other"), true, Bucket::Taken);
        check(Some("u"), false, Bucket::Stale);
        check(Some("u"), true, Bucket::Current);
    }
}
