//! Behaviour of the API server itself for other built-in kinds: defaults, immutable fields,
//! generations, subresources.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::api::{Api, MERGE, cases, unchanged};

cases![
    pods_get_defaults,
    pods_change_their_image_only,
    pods_are_bound_once,
    pods_keep_their_status_in_an_update,
    pods_report_their_status,
    conditions_show_times_that_nobody_gave,
    pods_need_containers,
    pods_are_evicted,
    deployments_get_defaults,
    deployments_count_generations,
    deployments_never_change_their_selector,
    deployments_are_scaled,
    stateful_sets_get_defaults,
    daemon_sets_get_defaults,
    volumes_get_defaults_and_protection,
    volumes_never_change_their_source,
    claims_get_defaults_and_protection,
    storage_classes_never_change,
    csi_drivers_get_defaults,
    csi_nodes_are_kept,
    attachments_never_change,
    leases_are_kept_to_the_microsecond,
    endpoint_slices_count_generations,
    endpoint_slices_show_that_they_have_no_ports,
    nodes_keep_the_status_they_are_made_with,
    events_are_shown_by_both_groups,
    role_bindings_never_change_their_role,
    config_map_keys_are_kept_as_they_are,
    secrets_hold_base64,
];

fn containers() -> Value {
    json!([{"name": "c", "image": "example.com/image:1", "ports": [{"containerPort": 80}]}])
}

fn pod() -> Value {
    json!({"metadata": {"name": "a"}, "spec": {"containers": containers()}})
}

async fn pods_get_defaults(api: Api) -> Result<()> {
    let mut pod = pod();
    pod["spec"]["volumes"] = json!([{"name": "v"}, {"name": "w", "configMap": {"name": "m"}}]);
    let made = api.post(&api.core("pods"), &pod).await?.is(201)?;
    ensure!(made["spec"]["restartPolicy"] == "Always" && made["status"]["phase"] == "Pending");
    Ok(())
}

async fn pods_change_their_image_only(api: Api) -> Result<()> {
    api.post(&api.core("pods"), &pod()).await?.is(201)?;
    let mut made = api.get(&api.core("pods/a")).await?.is(200)?;
    made["spec"]["containers"][0]["image"] = "example.com/image:2".into();
    let mut made = api.put(&api.core("pods/a"), &made).await?.is(200)?;
    made["spec"]["hostNetwork"] = true.into();
    let refused = api.silently().put(&api.core("pods/a"), &made).await?;
    refused.refuses(
        422,
        "Invalid",
        "pod updates may not change fields other than",
    )?;
    Ok(())
}

async fn pods_are_bound_once(api: Api) -> Result<()> {
    api.post(&api.core("pods"), &pod()).await?.is(201)?;
    let binding = json!({
        "apiVersion": "v1", "kind": "Binding", "metadata": {"name": "a"},
        "target": {"apiVersion": "v1", "kind": "Node", "name": "one"},
    });
    api.post(&api.core("pods/a/binding"), &binding)
        .await?
        .is(201)?;
    let bound = api.get(&api.core("pods/a")).await?.is(200)?;
    ensure!(bound["spec"]["nodeName"] == "one", "{bound}");
    let refused = api
        .silently()
        .post(&api.core("pods/a/binding"), &binding)
        .await?;
    refused.refuses(409, "Conflict", "is already assigned to node")?;
    Ok(())
}

async fn pods_keep_their_status_in_an_update(api: Api) -> Result<()> {
    let mut made = api.post(&api.core("pods"), &pod()).await?.is(201)?;
    made["status"]["phase"] = "Running".into();
    made["metadata"]["labels"] = json!({"l": "1"});
    let new = api.put(&api.core("pods/a"), &made).await?.is(200)?;
    ensure!(new["status"]["phase"] == "Pending", "{new}");
    Ok(())
}

