//! Defaults that the API server fills in for built-in objects. Defaults of custom kinds are in
//! their schemas.

mod kept;
#[cfg(test)]
mod tests;

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
            balanced(object);
        }
        ("", "pods") => {
            let spec = map(object, "spec");
            fill(spec, "enableServiceLinks", true);
            pod(spec);
            of_running(spec);
        }
        ("", "replicationcontrollers") => controller(object),
        ("", "limitranges") => limits(object),
        ("", "nodes") => {
            if let Some(capacity) = object["status"].get("capacity").cloned() {
                fill(map(object, "status"), "allocatable", capacity);
            }
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
        ("", "namespaces") => namespace(object),
        ("apps", "deployments") => deployment(map(object, "spec")),
        ("apps", "replicasets") => {
            fill(map(object, "spec"), "replicas", 1);
            template(&mut object["spec"]);
        }
        ("apps", "statefulsets") => stateful_set(map(object, "spec")),
        ("apps", "daemonsets") => daemon_set(map(object, "spec")),
        ("batch", "jobs") => {
            job(map(object, "spec"));
            label(object);
        }
        ("batch", "cronjobs") => cron_job(map(object, "spec")),
        ("discovery.k8s.io", "endpointslices") => {
            for port in items(object, "ports") {
                fill(port, "name", "");
                fill(port, "protocol", "TCP");
            }
        }
        ("networking.k8s.io", "networkpolicies") => policy(map(object, "spec")),
        ("networking.k8s.io", "ingressclasses") => {
            let parameters = map(object, "spec").get_mut("parameters");
            if let Some(parameters) = parameters.and_then(Value::as_object_mut) {
                fill(parameters, "scope", "Cluster");
            }
        }
        ("scheduling.k8s.io", "priorityclasses") => {
            fill_text(object, "preemptionPolicy", "PreemptLowerPriority");
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

fn namespace(object: &mut Value) {
    let name = super::object::name(object).to_owned();
    if !name.is_empty() {
        let metadata = super::object::metadata(object);
        let labels = metadata.entry("labels").or_insert_with(|| json!({}));
        labels["kubernetes.io/metadata.name"] = name.into();
    }
}

fn balanced(object: &mut Value) {
    if object["spec"]["type"] != "LoadBalancer" {
        return;
    }
    for address in items(&mut object["status"]["loadBalancer"], "ingress") {
        if address.contains_key("ip") {
            fill(address, "ipMode", "VIP");
        }
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
    for list in ["containers", "initContainers"] {
        inner(spec, list).for_each(container);
    }
    for one in inner(spec, "volumes") {
        volume(one);
    }
}

/// Fills in what a Pod has and a template of Pods has not.
fn of_running(spec: &mut Map<String, Value>) {
    let host_network = spec.get("hostNetwork").is_some_and(|value| *value == true);
    for list in ["containers", "initContainers"] {
        for container in inner(spec, list) {
            for port in inner(container, "ports").filter(|_| host_network) {
                if let Some(number) = port.get("containerPort").cloned() {
                    fill(port, "hostPort", number);
                }
            }
            if let Some(resources) = container.get_mut("resources") {
                fill_each(resources, "requests", "limits");
            }
        }
    }
}

/// Copies the entries of a map that another map of the same object lacks.
fn fill_each(object: &mut Value, field: &str, from: &str) {
    if let Some(given) = object.get(from).and_then(Value::as_object).cloned() {
        let target = map(object, field);
        for (name, value) in given {
            fill(target, &name, value);
        }
    }
}

fn container(container: &mut Map<String, Value>) {
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
    }
    for variable in inner(container, "env") {
        if let Some(from) = variable.get_mut("valueFrom") {
            of_field(from);
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
            if let Some(call) = probe.get_mut("grpc").and_then(Value::as_object_mut) {
                fill(call, "service", "");
            }
            http_get(probe);
        }
    }
    for hook in ["postStart", "preStop"] {
        let hook = container
            .get_mut("lifecycle")
            .and_then(|all| all.get_mut(hook));
        if let Some(hook) = hook.and_then(Value::as_object_mut) {
            http_get(hook);
        }
    }
}

fn http_get(action: &mut Map<String, Value>) {
    if let Some(get) = action.get_mut("httpGet").and_then(Value::as_object_mut) {
        fill(get, "path", "/");
        fill(get, "scheme", "HTTP");
    }
}

/// Fills in the version of a field of a Pod that something reads.
fn of_field(from: &mut Value) {
    if let Some(reference) = from.get_mut("fieldRef").and_then(Value::as_object_mut) {
        fill(reference, "apiVersion", "v1");
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
    if let Some(source) = volume.get_mut("downwardAPI") {
        of_fields(source);
    }
    if let Some(projected) = volume.get_mut("projected").and_then(Value::as_object_mut) {
        for source in inner(projected, "sources") {
            let token = source.get_mut("serviceAccountToken");
            if let Some(token) = token.and_then(Value::as_object_mut) {
                fill(token, "expirationSeconds", 3600);
            }
            if let Some(source) = source.get_mut("downwardAPI") {
                of_fields(source);
            }
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

fn of_fields(source: &mut Value) {
    let items = source.get_mut("items").and_then(Value::as_array_mut);
    items.into_iter().flatten().for_each(of_field);
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

fn policy(spec: &mut Map<String, Value>) {
    let mut kinds = vec!["Ingress"];
    kinds.extend(spec.contains_key("egress").then_some("Egress"));
    fill(spec, "policyTypes", json!(kinds));
    fill(spec, "podSelector", json!({}));
    for direction in ["ingress", "egress"] {
        for rule in inner(spec, direction) {
            for port in inner(rule, "ports") {
                fill(port, "protocol", "TCP");
            }
        }
    }
}

/// Fills in the limits of containers from each other, in the order in which the real server does.
fn limits(object: &mut Value) {
    let limits = map(object, "spec").get_mut("limits");
    let limits = limits.and_then(Value::as_array_mut);
    for limit in limits.into_iter().flatten() {
        if limit["type"] == "Container" {
            fill_each(limit, "default", "max");
            fill_each(limit, "defaultRequest", "default");
            fill_each(limit, "defaultRequest", "min");
        }
    }
}

/// Takes the labels of an object without any from its template.
fn label(object: &mut Value) {
    let labels = &object["spec"]["template"]["metadata"]["labels"];
    let none = |labels: &Value| labels.as_object().is_none_or(Map::is_empty);
    if !none(labels) && none(&object["metadata"]["labels"]) {
        object["metadata"]["labels"] = labels.clone();
    }
}

fn controller(object: &mut Value) {
    label(object);
    let labels = object["spec"]["template"]["metadata"]["labels"].clone();
    let spec = map(object, "spec");
    fill(spec, "replicas", 1);
    if labels.is_object() {
        fill(spec, "selector", labels);
    }
    of_template(spec);
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
    let kept = spec.entry("persistentVolumeClaimRetentionPolicy");
    let kept = kept.or_insert_with(|| json!({}));
    fill_text(kept, "whenDeleted", "Retain");
    fill_text(kept, "whenScaled", "Retain");
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
