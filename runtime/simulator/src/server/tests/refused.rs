//! Objects that a real API server refuses, each with its message, and the nearest objects that it
//! accepts.

use serde_json::{Value, json};

use super::super::{Content, Server, User};

/// Sends a request and returns the code and the body of its answer.
pub(super) fn send(server: &Server, method: &str, path: &str, body: &Value) -> (u16, Value) {
    let kind = match method {
        "PATCH" => "application/merge-patch+json",
        _ => "application/json",
    };
    let request = http::Request::builder()
        .method(method)
        .uri(path)
        .header("content-type", kind);
    let bytes = match body.is_null() {
        true => Vec::new(),
        false => body.to_string().into_bytes(),
    };
    let request = request.body(bytes).unwrap();
    let reply = server.serve(&User::admin(), &request);
    let Content::Whole(bytes) = reply.content else {
        panic!("no watch");
    };
    // A path that nothing serves is answered in a text.
    (
        reply.status,
        serde_json::from_slice(&bytes).unwrap_or_default(),
    )
}

/// Path of the objects of a built-in kind in the namespace `default`.
fn path(plural: &str) -> String {
    let (group, namespaced) = match plural {
        "statefulsets" | "deployments" | "daemonsets" | "replicasets" => ("apis/apps/v1", true),
        "cronjobs" | "jobs" => ("apis/batch/v1", true),
        "ingresses" | "networkpolicies" => ("apis/networking.k8s.io/v1", true),
        "poddisruptionbudgets" => ("apis/policy/v1", true),
        "horizontalpodautoscalers" => ("apis/autoscaling/v2", true),
        "roles" | "rolebindings" => ("apis/rbac.authorization.k8s.io/v1", true),
        "clusterroles" | "clusterrolebindings" => ("apis/rbac.authorization.k8s.io/v1", false),
        "validatingwebhookconfigurations" => ("apis/admissionregistration.k8s.io/v1", false),
        "persistentvolumes" => ("api/v1", false),
        _ => ("api/v1", true),
    };
    match namespaced {
        true => format!("/{group}/namespaces/default/{plural}"),
        false => format!("/{group}/{plural}"),
    }
}

fn template(labels: Value) -> Value {
    json!({"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "i"}]}})
}

fn job_template(policy: &str) -> Value {
    let containers = json!([{"name": "c", "image": "i"}]);
    json!({"spec": {"template": {"spec": {"restartPolicy": policy, "containers": containers}}}})
}

fn set(wanted: Value, labels: Value) -> Value {
    json!({"spec": {"serviceName": "s", "selector": {"matchLabels": wanted}, "template": template(labels)}})
}

fn container(more: Value) -> Value {
    let mut pod = json!({"spec": {"containers": [{"name": "c", "image": "i"}]}});
    json_patch::merge(&mut pod["spec"]["containers"][0], &more);
    pod
}

fn claim(modes: Value) -> Value {
    json!({"spec": {"accessModes": modes, "resources": {"requests": {"storage": "1Gi"}}}})
}

fn backend(service: Value) -> Value {
    json!({"spec": {"defaultBackend": {"service": service}}})
}

fn at_host(host: &str) -> Value {
    json!({"spec": {"rules": [{"host": host}]}})
}

fn subject(subject: Value) -> Value {
    let role = json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "r"});
    json!({"roleRef": role, "subjects": [subject]})
}

/// The plural of a kind, an object that is refused for one reason, a similar one that is accepted,
/// and the reason.
fn rows() -> Vec<(&'static str, Value, Value, &'static str)> {
    let cases = [
        workloads(),
        containers(),
        networking(),
        storage(),
        data(),
        others(),
    ];
    cases.into_iter().flatten().collect()
}

