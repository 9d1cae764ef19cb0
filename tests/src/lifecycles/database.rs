//! A database whose last backup is made on its deletion: stages of a teardown that are Kubernetes
//! objects, and resources whose cleanup may be abandoned.

use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Database.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "databases.tests",
    version = "v1",
    kind = "Database",
    namespaced,
    status = "DatabaseStatus"
)]
pub struct DatabaseSpec {
    /// Name of the Secret with the credentials of its backup store.
    pub store: String,
    /// How large it is, in gigabytes.
    pub size: u16,
}

/// Observed state of a Database.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct DatabaseStatus {
    /// Available, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// Engine that runs the Database.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(group = "databases.tests", version = "v1", kind = "Engine", namespaced)]
pub struct EngineSpec {
    /// How large it is, in gigabytes.
    pub size: u16,
}

/// A requested backup.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "databases.tests",
    version = "v1",
    kind = "Backup",
    namespaced,
    status = "BackupStatus"
)]
pub struct BackupSpec {
    /// Engine of the database.
    pub engine: String,
    /// Store that receives the backup.
    pub store: String,
}

/// Result of the backup; no result yet if both fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct BackupStatus {
    /// It is where it belongs.
    #[serde(default)]
    pub saved: Option<bool>,
    /// Why it never will be.
    #[serde(default)]
    pub failed: Option<String>,
}

include!("../../../macros/core/tests/lifecycles/database.txt");

/// The logic of a Database.
pub struct DatabaseOperator;

impl DatabaseLogic for DatabaseOperator {
    fn saved(&self, _: This<'_, Database>, backup: &Backup) -> Because<Saved> {
        let status = backup.status.clone().unwrap_or_default();
        match (status.saved, status.failed) {
            (Some(true), _) => Because::plain(Saved::Yes),
            (_, Some(why)) => Because::new(Saved::Failed, why),
            (Some(false) | None, None) => Because::new(Saved::No, "the backup is being made"),
        }
    }

    fn apply_engine(&self, at: ApplyEngine<'_>) -> Desired<Engine> {
        Desired::from_object(&Engine {
            metadata: ObjectMeta::default(),
            spec: EngineSpec {
                size: at.this.spec.size,
            },
        })
    }

    fn save(&self, at: Save<'_>) -> Desired<Backup> {
        let name = |meta: &ObjectMeta| meta.name.clone().unwrap_or_default();
        Desired::from_object(&Backup {
            metadata: ObjectMeta::default(),
            spec: BackupSpec {
                engine: name(&at.engine.metadata),
                store: name(&at.store.metadata),
            },
            status: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_is_made_failed_or_still_to_come() {
        let database = Database::new("d", DatabaseSpec::default());
        let check = |saved: Option<bool>, failed: Option<&str>, expected: Saved| {
            let mut backup = Backup::new("d", BackupSpec::default());
            let failed = failed.map(str::to_owned);
            backup.status = Some(BackupStatus { saved, failed });
            assert_eq!(
                DatabaseOperator.saved(This::new(&database), &backup).value,
                expected
            );
        };
        check(None, None, Saved::No);
        check(Some(true), None, Saved::Yes);
        check(None, Some("full"), Saved::Failed);
    }
}
