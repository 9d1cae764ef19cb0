//! A canary: a new version gets traffic according to the plan of its object, is measured by a Job,
//! and takes over. The current time decides the share. A record keeps the time at which the turn of
//! a version began.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};
use k8s_openapi::api::apps::v1::{Deployment, DeploymentSpec};
use k8s_openapi::api::batch::v1::{Job, JobSpec};
use k8s_openapi::api::core::v1::{ConfigMap, Container, PodSpec, PodTemplateSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, LabelSelector, ObjectMeta};
use kube::CustomResource;
use lifecycle_runtime::lifecycle::Timed;
use lifecycle_runtime::{Because, Desired, ObjectRef, This, lifecycle};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Desired state of a Canary.
#[derive(CustomResource, Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
#[kube(
    group = "canary.tests",
    version = "v1",
    kind = "Canary",
    namespaced,
    status = "CanaryStatus"
)]
#[serde(rename_all = "camelCase")]
pub struct CanarySpec {
    /// Version to run.
    pub version: String,
    /// Name of the ConfigMap with the split of the traffic.
    pub route: String,
    /// How much a new version gets, and for how long, one step after the other.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// True if the new version must get no more traffic.
    #[serde(default)]
    pub aborted: bool,
    /// How long it may take until Pods are available, such as `5m`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<String>,
}

/// A step of the plan.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct Step {
    /// How much the new version gets.
    pub share: Part,
    /// For how long.
    pub minutes: i64,
}

/// A part of all traffic.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize, JsonSchema)]
pub enum Part {
    /// One of ten.
    Tenth,
    /// One of two.
    Half,
}

/// Observed state of a Canary.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct CanaryStatus {
    /// Progressing, Ready.
    #[serde(default)]
    #[schemars(schema_with = "lifecycle_runtime::crds::conditions")]
    pub conditions: Vec<Condition>,
}

/// Start of the turn of a version: the time at which its Pods were requested.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
pub struct Began {
    version: String,
    at: String,
}

include!("../../../macros/core/tests/lifecycles/canary.txt");

/// On a Deployment and its Pods: the version that they run.
pub const VERSION: &str = "canary.tests/version";
const NAME: &str = "canary.tests/canary";

/// The logic of a Canary.
pub struct Steps;

fn labels(this: &This<'_, Canary>) -> BTreeMap<String, String> {
    let name = this.meta.name.clone().unwrap_or_default();
    [
        (NAME.to_owned(), name),
        (VERSION.to_owned(), this.spec.version.clone()),
    ]
    .into()
}

fn template(this: &This<'_, Canary>, runs: &str) -> PodTemplateSpec {
    PodTemplateSpec {
        metadata: Some(ObjectMeta {
            labels: Some(labels(this)),
            ..ObjectMeta::default()
        }),
        spec: Some(PodSpec {
            containers: vec![Container {
                name: runs.to_owned(),
                image: Some(format!("registry.tests/{runs}:{}", this.spec.version)),
                ..Container::default()
            }],
            ..PodSpec::default()
        }),
    }
}

fn deployment(this: &This<'_, Canary>) -> Desired<Deployment> {
    let selector = LabelSelector {
        match_labels: Some(labels(this)),
        ..LabelSelector::default()
    };
    Desired::from_object(&Deployment {
        metadata: ObjectMeta {
            labels: Some(labels(this)),
            ..ObjectMeta::default()
        },
        spec: Some(DeploymentSpec {
            replicas: Some(2),
            selector,
            template: template(this, "serve"),
            ..DeploymentSpec::default()
        }),
        status: None,
    })
}

/// How much of the traffic goes to the new version.
fn weight(this: &This<'_, Canary>, percent: u8) -> Desired<ConfigMap> {
    let name = this.meta.name.clone().unwrap_or_default();
    Desired::from_object(&ConfigMap {
        data: Some([(name, percent.to_string())].into()),
        ..ConfigMap::default()
    })
}

