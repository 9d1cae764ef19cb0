//! Bucket outside the cluster: a record, a poll, calls and a held fact.

use std::future::ready;

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(CustomResource, Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[kube(group = "example.org", version = "v1", kind = "Bucket", namespaced)]
pub(crate) struct BucketSpec {}

pub(crate) fn bucket(metadata: ObjectMeta) -> Bucket {
    Bucket {
        metadata,
        spec: BucketSpec {},
    }
}

/// Information that the store reports about a bucket.
#[derive(PartialEq)]
pub(crate) struct BucketInfo {
    owner: Option<String>,
}

include!("../../../macros/core/tests/lifecycles/bucket.txt");

/// A store that cannot be reached.
pub(crate) struct UnreachableStore;

impl BucketLogic for UnreachableStore {
    fn poll_store(
        &self,
        _: This<'_, Bucket>,
        handle: &String,
    ) -> impl Future<Output = Result<BucketInfo, CallError>> + Send {
        ready(Err(CallError::Failed(format!(
            "bucket `{handle}` cannot be reached"
        ))))
    }
    fn bucket(&self, this: This<'_, Bucket>, store: &BucketInfo) -> Because<BucketValue> {
        Because::plain(match &store.owner {
            None => BucketValue::No,
            owner if *owner == this.meta.uid => BucketValue::Current,
            Some(_) => BucketValue::Taken,
        })
    }
    fn drop_bucket(
        &self,
        _: DropBucket<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<DropBucketResult>> + Send {
        once.spend(ready(Ok(DropBucketResult::No)))
    }
    fn apply_handle(&self, at: ApplyHandle<'_>) -> String {
        at.this.meta.uid.clone().unwrap_or_default()
    }
    fn put_bucket(
        &self,
        _: PutBucket<'_>,
        once: Once<'_>,
    ) -> impl Future<Output = Outcome<PutBucketResult>> + Send {
        once.spend(ready(Ok(PutBucketResult::Taken)))
    }
    fn apply_secret(&self, at: ApplySecret<'_>) -> Desired<Secret> {
        let address = at.store.owner.clone().unwrap_or_default();
        Desired::from_object(&Secret {
            string_data: Some([("address".to_owned(), address)].into()),
            ..Secret::default()
        })
    }
}
