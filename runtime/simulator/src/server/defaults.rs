//! Defaults that the API server fills in for built-in objects. Defaults of custom kinds are in
//! their schemas.

mod kept;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Map, Value, json};

use super::kinds::Kind;
use super::object::{fill, fill_text, map};

/// Fills in the default fields of an object of a built-in kind.
pub(crate) fn default(kind: &Kind, object: &mut Value) {
    if kind.custom || !object.is_object() {
        return;
    }
    match (kind.group.as_str(), kind.plural.as_str()) {
        ("", "services") => {
            service(object);
            if object["spec"]["type"] == "LoadBalancer" {
                for address in items(&mut object["status"]["loadBalancer"], "ingress") {
                    if address.contains_key("ip") {
                        fill(address, "ipMode", "VIP");
                    }
                }
            }
        }
        ("", "pods") => {
            let spec = map(object, "spec");
            fill(spec, "enableServiceLinks", true);
            pod(spec);
        }
        ("", "podtemplates") => template(object),
        ("", "secrets") => secret(object),
        ("", "endpoints") => endpoints(object),
        ("", "persistentvolumes") => {
            let spec = map(object, "spec");
            fill(spec, "persistentVolumeReclaimPolicy", "Retain");
            fill(spec, "volumeMode", "Filesystem");
        }
        ("", "persistentvolumeclaims") => claim(map(object, "spec")),
        ("", "namespaces") => {
            let name = super::object::name(object).to_owned();
            if !name.is_empty() {
                let metadata = super::object::metadata(object);
                let labels = metadata.entry("labels").or_insert_with(|| json!({}));
                labels["kubernetes.io/metadata.name"] = name.into();
            }
        }
        ("apps", "deployments") => deployment(map(object, "spec")),
        ("apps", "replicasets") => {
            fill(map(object, "spec"), "replicas", 1);
            template(&mut object["spec"]);
        }
        ("apps", "statefulsets") => stateful_set(map(object, "spec")),
        ("apps", "daemonsets") => daemon_set(map(object, "spec")),
        ("batch", "jobs") => job(map(object, "spec")),
        ("batch", "cronjobs") => cron_job(map(object, "spec")),
        ("discovery.k8s.io", "endpointslices") => {
            for port in items(object, "ports") {
                fill(port, "name", "");
                fill(port, "protocol", "TCP");
            }
        }
        ("networking.k8s.io", "networkpolicies") => {
            let spec = map(object, "spec");
            let mut kinds = vec!["Ingress"];
            kinds.extend(spec.contains_key("egress").then_some("Egress"));
            fill(spec, "policyTypes", json!(kinds));
            fill(spec, "podSelector", json!({}));
        }
        ("rbac.authorization.k8s.io", "rolebindings" | "clusterrolebindings") => binding(object),
        ("storage.k8s.io", "storageclasses") => {
            fill_text(object, "reclaimPolicy", "Delete");
            fill_text(object, "volumeBindingMode", "Immediate");
        }
        ("storage.k8s.io", "csidrivers") => driver(map(object, "spec")),
        ("admissionregistration.k8s.io", plural) if plural.ends_with("webhookconfigurations") => {
            kept::webhooks(object, plural.starts_with("mutating"));
        }
        ("admissionregistration.k8s.io", plural) => {
            kept::policy(object, plural.ends_with("bindings"));
        }
        ("autoscaling", "horizontalpodautoscalers") => kept::autoscaler(object),
        _ => {}
    }
}

/// The objects of a list, as maps.
fn items<'a>(
    value: &'a mut Value,
    field: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let list = value.get_mut(field).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn inner<'a>(
    value: &'a mut Map<String, Value>,
    field: &str,
) -> impl Iterator<Item = &'a mut Map<String, Value>> {
    let list = value.get_mut(field).and_then(Value::as_array_mut);
    list.into_iter().flatten().filter_map(Value::as_object_mut)
}

