//! A team and its namespaces: a cluster-scoped owner, and sets whose members lie in different
//! namespaces.

use std::collections::BTreeMap;

use k8s_openapi::api::core::v1::{Namespace, ResourceQuota, ResourceQuotaSpec, Secret};
use k8s_openapi::api::rbac::v1::{RoleBinding, RoleRef, Subject};
use k8s_openapi::apimachinery::pkg::api::resource::Quantity;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::{Because, Desired, ObjectRef, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Key of the label by which the objects of a Tenant are found.
pub const TENANT: &str = "tenants.tests/tenant";

/// Desired state of a Tenant.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "tenants.tests",
    version = "v1",
    kind = "Tenant",
    status = "TenantStatus"
)]
pub struct TenantSpec {
    /// Its namespaces, without the name of the Tenant that each begins with.
    pub spaces: Vec<String>,
    /// Maximum number of Pods in each namespace, if there is a limit.
    #[serde(default)]
    pub pods: Option<u32>,
    /// Group that may edit the objects in the namespaces.
    #[serde(default)]
    pub team: Option<String>,
    /// True if images are pulled as the operator pulls them.
    #[serde(default)]
    pub pulls: bool,
}

/// Observed state of a Tenant.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct TenantStatus {
    /// Provisioned, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
    /// Existing namespaces of the Tenant.
    #[serde(default)]
    pub namespaces: Vec<String>,
}

include!("../../../macros/core/tests/lifecycles/tenant.txt");

/// The logic of a Tenant.
pub struct Teams;

/// The namespaces of a Tenant, by name.
fn spaces(this: This<'_, Tenant>) -> Vec<String> {
    let name = this.meta.name.clone().unwrap_or_default();
    let all = this.spec.spaces.iter();
    all.map(|space| format!("{name}-{space}")).collect()
}

/// Returns the metadata of an object in one of the namespaces, or of a namespace itself.
fn meta(this: This<'_, Tenant>, namespace: Option<&str>, name: &str) -> ObjectMeta {
    let tenant = this.meta.name.clone().unwrap_or_default();
    ObjectMeta {
        name: Some(name.to_owned()),
        namespace: namespace.map(str::to_owned),
        labels: Some(BTreeMap::from([(TENANT.to_owned(), tenant)])),
        ..ObjectMeta::default()
    }
}

impl TenantLogic for Teams {
    fn pull(&self, _: This<'_, Tenant>) -> Option<ObjectRef> {
        Some(ObjectRef {
            kind: "Secret".to_owned(),
            namespace: Some("default".to_owned()),
            name: "pull".to_owned(),
            label: None,
        })
    }

    fn shape(&self, this: This<'_, Tenant>) -> Because<Shape> {
        let fits = |space: &String| {
            let mut letters = space.chars();
            !space.is_empty() && letters.all(|c| c.is_ascii_lowercase() || c.is_ascii_digit())
        };
        match this.spec.spaces.iter().find(|space| !fits(space)) {
            Some(space) => Because::new(
                Shape::BadName,
                format!("no namespace can end with `{space}`: write lower-case letters"),
            ),
            None => Because::plain(Shape::Fine),
        }
    }

    fn apply_spaces(&self, at: ApplySpaces<'_>) -> Vec<Desired<Namespace>> {
        let all = spaces(at.this).into_iter();
        let space = |name: String| Namespace {
            metadata: meta(at.this, None, &name),
            ..Namespace::default()
        };
        all.map(|name| Desired::from_object(&space(name))).collect()
    }

    fn apply_quotas(&self, at: ApplyQuotas<'_>) -> Vec<Desired<ResourceQuota>> {
        let Some(pods) = at.this.spec.pods else {
            return Vec::new();
        };
        let hard = BTreeMap::from([("pods".to_owned(), Quantity(pods.to_string()))]);
        let quota = |space: String| ResourceQuota {
            metadata: meta(at.this, Some(&space), "limits"),
            spec: Some(ResourceQuotaSpec {
                hard: Some(hard.clone()),
                ..ResourceQuotaSpec::default()
            }),
            ..ResourceQuota::default()
        };
        let all = spaces(at.this).into_iter();
        all.map(|space| Desired::from_object(&quota(space)))
            .collect()
    }

    fn apply_bindings(&self, at: ApplyBindings<'_>) -> Vec<Desired<RoleBinding>> {
        let Some(team) = &at.this.spec.team else {
            return Vec::new();
        };
        let binding = |space: String| RoleBinding {
            metadata: meta(at.this, Some(&space), "editors"),
            role_ref: RoleRef {
                api_group: "rbac.authorization.k8s.io".to_owned(),
                kind: "ClusterRole".to_owned(),
                name: "edit".to_owned(),
            },
            subjects: Some(vec![Subject {
                api_group: Some("rbac.authorization.k8s.io".to_owned()),
                kind: "Group".to_owned(),
                name: team.clone(),
                namespace: None,
            }]),
        };
        let all = spaces(at.this).into_iter();
        all.map(|space| Desired::from_object(&binding(space)))
            .collect()
    }

    fn apply_copies(&self, at: ApplyCopies<'_>) -> Vec<Desired<Secret>> {
        let copy = |space: String| Secret {
            metadata: meta(at.this, Some(&space), "pull"),
            data: at.pull.data.clone(),
            ..Secret::default()
        };
        let all = spaces(at.this).into_iter().filter(|_| at.this.spec.pulls);
        all.map(|space| Desired::from_object(&copy(space)))
            .collect()
    }

    fn namespaces(&self, _: This<'_, Tenant>, spaces: &[&Namespace]) -> Vec<String> {
        let names = spaces
            .iter()
            .filter_map(|space| space.metadata.name.clone());
        names.collect()
    }
}