async fn pods_report_their_status(api: Api) -> Result<()> {
    api.post(&api.core("pods"), &pod()).await?.is(201)?;
    let patch =
        json!({"status": {"phase": "Running", "podIP": "192.0.2.1"}, "spec": {"nodeName": "x"}});
    let new = api
        .silently()
        .patch(MERGE, &api.core("pods/a/status"), &patch)
        .await?
        .is(200)?;
    ensure!(
        new["status"]["phase"] == "Running" && new["spec"].get("nodeName").is_none(),
        "{new}"
    );
    Ok(())
}

async fn conditions_show_times_that_nobody_gave(api: Api) -> Result<()> {
    api.post(&api.core("pods"), &pod()).await?.is(201)?;
    let status = json!({
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "b", "status": "False", "lastProbeTime": null}],
        "containerStatuses": [{
            "name": "c", "image": "", "imageID": "", "ready": true, "restartCount": 0, "state": {"running": {}},
        }],
    });
    let patch = json!({"status": status});
    let path = api.core("pods/a/status");
    let told = api.patch(MERGE, &path, &patch).await?.is(200)?;
    let condition = &told["status"]["conditions"][0];
    ensure!(
        condition.get("lastProbeTime") == Some(&Value::Null),
        "{told}"
    );
    Ok(())
}

async fn pods_need_containers(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}, "spec": {"containers": []}});
    let refused = api.post(&api.core("pods"), &body).await?;
    refused.refuses(422, "Invalid", "spec.containers: Required value")?;
    Ok(())
}

