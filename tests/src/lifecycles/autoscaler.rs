//! Autoscaling of a Deployment by its load. It has a clock, a poll, a record of the desired number
//! and its time, and a part of an object owned by another controller.

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::apps::v1::Deployment;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Condition;
use kube::CustomResource;
use lifecycle_runtime::lifecycle::{CallError, Timed};
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::provider::{Provider, ProviderState};

/// Desired state of an Autoscaler.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "scaling.tests",
    version = "v1",
    kind = "Autoscaler",
    namespaced,
    status = "AutoscalerStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct AutoscalerSpec {
    /// The Deployment.
    pub target: String,
    /// Minimum number of replicas.
    pub min: i32,
    /// Maximum number of replicas.
    pub max: i32,
    /// How much load a replica bears.
    pub each: u32,
    /// Seconds for which the load must require the same number.
    #[serde(default)]
    pub window_seconds: u32,
}

/// Observed state of an Autoscaler.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct AutoscalerStatus {
    /// AbleToScale, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
    /// How many replicas there are.
    #[serde(default)]
    pub current_replicas: Option<i32>,
    /// How many there should be.
    #[serde(default)]
    pub desired_replicas: Option<i32>,
}

/// Metrics of a workload.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Load {
    /// How much load it has altogether; none where it is not measured.
    pub total: Option<u32>,
    /// Since when.
    pub since: Timestamp,
}

/// How many replicas the load wants, and since when.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
pub struct Wanted {
    /// Within the limits of the spec.
    pub replicas: i32,
    /// Start time of this load, according to the metrics.
    pub since: Timestamp,
}

/// Measurements: one load for all workloads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Measured {
    /// How much; none where it is not measured.
    pub total: Option<u32>,
    /// Time after the creation of the workload until which the load was different.
    pub after: SignedDuration,
}

impl Default for Measured {
    fn default() -> Self {
        Self {
            total: Some(25),
            after: SignedDuration::ZERO,
        }
    }
}

/// Metrics outside the API server.
pub type Meters = Provider<Measured>;

include!("../../../macros/core/tests/lifecycles/autoscaler.txt");

impl ProviderState for Measured {
    /// Returns nothing, because the metrics are only read.
    fn leftovers(&self) -> Vec<String> {
        Vec::new()
    }

    const MEDDLINGS: &[&str] = &["raise the load", "measure nothing"];

    fn perturb(&mut self, what: &str) {
        (self.total, self.after) = match what {
            "raise the load" => (Some(75), SignedDuration::from_hours(3)),
            _ => (None, SignedDuration::ZERO),
        };
    }
}

/// The logic of an Autoscaler: where the metrics are.
pub struct ByLoad(pub Meters);

fn replicas(spec: &AutoscalerSpec, total: u32) -> i32 {
    let wanted = total.div_ceil(spec.each.max(1));
    i32::try_from(wanted)
        .unwrap_or(i32::MAX)
        .min(spec.max)
        .max(spec.min)
}

impl AutoscalerLogic for ByLoad {
    async fn poll_metrics(
        &self,
        _: This<'_, Autoscaler>,
        target: Option<&Deployment>,
    ) -> Result<Load, CallError> {
        let Some(target) = target else {
            return Ok(Load::default());
        };
        let created = target.metadata.creation_timestamp.as_ref().map(|t| t.0);
        let look = |measured: &mut Measured| {
            let since = created.unwrap_or_default().checked_add(measured.after);
            Ok(Load {
                total: measured.total,
                since: since.unwrap_or(Timestamp::MAX),
            })
        };
        let name = target.metadata.name.as_deref().unwrap_or_default();
        let what = format!("look at the load of {name}");
        self.0.query(&what, look).await
    }

    fn shape(&self, this: This<'_, Autoscaler>) -> Because<Shape> {
        let (min, max) = (this.spec.min, this.spec.max);
        match min > max {
            true => Because::new(
                Shape::MinAboveMax,
                format!("spec.min is {min} and spec.max {max}: lower the one or raise the other"),
            ),
            false => Because::plain(Shape::Fine),
        }
    }

    fn load(&self, _: This<'_, Autoscaler>, metrics: &Load) -> Because<LoadValue> {
        match metrics.total {
            Some(_) => Because::plain(LoadValue::Seen),
            None => Because::new(LoadValue::None, "nothing measures the workload"),
        }
    }

    fn steady(&self, this: This<'_, Autoscaler>, wanted: &Wanted, now: &Timestamp) -> Timed<bool> {
        let window = SignedDuration::from_secs(this.spec.window_seconds.into());
        let end = wanted.since.checked_add(window).unwrap_or(Timestamp::MAX);
        if *now < end {
            let said = format!("{} replicas are wanted, from {end} on", wanted.replicas);
            return Because::new(false, said).until(end);
        }
        Because::plain(true).for_good()
    }

    fn apply_wanted(&self, at: ApplyWanted<'_>) -> Wanted {
        Wanted {
            replicas: replicas(at.this.spec, at.metrics.total.unwrap_or_default()),
            since: at.metrics.since,
        }
    }

    fn apply_target(&self, at: ApplyTarget<'_>) -> Desired<Deployment> {
        Desired::from_json(json!({ "spec": { "replicas": at.wanted.replicas } }))
    }

    fn current_replicas(&self, _: This<'_, Autoscaler>, target: &Deployment) -> Option<i32> {
        target.spec.as_ref()?.replicas
    }

    fn desired_replicas(&self, _: This<'_, Autoscaler>, wanted: &Wanted) -> Option<i32> {
        Some(wanted.replicas)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn autoscaler() -> Autoscaler {
        let spec = AutoscalerSpec {
            target: "t".to_owned(),
            min: 1,
            max: 5,
            each: 10,
            window_seconds: 60,
        };
        Autoscaler::new("a", spec)
    }

    #[test]
    fn as_many_as_bear_the_load_within_the_limits() {
        let spec = autoscaler().spec;
        let all: Vec<i32> = [0, 10, 11, 49, 1_000]
            .map(|total| replicas(&spec, total))
            .into();
        assert_eq!(all, [1, 1, 2, 5, 5]);
    }

    #[test]
    fn what_is_wanted_counts_once_it_was_wanted_for_the_window() {
        let (autoscaler, logic) = (autoscaler(), ByLoad(Meters::default()));
        let at = |second: i64| Timestamp::from_second(second).expect("a time");
        let wanted = Wanted {
            replicas: 2,
            since: at(100),
        };
        let steady = |second: i64| logic.steady(This::new(&autoscaler), &wanted, &at(second));
        assert_eq!(steady(159).until, Some(at(160)));
        assert!(!steady(159).because.value);
        assert!(steady(160).because.value);
        assert_eq!(steady(160).until, None);
    }
}