fn workloads() -> Vec<(&'static str, Value, Value, &'static str)> {
    let (a, b) = (json!({"a": "b"}), json!({"c": "d"}));
    let mismatch = "spec.template.metadata.labels: Invalid value: {\"c\":\"d\"}: `selector` does not match template `labels`";
    let cron = |schedule: &str, policy: &str| json!({"spec": {"schedule": schedule, "jobTemplate": job_template(policy)}});
    let expressions = |operator: &str| {
        let mut set = set(json!({}), json!({"a": "b"}));
        let one = json!({"key": "a", "operator": operator, "values": ["b"]});
        set["spec"]["selector"] = json!({"matchExpressions": [one]});
        set
    };
    let mut rows = Vec::new();
    for plural in ["statefulsets", "deployments", "replicasets", "daemonsets"] {
        let good = set(a.clone(), a.clone());
        rows.push((plural, set(a.clone(), b.clone()), good.clone(), mismatch));
        let mut once = good.clone();
        once["spec"]["template"]["spec"]["restartPolicy"] = "Never".into();
        let detail = "spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\"";
        rows.push((plural, once, good, detail));
    }
    let daily = || cron("0 3 * * *", "Never");
    let job = |policy: &str| job_template(policy);
    rows.extend([
        (
            "deployments",
            expressions("NotIn"),
            expressions("In"),
            "`selector` does not match template `labels`",
        ),
        (
            "deployments",
            set(json!({}), a.clone()),
            set(a.clone(), a.clone()),
            "spec.selector: Invalid value: {}: empty selector is invalid for deployment",
        ),
        (
            "cronjobs",
            cron("every night", "Never"),
            daily(),
            "spec.schedule: Invalid value: \"every night\": expected exactly 5 fields, found 2: [every night]",
        ),
        (
            "cronjobs",
            cron("0 3 * * *", "Always"),
            daily(),
            "spec.jobTemplate.spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\"",
        ),
        (
            "jobs",
            job("Always"),
            job("OnFailure"),
            "spec.template.spec.restartPolicy: Required value: valid values: \"OnFailure\", \"Never\"",
        ),
    ]);
    rows
}

fn containers() -> Vec<(&'static str, Value, Value, &'static str)> {
    let port = |port: Value| container(json!({"ports": [port]}));
    let mounted = |path: &str| {
        let mounts = json!([{"name": "v", "mountPath": "/a"}, {"name": "v", "mountPath": path}]);
        let mut pod = container(json!({"volumeMounts": mounts}));
        pod["spec"]["volumes"] = json!([{"name": "v", "configMap": {"name": "m"}}]);
        pod
    };
    let volume = |volume: Value| {
        let mut pod = container(json!({}));
        pod["spec"]["volumes"] = json!([volume]);
        pod
    };
    let probe = |probe: Value| container(json!({"livenessProbe": probe}));
    vec![
        (
            "pods",
            container(json!({"name": "C_1"})),
            container(json!({})),
            "spec.containers[0].name: Invalid value: \"C_1\": a lowercase RFC 1123 label",
        ),
        (
            "pods",
            container(json!({"imagePullPolicy": "Sometimes"})),
            container(json!({"imagePullPolicy": "Never"})),
            "spec.containers[0].imagePullPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"IfNotPresent\", \"Never\"",
        ),
        (
            "pods",
            port(json!({"containerPort": 99999})),
            port(json!({"containerPort": 65535})),
            "spec.containers[0].ports[0].containerPort: Invalid value: 99999: must be between 1 and 65535, inclusive",
        ),
        (
            "pods",
            port(json!({"containerPort": 1, "name": "a-name-too-long-for-it"})),
            port(json!({"containerPort": 1, "name": "http"})),
            "spec.containers[0].ports[0].name: Invalid value: \"a-name-too-long-for-it\": must be no more than 15",
        ),
        (
            "pods",
            mounted("/a"),
            mounted("/b"),
            "spec.containers[0].volumeMounts[1].mountPath: Invalid value: \"/a\": must be unique",
        ),
        (
            "pods",
            volume(json!({"name": "v", "secret": {}})),
            volume(json!({"name": "v", "secret": {"secretName": "s"}})),
            "spec.volumes[0].secret.secretName: Required value",
        ),
        (
            "pods",
            probe(json!({"periodSeconds": 3})),
            probe(json!({"tcpSocket": {"port": 80}})),
            "spec.containers[0].livenessProbe: Required value: must specify a handler type",
        ),
    ]
}