async fn pods_are_evicted(api: Api) -> Result<()> {
    api.post(&api.core("pods"), &pod()).await?.is(201)?;
    let eviction =
        json!({"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "a"}});
    api.silently()
        .post(&api.core("pods/a/eviction"), &eviction)
        .await?
        .is(201)?;
    api.get(&api.core("pods/a")).await?.is(404)?;
    Ok(())
}

fn workload() -> Value {
    json!({"metadata": {"name": "a"}, "spec": {
        "selector": {"matchLabels": {"app": "a"}},
        "template": {"metadata": {"labels": {"app": "a"}}, "spec": {"containers": containers()}},
    }})
}

async fn deployments_get_defaults(api: Api) -> Result<()> {
    let made = api
        .post(&api.group("apps", "deployments"), &workload())
        .await?
        .is(201)?;
    ensure!(
        made["spec"]["replicas"] == 1 && made["metadata"]["generation"] == 1,
        "{made}"
    );
    Ok(())
}

async fn deployments_count_generations(api: Api) -> Result<()> {
    let all = api.group("apps", "deployments");
    api.post(&all, &workload()).await?.is(201)?;
    let path = format!("{all}/a");
    let new = api
        .patch(MERGE, &path, &json!({"spec": {"replicas": 3}}))
        .await?
        .is(200)?;
    ensure!(new["metadata"]["generation"] == 2, "{new}");
    let new = api
        .patch(MERGE, &path, &json!({"metadata": {"labels": {"l": "1"}}}))
        .await?
        .is(200)?;
    ensure!(new["metadata"]["generation"] == 2, "{new}");
    let status = json!({"status": {"replicas": 1, "observedGeneration": 2}});
    let new = api
        .patch(MERGE, &format!("{path}/status"), &status)
        .await?
        .is(200)?;
    ensure!(
        new["metadata"]["generation"] == 2 && new["status"]["replicas"] == 1,
        "{new}"
    );
    Ok(())
}

async fn deployments_never_change_their_selector(api: Api) -> Result<()> {
    let all = api.group("apps", "deployments");
    api.post(&all, &workload()).await?.is(201)?;
    let patch = json!({"spec": {
        "selector": {"matchLabels": {"app": "b"}}, "template": {"metadata": {"labels": {"app": "b"}}},
    }});
    let refused = api
        .silently()
        .patch(MERGE, &format!("{all}/a"), &patch)
        .await?;
    refused.refuses(422, "Invalid", "field is immutable")?;
    Ok(())
}

async fn deployments_are_scaled(api: Api) -> Result<()> {
    let all = api.group("apps", "deployments");
    api.post(&all, &workload()).await?.is(201)?;
    let path = format!("{all}/a/scale");
    let mut scale = api.get(&path).await?.is(200)?;
    ensure!(
        scale["kind"] == "Scale" && scale["spec"]["replicas"] == 1,
        "{scale}"
    );
    scale["spec"]["replicas"] = 4.into();
    api.silently().put(&path, &scale).await?.is(200)?;
    let new = api.silently().get(&format!("{all}/a")).await?.is(200)?;
    ensure!(
        new["spec"]["replicas"] == 4 && new["metadata"]["generation"] == 2,
        "{new}"
    );
    Ok(())
}

async fn stateful_sets_get_defaults(api: Api) -> Result<()> {
    let mut set = workload();
    set["spec"]["volumeClaimTemplates"] = json!([{
        "metadata": {"name": "v"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }]);
    api.post(&api.group("apps", "statefulsets"), &set)
        .await?
        .is(201)?;
    Ok(())
}

async fn daemon_sets_get_defaults(api: Api) -> Result<()> {
    api.post(&api.group("apps", "daemonsets"), &workload())
        .await?
        .is(201)?;
    Ok(())
}

fn volume(api: &Api) -> Value {
    json!({"metadata": {"name": api.own("v")}, "spec": {
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"],
        "csi": {"driver": "example.com", "volumeHandle": "h"},
    }})
}

async fn volumes_get_defaults_and_protection(api: Api) -> Result<()> {
    let made = api
        .post("/api/v1/persistentvolumes", &volume(&api))
        .await?
        .is(201)?;
    ensure!(
        made["metadata"]["finalizers"] == json!(["kubernetes.io/pv-protection"]),
        "{made}"
    );
    Ok(())
}

async fn volumes_never_change_their_source(api: Api) -> Result<()> {
    api.post("/api/v1/persistentvolumes", &volume(&api))
        .await?
        .is(201)?;
    let path = format!("/api/v1/persistentvolumes/{}", api.own("v"));
    let patch = json!({"spec": {"csi": {"volumeHandle": "other"}}});
    let refused = api.silently().patch(MERGE, &path, &patch).await?;
    refused.refuses(422, "Invalid", "is immutable after creation")?;
    let patch = json!({"metadata": {"labels": {"l": "1"}}});
    api.patch(MERGE, &path, &patch).await?.is(200)?;
    Ok(())
}

async fn claims_get_defaults_and_protection(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}, "spec": {
        "accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}},
    }});
    let made = api
        .post(&api.core("persistentvolumeclaims"), &body)
        .await?
        .is(201)?;
    ensure!(
        made["metadata"]["finalizers"] == json!(["kubernetes.io/pvc-protection"]),
        "{made}"
    );
    let path = api.core("persistentvolumeclaims/a");
    let bound = api
        .patch(MERGE, &path, &json!({"spec": {"volumeName": "v"}}))
        .await?
        .is(200)?;
    ensure!(bound["spec"]["volumeName"] == "v");
    let refused = api
        .silently()
        .patch(MERGE, &path, &json!({"spec": {"volumeName": "w"}}))
        .await?;
    refused.refuses(422, "Invalid", "spec is immutable after creation")?;
    Ok(())
}

async fn storage_classes_never_change(api: Api) -> Result<()> {
    let all = "/apis/storage.k8s.io/v1/storageclasses";
    let body = json!({"metadata": {"name": api.own("s")}, "provisioner": "example.com"});
    let made = api.post(all, &body).await?.is(201)?;
    ensure!(
        made["reclaimPolicy"] == "Delete" && made["volumeBindingMode"] == "Immediate",
        "{made}"
    );
    let patch = json!({"reclaimPolicy": "Retain"});
    let refused = api
        .patch(MERGE, &format!("{all}/{}", api.own("s")), &patch)
        .await?;
    refused.refuses(422, "Invalid", "field is immutable")?;
    Ok(())
}

