//! Resource outside the cluster that needs cleanup: a name that is recorded first, a poll, and two
//! calls. `docs/record.md` explains the declaration line by line.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::call::Outcome;
use lifecycle_runtime::lifecycle::{CallError, Once};
use lifecycle_runtime::{Because, Operator, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Bucket.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "examples.test",
    version = "v1",
    kind = "Bucket",
    namespaced,
    status = "BucketStatus"
)]
pub(crate) struct BucketSpec {
    pub(crate) name: String,
    /// Number of days for which deleted data is kept.
    pub(crate) days: u16,
}

/// Observed state of a Bucket.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub(crate) struct BucketStatus {
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub(crate) conditions: Vec<Condition>,
}

/// Provider's reply for a name. Empty if the bucket does not exist.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Info(pub(crate) Option<Kept>);

/// A bucket at the provider.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) owner: String,
    pub(crate) days: u16,
}

lifecycle! {
    /// A bucket at a provider, under a name that we choose.
    resource Bucket;

    observe {
        handle: record String;                       // the name, in an annotation of the Bucket
        store:  poll Info by handle every 30s given handle != Absent;
    }
    facts {
        /// State of the bucket under that name. Values right of the bar mean that the bucket is
        /// ours and needs cleanup.
        held bucket: { No, Taken | Stale, Current } from store
            given handle != Absent else No
            given store else Unknown;
    }
    states {
        Unrecorded  when handle == Absent            => Pending;
        Unreachable when bucket == Unknown           => Pending overdue 5min;
        Moving      when handle == Stale             => Pending;
        Taken       when bucket == Taken             => Error wakes self, store;
        Rejected    when refused(put)                => Error wakes self;
        Making      when bucket in { No, Stale }     => Pending;
        goal Ready  when bucket == Current           => Ready;
    }
    effects {
        remove: call store when handle == Stale && bucket in { Stale, Current } sets { bucket = No } key handle;
        apply handle when handle == Absent || bucket in { No, Taken };
        put:  call store when handle == Current && bucket in { No, Stale }
              sets { bucket = Current } or { bucket = Taken } undo remove key handle;
    }
    status {
        condition Stored {
            True when bucket == Current && handle == Current;
            False "Taken"     when bucket == Taken;
            False "Refused"   when refused(put);
            Unknown "Working" otherwise;
        }
        ready from Stored;
    }
}

/// A provider; here a table, which answers at once.
#[derive(Clone, Debug, Default)]
pub(crate) struct Provider(Arc<Mutex<BTreeMap<String, Kept>>>);

impl Provider {
    /// Returns the bucket under a name, if any.
    pub(crate) fn look(&self, name: &str) -> Option<Kept> {
        self.on(|all| all.get(name).cloned())
    }

    /// Changes the buckets as another user of the provider would.
    pub(crate) fn on<T>(&self, change: impl FnOnce(&mut BTreeMap<String, Kept>) -> T) -> T {
        change(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Buckets at a provider.
pub(crate) struct Buckets(pub(crate) Provider);

impl BucketLogic for Buckets {
    async fn poll_store(
        &self,
        _this: This<'_, Bucket>,
        handle: &String,
    ) -> Result<Info, CallError> {
        Ok(Info(self.0.look(handle)))
    }

    fn bucket(&self, this: This<'_, Bucket>, store: &Info) -> Because<BucketValue> {
        let Some(kept) = &store.0 else {
            return Because::new(BucketValue::No, "the provider has no such bucket");
        };
        if Some(&kept.owner) != this.meta.uid.as_ref() {
            let said = "the bucket belongs to another owner: choose another name";
            return Because::new(BucketValue::Taken, said);
        }
        match kept.days == this.spec.days {
            true => Because::plain(BucketValue::Current),
            false => Because::new(BucketValue::Stale, "it keeps for another number of days"),
        }
    }

    fn apply_handle(&self, at: ApplyHandle<'_>) -> String {
        at.this.spec.name.clone()
    }

    async fn put(&self, at: Put<'_>, once: Once<'_>) -> Outcome<PutResult> {
        let (provider, name) = (self.0.clone(), once.key().to_owned());
        let owner = at.this.meta.uid.clone().unwrap_or_default();
        let days = at.this.spec.days;
        let request = async move {
            Ok(provider.on(|all| {
                let kept = all.entry(name).or_insert_with(|| Kept {
                    owner: owner.clone(),
                    days,
                });
                if kept.owner != owner {
                    return PutResult::Taken;
                }
                kept.days = days;
                PutResult::Current
            }))
        };
        once.spend(request).await
    }

    async fn remove(&self, at: Remove<'_>, once: Once<'_>) -> Outcome<RemoveResult> {
        let (provider, name) = (self.0.clone(), once.key().to_owned());
        let owner = at.this.meta.uid.clone().unwrap_or_default();
        let request = async move {
            provider.on(|all| all.retain(|other, kept| *other != name || kept.owner != owner));
            Ok(RemoveResult::No)
        };
        once.spend(request).await
    }
}

/// All of the operator.
pub(crate) fn operator(provider: Provider) -> Operator {
    Operator::new("examples.test").run(machine(Buckets(provider)))
}

/// A Bucket.
pub(crate) const OBJECTS: &str = "
apiVersion: examples.test/v1
kind: Bucket
metadata: {name: photos, namespace: default}
spec: {name: acme-photos, days: 30}
";
