//! Kinds on which the simulated cluster does not act. They are served, so that programs that
//! install or watch them work, with the defaults of a real server.

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::api::{Api, MERGE, cases};

cases![
    webhook_configurations_get_defaults,
    webhook_configurations_count_generations,
    admission_policies_get_defaults,
    autoscalers_get_defaults,
    autoscalers_report_their_status,
    runtime_classes_are_kept,
];

const ADMISSION: &str = "/apis/admissionregistration.k8s.io/v1";

/// Returns the rule of a webhook or policy, which matches no object of any other case.
fn rule() -> Value {
    json!({
        "apiGroups": ["nobody.example"], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["things"],
    })
}

fn webhooks() -> Value {
    json!([{
        "name": "a.nobody.example", "admissionReviewVersions": ["v1"], "sideEffects": "None", "rules": [rule()],
        "clientConfig": {"service": {"namespace": "nobody", "name": "a"}},
    }])
}

async fn webhook_configurations_get_defaults(api: Api) -> Result<()> {
    for (plural, name) in [
        ("validatingwebhookconfigurations", "validating"),
        ("mutatingwebhookconfigurations", "mutating"),
    ] {
        let name = api.own(name);
        let configuration = json!({"metadata": {"name": name}, "webhooks": webhooks()});
        let path = format!("{ADMISSION}/{plural}");
        let made = api.post(&path, &configuration).await?.is(201)?;
        let webhook = &made["webhooks"][0];
        ensure!(
            webhook["timeoutSeconds"] == 10 && webhook["clientConfig"]["service"]["port"] == 443,
            "{made}"
        );
        api.get(&format!("{path}/{name}")).await?.is(200)?;
        api.send_delete(&format!("{path}/{name}")).await?.is(200)?;
    }
    Ok(())
}

async fn webhook_configurations_count_generations(api: Api) -> Result<()> {
    let path = format!("{ADMISSION}/validatingwebhookconfigurations");
    let name = api.own("a");
    let configuration = json!({"metadata": {"name": name}, "webhooks": webhooks()});
    api.post(&path, &configuration).await?.is(201)?;
    let path = format!("{path}/{name}");
    let labels = json!({"metadata": {"labels": {"l": "1"}}});
    let same = api.patch(MERGE, &path, &labels).await?.is(200)?;
    ensure!(same["metadata"]["generation"] == 1, "{same}");
    let applied = json!({
        "apiVersion": "admissionregistration.k8s.io/v1", "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": name}, "webhooks": [{
            "name": "b.nobody.example", "admissionReviewVersions": ["v1"], "sideEffects": "None",
            "clientConfig": {"url": "https://nobody.example"},
        }],
    });
    let next = api.apply(&path, "m", &applied).await?.is(200)?;
    ensure!(
        next["metadata"]["generation"] == 2 && next["webhooks"].as_array().map(Vec::len) == Some(2),
        "{next}"
    );
    api.send_delete(&path).await?.is(200)?;
    Ok(())
}

async fn admission_policies_get_defaults(api: Api) -> Result<()> {
    let constraints = json!({"resourceRules": [rule()]});
    let validating = json!({
        "matchConstraints": constraints, "validations": [{"expression": "true", "message": "never"}],
    });
    let mutation = json!({
        "patchType": "ApplyConfiguration", "applyConfiguration": {"expression": "Object{}"},
    });
    let mutating = json!({
        "matchConstraints": constraints, "mutations": [mutation], "reinvocationPolicy": "Never",
    });
    let bound = |more: Value| {
        let mut spec =
            json!({"policyName": "nobody", "matchResources": {"resourceRules": [rule()]}});
        if !more.is_null() {
            spec["validationActions"] = more;
        }
        spec
    };
    for (plural, spec) in [
        ("validatingadmissionpolicies", validating),
        ("validatingadmissionpolicybindings", bound(json!(["Deny"]))),
        ("mutatingadmissionpolicies", mutating),
        ("mutatingadmissionpolicybindings", bound(Value::Null)),
    ] {
        // The manager of a set other than finalizers is not reported for the set as a whole.
        let told = match spec["validationActions"].is_array() {
            true => api.silently(),
            false => api.clone(),
        };
        let path = format!("{ADMISSION}/{plural}");
        let name = api.own("a");
        let policy = json!({"metadata": {"name": name}, "spec": spec});
        let made = told.post(&path, &policy).await?.is(201)?;
        ensure!(made["metadata"]["generation"] == 1, "{made}");
        told.get(&format!("{path}/{name}")).await?.is(200)?;
        api.send_delete(&format!("{path}/{name}")).await?.is(200)?;
    }
    Ok(())
}

fn autoscalers(api: &Api, rest: &str) -> String {
    format!("/apis/autoscaling/v2/namespaces/{}/{rest}", api.namespace)
}

fn target() -> Value {
    json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"})
}

async fn autoscalers_get_defaults(api: Api) -> Result<()> {
    let path = autoscalers(&api, "horizontalpodautoscalers");
    let down = json!({"scaleDown": {"stabilizationWindowSeconds": 60}});
    for (name, spec) in [
        ("a", json!({"scaleTargetRef": target(), "maxReplicas": 3})),
        (
            "b",
            json!({"scaleTargetRef": target(), "maxReplicas": 3, "behavior": down}),
        ),
    ] {
        let autoscaler = json!({"metadata": {"name": name}, "spec": spec});
        let made = api.post(&path, &autoscaler).await?.is(201)?;
        ensure!(made["spec"]["minReplicas"] == 1, "{made}");
    }
    Ok(())
}

async fn autoscalers_report_their_status(api: Api) -> Result<()> {
    let path = autoscalers(&api, "horizontalpodautoscalers");
    let spec = json!({"scaleTargetRef": target(), "maxReplicas": 3});
    let autoscaler = json!({"metadata": {"name": "a"}, "spec": spec});
    api.post(&path, &autoscaler).await?.is(201)?;
    let status = json!({"status": {"currentReplicas": 1, "desiredReplicas": 2}});
    let path = format!("{path}/a/status");
    let told = api.patch(MERGE, &path, &status).await?.is(200)?;
    ensure!(told["status"]["desiredReplicas"] == 2, "{told}");
    Ok(())
}

async fn runtime_classes_are_kept(api: Api) -> Result<()> {
    let path = "/apis/node.k8s.io/v1/runtimeclasses";
    let name = api.own("a");
    let class = json!({"metadata": {"name": name}, "handler": "nobody"});
    let made = api.post(path, &class).await?.is(201)?;
    ensure!(made["handler"] == "nobody", "{made}");
    api.send_delete(&format!("{path}/{name}")).await?.is(200)?;
    Ok(())
}