async fn csi_drivers_get_defaults(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": api.own("d")}, "spec": {"attachRequired": false}});
    let made = api
        .post("/apis/storage.k8s.io/v1/csidrivers", &body)
        .await?
        .is(201)?;
    ensure!(
        made["spec"]["volumeLifecycleModes"] == json!(["Persistent"]),
        "{made}"
    );
    Ok(())
}

async fn csi_nodes_are_kept(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": api.own("n")}, "spec": {"drivers": [
        {"name": "example.com", "nodeID": "n", "topologyKeys": ["example.com/node"]},
    ]}});
    let made = api
        .post("/apis/storage.k8s.io/v1/csinodes", &body)
        .await?
        .is(201)?;
    let path = format!("/apis/storage.k8s.io/v1/csinodes/{}", api.own("n"));
    unchanged(&made, &api.get(&path).await?.is(200)?)
}

async fn attachments_never_change(api: Api) -> Result<()> {
    let all = "/apis/storage.k8s.io/v1/volumeattachments";
    let body = json!({"metadata": {"name": api.own("a")}, "spec": {
        "attacher": "example.com", "nodeName": "n", "source": {"persistentVolumeName": "v"},
    }});
    api.post(all, &body).await?.is(201)?;
    let path = format!("{all}/{}", api.own("a"));
    let refused = api
        .silently()
        .patch(MERGE, &path, &json!({"spec": {"nodeName": "m"}}))
        .await?;
    refused.refuses(422, "Invalid", "field is immutable")?;
    let new = api
        .patch(
            MERGE,
            &format!("{path}/status"),
            &json!({"status": {"attached": true}}),
        )
        .await?
        .is(200)?;
    ensure!(new["status"]["attached"] == true);
    Ok(())
}

async fn leases_are_kept_to_the_microsecond(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}, "spec": {
        "holderIdentity": "me", "leaseDurationSeconds": 30, "renewTime": "2026-01-01T00:00:00.123456Z",
    }});
    let made = api
        .post(&api.group("coordination.k8s.io", "leases"), &body)
        .await?
        .is(201)?;
    ensure!(
        made["spec"]["renewTime"] == "2026-01-01T00:00:00.123456Z",
        "{made}"
    );
    Ok(())
}

async fn endpoint_slices_count_generations(api: Api) -> Result<()> {
    let all = api.group("discovery.k8s.io", "endpointslices");
    let body = json!({
        "metadata": {"name": "a"}, "addressType": "IPv4", "ports": [{"port": 80}],
        "endpoints": [{"addresses": ["192.0.2.1"], "nodeName": "n"}],
    });
    let made = api.post(&all, &body).await?.is(201)?;
    ensure!(
        made["metadata"]["generation"] == 1 && made["ports"][0]["protocol"] == "TCP",
        "{made}"
    );
    let patch = json!({"endpoints": [{"addresses": ["192.0.2.2"]}]});
    let new = api
        .patch(MERGE, &format!("{all}/a"), &patch)
        .await?
        .is(200)?;
    ensure!(new["metadata"]["generation"] == 2, "{new}");
    Ok(())
}

async fn endpoint_slices_show_that_they_have_no_ports(api: Api) -> Result<()> {
    let all = api.group("discovery.k8s.io", "endpointslices");
    let body = json!({ "metadata": {"name": "a"}, "addressType": "IPv4" });
    let made = api.post(&all, &body).await?.is(201)?;
    let is_null = |object: &Value, field: &str| object.get(field) == Some(&Value::Null);
    ensure!(
        is_null(&made, "ports") && is_null(&made, "endpoints"),
        "{made}"
    );
    let patch = json!({"ports": [{"port": 80}], "endpoints": []});
    let path = format!("{all}/a");
    let new = api.patch(MERGE, &path, &patch).await?.is(200)?;
    ensure!(
        !is_null(&new, "ports") && is_null(&new, "endpoints"),
        "{new}"
    );
    let again = api.put(&path, &new).await?.is(200)?;
    unchanged(&new, &again)?;
    Ok(())
}

