//! The tests of `docs/testing.md`: of a method, and the generated suite of the Shop.

use k8s_openapi::api::batch::v1::{Job, JobCondition, JobStatus};
use kube::CustomResourceExt;
use lifecycle_runtime::This;
use lifecycle_suite::resources::{Site, Suite};
use serde_json::json;

use super::shop::{self, Migrated, Shop, ShopLogic, ShopSpec, Shops};

/// A Job that has ended so.
fn job_with(condition: &str) -> Job {
    let condition = JobCondition {
        type_: condition.to_owned(),
        status: "True".to_owned(),
        ..JobCondition::default()
    };
    Job {
        status: Some(JobStatus {
            conditions: Some(vec![condition]),
            ..JobStatus::default()
        }),
        ..Job::default()
    }
}

#[test]
fn a_job_that_failed_says_so() {
    let shop = Shop::new("books", ShopSpec::default());
    let because = Shops.migrated(This::of(&shop), &job_with("Failed"));
    assert_eq!(because.value, Migrated::Failed);
    assert!(because.sentence.contains("see its Pods"));
}

/// What the controller of Jobs does: the migration ends, or fails.
async fn migrates(site: Site, well: bool) -> kube::Result<bool> {
    let version = site.object["spec"]["version"].as_str().unwrap_or_default();
    let name = format!("{}-migrate-{version}", site.name());
    let job = site.beside("/apis/batch/v1", "jobs", &name);
    site.edit(&job, |job| {
        if job.pointer("/status/conditions").is_some() {
            return;
        }
        let ended =
            |kind: &str| json!({ "type": kind, "status": "True", "reason": "Told", "message": "" });
        let mut status =
            json!({ "startTime": "2026-01-01T00:00:00Z", "uncountedTerminatedPods": {} });
        if well {
            status["completionTime"] = status["startTime"].clone();
            status["succeeded"] = json!(1);
            status["conditions"] = json!([ended("SuccessCriteriaMet"), ended("Complete")]);
        } else {
            status["failed"] = json!(1);
            status["conditions"] = json!([ended("FailureTarget"), ended("Failed")]);
        }
        job["status"] = status;
    })
    .await
}

/// What the controller of Deployments does: the new Pod runs, or comes no further.
async fn rolls_out(site: Site, well: bool) -> kube::Result<bool> {
    let deployment = site.beside("/apis/apps/v1", "deployments", site.name());
    site.edit(&deployment, |deployment| {
        let generation = deployment["metadata"]["generation"].clone();
        if deployment.pointer("/status/observedGeneration") == Some(&generation) {
            return;
        }
        let available = i32::from(well);
        let progress = json!({
            "type": "Progressing", "status": if well { "True" } else { "False" }, "reason": "Told", "message": "",
        });
        deployment["status"] = json!({
            "observedGeneration": generation, "replicas": 1, "updatedReplicas": 1,
            "readyReplicas": available, "availableReplicas": available, "conditions": [progress],
        });
    })
    .await
}

#[test]
fn no_fault_changes_where_a_shop_ends() -> Result<(), String> {
    let report = Suite::of(|| shop::machine(Shops))
        .define(&Shop::crd())
        .fixtures(include_str!("shop.yaml"))
        .promise("migrates", |site| migrates(site, true))
        .promise("migrates", |site| migrates(site, false))
        .promise("rolls_out", |site| rolls_out(site, true))
        .promise("rolls_out", |site| rolls_out(site, false))
        .depth(3)
        .faults(60, 10)
        .run()?;
    assert!(report.failures.is_empty(), "{report}");
    assert_eq!(report.unseen(), ["state Occupied", "effect adopt_data"]);
    Ok(())
}
