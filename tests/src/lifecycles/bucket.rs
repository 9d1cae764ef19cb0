//! A bucket in an object store outside the cluster, and the store: a record, a poll, calls and a held fact.

use std::collections::BTreeMap;

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::provider::{Provider, ProviderState};

/// Desired state of a Bucket.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "store.tests",
    version = "v1",
    kind = "Bucket",
    namespaced,
    status = "BucketStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct BucketSpec {
    /// Name in the store. The uid of the Bucket if it is unset.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub called: Option<String>,
    /// How much may be put into it.
    #[serde(default)]
    pub quota: u32,
}

/// Observed state of a Bucket.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct BucketStatus {
    /// Stored, Shared, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// State of a bucket, as the store reports it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BucketInfo {
    /// Owner of the bucket, if it exists.
    pub owner: Option<String>,
    /// How much may be put into it.
    pub quota: u32,
}

/// All buckets of a store, by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Buckets(pub BTreeMap<String, BucketInfo>);

/// A store outside the cluster.
pub type Store = Provider<Buckets>;

include!("../../../macros/core/tests/lifecycles/bucket.txt");

/// Owner of buckets that are not ours.
const SOMEBODY: &str = "somebody";

impl ProviderState for Buckets {
    fn leftovers(&self) -> Vec<String> {
        let owned = self.0.iter().filter_map(|(name, info)| {
            let owner = info.owner.as_deref().filter(|o| *o != SOMEBODY)?;
            Some(format!("the bucket {name} of {owner}"))
        });
        owned.collect()
    }

    const MEDDLINGS: &[&str] = &["empty the store", "grant another quota", "take them all"];

    fn perturb(&mut self, what: &str) {
        match what {
            "empty the store" => self.0.clear(),
            "grant another quota" => self.0.values_mut().for_each(|info| info.quota = 1),
            _ => {
                let owner = Some(SOMEBODY.to_owned());
                let taken = BucketInfo { owner, quota: 5 };
                self.0.insert("ours".to_owned(), taken.clone());
                self.0.values_mut().for_each(|info| *info = taken.clone());
            }
        }
    }
}

/// The largest quota that a store grants.
const LARGEST: u32 = 1_000;

/// The logic of a Bucket: where its store is.
pub struct InStore(pub Store);

impl InStore {
    fn owner(meta: &k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta) -> String {
        meta.uid.clone().unwrap_or_default()
    }
}

impl BucketLogic for InStore {
    async fn poll_store(
        &self,
        _: This<'_, Bucket>,
        handle: &String,
    ) -> Result<BucketInfo, CallError> {
        let info = |all: &mut Buckets| Ok(all.0.get(handle).cloned().unwrap_or_default());
        self.0.query(&format!("look at {handle}"), info).await
    }

    fn bucket(&self, this: This<'_, Bucket>, store: &BucketInfo) -> Because<BucketValue> {
        match &store.owner {
            None => Because::new(BucketValue::No, "the store has no bucket of this name"),
            Some(owner) if *owner != Self::owner(this.meta) => Because::new(
                BucketValue::Taken,
                "the bucket belongs to another controller or user: choose another name",
            ),
            Some(_) if store.quota != this.spec.quota => {
                Because::new(BucketValue::Stale, "the bucket has another quota")
            }
            Some(_) => Because::plain(BucketValue::Current),
        }
    }

    async fn drop_bucket(&self, at: DropBucket<'_>, once: Once<'_>) -> Outcome<DropBucketResult> {
        let (key, owner) = (once.key().to_owned(), Self::owner(at.this.meta));
        let operation = move |all: &mut Buckets| {
            let is_ours = |info: &BucketInfo| info.owner.as_ref() == Some(&owner);
            if all.0.get(&key).is_some_and(is_ours) {
                all.0.remove(&key);
            }
            Ok(DropBucketResult::No)
        };
        let what = format!("drop {}", once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }

    fn apply_handle(&self, at: ApplyHandle<'_>) -> String {
        let called = at.this.spec.called.clone();
        called.unwrap_or_else(|| Self::owner(at.this.meta))
    }

    async fn put_bucket(&self, at: PutBucket<'_>, once: Once<'_>) -> Outcome<PutBucketResult> {
        let (key, owner) = (once.key().to_owned(), Self::owner(at.this.meta));
        let quota = at.this.spec.quota;
        let operation = move |all: &mut Buckets| {
            if quota > LARGEST {
                let said = format!("the store grants at most {LARGEST}: ask for less");
                return Err(CallError::Refused(said));
            }
            let found = all.0.entry(key).or_default();
            if found.owner.as_ref().is_some_and(|o| *o != owner) {
                return Ok(PutBucketResult::Taken);
            }
            *found = BucketInfo {
                owner: Some(owner),
                quota,
            };
            Ok(PutBucketResult::Current)
        };
        let what = format!("put {}", once.key());
        once.spend(self.0.mutate(&what, operation)).await
    }

    fn apply_secret(&self, at: ApplySecret<'_>) -> Desired<Secret> {
        let quota = at.store.quota.to_string();
        Desired::from_object(&Secret {
            data: Some([("quota".to_owned(), ByteString(quota.into_bytes()))].into()),
            ..Secret::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use kube::api::ObjectMeta;

    use super::*;

    fn bucket(quota: u32) -> Bucket {
        let mut bucket = Bucket::new(
            "b",
            BucketSpec {
                called: None,
                quota,
            },
        );
        bucket.metadata = ObjectMeta {
            name: Some("b".to_owned()),
            uid: Some("u".to_owned()),
            ..ObjectMeta::default()
        };
        bucket
    }

    fn check(owner: Option<&str>, quota: u32, expected: BucketValue) {
        let info = BucketInfo {
            owner: owner.map(str::to_owned),
            quota,
        };
        let said = InStore(Store::default()).bucket(This::new(&bucket(5)), &info);
        assert_eq!(said.value, expected);
    }

    #[test]
    fn a_bucket_is_ours_by_the_uid_of_its_owner() {
        check(None, 0, BucketValue::No);
        check(Some("other"), 5, BucketValue::Taken);
        check(Some("u"), 4, BucketValue::Stale);
        check(Some("u"), 5, BucketValue::Current);
    }
}
