//! Load balancers, workloads, Pods, and the effects that follow from them.

use anyhow::{Result, ensure};
use lifecycle_simulator::world::{EXIT, READY};
use lifecycle_tests::harness::Case;
use serde_json::{Value, json};

use super::place::{TestCluster, both, build_object, core_path};

pub(crate) fn cases() -> Vec<Case> {
    let cases = [
        both(
            "simulated: a_load_balancer_has_an_address_after_a_while",
            "real: a_load_balancer_has_an_address_after_a_while",
            balancer,
        ),
        both(
            "simulated: a_deployment_runs_and_its_service_follows",
            "real: a_deployment_runs_and_its_service_follows",
            deployment,
        ),
        both(
            "simulated: a_job_ends_well_or_not",
            "real: a_job_ends_well_or_not",
            job,
        ),
        both(
            "simulated: sets_keep_names_and_nodes",
            "real: sets_keep_names_and_nodes",
            sets,
        ),
        both(
            "simulated: what_ran_on_a_node_that_vanished_runs_elsewhere",
            "real: what_ran_on_a_node_that_vanished_runs_elsewhere",
            vanished,
        ),
        both(
            "simulated: a_replication_controller_makes_pods",
            "real: a_replication_controller_makes_pods",
            controller,
        ),
    ];
    cases.into_iter().flatten().collect()
}

const SERVICES: &str = "/api/v1/namespaces/ns/services";
const PODS: &str = "/api/v1/namespaces/ns/pods";
const SLICES: &str = "/apis/discovery.k8s.io/v1/namespaces/ns/endpointslices";
const APPS: &str = "/apis/apps/v1/namespaces/ns";
const JOBS: &str = "/apis/batch/v1/namespaces/ns/jobs";

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"]
        .as_array()
        .cloned()
        .unwrap_or_default();
    conditions
        .iter()
        .any(|c| c["type"] == "Ready" && c["status"] == "True")
}

fn is_live(object: &Value) -> bool {
    object["metadata"]["deletionTimestamp"].is_null()
}

fn template(annotations: Value) -> Value {
    json!({
        "metadata": { "labels": { "app": "web" }, "annotations": annotations },
        "spec": { "containers": [{ "name": "web", "image": "web:1", "ports": [{ "name": "http", "containerPort": 8080 }] }] },
    })
}

fn running(kind: &str, name: &str, replicas: usize) -> Value {
    let mut object = build_object(
        "apps/v1",
        kind,
        name,
        json!({ "spec": {
        "replicas": replicas, "selector": { "matchLabels": { "app": "web" } }, "template": template(json!({})),
    } }),
    );
    if kind == "DaemonSet" {
        object["spec"]
            .as_object_mut()
            .map(|spec| spec.remove("replicas"));
    }
    object
}

async fn balancer(place: TestCluster) -> Result<()> {
    let spec = json!({ "spec": { "type": "LoadBalancer", "ports": [{ "port": 80 }] } });
    let classed = json!({ "spec": { "type": "LoadBalancer", "loadBalancerClass": "tests/other", "ports": [{ "port": 80 }] } });
    for (name, spec) in [("a", spec.clone()), ("b", spec), ("c", classed)] {
        place
            .post(SERVICES, build_object("v1", "Service", name, spec))
            .await?;
    }
    let address = |s: &Value| {
        s["status"]["loadBalancer"]["ingress"][0]["ip"]
            .as_str()
            .map(str::to_owned)
    };
    let mut found = Vec::new();
    for name in ["a", "b"] {
        let service = place
            .comes_to(&core_path("services", name), "it has an address", |s| {
                address(s).is_some()
            })
            .await?;
        found.extend(address(&service));
    }
    ensure!(found.len() == 2 && found[0] != found[1], "{found:?}");
    let other = place.wait_present(&core_path("services", "c")).await?;
    ensure!(address(&other).is_none(), "another class is ignored");
    place
        .patch(
            &core_path("services", "a"),
            json!({ "spec": { "type": "ClusterIP" } }),
        )
        .await?;
    place
        .comes_to(&core_path("services", "a"), "it has no address", |s| {
            address(s).is_none()
        })
        .await?;
    Ok(())
}

