//! A login, and a Secret that may stay when it goes and may have been there before it came: retained by a policy, and adopted with consent.

use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of an Account.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "database.tests",
    version = "v1",
    kind = "Account",
    namespaced,
    status = "AccountStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct AccountSpec {
    /// User that logs in.
    pub user: String,
    /// Name of the Secret with the login.
    pub secret: String,
    /// Handling of the Secret when the Account is deleted.
    #[serde(default)]
    pub deletion_policy: DeletionPolicy,
    /// True if an existing Secret without an owner is adopted.
    #[serde(default)]
    pub adopt: bool,
}

/// Handling of created objects on deletion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub enum DeletionPolicy {
    /// It goes, too.
    #[default]
    Delete,
    /// It stays.
    Orphan,
}

/// Observed state of an Account.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct AccountStatus {
    /// Published, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

include!("../../../macros/core/tests/lifecycles/account.txt");

/// The logic of an Account.
pub struct Logins;

impl AccountLogic for Logins {
    fn keeps(&self, this: This<'_, Account>) -> Because<bool> {
        Because::plain(this.spec.deletion_policy == DeletionPolicy::Orphan)
    }

    fn consent(&self, this: This<'_, Account>) -> Because<bool> {
        match this.spec.adopt {
            true => Because::plain(true),
            false => Because::new(false, "spec.adopt is false: what is there stays as it is"),
        }
    }

    fn apply_secret(&self, at: ApplySecret<'_>) -> Desired<Secret> {
        let user = ByteString(at.this.spec.user.clone().into_bytes());
        Desired::from_object(&Secret {
            data: Some([("user".to_owned(), user)].into()),
            ..Secret::default()
        })
    }
}
