//! The generated suite of the wiki.

use kube::CustomResourceExt as _;
use lifecycle_suite::resources::{Site, Suite};
use serde_json::json;

use crate::wiki::{Wiki, logic, machine};

const FIXTURES: &str = "
variant: whole
apiVersion: examples.test/v1
kind: Wiki
metadata: {name: notes}
spec: {version: v1, host: notes.example.test, backup: '0 3 * * *'}
---
variant: plain
apiVersion: examples.test/v1
kind: Wiki
metadata: {name: notes}
spec: {version: v1}
---
variant: kept
apiVersion: examples.test/v1
kind: Wiki
metadata: {name: notes}
spec: {version: v2, keep: true}
";

#[test]
fn no_run_of_the_suite_breaks_an_invariant() {
    let report = Suite::for_machine(|| machine(logic::Logic))
        .define(&Wiki::crd())
        .fixtures(FIXTURES)
        .promise("migrates", |site| migrates(site, true))
        .promise("migrates", |site| migrates(site, false))
        .promise("rolls_out", |site| scales(site, false))
        .promise("drains", |site| scales(site, true))
        .depth(1)
        .faults(10, 5)
        .run()
        .unwrap();
    assert!(report.failures.is_empty(), "{report}");
}

/// Acts as the controller of Jobs: the migration ends, or fails.
async fn migrates(site: Site, well: bool) -> kube::Result<bool> {
    let version = site.object["spec"]["version"].as_str().unwrap_or_default();
    let name = format!("{}-to-{version}", site.name());
    let job = site.sibling_path("/apis/batch/v1", "jobs", &name);
    let (met, ended) = match well {
        true => ("SuccessCriteriaMet", "Complete"),
        false => ("FailureTarget", "Failed"),
    };
    site.edit(&job, |job| {
        if job.pointer("/status/conditions").is_some() {
            return;
        }
        let start = "2026-01-01T00:00:00Z";
        let condition =
            |kind: &str| json!({"type": kind, "status": "True", "reason": "Told", "message": ""});
        job["status"] = json!({
            "startTime": start,
            "uncountedTerminatedPods": {},
            "conditions": [condition(met), condition(ended)],
        });
        if well {
            job["status"]["completionTime"] = json!(start);
        }
    })
    .await
}

/// Acts as the controller of StatefulSets: as many Pods run as are wanted, or none if none are.
async fn scales(site: Site, is_last: bool) -> kube::Result<bool> {
    let server = site.sibling_path("/apis/apps/v1", "statefulsets", site.name());
    site.edit(&server, |server| {
        let generation = server["metadata"]["generation"].clone();
        let is_seen = server.pointer("/status/observedGeneration") == Some(&generation);
        if is_seen || is_last != (server["spec"]["replicas"] == 0) {
            return;
        }
        let replicas = server["spec"]["replicas"].clone();
        server["status"] = json!({
            "observedGeneration": generation, "replicas": replicas, "readyReplicas": replicas,
            "updatedReplicas": replicas, "availableReplicas": replicas,
        });
    })
    .await
}