fn networking() -> Vec<(&'static str, Value, Value, &'static str)> {
    let path = |kind: &str, path: &str| {
        let backend = json!({"service": {"name": "s", "port": {"number": 80}}});
        let paths = json!([{"path": path, "pathType": kind, "backend": backend}]);
        json!({"spec": {"rules": [{"http": {"paths": paths}}]}})
    };
    let policy = |kind: &str| json!({"spec": {"podSelector": {}, "policyTypes": [kind]}});
    let service = |port: i64| json!({"spec": {"ports": [{"port": port}]}});
    vec![
        (
            "ingresses",
            at_host("Bad_Host"),
            at_host("*.example.com"),
            "spec.rules[0].host: Invalid value: \"Bad_Host\": a lowercase RFC 1123 subdomain must consist of",
        ),
        (
            "ingresses",
            at_host("a.*.com"),
            at_host("a.com"),
            "spec.rules[0].host: Invalid value: \"a.*.com\": a wildcard DNS-1123 subdomain must start with '*.'",
        ),
        (
            "ingresses",
            at_host("192.0.2.1"),
            at_host("a"),
            "spec.rules[0].host: Invalid value: \"192.0.2.1\": must be a DNS name, not an IP address",
        ),
        (
            "ingresses",
            json!({"spec": {}}),
            at_host(""),
            "spec: Invalid value: null: either `defaultBackend` or `rules` must be specified",
        ),
        (
            "ingresses",
            backend(json!({"name": "s"})),
            backend(json!({"name": "s", "port": {"name": "http"}})),
            "spec.defaultBackend: Required value: port name or number is required",
        ),
        (
            "ingresses",
            path("Prefix", "a"),
            path("Prefix", "/a"),
            "spec.rules[0].http.paths[0].path: Invalid value: \"a\": must be an absolute path",
        ),
        (
            "networkpolicies",
            policy("Sideways"),
            policy("Egress"),
            "spec.policyTypes[0]: Unsupported value: \"Sideways\": supported values: \"Egress\", \"Ingress\"",
        ),
        (
            "services",
            service(99999),
            service(80),
            "spec.ports[0].port: Invalid value: 99999: must be between 1 and 65535, inclusive",
        ),
    ]
}

fn storage() -> Vec<(&'static str, Value, Value, &'static str)> {
    let volume = |more: Value| {
        let mut volume =
            json!({"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}});
        json_patch::merge(&mut volume["spec"], &more);
        volume
    };
    vec![
        (
            "persistentvolumeclaims",
            claim(json!(["Sometimes"])),
            claim(json!(["ReadWriteOnce"])),
            "spec.accessModes: Unsupported value: \"Sometimes\": supported values: \"ReadOnlyMany\", \"ReadWriteMany\", \"ReadWriteOnce\", \"ReadWriteOncePod\"",
        ),
        (
            "persistentvolumeclaims",
            claim(json!([])),
            claim(json!(["ReadWriteOncePod"])),
            "spec.accessModes: Required value: at least 1 access mode is required",
        ),
        (
            "persistentvolumes",
            volume(json!({})),
            volume(json!({"hostPath": {"path": "/a"}})),
            "spec: Required value: must specify a volume type",
        ),
    ]
}

fn others() -> Vec<(&'static str, Value, Value, &'static str)> {
    let hook = |name: &str| {
        json!({"webhooks": [{"name": name, "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://example.com"}}]})
    };
    let rule = |verbs: Value| {
        let rule = json!({"apiGroups": [""], "resources": ["pods"], "verbs": verbs});
        json!({"rules": [rule]})
    };
    let autoscaler = |least: i64| {
        let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "d"});
        json!({"spec": {"scaleTargetRef": target, "minReplicas": least, "maxReplicas": 2}})
    };
    let account =
        |namespace: &str| json!({"kind": "ServiceAccount", "name": "a", "namespace": namespace});
    vec![
        (
            "poddisruptionbudgets",
            json!({"spec": {"minAvailable": 1, "maxUnavailable": 1, "selector": {}}}),
            json!({"spec": {"minAvailable": "50%", "selector": {}}}),
            "minAvailable and maxUnavailable cannot be both set",
        ),
        (
            "horizontalpodautoscalers",
            autoscaler(3),
            autoscaler(1),
            "spec.maxReplicas: Invalid value: 2: must be greater than or equal to `minReplicas`",
        ),
        (
            "validatingwebhookconfigurations",
            hook("short.name"),
            hook("a.long.name"),
            "webhooks[0].name: Invalid value: \"short.name\": should be a domain with at least three segments separated by dots",
        ),
        (
            "clusterrolebindings",
            subject(account("")),
            subject(account("n")),
            "subjects[0].namespace: Required value",
        ),
        (
            "roles",
            rule(json!([])),
            rule(json!(["get"])),
            "rules[0].verbs: Required value: verbs must contain at least one value",
        ),
    ]
}