fn service(object: &mut Value) {
    let spec = map(object, "spec");
    for field in [
        "type",
        "sessionAffinity",
        "externalTrafficPolicy",
        "internalTrafficPolicy",
        "clusterIP",
    ] {
        if spec.get(field).is_some_and(|value| value == "") {
            spec.remove(field);
        }
    }
    fill(spec, "type", "ClusterIP");
    fill(spec, "sessionAffinity", "None");
    let kind = spec["type"].as_str().unwrap_or_default().to_owned();
    if spec["sessionAffinity"] == "None" {
        spec.remove("sessionAffinityConfig");
    } else if spec["sessionAffinity"] == "ClientIP" {
        let config = spec
            .entry("sessionAffinityConfig")
            .or_insert_with(|| json!({}));
        fill(map(config, "clientIP"), "timeoutSeconds", 10800);
    }
    for port in inner(spec, "ports") {
        fill(port, "protocol", "TCP");
        if port.get("protocol").is_some_and(|protocol| protocol == "") {
            port.insert("protocol".to_owned(), "TCP".into());
        }
        let target = port.get("targetPort");
        if target.is_none_or(|target| target.is_null() || *target == 0 || target == "") {
            let number = port.get("port").cloned().unwrap_or(Value::Null);
            port.insert("targetPort".to_owned(), number);
        }
        if port.get("nodePort").is_some_and(|number| *number == 0) {
            port.remove("nodePort");
        }
        if port.get("name").is_some_and(|name| name == "") {
            port.remove("name");
        }
    }
    let external = spec.get("externalIPs").and_then(Value::as_array);
    let reachable = external.is_some_and(|ips| !ips.is_empty()) && kind == "ClusterIP";
    if kind == "NodePort" || kind == "LoadBalancer" || reachable {
        fill(spec, "externalTrafficPolicy", "Cluster");
    }
    if kind != "ExternalName" {
        fill(spec, "internalTrafficPolicy", "Cluster");
    }
    let balances = kind == "LoadBalancer";
    if balances {
        fill(spec, "allocateLoadBalancerNodePorts", true);
    }
    for field in ["selector", "externalIPs", "loadBalancerSourceRanges"] {
        let empty = |value: &Value| *value == json!({}) || *value == json!([]);
        if spec.get(field).is_some_and(empty) {
            spec.remove(field);
        }
    }
    if spec
        .get("publishNotReadyAddresses")
        .is_some_and(|value| *value == false)
    {
        spec.remove("publishNotReadyAddresses");
    }
}

/// Fills in the Pod template of a workload.
fn template(workload: &mut Value) {
    if let Some(template) = workload
        .get_mut("template")
        .filter(|template| template.is_object())
    {
        pod(map(template, "spec"));
    }
}

fn pod(spec: &mut Map<String, Value>) {
    fill(spec, "restartPolicy", "Always");
    fill(spec, "dnsPolicy", "ClusterFirst");
    fill(spec, "terminationGracePeriodSeconds", 30);
    fill(spec, "schedulerName", "default-scheduler");
    fill(spec, "securityContext", json!({}));
    // The two names of the account are one.
    let account = spec
        .get("serviceAccountName")
        .or_else(|| spec.get("serviceAccount"))
        .cloned();
    if let Some(account) =
        account.filter(|account| account.as_str().is_some_and(|name| !name.is_empty()))
    {
        spec.insert("serviceAccountName".to_owned(), account.clone());
        spec.insert("serviceAccount".to_owned(), account);
    }
    let host_network = spec.get("hostNetwork").is_some_and(|value| *value == true);
    for list in ["containers", "initContainers"] {
        for one in inner(spec, list) {
            container(one, host_network);
        }
    }
    for one in inner(spec, "volumes") {
        volume(one);
    }
}