async fn deployment(place: TestCluster) -> Result<()> {
    let ports = json!([{ "port": 80, "targetPort": "http" }]);
    let service = json!({ "spec": { "selector": { "app": "web" }, "ports": ports } });
    place
        .post(SERVICES, build_object("v1", "Service", "web", service))
        .await?;
    place
        .post(
            &format!("{APPS}/deployments"),
            running("Deployment", "web", 3),
        )
        .await?;
    let path = format!("{APPS}/deployments/web");
    let available = |n: usize| {
        move |d: &Value| {
            d["status"]["availableReplicas"] == n
                && d["status"]["observedGeneration"] == d["metadata"]["generation"]
        }
    };
    place
        .comes_to(&path, "all are available", available(3))
        .await?;
    let pods = place.counts(PODS, 3, is_ready).await?;
    let nodes: std::collections::BTreeSet<_> = pods
        .iter()
        .map(|p| p["spec"]["nodeName"].to_string())
        .collect();
    ensure!(nodes.len() == 2, "they are spread: {nodes:?}");
    let ready = |n: usize| {
        move |slice: &Value| {
            let endpoints = slice["endpoints"].as_array().cloned().unwrap_or_default();
            endpoints
                .iter()
                .filter(|e| e["conditions"]["ready"] == true)
                .count()
                == n
                && slice["ports"][0]["port"] == 8080
        }
    };
    place.counts(SLICES, 1, ready(3)).await?;
    place
        .patch(&path, json!({ "spec": { "replicas": 1 } }))
        .await?;
    place.counts(PODS, 1, |_| true).await?;
    place.counts(SLICES, 1, ready(1)).await?;
    let next =
        json!({ "spec": { "template": { "metadata": { "annotations": { READY: "false" } } } } });
    place.patch(&path, next).await?;
    place
        .comes_to(&path, "the new one is there and not ready", |d| {
            d["status"]["updatedReplicas"] == 1 && d["status"]["replicas"] == 2
        })
        .await?;
    let next = json!({ "spec": { "template": { "metadata": { "annotations": { READY: null, "next": "1" } } } } });
    place.patch(&path, next).await?;
    place
        .counts(PODS, 1, |p| {
            p["metadata"]["annotations"]["next"] == "1" && is_ready(p)
        })
        .await?;
    place.delete(&path, "Background").await?;
    place.counts(PODS, 0, |_| true).await?;
    place
        .counts(SLICES, 1, |slice| {
            slice["endpoints"].as_array().is_none_or(Vec::is_empty)
        })
        .await?;
    place
        .delete(&core_path("services", "web"), "Background")
        .await?;
    place.counts(SLICES, 0, |_| true).await?;
    Ok(())
}

async fn job(place: TestCluster) -> Result<()> {
    for (name, exit) in [("good", "0"), ("bad", "1")] {
        let mut template = template(json!({ EXIT: exit }));
        template["spec"]["restartPolicy"] = json!("Never");
        let spec = json!({ "spec": { "backoffLimit": 0, "template": template } });
        place
            .post(JOBS, build_object("batch/v1", "Job", name, spec))
            .await?;
    }
    let has = |kind: &'static str| {
        move |job: &Value| {
            let all = job["status"]["conditions"]
                .as_array()
                .cloned()
                .unwrap_or_default();
            all.iter()
                .any(|c| c["type"] == kind && c["status"] == "True")
        }
    };
    let good = place
        .comes_to(&format!("{JOBS}/good"), "it is complete", has("Complete"))
        .await?;
    ensure!(good["status"]["succeeded"] == 1, "{good}");
    let bad = place
        .comes_to(&format!("{JOBS}/bad"), "it has failed", has("Failed"))
        .await?;
    ensure!(bad["status"]["failed"] == 1, "{bad}");
    place.delete(&format!("{JOBS}/good"), "Background").await?;
    place.counts(PODS, 1, |_| true).await?;
    Ok(())
}

async fn sets(place: TestCluster) -> Result<()> {
    let mut stateful = running("StatefulSet", "db", 2);
    stateful["spec"]["serviceName"] = json!("db");
    place
        .post(&format!("{APPS}/statefulsets"), stateful)
        .await?;
    place
        .comes_to(&core_path("pods", "db-0"), "it is ready", is_ready)
        .await?;
    place
        .comes_to(&core_path("pods", "db-1"), "it is ready", is_ready)
        .await?;
    place
        .delete(&core_path("pods", "db-0"), "Background")
        .await?;
    place
        .comes_to(&core_path("pods", "db-0"), "it is there again", |p| {
            is_live(p) && is_ready(p)
        })
        .await?;
    place
        .patch(
            &format!("{APPS}/statefulsets/db"),
            json!({ "spec": { "replicas": 1 } }),
        )
        .await?;
    place.gone(&core_path("pods", "db-1")).await?;
    place
        .post(
            &format!("{APPS}/daemonsets"),
            running("DaemonSet", "agent", 0),
        )
        .await?;
    let all = |d: &Value| d["status"]["numberReady"] == 2;
    place
        .comes_to(&format!("{APPS}/daemonsets/agent"), "one a node", all)
        .await?;
    Ok(())
}

async fn vanished(place: TestCluster) -> Result<()> {
    place
        .post(
            &format!("{APPS}/deployments"),
            running("Deployment", "web", 2),
        )
        .await?;
    place.counts(PODS, 2, is_ready).await?;
    place.delete("/api/v1/nodes/node-1", "Background").await?;
    place
        .counts(PODS, 2, |p| {
            is_ready(p) && p["spec"]["nodeName"] == "node-2"
        })
        .await?;
    place.gone("/api/v1/nodes/node-1").await?;
    let down = json!({ "status": { "conditions": [{ "type": "Ready", "status": "Unknown" }] } });
    place.patch("/api/v1/nodes/node-2/status", down).await?;
    place.counts(PODS, 0, is_ready).await?;
    Ok(())
}

async fn controller(place: TestCluster) -> Result<()> {
    let path = "/api/v1/namespaces/ns/replicationcontrollers";
    let spec = json!({ "spec": { "replicas": 2, "selector": { "app": "web" }, "template": template(json!({})) } });
    place
        .post(
            path,
            build_object("v1", "ReplicationController", "web", spec),
        )
        .await?;
    let path = format!("{path}/web");
    let ready = |n: usize| move |c: &Value| c["status"]["readyReplicas"] == n;
    place.comes_to(&path, "both are ready", ready(2)).await?;
    place
        .patch(&path, json!({ "spec": { "replicas": 1 } }))
        .await?;
    place.comes_to(&path, "one is ready", ready(1)).await?;
    place.delete(&path, "Foreground").await?;
    place.gone(&path).await?;
    place.counts(PODS, 0, |_| true).await?;
    Ok(())
}
