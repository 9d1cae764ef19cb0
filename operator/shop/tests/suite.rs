//! The generated suite, which takes the lifecycle through everything that may happen to it, and the program in its sandbox.

use k8s_openapi::api::batch::v1::{Job, JobCondition, JobStatus};
use kube::CustomResourceExt;
use lifecycle_runtime::This;
use lifecycle_suite::resources::{Site, Suite};
use serde_json::json;
use shop_operator::lifecycle::{self, Migrated, Shop, ShopLogic, ShopSpec};
use shop_operator::logic::Logic;

#[test]
fn no_fault_changes_where_it_ends() {
    let report = Suite::for_machine(|| lifecycle::machine(Logic))
        .define(&Shop::crd())
        .fixtures(include_str!("fixtures.yaml"))
        .promise("migrates", |site| migrates(site, true))
        .promise("migrates", |site| migrates(site, false))
        .promise("rolls_out", |site| rolls_out(site, true))
        .promise("rolls_out", |site| rolls_out(site, false))
        .depth(3)
        .faults(60, 10)
        .run()
        .expect("the fixtures fit the lifecycle");
    assert!(report.failures.is_empty(), "{report}");
    assert_eq!(report.unseen(), ["effect adopt_data"]);
}

/// Two Shops with claims that exist before them: one Shop takes its data over, the other does not
/// request to keep them.
const LEFT: &str = "
variant: left
given: true
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: example}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
variant: left-too
given: true
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: other}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
variant: heir
apiVersion: shop.example.org/v1alpha1
kind: Shop
metadata: {name: example}
spec: {image: registry.example.org/shop, version: '1', keepData: true}
---
variant: stranger
apiVersion: shop.example.org/v1alpha1
kind: Shop
metadata: {name: other}
spec: {image: registry.example.org/shop, version: '1', keepData: false}
";

#[test]
fn data_that_somebody_left_are_taken_over_where_they_are_to_stay() {
    let report = Suite::for_machine(|| lifecycle::machine(Logic))
        .define(&Shop::crd())
        .fixtures(LEFT)
        .promise("migrates", |site| migrates(site, true))
        .promise("rolls_out", |site| rolls_out(site, true))
        .depth(2)
        .faults(30, 5)
        .run()
        .expect("the fixtures fit the lifecycle");
    assert!(report.failures.is_empty(), "{report}");
    let unseen = report.unseen();
    for left in ["state Occupied", "effect adopt_data"] {
        assert!(!unseen.iter().any(|one| one == left), "{report}");
    }
}

/// Acts as the controller of Jobs: the migration ends, or fails.
async fn migrates(site: Site, well: bool) -> kube::Result<bool> {
    let version = site.object["spec"]["version"].as_str().unwrap_or_default();
    let name = format!("{}-migrate-{version}", site.name());
    let job = site.sibling_path("/apis/batch/v1", "jobs", &name);
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

/// Acts as the controller of Deployments: the new Pod runs, or makes no further progress.
async fn rolls_out(site: Site, well: bool) -> kube::Result<bool> {
    let deployment = site.sibling_path("/apis/apps/v1", "deployments", site.name());
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
    let shop = Shop::new("example", ShopSpec::default());
    let because = Logic.migrated(This::new(&shop), &job_with("Failed"));
    assert_eq!(because.value, Migrated::Failed);
    assert!(because.sentence.contains("see its Pods"));
}

/// After a change of the lifecycle, its author copies the output of `cargo run -- manifests rbac`.
#[test]
fn the_rights_are_those_that_the_lifecycle_needs() {
    let rights = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/rbac.yaml");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_shop-operator"))
        .args(["manifests", "rbac", "--check", rights])
        .output()
        .expect("the program starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
}

/// The program with the rights of its manifest, and the example.
#[cfg(feature = "sandbox")]
#[test]
fn the_sandbox_takes_the_example_to_ready() {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/example.yaml");
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_shop-operator"))
        .args(["sandbox", "--once", "--timeout", "120", example])
        .env_remove("CONSOLE_LOG_LEVEL")
        .output()
        .expect("the program starts");
    let told = String::from_utf8_lossy(&output.stdout);
    let warned = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{told}{warned}");
    assert!(told.contains("default/example  Ready"), "{told}");
    assert_eq!(warned, "", "a right is missing, or something went wrong");
}
