//! The Service of each type, exactly as the contract has it.

use crate::listeners::Cluster;
use anyhow::{Result, ensure};
use k8s_openapi::api::core::v1::Service;
use lifecycle_specs_listener::listener_class::ListenerClass;
use lifecycle_tests::harness::{Case, case};
use serde_json::{Value, json};

use super::BINARIES;
use crate::PROGRAM;

pub(crate) fn cases() -> Vec<Case> {
    vec![case(
        "m6_m8_b31_b55_services_of_all_types_are_as_the_contract_has_them",
        BINARIES,
        golden,
    )]
}

/// Fields that the API server fills in, which are not part of the contract.
const FILLED: [&str; 7] = [
    "clusterIP",
    "clusterIPs",
    "healthCheckNodePort",
    "internalTrafficPolicy",
    "ipFamilies",
    "ipFamilyPolicy",
    "sessionAffinity",
];

async fn golden() -> Result<()> {
    let cluster = Cluster::start(PROGRAM).await?;
    let class = |name: &str, spec: Value| {
        let class = json!({
            "apiVersion": "listeners.stackable.tech/v1alpha1",
            "kind": "ListenerClass",
            "metadata": { "name": name },
            "spec": spec,
        });
        cluster.make(cluster.all::<ListenerClass>(), class)
    };
    class(
        "inside",
        json!({ "serviceType": "ClusterIP", "serviceExternalTrafficPolicy": "Local" }),
    )
    .await?;
    class(
        "node",
        json!({ "serviceType": "NodePort", "serviceExternalTrafficPolicy": "Local" }),
    )
    .await?;
    let balanced = json!({
        "serviceType": "LoadBalancer",
        "loadBalancerAllocateNodePorts": false,
        "loadBalancerClass": "example.org/balancer",
        "serviceAnnotations": { "example.org/a": "class", "example.org/both": "class" },
        "serviceOverrides": { "metadata": { "annotations": { "example.org/a": "override" } } },
    });
    class("balanced", balanced).await?;

    let own = json!({ "example.org/both": "own", "example.org/own": "own" });
    check(
        &cluster,
        "inside",
        json!({ "type": "ClusterIP" }),
        own.clone(),
    )
    .await?;
    let node = json!({ "type": "NodePort", "externalTrafficPolicy": "Local" });
    check(&cluster, "node", node, own).await?;
    let balanced = json!({
        "type": "LoadBalancer",
        "loadBalancerClass": "example.org/balancer",
        "allocateLoadBalancerNodePorts": false,
        "externalTrafficPolicy": "Cluster",
    });
    check(
        &cluster,
        "balanced",
        balanced,
        json!({ "example.org/a": "override", "example.org/both": "class", "example.org/own": "own" }),
    )
    .await
}

/// Compares the Service of a Listener of a class with the wanted one.
async fn check(cluster: &Cluster, class: &str, wanted: Value, annotations: Value) -> Result<()> {
    let spec = json!({
        "className": class,
        "extraPodSelectorLabels": { "app": "web" },
        "ports": [
            { "name": "http", "port": 8080 },
            { "name": "dns", "port": 53, "protocol": "UDP" },
        ],
        "publishNotReadyAddresses": null,
        "serviceAnnotations": { "example.org/both": "own", "example.org/own": "own" },
    });
    let created = cluster.create(class, spec).await?;
    let uid = created.metadata.uid.clone().unwrap_or_default();
    cluster
        .patch::<lifecycle_specs_listener::listener::Listener>(
            class,
            json!({ "metadata": { "labels": { "app.kubernetes.io/name": "kafka", "mine": "" } } }),
        )
        .await?;
    let labels = json!({
        "app.kubernetes.io/instance": class,
        "app.kubernetes.io/managed-by": "listeners.stackable.tech_listener",
        "app.kubernetes.io/name": "listener",
        "mine": "",
    });
    let service = eventually_labelled(cluster, class, &labels).await?;
    let owner = json!([{
        "apiVersion": "listeners.stackable.tech/v1alpha1",
        "kind": "Listener",
        "name": class,
        "uid": uid,
        "controller": true,
        "blockOwnerDeletion": true,
    }]);
    same("labels", &service["metadata"]["labels"], &labels)?;
    same("owners", &service["metadata"]["ownerReferences"], &owner)?;
    let found = service["metadata"]
        .get("annotations")
        .cloned()
        .unwrap_or_else(|| json!({}));
    same("annotations", &found, &annotations)?;

    let mut spec = service["spec"].clone();
    let mount = format!("listener.stackable.tech/mnt.{}", uid.replace('-', ""));
    let mut wanted = wanted;
    wanted["publishNotReadyAddresses"] = json!(true);
    wanted["selector"] = json!({ "app": "web", mount: class });
    wanted["ports"] = json!([
        { "name": "http", "port": 8080, "protocol": "TCP", "targetPort": 8080 },
        { "name": "dns", "port": 53, "protocol": "UDP", "targetPort": 53 },
    ]);
    let fields = spec.as_object_mut().expect("a Service has a spec");
    fields.retain(|name, _| !FILLED.contains(&name.as_str()));
    for port in fields["ports"].as_array_mut().into_iter().flatten() {
        let assigned = port.as_object_mut().and_then(|p| p.remove("nodePort"));
        ensure!(
            assigned.is_some() == (class == "node"),
            "node ports only where they were asked for: {service}"
        );
    }
    same(&format!("spec of {class}"), &spec, &wanted)
}

async fn eventually_labelled(cluster: &Cluster, name: &str, labels: &Value) -> Result<Value> {
    let services = cluster.namespaced::<Service>();
    let what = format!("Service {name} with the labels of its Listener");
    lifecycle_tests::harness::eventually(&what, crate::listeners::SOON, async || {
        let Some(service) = services.get_opt(name).await? else {
            return Ok(None);
        };
        let service = serde_json::to_value(service)?;
        Ok((service["metadata"]["labels"] == *labels).then_some(service))
    })
    .await
}

fn same(what: &str, found: &Value, wanted: &Value) -> Result<()> {
    ensure!(
        found == wanted,
        "{what}: found {found:#}, wanted {wanted:#}"
    );
    Ok(())
}
