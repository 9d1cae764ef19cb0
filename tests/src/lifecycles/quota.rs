//! How much of a namespace is used: sets of objects that are only counted, and a value that a fact and a field share.

use k8s_openapi::api::core::v1::{PersistentVolumeClaim, Pod};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::{Because, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Quota.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "quota.tests",
    version = "v1",
    kind = "Quota",
    namespaced,
    status = "QuotaStatus"
)]
pub struct QuotaSpec {
    /// How many Pods there may be.
    pub pods: u32,
    /// How many claims there may be.
    pub claims: u32,
}

/// Resources in use in a namespace.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
pub struct Usage {
    /// Pods.
    pub pods: u32,
    /// Claims.
    pub claims: u32,
}

/// Observed state of a Quota.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct QuotaStatus {
    /// WithinLimits, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
    /// Resources in use.
    #[serde(default)]
    pub used: Usage,
}

include!("../../../macros/core/tests/lifecycles/quota.txt");

/// The logic of a Quota.
pub struct Counted;

fn saturating_count<T>(all: &[T]) -> u32 {
    u32::try_from(all.len()).unwrap_or(u32::MAX)
}

impl QuotaLogic for Counted {
    fn sum(&self, _: This<'_, Quota>, pods: &[&Pod], claims: &[&PersistentVolumeClaim]) -> Usage {
        Usage {
            pods: saturating_count(pods),
            claims: saturating_count(claims),
        }
    }

    fn load(&self, this: This<'_, Quota>, sum: &Usage) -> Because<Load> {
        let pairs = [
            ("Pods", sum.pods, this.spec.pods),
            ("claims", sum.claims, this.spec.claims),
        ];
        let said = |(what, there, limit): &(&str, u32, u32)| format!("{there} of {limit} {what}");
        if let Some(over) = pairs.iter().find(|(_, there, limit)| there > limit) {
            return Because::new(Load::Over, said(over));
        }
        // Four fifths.
        let is_near = |(_, there, limit): &&(&str, u32, u32)| {
            *limit > 0 && u64::from(*there) * 5 >= u64::from(*limit) * 4
        };
        match pairs.iter().find(is_near) {
            Some(near) => Because::new(Load::Near, said(near)),
            None => Because::plain(Load::Below),
        }
    }

    fn used(&self, _: This<'_, Quota>, sum: &Usage) -> Usage {
        sum.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fuller_of_the_two_counts() {
        let check = |pods: u32, claims: u32, expected: Load| {
            let quota = Quota::new(
                "q",
                QuotaSpec {
                    pods: 10,
                    claims: 2,
                },
            );
            let said = Counted.load(This::new(&quota), &Usage { pods, claims });
            assert_eq!(said.value, expected, "{pods} {claims}");
        };
        check(0, 0, Load::Below);
        check(7, 1, Load::Below);
        check(8, 0, Load::Near);
        check(0, 2, Load::Near);
        check(11, 0, Load::Over);
        check(8, 3, Load::Over);
    }
}