fn container(container: &mut Map<String, Value>, host_network: bool) {
    fill(container, "terminationMessagePath", "/dev/termination-log");
    fill(container, "terminationMessagePolicy", "File");
    fill(container, "resources", json!({}));
    let image = container
        .get("image")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let last = image.rsplit('/').next().unwrap_or_default();
    let newest =
        !image.contains('@') && last.split_once(':').is_none_or(|(_, tag)| tag == "latest");
    fill(
        container,
        "imagePullPolicy",
        if newest { "Always" } else { "IfNotPresent" },
    );
    for port in inner(container, "ports") {
        fill(port, "protocol", "TCP");
        if host_network && let Some(number) = port.get("containerPort").cloned() {
            fill(port, "hostPort", number);
        }
    }
    for variable in inner(container, "env") {
        let reference = variable
            .get_mut("valueFrom")
            .and_then(|from| from.get_mut("fieldRef"));
        if let Some(reference) = reference.and_then(Value::as_object_mut) {
            fill(reference, "apiVersion", "v1");
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        if let Some(probe) = container.get_mut(probe).and_then(Value::as_object_mut) {
            for (field, value) in [
                ("timeoutSeconds", 1),
                ("periodSeconds", 10),
                ("successThreshold", 1),
                ("failureThreshold", 3),
            ] {
                fill(probe, field, value);
            }
            if let Some(get) = probe.get_mut("httpGet").and_then(Value::as_object_mut) {
                fill(get, "path", "/");
                fill(get, "scheme", "HTTP");
            }
        }
    }
    let resources = container
        .get_mut("resources")
        .filter(|resources| resources.get("limits").is_some());
    if let Some(resources) = resources {
        let limits = resources["limits"].as_object().cloned().unwrap_or_default();
        let requests = map(resources, "requests");
        for (name, limit) in limits {
            fill(requests, &name, limit);
        }
    }
}

fn volume(volume: &mut Map<String, Value>) {
    if volume.len() == 1 && volume.contains_key("name") {
        volume.insert("emptyDir".to_owned(), json!({}));
    }
    for source in ["secret", "configMap", "downwardAPI", "projected"] {
        if let Some(source) = volume.get_mut(source).and_then(Value::as_object_mut) {
            fill(source, "defaultMode", 420);
        }
    }
    if let Some(path) = volume.get_mut("hostPath").and_then(Value::as_object_mut) {
        fill(path, "type", "");
    }
    let template = volume
        .get_mut("ephemeral")
        .and_then(|one| one.get_mut("volumeClaimTemplate"));
    if let Some(template) = template.filter(|template| template.is_object()) {
        claim(map(template, "spec"));
    }
}

fn claim(spec: &mut Map<String, Value>) {
    fill(spec, "volumeMode", "Filesystem");
    let source = spec.get("dataSource").cloned();
    if let Some(source) = source.filter(Value::is_object) {
        fill(spec, "dataSourceRef", source);
    }
}

fn secret(object: &mut Value) {
    fill_text(object, "type", "Opaque");
    let plain = object
        .as_object_mut()
        .and_then(|object| object.remove("stringData"));
    if let Some(Value::Object(plain)) = plain {
        let data = map(object, "data");
        for (key, value) in plain {
            let encoded = STANDARD.encode(value.as_str().unwrap_or_default());
            data.insert(key, encoded.into());
        }
    }
}

fn endpoints(object: &mut Value) {
    for subset in items(object, "subsets") {
        for port in inner(subset, "ports") {
            fill(port, "protocol", "TCP");
        }
    }
}

fn deployment(spec: &mut Map<String, Value>) {
    fill(spec, "replicas", 1);
    fill(spec, "revisionHistoryLimit", 10);
    fill(spec, "progressDeadlineSeconds", 600);
    let strategy = spec.entry("strategy").or_insert_with(|| json!({}));
    fill_text(strategy, "type", "RollingUpdate");
    if strategy["type"] == "RollingUpdate" {
        let rolling = map(strategy, "rollingUpdate");
        fill(rolling, "maxUnavailable", "25%");
        fill(rolling, "maxSurge", "25%");
    }
    of_template(spec);
}

fn of_template(spec: &mut Map<String, Value>) {
    let mut holder = json!({"template": spec.remove("template").unwrap_or(Value::Null)});
    template(&mut holder);
    if !holder["template"].is_null() {
        spec.insert("template".to_owned(), holder["template"].take());
    }
}

fn stateful_set(spec: &mut Map<String, Value>) {
    fill(spec, "replicas", 1);
    fill(spec, "podManagementPolicy", "OrderedReady");
    fill(spec, "revisionHistoryLimit", 10);
    let strategy = spec.entry("updateStrategy").or_insert_with(|| json!({}));
    fill_text(strategy, "type", "RollingUpdate");
    if strategy["type"] == "RollingUpdate" {
        fill(map(strategy, "rollingUpdate"), "partition", 0);
    }
    let kept = json!({"whenDeleted": "Retain", "whenScaled": "Retain"});
    fill(spec, "persistentVolumeClaimRetentionPolicy", kept);
    for template in inner(spec, "volumeClaimTemplates") {
        fill(template, "apiVersion", "v1");
        fill(template, "kind", "PersistentVolumeClaim");
        let status = template.entry("status").or_insert_with(|| json!({}));
        fill_text(status, "phase", "Pending");
        let inner = template.entry("spec").or_insert_with(|| json!({}));
        if let Some(inner) = inner.as_object_mut() {
            claim(inner);
        }
    }
    of_template(spec);
}

fn daemon_set(spec: &mut Map<String, Value>) {
    fill(spec, "revisionHistoryLimit", 10);
    let strategy = spec.entry("updateStrategy").or_insert_with(|| json!({}));
    fill_text(strategy, "type", "RollingUpdate");
    if strategy["type"] == "RollingUpdate" {
        let rolling = map(strategy, "rollingUpdate");
        fill(rolling, "maxUnavailable", 1);
        fill(rolling, "maxSurge", 0);
    }
    of_template(spec);
}

fn job(spec: &mut Map<String, Value>) {
    let open = !spec.contains_key("completions") && !spec.contains_key("parallelism");
    if open {
        fill(spec, "completions", 1);
    }
    fill(spec, "parallelism", 1);
    fill(spec, "backoffLimit", 6);
    fill(spec, "completionMode", "NonIndexed");
    fill(spec, "suspend", false);
    fill(spec, "manualSelector", false);
    fill(spec, "podReplacementPolicy", "TerminatingOrFailed");
    of_template(spec);
}

fn cron_job(spec: &mut Map<String, Value>) {
    fill(spec, "concurrencyPolicy", "Allow");
    fill(spec, "suspend", false);
    fill(spec, "successfulJobsHistoryLimit", 3);
    fill(spec, "failedJobsHistoryLimit", 1);
    if let Some(job) = spec
        .get_mut("jobTemplate")
        .and_then(|one| one.get_mut("spec"))
    {
        template(job);
    }
}

fn binding(object: &mut Value) {
    let group = "rbac.authorization.k8s.io";
    fill_text(&mut object["roleRef"], "apiGroup", group);
    for subject in items(object, "subjects") {
        let kind = subject
            .get("kind")
            .and_then(Value::as_str)
            .unwrap_or_default();
        if ["User", "Group"].contains(&kind) {
            fill(subject, "apiGroup", group);
        }
    }
}

fn driver(spec: &mut Map<String, Value>) {
    for (field, value) in [
        ("attachRequired", true),
        ("podInfoOnMount", false),
        ("storageCapacity", false),
        ("requiresRepublish", false),
        ("seLinuxMount", false),
    ] {
        fill(spec, field, value);
    }
    fill(spec, "fsGroupPolicy", "ReadWriteOnceWithFSType");
    if spec
        .get("volumeLifecycleModes")
        .and_then(Value::as_array)
        .is_none_or(Vec::is_empty)
    {
        spec.insert("volumeLifecycleModes".to_owned(), json!(["Persistent"]));
    }
}
