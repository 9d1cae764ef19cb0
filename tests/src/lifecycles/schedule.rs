//! A Job that runs at the times of a cron line. The last time is the creation of its Job, and the
//! next one follows from the line.

use jiff::Timestamp;
use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{Container, PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::cron::Cron;
use lifecycle_runtime::lifecycle::Timed;
use lifecycle_runtime::{Because, Desired, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Schedule.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "schedule.tests",
    version = "v1",
    kind = "Schedule",
    namespaced,
    status = "ScheduleStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct ScheduleSpec {
    /// When it is due, such as `0 4 * * *`.
    pub schedule: String,
    /// Time zone of that time, such as `Europe/Berlin`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// For how many seconds it may run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<i64>,
}

/// Observed state of a Schedule.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct ScheduleStatus {
    /// Done, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

include!("../../../macros/core/tests/lifecycles/schedule.txt");

/// The logic of a Schedule.
pub struct ByLine;

fn cron(this: &This<'_, Schedule>) -> Result<Cron, lifecycle_runtime::cron::CronError> {
    Cron::parse(&this.spec.schedule, this.spec.time_zone.as_deref())
}

impl ScheduleLogic for ByLine {
    fn line(&self, this: This<'_, Schedule>) -> Because<Line> {
        match cron(&this) {
            Ok(_) => Because::plain(Line::Fine),
            Err(wrong) => Because::new(Line::Bad, wrong.to_string()),
        }
    }

    fn due(&self, this: This<'_, Schedule>, job: &Job, now: &Timestamp) -> Timed<Due> {
        let made = job
            .metadata
            .creation_timestamp
            .as_ref()
            .map_or(*now, |time| time.0);
        match cron(&this) {
            Ok(cron) => cron
                .due(made, now)
                .map(|due| if due.is_some() { Due::Yes } else { Due::No }),
            Err(wrong) => Because::new(Due::No, wrong.to_string()).for_good(),
        }
    }

    fn ended(&self, _: This<'_, Schedule>, job: &Job) -> Because<Ended> {
        let conditions = job
            .status
            .as_ref()
            .and_then(|status| status.conditions.as_ref());
        let is = |kind: &str| {
            let mut all = conditions.into_iter().flatten();
            all.any(|one| one.type_ == kind && one.status == "True")
        };
        match (is("Complete"), is("Failed")) {
            (true, _) => Because::plain(Ended::Good),
            (false, true) => Because::new(Ended::Bad, "it failed: look at its Job"),
            (false, false) => Because::new(Ended::Running, "it runs"),
        }
    }

    fn apply_job(&self, _: ApplyJob<'_>) -> Desired<Job> {
        let container = Container {
            name: "work".to_owned(),
            image: Some("registry.tests/work:1".to_owned()),
            ..Container::default()
        };
        Desired::from_object(&Job {
            metadata: ObjectMeta::default(),
            spec: Some(JobSpec {
                template: PodTemplateSpec {
                    metadata: None,
                    spec: Some(PodSpec {
                        containers: vec![container],
                        restart_policy: Some("Never".to_owned()),
                        ..PodSpec::default()
                    }),
                },
                ..JobSpec::default()
            }),
            status: None,
        })
    }
}
