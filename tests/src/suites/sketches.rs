//! The suites of the small lifecycles of the language's documentation, and what keeps their promises.

use kube::CustomResourceExt;
use lifecycle_runtime::testing::suite::{Site, Suite};
use serde_json::{Value, json};

use crate::lifecycles::rollout::{self, App, Rollout};

/// The suite of an application whose database is migrated.
pub fn rollout() -> Suite {
    Suite::of(|| rollout::machine(Rollout))
        .define(&App::crd())
        .fixtures(include_str!("../../fixtures/rollout/app.yaml"))
        .fixtures(include_str!("../../fixtures/rollout/configmap.yaml"))
        .promise("finishes", |site| migrates(site, true))
        .promise("finishes", |site| migrates(site, false))
        .promise("rolls", |site| rolls(site, true))
        .promise("rolls", |site| rolls(site, false))
}

const THEN: &str = "2026-01-01T01:00:00Z";

fn condition(kind: &str, status: &str) -> Value {
    json!({ "type": kind, "status": status, "reason": "Tests", "message": "", "lastProbeTime": THEN, "lastTransitionTime": THEN })
}

/// The Job of the wanted version ends.
async fn migrates(site: Site, well: bool) -> kube::Result<bool> {
    let version = site.object["spec"]["version"].as_str().unwrap_or_default();
    let job = format!("{}-{version}", site.name());
    let job = site.beside("/apis/batch/v1", "jobs", &job);
    site.edit(&job, |job| {
        if job.pointer("/status/conditions/1").is_some() {
            return;
        }
        let mut status = json!({ "startTime": THEN, "uncountedTerminatedPods": {} });
        if well {
            status["completionTime"] = json!(THEN);
            status["succeeded"] = json!(1);
            status["conditions"] = json!([
                condition("SuccessCriteriaMet", "True"),
                condition("Complete", "True")
            ]);
        } else {
            status["failed"] = json!(1);
            status["conditions"] = json!([
                condition("FailureTarget", "True"),
                condition("Failed", "True")
            ]);
        }
        job["status"] = status;
    })
    .await
}

/// The Deployment is carried out, or comes no further.
async fn rolls(site: Site, well: bool) -> kube::Result<bool> {
    let deployment = site.beside("/apis/apps/v1", "deployments", site.name());
    site.edit(&deployment, |deployment| {
        let generation = deployment["metadata"]["generation"].clone();
        if deployment.pointer("/status/observedGeneration") == Some(&generation) {
            return;
        }
        let wanted = deployment["spec"]["replicas"].clone();
        let there = if well { wanted.clone() } else { json!(0) };
        let mut progress = condition("Progressing", if well { "True" } else { "False" });
        if let Some(fields) = progress.as_object_mut() {
            fields.remove("lastProbeTime");
        }
        deployment["status"] = json!({
            "observedGeneration": generation, "replicas": wanted, "updatedReplicas": wanted,
            "readyReplicas": there, "availableReplicas": there, "conditions": [progress],
        });
    })
    .await
}