fn data() -> Vec<(&'static str, Value, Value, &'static str)> {
    let typed = |kind: &str, data: Value| json!({"type": kind, "data": data});
    vec![
        (
            "secrets",
            typed("kubernetes.io/tls", json!({"tls.crt": ""})),
            typed("kubernetes.io/tls", json!({"tls.crt": "", "tls.key": ""})),
            "data[tls.key]: Required value",
        ),
        (
            "secrets",
            typed("kubernetes.io/dockerconfigjson", json!({})),
            typed(
                "kubernetes.io/dockerconfigjson",
                json!({".dockerconfigjson": "e30="}),
            ),
            "data[.dockerconfigjson]: Required value",
        ),
        (
            "secrets",
            typed("kubernetes.io/basic-auth", json!({})),
            typed("kubernetes.io/basic-auth", json!({"username": ""})),
            "[data[username]: Required value, data[password]: Required value]",
        ),
        (
            "configmaps",
            json!({"data": {"big": "x".repeat(1024 * 1024 + 1)}}),
            json!({"data": {"big": "x".repeat(1024 * 1024)}}),
            "\"a\" is invalid: []: Too long: may not be more than 1048576 bytes",
        ),
        (
            "secrets",
            json!({"data": {"big": "AAAA".repeat(1024 * 1024 / 3 + 1)}}),
            json!({"stringData": {"big": "x".repeat(1024 * 1024)}}),
            "data: Too long: may not be more than 1048576 bytes",
        ),
    ]
}

#[tokio::test(start_paused = true)]
async fn the_pods_of_a_set_mount_the_claims_that_it_makes() {
    let server = Server::new(1);
    let mut object = set(json!({"a": "b"}), json!({"a": "b"}));
    object["metadata"]["name"] = "a".into();
    let mut made = claim(json!(["ReadWriteOnce"]));
    made["metadata"]["name"] = "data".into();
    object["spec"]["volumeClaimTemplates"] = json!([made]);
    object["spec"]["template"]["spec"]["containers"][0]["volumeMounts"] =
        json!([{"name": "data", "mountPath": "/data"}]);
    let (code, answer) = send(&server, "POST", &path("statefulsets"), &object);
    assert_eq!(code, 201, "{answer}");
}

#[tokio::test(start_paused = true)]
async fn each_object_is_refused_in_the_words_of_the_real_server_and_the_nearest_is_accepted() {
    for (plural, mut wrong, mut right, message) in rows() {
        let server = Server::new(1);
        wrong["metadata"]["name"] = "a".into();
        right["metadata"]["name"] = "a".into();
        let (code, answer) = send(&server, "POST", &path(plural), &wrong);
        let found = answer["message"].as_str().unwrap_or_default();
        assert!(code == 422 && found.contains(message), "{plural}: {answer}");
        assert_eq!(answer["reason"], "Invalid");
        assert!(answer["details"]["causes"].is_array(), "{answer}");
        let (code, answer) = send(&server, "POST", &path(plural), &right);
        assert_eq!(code, 201, "{plural}: {answer}");
        // A change to the wrong object is refused as well.
        let mut changed = wrong.clone();
        changed["metadata"] = answer["metadata"].clone();
        let one = format!("{}/a", path(plural));
        let (code, answer) = send(&server, "PUT", &one, &changed);
        assert_eq!(code, 422, "{plural}: {answer}");
    }
}