async fn secrets_hold_base64(api: Api) -> Result<()> {
    let secret = |value: &str| json!({ "metadata": {"name": "a"}, "data": { "k": value } });
    for bad in ["NQ=x", "N?==", "NQ", "not base64"] {
        let refused = api
            .silently()
            .post(&api.core("secrets"), &secret(bad))
            .await?;
        refused.refuses(400, "BadRequest", "illegal base64 data at input byte")?;
    }
    for good in ["", "NQ==", "NR==", "NQ\n=="] {
        api.post(&api.core("secrets"), &secret(good))
            .await?
            .is(201)?;
        api.delete(&api.core("secrets/a"), &json!({}))
            .await?
            .is(200)?;
    }
    Ok(())
}

async fn nodes_keep_the_status_they_are_made_with(api: Api) -> Result<()> {
    let body = json!({
        "metadata": {"name": api.own("n")},
        "status": {"addresses": [{"type": "InternalIP", "address": "192.0.2.1"}]},
    });
    let made = api.silently().post("/api/v1/nodes", &body).await?.is(201)?;
    ensure!(
        made["status"]["addresses"][0]["address"] == "192.0.2.1",
        "{made}"
    );
    let path = format!("/api/v1/nodes/{}", api.own("n"));
    let patch = json!({"status": {"addresses": []}, "metadata": {"labels": {"l": "1"}}});
    let new = api.silently().patch(MERGE, &path, &patch).await?.is(200)?;
    ensure!(
        new["status"]["addresses"][0]["address"] == "192.0.2.1",
        "{new}"
    );
    Ok(())
}

async fn events_are_shown_by_both_groups(api: Api) -> Result<()> {
    let event = json!({
        "metadata": {"name": "a"}, "reason": "Made", "type": "Normal", "note": "it is made", "action": "Make",
        "regarding": {"kind": "ConfigMap", "name": "m", "namespace": api.namespace},
        "reportingController": "example.com/tests", "reportingInstance": "t", "eventTime": "2026-01-01T00:00:00.000000Z",
    });
    let made = api
        .post(&api.group("events.k8s.io", "events"), &event)
        .await?
        .is(201)?;
    ensure!(
        made["note"] == "it is made" && made["apiVersion"] == "events.k8s.io/v1",
        "{made}"
    );
    let core = api.get(&api.core("events/a")).await?.is(200)?;
    ensure!(
        core["message"] == "it is made" && core["involvedObject"]["name"] == "m",
        "{core}"
    );
    Ok(())
}

async fn role_bindings_never_change_their_role(api: Api) -> Result<()> {
    let all = api.group("rbac.authorization.k8s.io", "rolebindings");
    let body = json!({
        "metadata": {"name": "a"}, "roleRef": {"kind": "Role", "name": "r"},
        "subjects": [{"kind": "User", "name": "u"}],
    });
    let made = api.post(&all, &body).await?.is(201)?;
    ensure!(
        made["subjects"][0]["apiGroup"] == "rbac.authorization.k8s.io",
        "{made}"
    );
    let patch = json!({"roleRef": {"name": "s"}});
    let refused = api
        .silently()
        .patch(MERGE, &format!("{all}/a"), &patch)
        .await?;
    refused.refuses(422, "Invalid", "cannot change roleRef")?;
    Ok(())
}

async fn config_map_keys_are_kept_as_they_are(api: Api) -> Result<()> {
    let body = json!({"metadata": {"name": "a"}, "data": {"a.b": "1", "A_c": ""}, "binaryData": {"d": "AA=="}});
    let made = api.post(&api.core("configmaps"), &body).await?.is(201)?;
    ensure!(made["data"]["A_c"] == "", "{made}");
    Ok(())
}