fn of_version<K>(this: &This<'_, Canary>) -> Option<ObjectRef>
where
    K: kube::Resource<DynamicType = ()>,
{
    let name = format!("{}-{}", this.meta.name.as_deref()?, this.spec.version);
    Some(ObjectRef::new::<K>(this.meta.namespace.as_deref(), &name))
}

/// Returns how many of the desired Pods are available, and true if it is known that no more will
/// be.
fn available(deployment: &Deployment) -> (i32, i32, bool) {
    let wanted = deployment
        .spec
        .as_ref()
        .and_then(|s| s.replicas)
        .unwrap_or(1);
    let status = deployment.status.clone().unwrap_or_default();
    if status.observed_generation < deployment.metadata.generation {
        return (0, wanted, false);
    }
    let mut conditions = status.conditions.iter().flatten();
    let stuck = conditions.any(|c| c.type_ == "Progressing" && c.status == "False");
    (status.available_replicas.unwrap_or_default(), wanted, stuck)
}

impl CanaryLogic for Steps {
    fn trial(&self, this: This<'_, Canary>) -> Option<ObjectRef> {
        of_version::<Deployment>(&this)
    }

    fn run(&self, this: This<'_, Canary>) -> Option<ObjectRef> {
        of_version::<Job>(&this)
    }

    fn version(&self, this: This<'_, Canary>, stable: &Deployment) -> Because<Version> {
        let labels = stable.metadata.labels.as_ref();
        let runs = labels.and_then(|labels| labels.get(VERSION));
        if runs == Some(&this.spec.version) {
            return Because::plain(Version::Same);
        }
        let runs = runs.map_or("no version", String::as_str);
        let said = format!("{runs} runs and {} is wanted", this.spec.version);
        Because::new(Version::New, said)
    }

    fn aborted(&self, this: This<'_, Canary>) -> Because<bool> {
        match this.spec.aborted {
            true => Because::new(true, "it was aborted: set `spec.aborted` to false to go on"),
            false => Because::plain(false),
        }
    }

    fn settled(&self, _: This<'_, Canary>, stable: &Deployment) -> Because<Settled> {
        let (there, wanted, _) = available(stable);
        if there == wanted {
            return Because::plain(Settled::Yes);
        }
        Because::new(
            Settled::Waiting,
            format!("{there} of {wanted} Pods are available"),
        )
    }

    fn rolled(&self, _: This<'_, Canary>, trial: &Deployment) -> Because<Rolled> {
        let (there, wanted, stuck) = available(trial);
        match there == wanted {
            true => Because::plain(Rolled::Yes),
            false if stuck => Because::new(
                Rolled::Stuck,
                "the new version makes no progress: look at its Pods",
            ),
            false => Because::new(
                Rolled::Waiting,
                format!("{there} of {wanted} new Pods are available"),
            ),
        }
    }

    fn verdict(&self, _: This<'_, Canary>, run: &Job) -> Because<Verdict> {
        let conditions = run
            .status
            .as_ref()
            .and_then(|status| status.conditions.as_ref());
        let is = |kind: &str| {
            let mut all = conditions.into_iter().flatten();
            all.any(|one| one.type_ == kind && one.status == "True")
        };
        match (is("Complete"), is("Failed")) {
            (true, _) => Because::plain(Verdict::Good),
            (false, true) => Because::new(
                Verdict::Bad,
                "the measurement failed: look at its Job, or ask for another version",
            ),
            (false, false) => Because::new(Verdict::Running, "it is being measured"),
        }
    }

    fn share(&self, this: This<'_, Canary>, began: &Began, now: &Timestamp) -> Timed<Share> {
        let mut end = began.at.parse().unwrap_or(Timestamp::MAX);
        for step in &this.spec.steps {
            let lasts = SignedDuration::from_mins(step.minutes.clamp(0, 1_000_000));
            end = end.checked_add(lasts).unwrap_or(Timestamp::MAX);
            if *now < end {
                let share = match step.share {
                    Part::Tenth => Share::Tenth,
                    Part::Half => Share::Half,
                };
                return Because::new(share, format!("this step lasts until {end}")).until(end);
            }
        }
        Because::plain(Share::All).for_good()
    }

    fn apply_stable(&self, at: ApplyStable<'_>) -> Desired<Deployment> {
        deployment(&at.this)
    }

    fn apply_trial(&self, at: ApplyTrial<'_>) -> Desired<Deployment> {
        deployment(&at.this)
    }

    fn apply_began(&self, at: ApplyBegan<'_>) -> Began {
        let created = at.trial.metadata.creation_timestamp.as_ref();
        Began {
            version: at.this.spec.version.clone(),
            at: created.map(|time| time.0.to_string()).unwrap_or_default(),
        }
    }

    fn apply_run(&self, at: ApplyRun<'_>) -> Desired<Job> {
        let mut template = template(&at.this, "measure");
        if let Some(spec) = &mut template.spec {
            spec.restart_policy = Some("Never".to_owned());
        }
        Desired::from_object(&Job {
            metadata: ObjectMeta::default(),
            spec: Some(JobSpec {
                template,
                ..JobSpec::default()
            }),
            status: None,
        })
    }

    fn back(&self, at: Back<'_>) -> Desired<ConfigMap> {
        weight(&at.this, 0)
    }

    fn tenth(&self, at: Tenth<'_>) -> Desired<ConfigMap> {
        weight(&at.this, 10)
    }

    fn half(&self, at: Half<'_>) -> Desired<ConfigMap> {
        weight(&at.this, 50)
    }

    fn whole(&self, at: Whole<'_>) -> Desired<ConfigMap> {
        weight(&at.this, 100)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_plan_says_how_much_a_version_gets_and_until_when() {
        let step = |share, minutes| Step { share, minutes };
        let spec = CanarySpec {
            steps: vec![step(Part::Tenth, 10), step(Part::Half, 30)],
            ..CanarySpec::default()
        };
        let canary = Canary::new("c", spec);
        let began = Began {
            version: "2".to_owned(),
            at: "2026-01-01T00:00:00Z".to_owned(),
        };
        let check = |now: &str, share: Share, until: Option<&str>| {
            let answer = Steps.share(This::new(&canary), &began, &now.parse().expect("a time"));
            assert_eq!(answer.because.value, share, "{now}");
            assert_eq!(
                answer.until.map(|t| t.to_string()).as_deref(),
                until,
                "{now}"
            );
        };
        let (ten, forty) = ("2026-01-01T00:10:00Z", "2026-01-01T00:40:00Z");
        check("2026-01-01T00:00:00Z", Share::Tenth, Some(ten));
        check("2026-01-01T00:09:59Z", Share::Tenth, Some(ten));
        check(ten, Share::Half, Some(forty));
        check(forty, Share::All, None);
    }
}
